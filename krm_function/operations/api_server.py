"""Requests to an API server, page by page, each with bounds for its time, its pace and its length."""

import re
from collections.abc import Callable, Iterator, Mapping
from http.client import HTTPException, responses
from threading import Event
from typing import Any
from urllib.parse import quote, urlencode

import urllib3
from urllib3.exceptions import HTTPError
from urllib3.util.ssl_ import create_urllib3_context

from krm_function.check.running_pods import list_writers
from krm_function.config.document import load_any
from krm_function.contrast.manifest import FILE
from krm_function.kubernetes.kinds import KINDS
from krm_function.kubernetes.objects import mapping
from krm_function.lock.connections import CURRENT, POOLS, Pace, Wire, WireError, secured
from krm_function.lock.media import Budget, LockProblem
from krm_function.record import NamedTuple

# --- Requests to the API server of a kubeconfig, one after another, each with bounds for its time, its pace and its
# length
#
# Rule: the Kubernetes client only reads the kubeconfig and holds the connections. It would follow redirects, unpack
# compressed answers, and read any answer, even of an error, whole and without a limit. So this file makes the requests
# below it, over connections that count each read (lock/connections.py).
#
#     an answer that                 is
#     redirects                      not followed, so that no token goes anywhere else
#     is not 2xx                     reported by its status alone; only a refused dry run has its body read: MOST_WORDS
#     is compressed                  refused: no request asks for it
#     breaks off                     requested once more
#     is 429 or 503                  requested again after its Retry-After, at most BUSY_TRIES times
#     is 410, to a further page      the list is read again from its beginning, once
#     is too slow, or too long       given up: Pace, MOST_ANSWER
#     exceeds the bounds of all      given up: SECONDS, MOST_BYTES


MOST_ANSWER = 64 << 20  # bytes: a page (answer.py) of objects as large as etcd takes them
MOST_BYTES = 1 << 30  # of all answers
MOST_WORDS = 1 << 16  # bytes of the server's message about a pod that it refuses
MOST_POD = 8 << 20  # of a pod that it accepts
SECONDS = 300.0  # for all answers
PACE = Pace(connect=5.0, quiet=30.0)
CHUNK = 1 << 16
BUSY = (429, 503)
BUSY_TRIES = 3
GONE = 410
LONGEST_TYPE = 64  # characters of a content type in a message
HEADERS: Mapping[str, str] = {"Accept": "application/json", "Accept-Encoding": "identity"}


class RefusalError(Exception):
    """The API server gave no usable answer. code: CC1003 with a variant; status: 0 for none."""

    def __init__(self, code: str, status: int = 0, **values: Any) -> None:
        super().__init__(code)
        self.code, self.status, self.values = code, status, values


class Reply(NamedTuple):
    """The answer to a dry run. status: of HTTP. data: its body as far as it is JSON, else b""."""

    status: int
    data: bytes


class ApiServer:
    """The API server that a client is configured for."""

    def __init__(self, client: Any) -> None:
        configuration = client.configuration
        self._host: str = configuration.host.rstrip("/")
        self._manager = _count_reads(client.rest_client.pool_manager, configuration)
        self._headers = {**HEADERS, "User-Agent": client.user_agent, **_auth_header(configuration)}
        self._budget = Budget(SECONDS, Event())
        self._bytes = 0

    def get(self, path: str, label: str) -> bytes:
        """Fetch the body of an answer. label: names it in messages. Raises RefusalError."""
        return self._ask_with_retry("GET", path, label, None, MOST_ANSWER).data

    def dry_run(self, path: str, body: bytes, label: str) -> Reply:
        """Post an object without storing it; path: with dryRun=All. Raises RefusalError if nothing answers."""
        return self._ask_with_retry("POST", path, label, body, MOST_POD)

    def _ask_with_retry(self, method: str, path: str, label: str, body: bytes | None, most: int) -> Reply:
        for last in (False, True):
            try:
                return self._ask_once(method, path, label, body, most)
            except (HTTPError, HTTPException, OSError, ValueError) as problem:
                if last:
                    name = type(getattr(problem, "reason", None) or problem).__name__
                    raise RefusalError("CC1003.no-answer", error=name) from None
            except WireError as problem:
                match problem.code:
                    case "CC1250.endless":
                        raise RefusalError("CC1003.size", what=label, limit=_size(MOST_ANSWER)) from None
                    case "CC1250.silent":
                        raise RefusalError("CC1003.no-answer", error="TimeoutError") from None
                    case _:
                        raise RefusalError("CC1003.slow", what=label, **problem.values) from None
            except LockProblem as problem:
                raise RefusalError("CC1003.time", seconds=problem.values["seconds"]) from None
        raise AssertionError("unreachable")  # pragma: no cover

    def _ask_once(self, method: str, path: str, label: str, body: bytes | None, most: int) -> Reply:
        """body: of a dry run, whose refusal is read, too. most: bytes of the answer."""
        tries = BUSY_TRIES
        while (reply := self._request(method, path, body)).status in BUSY and (tries := tries - 1):
            reply.close()
            self._budget.wait(_read_delay(reply))
        whole = False
        try:
            if body is not None and not 200 <= reply.status <= 299:
                if not _is_json(reply):
                    return Reply(reply.status, b"")
                most = MOST_WORDS
            else:
                _require_json(reply, label)
            CURRENT.set(Wire(PACE, self._budget, most))
            data = self._read(lambda: reply.read1(CHUNK, decode_content=False), label, most)
            whole = True
            return Reply(reply.status, data)
        finally:
            if whole:
                reply.release_conn()
            else:
                reply.close()

    def _request(self, method: str, path: str, body: bytes | None) -> Any:
        CURRENT.set(Wire(PACE, self._budget, 0))
        seconds = min(PACE.connect, self._budget.left)
        return self._manager.request(
            method,
            f"{self._host}{path}",
            body=body,
            headers=self._headers if body is None else {**self._headers, "Content-Type": "application/json"},
            redirect=False,
            retries=False,
            preload_content=False,
            timeout=urllib3.Timeout(connect=seconds, read=PACE.quiet),  # of the TLS handshake; Wire has its own
        )

    def _read(self, piece: Callable[[], bytes], label: str, most: int) -> bytes:
        data = bytearray()
        while part := piece():
            self._budget.check()
            data += part
            self._bytes += len(part)
            if len(data) > most:
                raise RefusalError("CC1003.size", what=label, limit=_size(most))
            if self._bytes > MOST_BYTES:
                raise RefusalError("CC1003.size-of-all", limit=_size(MOST_BYTES))
        return bytes(data)


def _require_json(reply: Any, label: str) -> None:
    if not 200 <= reply.status <= 299:
        status = f"{reply.status} {responses.get(reply.status, '')}".strip()  # not in the words of the server
        raise RefusalError("CC1003.status", reply.status, answer=status, what=label)
    if _is_compressed(reply):
        raise RefusalError("CC1003.compressed", what=label)
    if not _is_json(reply):
        raise RefusalError("CC1003.type", what=label, found=_type(reply)[:LONGEST_TYPE] or "none")


def _read_delay(reply: Any) -> float:
    """Return the seconds that a busy server asks to wait: one, unless it names a number."""
    text = str(reply.headers.get("Retry-After", ""))
    return float(text) if re.fullmatch("[0-9]{1,4}", text) else 1.0


def _is_compressed(reply: Any) -> bool:
    return reply.headers.get("Content-Encoding", "identity").strip().lower() not in ("", "identity")


def _is_json(reply: Any) -> bool:
    return _type(reply) == "application/json" and not _is_compressed(reply)


def _type(reply: Any) -> str:
    return str(reply.headers.get("Content-Type", "")).partition(";")[0].strip().lower()


def _auth_header(configuration: Any) -> dict[str, str]:
    """Return the header with the kubeconfig's token, if it has one; a client certificate is in the connection."""
    token = configuration.auth_settings().get("BearerToken") or {}
    return {"Authorization": token["value"]} if token.get("value") else {}


def _count_reads(manager: Any, configuration: Any) -> Any:
    """Count each read of the client's connections; a SOCKS proxy keeps its own connection class."""
    if type(manager) not in (urllib3.PoolManager, urllib3.ProxyManager):
        return manager
    settings = manager.connection_pool_kw
    context = settings.get("ssl_context")
    if context is None:
        context = create_urllib3_context(cert_reqs=settings["cert_reqs"])
        if not configuration.ssl_ca_cert and not settings.get("ca_cert_data"):
            context.load_default_certs()
        settings["ssl_context"] = context
    secured(context)
    manager.pool_classes_by_scheme = POOLS
    return manager


def _size(limit: int) -> str:
    return f"{limit >> 20} MiB" if limit >= 1 << 20 else f"{limit >> 10} KiB"


# --- Lists of a cluster's objects, page by page, each checked before anything relies on its shape
#
# Rule: a list is of the requested kind and namespace, names each object once and by a name that Kubernetes allows, and
# it ends; any other is refused. Fields that no comparison reads are left out at once, so that a large cluster takes no
# more room than the compared fields.


MOST_OBJECTS = 16  # of a page of ConfigMaps, each of which may have 1 MiB
MOST_SMALL_OBJECTS = 250  # of a page of anything else
MOST_PAGES = 2_000  # of one list
MOST_VALUES = 2_000_000  # of one page, counted by the characters that begin one: what it costs to build them
MOST_OF_ALL = 8_000_000  # of all pages that are kept; pods are not
LONGEST_TOKEN = 4096  # characters of the token for the next page
NAME = re.compile(r"[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?")  # a DNS subdomain
NAMESPACE = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")  # a DNS label


class Listing(NamedTuple):
    """What to list. version: as in apiVersion. label: its name in messages. namespace: "" for cluster-wide objects.

    name: of the only object to list, "" for all.
    """

    version: str
    kind: str
    label: str
    namespace: str = ""
    name: str = ""

    @property
    def path(self) -> str:
        """The path of the list on the API server."""
        group = f"/apis/{self.version}" if "/" in self.version else f"/api/{self.version}"
        name = self.kind.lower()
        plural = f"{name[:-1]}ies" if name.endswith("y") else f"{name}{'es' if name.endswith(('s', 'x')) else 's'}"
        return f"{group}/namespaces/{quote(self.namespace)}/{plural}" if self.namespace else f"{group}/{plural}"


class Lists:
    """Reads lists of one API server."""

    def __init__(self, server: ApiServer) -> None:
        self._server = server
        self._values = 0

    def objects(self, listing: Listing) -> Iterator[dict[str, Any]]:
        """Yield each object of a list with its apiVersion and kind, which the members of a list lack.

        Raises RefusalError.
        """
        if listing.namespace and not NAMESPACE.fullmatch(listing.namespace):
            raise RefusalError("CC1003.namespace", namespace=listing.namespace)
        size = MOST_OBJECTS if listing.kind == "ConfigMap" else MOST_SMALL_OBJECTS
        names: set[str] = set()
        earlier: set[str] | None = None  # names of a list that has expired
        tokens = {""}
        query = {"limit": str(size)} | ({"fieldSelector": f"metadata.name={listing.name}"} if listing.name else {})
        for _ in range(MOST_PAGES):
            try:
                items, token = self._page(f"{listing.path}?{urlencode(query)}", listing)
            except RefusalError as problem:
                if problem.status != GONE or earlier is not None or not query.pop("continue", ""):
                    raise
                earlier, names, tokens = names, set(), {""}
                continue
            for number, value in enumerate(items, 1):
                name = _check_name(value, number, listing)
                if name in names:
                    raise RefusalError("CC1003.twice", what=listing.label, name=name)
                names.add(name)
                if earlier and name in earlier:
                    continue
                yield {"apiVersion": listing.version, "kind": listing.kind, **_drop_unused(value, listing.kind)}
            if not token:
                return
            if token in tokens or not items:
                break
            tokens.add(token)
            query["continue"] = token
        raise RefusalError("CC1003.endless", what=listing.label)

    def _page(self, path: str, listing: Listing) -> tuple[list[Any], str]:
        data = self._server.get(path, listing.label)
        values = sum(map(data.count, (b"{", b"[", b",")))
        self._values += values if listing.kind != "Pod" else 0
        if values > MOST_VALUES:
            raise RefusalError("CC1003.size", what=listing.label, limit=f"{MOST_VALUES} values")
        if self._values > MOST_OF_ALL:
            raise RefusalError("CC1003.size-of-all", limit=f"{MOST_OF_ALL} values")
        return _parse_page(data, listing)


def _parse_page(data: bytes, listing: Listing) -> tuple[list[Any], str]:
    """Return the items, and the token for the next page, "" for none."""
    try:
        value = load_any(data.decode("utf-8"))
    except UnicodeDecodeError:
        raise RefusalError("CC1003.encoding", what=listing.label) from None
    except RecursionError:
        raise RefusalError("CC1003.depth", what=listing.label) from None
    except ValueError as problem:
        raise RefusalError("CC1003.text", what=listing.label, error=problem) from None
    head = mapping(value)
    if (head.get("apiVersion"), head.get("kind")) != (listing.version, f"{listing.kind}List"):
        raise RefusalError("CC1003.kind", what=listing.label, wanted=f"{listing.kind}List of {listing.version}")
    items, metadata = head.get("items", ""), head.get("metadata", {})
    items = [] if items is None else items  # as Go writes an empty list
    token = mapping(metadata).get("continue") or ""
    usable = isinstance(items, list) and isinstance(metadata, dict)
    if not usable or not isinstance(token, str) or len(token) > LONGEST_TOKEN:
        raise RefusalError("CC1003.items", what=listing.label)
    return items, token


def _check_name(value: Any, number: int, listing: Listing) -> str:
    """Return the name of an item. Raises RefusalError if it is not of the listing's kind and namespace."""
    metadata = mapping(mapping(value).get("metadata"))
    name = metadata.get("name")
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise RefusalError("CC1003.item", what=listing.label, number=number)
    version, kind = value.get("apiVersion", listing.version), value.get("kind", listing.kind)
    if (version, kind, metadata.get("namespace", "")) != (listing.version, listing.kind, listing.namespace):
        raise RefusalError("CC1003.other", what=listing.label, name=name)
    return name


def _drop_unused(value: dict[str, Any], kind: str) -> dict[str, Any]:
    """Return an object without its large and never compared fields: managedFields, a node's images, data."""
    metadata = {key: part for key, part in value["metadata"].items() if key != "managedFields"}
    if kind in KINDS and (writers := list_writers(value["metadata"].get("managedFields"))):
        metadata["managedFields"] = writers
    needed = {**value, "metadata": metadata}
    if kind == "Node":
        needed["status"] = {key: part for key, part in mapping(value.get("status")).items() if key != "images"}
    elif kind == "ConfigMap":
        needed["data"] = {key: part for key, part in mapping(value.get("data")).items() if key == FILE}
        needed.pop("binaryData", None)
    return needed
