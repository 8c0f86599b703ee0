"""What the stand-in is asked about, and how it says no."""

from typing import Any, NamedTuple

Json = dict[str, Any]


class Refused(Exception):
    """Why there is no policy."""


class Pod(NamedTuple):
    """What is asked about: the object, its pod and the ConfigMaps and Secrets that came with it."""

    object: Json
    pod: Json
    objects: dict[tuple[str, str], dict[str, str]]
    settings: Json
    patched: bool

    @property
    def namespace(self) -> str:
        return str(self.object["metadata"].get("namespace", ""))

    @property
    def context(self) -> Json:
        return self.pod["spec"].get("securityContext") or {}
