"""Parse `--from` and open its sources.

Rule of this file: sources are tried in the order of the command line, and no others: with an archive alone there is no
network.
"""

from collections.abc import Collection, Sequence

from krm_function.lock.resolve_image import ImageSource
from krm_function.record import NamedTuple

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
        from krm_function.lock.credentials import Credentials
        from krm_function.lock.http_requests import Transport
        from krm_function.lock.registry import Registry

        return Registry(Transport(plain_http, workers), Credentials())
    from krm_function.lock.docker_archive import DockerArchive
    from krm_function.lock.file_tree import open_tree
    from krm_function.lock.layout import Layout

    tree = open_tree(place.path)
    if place.form == "oci" or tree.get("oci-layout") is not None:  # what `docker save` writes today is both
        return Layout(tree)
    return DockerArchive(tree)
