"""Where images come from: registries, OCI image layouts, archives of `docker save`; and how --from names these."""

import json
import os
import posixpath
import re
import tarfile
from binascii import Error as Base64Error
from binascii import a2b_base64, b2a_base64
from collections.abc import Collection, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from threading import Lock
from typing import Any, Protocol
from urllib.parse import urlencode
from urllib.request import parse_http_list, parse_keqv_list

from krm_function.config.document import load_any, load_object
from krm_function.kubernetes.image import Image, parse_image
from krm_function.kubernetes.lookup import mapping, maps
from krm_function.lock.connections import Reply, Transport, body_of, is_url, origin, trouble, whole_body
from krm_function.lock.media import (
    CONFIGS,
    INDEXES,
    MANIFESTS,
    MISSING,
    Budget,
    Descriptor,
    LockProblem,
    malformed,
    too_large,
)
from krm_function.lock.resolve import CONFIG_LIMIT, MANIFEST_LIMIT, Consume, Found, ImageSource, T
from krm_function.record import NamedTuple

# --- Logins for registries, from docker's config.json and its credential helpers
#
# Rule: a secret is read when its registry requires it, goes nowhere else, and has no printable form.
# Source: docs/facts/oci-registries.md#logins.


HUB = "docker.io"
HUB_KEY = "https://index.docker.io/v1/"  # what Docker Hub is called in config.json, for historical reasons
TOKEN_USER = "<token>"  # noqa: S105  a helper's way to say that the secret is an identity token
HELPER_SECONDS = 60
LONGEST_ANSWER = 1 << 16


class Login(NamedTuple):
    """A user name and password, or an identity token (then user is ""), or a registry token that is sent as it is."""

    user: str = ""
    password: str = ""
    identity: str = ""
    bearer: str = ""

    def __repr__(self) -> str:
        """Return the name of the class alone, so that no secret is printed by accident."""
        return "Login(…)"


class Credentials:
    """The logins of one config.json."""

    def __init__(self, path: str = "") -> None:
        """Name the file; it is read when a registry asks for a login. Default: `$DOCKER_CONFIG`, else `~/.docker`."""
        directory = os.environ.get("DOCKER_CONFIG") or os.path.join(os.path.expanduser("~"), ".docker")
        self._path = path or os.path.join(directory, "config.json")
        self._lock = Lock()
        self._config: Mapping[str, Any] | None = None
        self._logins: dict[str, Login | None] = {}

    def of(self, registry: str) -> Login | None:
        """Return the login for a registry (`host` or `host:port`), None when there is none. Raises LockProblem."""
        with self._lock:
            if registry not in self._logins:
                self._logins[registry] = self._look_up(registry)
            return self._logins[registry]

    def _look_up(self, registry: str) -> Login | None:
        if self._config is None:
            self._config = self._load()
        key = HUB_KEY if registry == HUB else registry
        helpers = mapping(self._config.get("credHelpers"))
        helper = helpers.get(key) or helpers.get(registry) or self._config.get("credsStore")
        if helper:
            login = _from_helper(str(helper), key)
            if login is not None:
                return login
        for name, entry in mapping(self._config.get("auths")).items():
            if _host(str(name)) == _host(key):
                login = self._from_entry(mapping(entry))
                if login is not None:
                    return login
        return None

    def _load(self) -> Mapping[str, Any]:
        try:
            with open(self._path, "rb") as file:
                return load_object(file.read().decode("utf-8"))
        except FileNotFoundError:
            return {}
        except OSError as problem:
            raise self._unusable("CC1252.system", error=problem.strerror or "cannot be read") from None
        except (ValueError, RecursionError):
            raise self._unusable("CC1252.json") from None

    def _from_entry(self, entry: Mapping[str, Any]) -> Login | None:
        if entry.get("registrytoken"):
            return Login(bearer=str(entry["registrytoken"]))
        if entry.get("identitytoken"):
            return Login(identity=str(entry["identitytoken"]))
        user, password = entry.get("username"), entry.get("password")
        if entry.get("auth"):
            try:
                both = a2b_base64(str(entry["auth"]).encode(), strict_mode=True).decode("utf-8")
            except (Base64Error, UnicodeError):
                raise self._unusable("CC1252.base64") from None
            user, _, password = both.partition(":")
        if not user or not isinstance(user, str) or not isinstance(password, str):
            return None
        return Login(user, password.rstrip("\0"))

    def _unusable(self, code: str, **values: str) -> LockProblem:
        return LockProblem(code, what=f"the login file {self._path}", **values)


def _host(name: str) -> str:
    """Return the registry that a key of `auths` means: without a scheme and a path."""
    return re.sub(r"\A[a-z]+://", "", name).partition("/")[0]


def _from_helper(helper: str, key: str) -> Login | None:
    """Ask `docker-credential-<helper> get`; None when it knows no such registry."""
    import shutil
    import subprocess

    what = f"the credential helper docker-credential-{helper}"
    if not re.fullmatch(r"[A-Za-z0-9._-]{1,64}", helper):
        raise LockProblem("CC1252.helper-name", what="a credential helper")
    program = shutil.which(f"docker-credential-{helper}")
    if program is None:
        raise LockProblem("CC1252.helper-path", what=what)
    try:
        done = subprocess.run(
            [program, "get"], input=key.encode(), capture_output=True, check=False, timeout=HELPER_SECONDS
        )
        answer = done.stdout[:LONGEST_ANSWER].decode("utf-8")
        if done.returncode != 0:
            if "credentials not found" in answer:  # the protocol's own words, on standard output
                return None
            raise LockProblem("CC1252.helper-exit", what=what, status=done.returncode)
        login = load_object(answer)
    except subprocess.TimeoutExpired:
        raise LockProblem("CC1252.helper-time", what=what, seconds=HELPER_SECONDS) from None
    except OSError as problem:
        raise LockProblem("CC1252.system", what=what, error=problem.strerror or "cannot be run") from None
    except (ValueError, RecursionError):
        raise LockProblem("CC1252.helper-json", what=what) from None
    user, secret = login.get("Username"), login.get("Secret")
    if not isinstance(user, str) or not isinstance(secret, str):
        raise LockProblem("CC1252.helper-login", what=what)
    return Login(identity=secret) if user == TOKEN_USER else Login(user, secret)


# --- Answer a registry's challenge with an Authorization header: Basic, or a bearer token
#
# Rule: a login goes to the registry that it is for, or to the realm which that registry names, no farther:
# a token server may not redirect. Protocol: https://distribution.github.io/distribution/spec/auth/token/


TOKEN_LIMIT = 1 << 20
CLIENT = "contrast-krm"


class Authenticator:
    """Authorization headers by registry and repository, kept while they work."""

    def __init__(self, transport: Transport, credentials: Credentials) -> None:
        """Begin with none."""
        self._transport = transport
        self._credentials = credentials
        self._lock = Lock()
        self._headers: dict[tuple[str, str], str] = {}

    def headers(self, registry: str, repository: str) -> dict[str, str]:
        """Return the headers that worked last, or none."""
        with self._lock:
            header = self._headers.get((registry, repository))
        return {"Authorization": header} if header else {}

    def answer(self, registry: str, repository: str, reply: Reply, budget: Budget) -> dict[str, str]:
        """Make the headers with which to ask again after a 401. Raises LockProblem and AgainError."""
        challenges = _challenges(reply)
        login = self._credentials.of(registry)
        if login and login.bearer:
            header = f"Bearer {_fit(login.bearer, registry)}"
        elif "bearer" in challenges:
            token = self._token(registry, repository, challenges["bearer"], login, budget)
            header = f"Bearer {_fit(token, registry)}"
        elif "basic" in challenges and login and login.user:
            header = _basic(login)
        elif "basic" in challenges:
            raise LockProblem("CC1251.no-login", registry=registry)
        else:
            raise LockProblem("CC1251.login-kind", registry=registry)
        with self._lock:
            self._headers[registry, repository] = header
        return {"Authorization": header}

    def _token(
        self, registry: str, repository: str, challenge: Mapping[str, str], login: Login | None, budget: Budget
    ) -> str:
        realm = challenge.get("realm", "")
        if not is_url(realm):
            raise trouble("CC1250.no-token-server", registry)
        asked = challenge.get("scope", "")
        scope = asked if re.fullmatch(r"repository:[^\s:]+:pull", asked) else f"repository:{repository}:pull"
        query = {"service": challenge.get("service", ""), "scope": scope}
        query = {key: value for key, value in query.items() if value}
        if login and login.identity:
            form = {"grant_type": "refresh_token", "refresh_token": login.identity, "client_id": CLIENT, **query}
            kind = {"Content-Type": "application/x-www-form-urlencoded"}
            reply = self._transport.once("POST", realm, kind, budget, TOKEN_LIMIT, urlencode(form).encode())
        else:
            url = f"{realm}{'&' if '?' in realm else '?'}{urlencode(query)}"
            headers = {"Authorization": _basic(login)} if login else {}
            reply = self._transport.once("GET", url, headers, budget, TOKEN_LIMIT)
        if reply.status in (400, 401, 403):
            reply.close()
            raise LockProblem("CC1251.refused" if login else "CC1251.no-login", registry=registry)
        if reply.status != 200:
            reply.close()
            raise trouble("CC1250.token-status", registry, status=reply.status)
        return _read_token(reply, registry, budget)


def _read_token(reply: Reply, registry: str, budget: Budget) -> str:
    data = whole_body(reply, budget, TOKEN_LIMIT)
    if data is None:
        raise trouble("CC1250.token-endless", registry)
    try:
        answer = load_object(data.decode("utf-8"))
    except (ValueError, RecursionError):
        raise trouble("CC1250.token-json", registry) from None
    token = answer.get("token") or answer.get("access_token")
    if not isinstance(token, str):
        raise trouble("CC1250.token-none", registry)
    return token


def _fit(token: str, registry: str) -> str:
    """Return the token. Raises LockProblem if it has characters that no header may have."""
    if not re.fullmatch(r"[\x21-\x7e]+", token):
        raise LockProblem("CC1251.token", registry=registry)
    return token


def _basic(login: Login) -> str:
    return "Basic " + b2a_base64(f"{login.user}:{login.password}".encode(), newline=False).decode("ascii")


def _challenges(reply: Reply) -> dict[str, dict[str, str]]:
    """Return the parameters of every challenge by its scheme, lower case. A registry sends one to a header line."""
    challenges: dict[str, dict[str, str]] = {}
    for line in reply.challenges():
        scheme, _, rest = line.strip().partition(" ")
        items = [item for item in parse_http_list(rest) if re.fullmatch(r"[\w-]+=.+", item)]
        challenges[scheme.lower()] = {key.lower(): value for key, value in parse_keqv_list(items).items()}
    return challenges


# --- A Source that reads from registries: https://github.com/opencontainers/distribution-spec/blob/v1.1.1/spec.md
#
# What else registries do: docs/facts/oci-registries.md#registries.
#
# Rule: only GET, and only what the spec calls pull. A status is answered here; bytes are passed on as they
# come, for the caller to verify.


HUB_HOST = "registry-1.docker.io"  # where Docker Hub's images are
ACCEPT = ", ".join((*MANIFESTS, *INDEXES))


class Registry:
    """A source that reads from the registry in the image's name."""

    def __init__(self, transport: Transport, credentials: Credentials) -> None:
        """Begin without a connection."""
        self._transport = transport
        self._auth = Authenticator(transport, credentials)

    def find(self, image: Image, digest: str, budget: Budget) -> Found:
        """Find the manifest or index."""
        return self._transport.retried(lambda: self._find(image, digest, budget), budget)

    def read(self, image: Image, part: Descriptor, consume: Consume[T], budget: Budget) -> T:
        """Hand a blob to `consume`, from its first byte again after the connection broke, and return its result."""

        def once() -> T:
            with closing(self._blob(image, part, budget)) as data:
                return consume(data)

        return self._transport.retried(once, budget)

    def _find(self, image: Image, digest: str, budget: Budget) -> Found:
        reply = self._get(
            image, f"manifests/{digest or image.tag or 'latest'}", {"Accept": ACCEPT}, budget, MANIFEST_LIMIT
        )
        if reply.status == 404:
            reply.close()
            raise LockProblem(MISSING, place=_registry_host(image))
        data = whole_body(self._ok(image, reply), budget, MANIFEST_LIMIT)
        if data is None:
            raise too_large("the manifest", MANIFEST_LIMIT)
        return Found(data, reply.header("Content-Type"))

    def _blob(self, image: Image, part: Descriptor, budget: Budget) -> Generator[bytes, None, None]:
        reply = self._get(image, f"blobs/{part.digest}", {}, budget, part.size)
        if reply.status == 404:
            reply.close()
            raise malformed("CC1204.not-in-registry", f"{part.digest[:19]}…")
        yield from body_of(self._ok(image, reply), budget)

    def _get(self, image: Image, path: str, headers: dict[str, str], budget: Budget, body: int) -> Reply:
        """Fetch, after one login if need be. A redirect to another host never takes credentials along."""
        registry, _, repository = image.name.partition("/")
        host = HUB_HOST if registry == HUB else registry
        url = f"{self._transport.scheme(host)}://{host}/v2/{repository}/{path}"
        reply = self._transport.get(url, headers | self._auth.headers(registry, repository), budget, body)
        if reply.status == 401 and origin(reply.url) == origin(url):
            reply.close()
            login = self._auth.answer(registry, repository, reply, budget)
            reply = self._transport.get(url, headers | login, budget, body)
        return reply

    def _ok(self, image: Image, reply: Reply) -> Reply:
        if reply.status == 200:
            return reply
        reply.close()
        if reply.status in (401, 403):
            raise LockProblem("CC1251.image", registry=_registry_host(image))
        raise trouble("CC1250.status", _registry_host(image), status=reply.status)


def _registry_host(image: Image) -> str:
    """Return the registry of an image, as its reference names it."""
    return image.name.partition("/")[0]


# --- Named files of a directory or of a tar archive, read in place
#
# Rule: nothing is unpacked, and a name leads nowhere but into the tree: names come from the archive's own
# index, hence from its author.


CHUNK = 1 << 16
MOST_LINKS = 4


class Extent(NamedTuple):
    """Where the bytes of a file are."""

    path: str
    offset: int
    size: int

    def chunks(self) -> Iterator[bytes]:
        """Yield its bytes. Raises LockProblem."""
        try:
            with open(self.path, "rb") as file:
                file.seek(self.offset)
                left = self.size
                while left and (chunk := file.read(min(CHUNK, left))):
                    left -= len(chunk)
                    yield chunk
        except OSError as problem:
            raise unreadable_file(self.path, problem) from None


class FileTree(Protocol):
    """A directory or an archive. place: what to call it."""

    place: str

    def get(self, name: str) -> Extent | None:
        """Return the file of that name, None when there is none. Raises LockProblem."""


class Directory:
    """A tree on disk."""

    def __init__(self, path: str) -> None:
        """Remember the path."""
        self.place = path

    def get(self, name: str) -> Extent | None:
        """Return the file of that name."""
        if not _is_inside(name):
            return None
        path = os.path.join(self.place, *name.split("/"))
        real, top = os.path.realpath(path), os.path.realpath(self.place)
        if os.path.commonpath((real, top)) != top:
            raise LockProblem("CC1254.link", place=path, root=self.place)
        try:
            return Extent(path, 0, os.stat(path).st_size) if os.path.isfile(path) else None
        except OSError as problem:
            raise unreadable_file(path, problem) from None


class Archive:
    """A tree in an uncompressed tar archive."""

    def __init__(self, path: str) -> None:
        """Read the headers. Raises LockProblem."""
        self.place = path
        self._members: dict[str, tarfile.TarInfo] = {}
        try:
            with tarfile.open(path, "r:") as archive:
                self._members = {posixpath.normpath(member.name): member for member in archive}
        except OSError as problem:
            raise unreadable_file(path, problem) from None
        except (tarfile.TarError, ValueError, OverflowError, RecursionError):
            raise LockProblem("CC1254.tar", place=path) from None

    def get(self, name: str) -> Extent | None:
        """Return the file of that name; links are followed, because `docker save` stores equal layers once."""
        for _ in range(MOST_LINKS):
            member = self._members.get(posixpath.normpath(name))
            if member is None:
                return None
            if member.issym():
                name = posixpath.join(posixpath.dirname(member.name), member.linkname)
            elif member.islnk():
                name = member.linkname
            elif member.isreg() and not member.issparse():
                return Extent(self.place, member.offset_data, member.size)
            else:
                return None
        return None


def open_tree(path: str) -> FileTree:
    """Open the tree at a path. Raises LockProblem."""
    return Directory(path) if os.path.isdir(path) else Archive(path)


def unreadable_file(path: str, problem: OSError) -> LockProblem:
    """Return the problem of a file that cannot be read."""
    reason = problem.strerror or "cannot be read"
    return LockProblem("CC1254.system", place=path, error=reason[:1].lower() + reason[1:])


def _is_inside(name: str) -> bool:
    return not name.startswith("/") and ".." not in name.split("/") and "\0" not in name


# --- A Source that is an OCI image layout: https://github.com/opencontainers/image-spec/blob/v1.1.0/image-layout.md
#
# Rule: an image with a digest is found by that digest alone. By name only a whole one will do: a layout
# made by `skopeo copy … oci:DIR:1.2` says just "1.2", which could be any repository's.


NAMES = ("io.containerd.image.name", "org.opencontainers.image.ref.name")


class Layout:
    """An OCI layout, in a directory or a tar archive."""

    def __init__(self, tree: FileTree) -> None:
        """Read the index. Raises LockProblem."""
        self._tree = tree
        version = read_json(tree, "oci-layout").get("imageLayoutVersion")
        if version != "1.0.0":
            raise LockProblem("CC1254.version", place=tree.place)
        self._entries = maps(read_json(tree, "index.json").get("manifests"))

    def find(self, image: Image, digest: str, budget: Budget) -> Found:
        """Find the manifest or index."""
        del budget  # a local file is never waited for
        extent = self._blob(digest or self._named(image))
        if extent is None:
            raise LockProblem(MISSING, place=self._tree.place)
        if extent.size > MANIFEST_LIMIT:
            raise too_large("the manifest", MANIFEST_LIMIT)
        return Found(b"".join(extent.chunks()))

    def read(self, image: Image, part: Descriptor, consume: Consume[T], budget: Budget) -> T:
        """Hand a blob to `consume`, and return its result."""
        del image, budget
        extent = self._blob(part.digest)
        if extent is None:
            raise malformed("CC1204.not-in-layout", f"{part.digest[:19]}…")
        return consume(extent.chunks())

    def _named(self, image: Image) -> str:
        """Return the digest of the image with this name and tag, "" unless there is exactly one."""
        digests = {str(entry.get("digest")) for entry in self._entries if _is_called(entry, image)}
        return digests.pop() if len(digests) == 1 else ""

    def _blob(self, digest: str) -> Extent | None:
        algorithm, _, digits = digest.partition(":")
        return self._tree.get(f"blobs/{algorithm}/{digits}") if digits else None


def same_name(name: Any, image: Image) -> bool:
    """Tell whether a text is a whole name with tag, and means this image."""
    other = parse_image(name) if isinstance(name, str) and "/" in name else ""
    return isinstance(other, Image) and other.name == image.name and (other.tag or "latest") == (image.tag or "latest")


def read_json(tree: FileTree, name: str) -> dict[str, Any]:
    """Read a small JSON object of a tree. Raises LockProblem."""
    extent = tree.get(name)
    if extent is None:
        raise LockProblem("CC1254.lacks", place=tree.place, name=name)
    if extent.size > MANIFEST_LIMIT:
        raise LockProblem("CC1254.size", place=tree.place, name=name)
    try:
        return load_object(b"".join(extent.chunks()).decode("utf-8"))
    except (ValueError, RecursionError):
        raise LockProblem("CC1254.json", place=tree.place, name=name) from None


def _is_called(entry: Mapping[str, Any], image: Image) -> bool:
    notes = mapping(entry.get("annotations"))
    return any(same_name(notes.get(key), image) for key in NAMES)


# --- A Source that is the archive of an older `docker save`: a list of configurations and uncompressed layers
#
# Rule: such an archive has no manifest, so the digest of a reference cannot be checked. The image
# is found by its name, its layers are checked against the configuration, and the finding CC1207 says the rest.


PLAIN = "application/vnd.docker.image.rootfs.diff.tar"


class DockerArchive:
    """What `docker save` wrote before it wrote OCI layouts."""

    def __init__(self, tree: FileTree) -> None:
        """Read the list of images. Raises LockProblem."""
        self._tree = tree
        self._files: dict[str, Extent] = {}
        try:
            self._images = maps(load_any(self._small("manifest.json", MANIFEST_LIMIT).decode("utf-8")))
        except (ValueError, RecursionError):
            raise self._unusable("CC1254.json-list") from None

    def find(self, image: Image, digest: str, budget: Budget) -> Found:
        """Make a manifest of what the archive has: its digests are those of the configuration and the layers."""
        del digest, budget
        for entry in self._images:
            names = entry.get("RepoTags")
            if isinstance(names, list) and any(same_name(name, image) for name in names):
                return Found(json.dumps(self._manifest(entry)).encode(), loose=True)
        raise LockProblem(MISSING, place=self._tree.place)

    def read(self, image: Image, part: Descriptor, consume: Consume[T], budget: Budget) -> T:
        """Hand a file of the archive to `consume`, and return its result."""
        del image, budget
        return consume(self._files[part.digest].chunks())

    def _manifest(self, entry: dict[str, Any]) -> dict[str, Any]:
        import hashlib

        name, layers = str(entry.get("Config")), entry.get("Layers")
        data = self._small(name, CONFIG_LIMIT)
        digits = hashlib.sha256(data).hexdigest()
        if name.rpartition("/")[2].removesuffix(".json") != digits:
            raise LockProblem("CC1203.other", what="the image configuration", digest="its name")
        try:
            diff_ids = mapping(load_object(data.decode("utf-8")).get("rootfs")).get("diff_ids")
        except (ValueError, RecursionError):
            raise self._unusable("CC1254.json", name=name) from None
        if not isinstance(layers, list) or not isinstance(diff_ids, list) or len(layers) != len(diff_ids):
            raise self._unusable("CC1254.diff-ids")
        config = self._part(name, f"sha256:{digits}", CONFIGS[1])
        parts = [self._part(str(layer), str(diff_id), PLAIN) for layer, diff_id in zip(layers, diff_ids, strict=True)]
        return {"schemaVersion": 2, "config": config, "layers": parts}

    def _part(self, name: str, digest: str, media_type: str) -> dict[str, Any]:
        extent = self._tree.get(name)
        if extent is None:
            raise self._unusable("CC1254.file")
        self._files[digest] = extent
        return {"mediaType": media_type, "digest": digest, "size": extent.size}

    def _small(self, name: str, limit: int) -> bytes:
        extent = self._tree.get(name)
        if extent is None:
            raise self._unusable("CC1254.lacks" if name == "manifest.json" else "CC1254.configuration", name=name)
        if extent.size > limit:
            raise self._unusable("CC1254.too-large")
        return b"".join(extent.chunks())

    def _unusable(self, code: str, **values: str) -> LockProblem:
        return LockProblem(code, place=self._tree.place, **values)


# --- Parse `--from` and open its sources
#
# Rule: sources are tried in the order of the command line, and no others: with an archive alone there is
# no network.


FORMS = ("registry", "oci:PATH", "docker-archive:PATH")


class SourceOption(NamedTuple):
    """One `--from`: its form, and the path, "" for the registry."""

    form: str
    path: str = ""


def parse_source(text: str) -> SourceOption | None:
    """Read one `--from`; None when it has none of the FORMS."""
    form, colon, path = text.partition(":")
    if text == "registry":
        return SourceOption("registry")
    return SourceOption(form, path) if form in ("oci", "docker-archive") and colon and path else None


def open_sources(places: Sequence[SourceOption], plain_http: Collection[str], workers: int) -> list[ImageSource]:
    """Open the sources. plain_http: see Transport. Raises LockProblem for a file that is not what it should be."""
    return [_opened(place, plain_http, workers) for place in places]


def _opened(place: SourceOption, plain_http: Collection[str], workers: int) -> ImageSource:
    if place.form == "registry":
        from krm_function.lock.connections import Transport

        return Registry(Transport(plain_http, workers), Credentials())

    tree = open_tree(place.path)
    if place.form == "oci" or tree.get("oci-layout") is not None:  # what `docker save` writes today is both
        return Layout(tree)
    return DockerArchive(tree)
