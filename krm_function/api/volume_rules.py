"""`volumes` of ContrastGenerate: rules that rewrite volumes which no confidential pod can have.

Rule of this file: what a user writes. A rule that is not there changes nothing. What each rule makes of a pod, and of
which it refuses, is in its own stage: split_sub_paths, secure_pv, image_volumes, host_path_caches.
"""

from typing import Any, Literal

from krm_function.api.policy_options import NAME_PATTERN
from krm_function.model.labels import LONGEST_SUBDOMAIN
from krm_function.record import NamedTuple
from krm_function.schema.kinds import Choice, Field, Flag, ListOf, Record, Text, Word
from krm_function.schema.table import only

DIVIDE = "divideSizeLimit"
LONGEST_PATH = 4095  # bytes, without the end (limits.h(0p), PATH_MAX on Linux)
NO_CACHES = ("dev", "proc", "sys")  # directories of / in which no program keeps a cache


class VolumeRules(NamedTuple):
    """The rules that are on. split_sub_paths: with DIVIDE, a sizeLimit is divided among the new volumes.

    secure_claims: names of claims, * for any text. cache_paths: paths of hostPath volumes.
    """

    split_sub_paths: bool | Literal["divideSizeLimit"] = False
    secure_claims: tuple[str, ...] = ()
    image_volumes: bool = False
    cache_paths: tuple[str, ...] = ()

    @property
    def names_something(self) -> bool:
        """Whether a rule has names, of which each has to be in the input."""
        return bool(self.secure_claims or self.cache_paths)


def _path_problem(path: str) -> str:
    parts = path.strip("/").split("/")
    if {"", ".", ".."}.intersection(parts):
        return "must be a path without empty parts, . and .."
    return "is no place for a cache" if parts[0] in NO_CACHES else ""


def _rules(
    splitSubPaths: bool | Literal["divideSizeLimit"] = False,  # noqa: N803 (fields of the document)
    securePV: list[str] | None = None,  # noqa: N803
    imageVolumes: str = "",  # noqa: N803
    hostPathCaches: list[str] | None = None,  # noqa: N803
) -> VolumeRules:
    return VolumeRules(splitSubPaths, tuple(securePV or ()), bool(imageVolumes), tuple(hostPathCaches or ()))


CLAIM_NAME = Text("a name with * for any text", NAME_PATTERN, LONGEST_SUBDOMAIN, "data")  # as model.glob_pattern reads
CACHE_PATH = Text("an absolute path", r"/[^\0\r\n]+", LONGEST_PATH, "/models", _path_problem)


def _list_of(name: str, items: Text, about: str) -> Record:
    fields: dict[str, Any] = {name: Field(ListOf(items), about, required=True)}
    return Record(fields, make=only)


VOLUMES = Record(
    {
        "splitSubPaths": Field(
            Word(DIVIDE, Flag()),
            "an emptyDir that is mounted by subPath only becomes one emptyDir for each subPath; with divideSizeLimit "
            "its sizeLimit is divided among them, else one is an error",
            default=False,
        ),
        "securePV": Field(
            _list_of(
                "claims",
                CLAIM_NAME,
                "names of PersistentVolumeClaims, of volumeClaimTemplates, or of the volumes of pods that name a claim;"
                " one that names none is an error",
            ),
            "claims that become encrypted volumes: Contrast's annotation secure-pv, and volumeMode Block in the claim",
        ),
        "imageVolumes": Field(
            Choice(("emptyDir",)),
            "an emptyDir at each VOLUME of an image that no volumeMount covers; it does not have the image's files",
        ),
        "hostPathCaches": Field(
            _list_of(
                "paths",
                CACHE_PATH,
                "paths of hostPath volumes of type DirectoryOrCreate or of none; one that names none is an error",
            ),
            "caches on the node that become an emptyDir of each pod",
        ),
    },
    make=_rules,
)
