"""Lists of a cluster's objects, page by page, each looked at before anything relies on its shape.

Rule of this file: a list is of the kind that was asked for, has the objects of the namespace that was asked for, each
once and by a name that Kubernetes allows, and it ends; any other is refused. Fields that nobody here compares are left
out at once, so that a large cluster takes no more room than what is compared.
"""

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote, urlencode

from krm_function.api.strict_json import load_any
from krm_function.checking.written_by import writers
from krm_function.cli.cluster.connection import ApiServer, RefusalError
from krm_function.manifest.ordered_fields import FILE
from krm_function.model.kinds import KINDS
from krm_function.model.lookup import mapping
from krm_function.record import NamedTuple

MOST_OBJECTS = 16  # of a page of ConfigMaps, each of which may have 1 MiB
MOST_SMALL_OBJECTS = 250  # of a page of anything else
MOST_PAGES = 2_000  # of one list
MOST_VALUES = 2_000_000  # of one page, counted by the characters that begin one: what it costs to build them
MOST_OF_ALL = 8_000_000  # of all pages of what is kept, which pods are not
LONGEST_TOKEN = 4096  # characters of what leads to the next page
NAME = re.compile(r"[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?")  # a DNS subdomain
NAMESPACE = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")  # a DNS label


class Listing(NamedTuple):
    """What to list. version: as in apiVersion. what: it is, in a message. namespace: "" for what belongs to none."""

    version: str
    kind: str
    what: str
    namespace: str = ""

    @property
    def path(self) -> str:
        """Where the API server has it."""
        group = f"/apis/{self.version}" if "/" in self.version else f"/api/{self.version}"
        name = self.kind.lower()
        plural = f"{name[:-1]}ies" if name.endswith("y") else f"{name}{'es' if name.endswith(('s', 'x')) else 's'}"
        return f"{group}/namespaces/{quote(self.namespace)}/{plural}" if self.namespace else f"{group}/{plural}"


class Lists:
    """Reads lists of one API server."""

    def __init__(self, server: ApiServer) -> None:
        """server: of which everything is asked."""
        self._server = server
        self._values = 0

    def objects(self, listing: Listing) -> Iterator[dict[str, Any]]:
        """Yield each object of a list with its apiVersion and kind, which members of a list do not say.

        Raises RefusalError.
        """
        if listing.namespace and not NAMESPACE.fullmatch(listing.namespace):
            raise RefusalError("CC1003.namespace", namespace=listing.namespace)
        size = MOST_OBJECTS if listing.kind == "ConfigMap" else MOST_SMALL_OBJECTS
        names: set[str] = set()
        tokens = {""}
        query = {"limit": str(size)}
        for _ in range(MOST_PAGES):
            page = self._page(f"{listing.path}?{urlencode(query)}", listing)
            for number, value in enumerate(page.items, 1):
                name = _name(value, number, listing)
                if name in names:
                    raise RefusalError("CC1003.twice", what=listing.what, name=name)
                names.add(name)
                yield {"apiVersion": listing.version, "kind": listing.kind, **_needed(value, listing.kind)}
            if not page.token:
                return
            if page.token in tokens or not page.items:
                break
            tokens.add(page.token)
            query["continue"] = page.token
        raise RefusalError("CC1003.endless", what=listing.what)

    def _page(self, path: str, listing: Listing) -> "_Page":
        data = self._server.get(path, listing.what)
        values = sum(map(data.count, (b"{", b"[", b",")))
        self._values += values if listing.kind != "Pod" else 0
        if values > MOST_VALUES:
            raise RefusalError("CC1003.size", what=listing.what, limit=f"{MOST_VALUES} values")
        if self._values > MOST_OF_ALL:
            raise RefusalError("CC1003.size-of-all", limit=f"{MOST_OF_ALL} values")
        return _parsed(data, listing)


class _Page(NamedTuple):
    """token: for the next page, "" for none."""

    items: list[Any]
    token: str


def _parsed(data: bytes, listing: Listing) -> _Page:
    try:
        value = load_any(data.decode("utf-8"))
    except UnicodeDecodeError:
        raise RefusalError("CC1003.encoding", what=listing.what) from None
    except RecursionError:
        raise RefusalError("CC1003.depth", what=listing.what) from None
    except ValueError as problem:
        raise RefusalError("CC1003.text", what=listing.what, error=problem) from None
    head = mapping(value)
    if (head.get("apiVersion"), head.get("kind")) != (listing.version, f"{listing.kind}List"):
        raise RefusalError("CC1003.kind", what=listing.what, wanted=f"{listing.kind}List of {listing.version}")
    items, metadata = head.get("items", ""), head.get("metadata", {})
    items = [] if items is None else items  # as Go writes a list that nobody has filled
    token = mapping(metadata).get("continue") or ""
    usable = isinstance(items, list) and isinstance(metadata, dict)
    if not usable or not isinstance(token, str) or len(token) > LONGEST_TOKEN:
        raise RefusalError("CC1003.items", what=listing.what)
    return _Page(items, token)


def _name(value: Any, number: int, listing: Listing) -> str:
    """Return the name of an item, after a look at what it says it is."""
    metadata = mapping(mapping(value).get("metadata"))
    name = metadata.get("name")
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise RefusalError("CC1003.item", what=listing.what, number=number)
    identity = (
        value.get("apiVersion", listing.version),
        value.get("kind", listing.kind),
        metadata.get("namespace", ""),
    )
    if identity != (listing.version, listing.kind, listing.namespace):
        raise RefusalError("CC1003.other", what=listing.what, name=name)
    return name


def _needed(value: dict[str, Any], kind: str) -> dict[str, Any]:
    """Return an object without what is large and compared with nothing: fields of writers, a node's images, data."""
    metadata = {key: part for key, part in value["metadata"].items() if key != "managedFields"}
    if kind in KINDS and (who := writers(value["metadata"].get("managedFields"))):
        metadata["managedFields"] = who
    needed = {**value, "metadata": metadata}
    if kind == "Node":
        needed["status"] = {key: part for key, part in mapping(value.get("status")).items() if key != "images"}
    elif kind == "ConfigMap":
        needed["data"] = {key: part for key, part in mapping(value.get("data")).items() if key == FILE}
        needed.pop("binaryData", None)
    return needed
