"""/etc/passwd and /etc/group of an image.

Rule of this file: layers are read top down, and no further than needed, unless the sizes of all are wanted; each
is read once for all images of a run that share it. A link that leads elsewhere means another round, with that path
watched as well.
"""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from threading import Lock

from krm_function.lock.layer import Layer, ambiguous
from krm_function.lock.lock_problem import malformed
from krm_function.lock.media import Descriptor
from krm_function.lock.stacked_layers import MoreLayersError, Rootfs, UnwatchedError, prefixes
from krm_function.record import NamedTuple

PASSWD, GROUP = "etc/passwd", "etc/group"
ROUNDS = 4

ReadLayer = Callable[[Descriptor, frozenset[str]], Layer]


class ImageAccounts(NamedTuple):
    """The two files, None where there is none, and the uncompressed size of every layer that was read, by diffID."""

    passwd: str | None
    group: str | None
    sizes: Mapping[str, int]


def accounts(
    layers: Sequence[Descriptor], diff_ids: Sequence[str], read: ReadLayer, *, every: bool = False
) -> ImageAccounts:
    """Find both files. layers: lowest first, with their diffIDs. every: read them all. Raises LockProblem."""
    paths = frozenset((PASSWD, GROUP))
    sizes: dict[str, int] = {}
    for _ in range(ROUNDS):
        rootfs = Rootfs(prefixes(paths))
        rest = list(zip(layers, diff_ids, strict=True))
        while True:
            rootfs.complete = not rest
            try:
                files = ImageAccounts(_text(rootfs, PASSWD), _text(rootfs, GROUP), sizes)
                if not every or not rest:
                    return files
            except MoreLayersError:
                pass
            except UnwatchedError as found:
                paths |= {found.path}
                break
            descriptor, diff_id = rest.pop()
            layer = read(descriptor, rootfs.watched)
            if layer.diff_id != diff_id:
                raise malformed("CC1204.diff-id", "the image configuration") from None
            sizes[diff_id] = layer.size
            rootfs.layers.append(layer)
    raise ambiguous("CC1208.links", PASSWD)


def _text(rootfs: Rootfs, path: str) -> str | None:
    data = rootfs.read(path)
    try:
        return None if data is None else data.decode("utf-8")
    except UnicodeDecodeError:
        raise ambiguous("CC1208.encoding", path) from None


class Shared:
    """Layers that were read, by digest and watched paths; a second reader of one waits for the first."""

    def __init__(self) -> None:
        """Begin with none."""
        self._lock = Lock()
        self._known: dict[tuple[str, frozenset[str]], Future[Layer]] = {}

    def read(self, digest: str, watched: frozenset[str], make: Callable[[], Layer]) -> Layer:
        """Return the layer, which the first caller reads. A failure is raised for all who waited, and not kept."""
        key = (digest, watched)
        with self._lock:
            future = self._known.get(key)
            mine = future is None
            if future is None:
                future = self._known[key] = Future()
        if not mine:
            return future.result()
        try:
            layer = make()
        except BaseException as problem:
            with self._lock:
                del self._known[key]
            future.set_exception(problem)
            raise
        future.set_result(layer)
        return layer
