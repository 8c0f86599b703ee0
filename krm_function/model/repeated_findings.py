"""Tell which findings about a workload that has errors only repeat one of them.

Rule of this file: every stage looks at a workload, also at one with errors, so that a person sees all errors in one
round. A later stage stumbles over what an earlier one has refused, so its findings there are left out:

    an error is about               a later finding is left out at
    a place in the pod spec         that place and everything below it
    a volume, or a mount of it      that volume and every mount of it in any container
    two containers of one name      the name of a container, and where a container is taken for Contrast's own
"""

from collections.abc import Iterable, Sequence

from krm_function.findings import Finding, Path, has_errors
from krm_function.model.workload import Workload

OF_VOLUMES = ("CC0601", "CC0605", "CC0805", "CC0807", "CC0808", "CC0810", "CC083")  # about a volume, or its source
CLAIMS = "volumeClaimTemplates"
SAME_NAME = "CC0208"
BY_NAME = "CC0507"  # the image of a container with one of Contrast's names


def news(later: Iterable[Finding], known: Sequence[Finding], workload: Workload) -> tuple[Finding, ...]:
    """Return the later findings that repeat none of the errors that are known; paths are those of the workload."""
    errors = [found for found in known if has_errors([found])]
    covered = {place for found in errors for place in _places(found, workload)}
    named = any(found.code == SAME_NAME for found in errors)
    return tuple(
        found
        for found in later
        if not (named and (found.code == BY_NAME or found.path[-1:] == ("name",)))
        and not any(place in covered for path in _seen_as(found.path, workload) for place in _prefixes(path))
    )


def _places(found: Finding, workload: Workload) -> Iterable[Path]:
    """Yield the places that an error makes unfit for later stages; the whole pod spec is none."""
    if len(found.path) > len(workload.spec_path):
        yield found.path
    if found.code.startswith(OF_VOLUMES):
        yield from (path for path in _seen_as(found.path, workload) if path != found.path)


def _seen_as(path: Path, workload: Workload) -> Iterable[Path]:
    """Yield a path, and the volume that it is about, by its name."""
    yield path
    spec = workload.spec_path
    for field, name in (("volumes", ("name",)), ("volumeMounts", ("name",)), (CLAIMS, ("metadata", "name"))):
        if field in path:
            entry = path[: path.index(field) + 2]
            found = workload.at((*entry, *name)) if len(entry) > path.index(field) + 1 else None
            if isinstance(found, str):
                yield (*spec, "volumes", found)


def _prefixes(path: Path) -> Iterable[Path]:
    return (path[:length] for length in range(1, len(path) + 1))
