"""A Source that reads from registries: https://github.com/opencontainers/distribution-spec/blob/v1.1.1/spec.md

What else registries do: docs/facts/oci-registries.md#registries.

Rule of this file: only GET, and only what the spec calls pull. A status is answered here; bytes are passed on as they
come, for the caller to verify.
"""

from collections.abc import Generator
from contextlib import closing

from krm_function.lock.auth import Authenticator
from krm_function.lock.budget import Budget
from krm_function.lock.credentials import HUB, Credentials
from krm_function.lock.failures import trouble
from krm_function.lock.http_requests import Transport
from krm_function.lock.lock_problem import MISSING, LockProblem, malformed
from krm_function.lock.media import INDEXES, MANIFESTS, Descriptor
from krm_function.lock.reply import Reply, body_of, whole_body
from krm_function.lock.resolve_image import MANIFEST_LIMIT, Consume, Found, T
from krm_function.lock.server_urls import origin
from krm_function.lock.verified import too_large
from krm_function.model.image import Image

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
            raise LockProblem(MISSING, place=_host(image))
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
            raise LockProblem("CC1251.image", registry=_host(image))
        raise trouble("CC1250.status", _host(image), status=reply.status)


def _host(image: Image) -> str:
    """Return the registry of an image, as its reference names it."""
    return image.name.partition("/")[0]
