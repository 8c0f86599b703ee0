"""The directories of Kata's policy cases in a checkout: everything below a directory that is called `testdata`.

A directory has cases (JSON, or YAML with `cases` in it), resources (YAML: one workload, ConfigMaps, Secrets) and may
have settings: a `genpolicy-settings.json`, and drop-ins, which are lists of JSON Patch operations. One without
resources or settings takes those of the nearest directory above it that has some.

Rule of this file: it starts nothing and judges nothing. A file that is not understood is a problem with its name.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from yaml import YAMLError

from benchmarks.policy.kata_cases import Cases, is_cases, read_cases
from krm_function.findings import Ref
from krm_function.kubernetes.kinds import KINDS
from krm_function.kubernetes.objects import mapping
from krm_function.kubernetes.workload import Workload, workloads_of
from tests import quick_yaml as yaml

Json = dict[str, Any]
SETTINGS = "genpolicy-settings.json"
DROP_INS = "genpolicy-settings.d"
YAML = (".yaml", ".yml")
PROSE = (".md", ".txt", ".gitignore", ".gitattributes")
CACHE = "layers-cache.json"


class Files(NamedTuple):
    """What one directory holds. settings: a whole document; drop_ins: in the order of their names."""

    cases: tuple[tuple[str, Cases], ...] = ()
    documents: tuple[Json, ...] = ()
    settings: Json | None = None
    drop_ins: tuple[Any, ...] = ()
    problems: tuple[str, ...] = ()


class Directory(NamedTuple):
    """One directory with cases. cases: by the name of their file. problems: why it, or a part of it, cannot be run."""

    name: str
    workload: Workload | None
    documents: tuple[Json, ...]
    settings: Json | None
    drop_ins: tuple[Any, ...]
    cases: tuple[tuple[str, Cases], ...]
    problems: tuple[str, ...]

    @property
    def images(self) -> tuple[str, ...]:
        """The images of the pod, each once."""
        pod = self.workload
        named = [one.get("image") for one in (*pod.init_containers, *pod.containers)] if pod else []
        return tuple(dict.fromkeys(one for one in named if isinstance(one, str)))


def read_suite(checkout: Path) -> tuple[list[Directory], list[str]]:
    """Every directory with cases, in the order of their names; and the files of others that were not understood."""
    found: dict[Path, Files] = {}
    roots = sorted({place for place in (checkout, *checkout.rglob("testdata")) if place.name == "testdata"})
    for root in roots:
        for place in (root, *(path for path in sorted(root.rglob("*")) if _is_place(path))):
            found[place] = _files(place, checkout)
    directories = [_directory(place, found, checkout) for place in sorted(found) if found[place].cases]
    rest = [problem for files in found.values() if not files.cases for problem in files.problems]
    used = {above for place in found if found[place].cases for above in (place, *place.parents)}
    for place, files in found.items():
        if place not in used and (files.documents or files.drop_ins):
            rest.append(f"{place.relative_to(checkout)}: no file of cases")
    return directories, rest


def _is_place(path: Path) -> bool:
    return path.is_dir() and path.name != DROP_INS


def _files(place: Path, checkout: Path) -> Files:
    cases: list[tuple[str, Cases]] = []
    documents: list[Json] = []
    drop_ins: list[Any] = []
    problems: list[str] = []
    settings = None
    own = (path for path in place.iterdir() if path.is_file())
    for path in (*sorted(own), *sorted((place / DROP_INS).glob("*.json"))):
        name = str(path.relative_to(checkout))
        if path.name == CACHE or path.suffix in PROSE or path.name in PROSE:
            continue
        try:
            values = _values(path)
        except (ValueError, YAMLError) as wrong:
            problems.append(f"{name}: {' '.join(str(wrong).split())[:200]}")
            continue
        if path.name == SETTINGS and len(values) == 1 and isinstance(values[0], dict):
            settings = values[0]
        elif len(values) == 1 and (is_cases(values[0]) or "cases" in path.stem):
            cases.append((path.name, read_cases(values[0])))
        elif len(values) == 1 and _is_patch(values[0]):
            drop_ins.append(values[0])
        elif all(isinstance(one, dict) and one.get("kind") for one in values):
            documents += values
        else:
            problems.append(f"{name}: neither cases, nor settings, nor resources")
    return Files(tuple(cases), tuple(documents), settings, tuple(drop_ins), tuple(problems))


def _values(path: Path) -> list[Any]:
    """Return the documents of a file. Raises ValueError."""
    if path.suffix == ".json":
        return [json.loads(path.read_text(encoding="utf-8"))]
    if path.suffix in YAML:
        return [one for one in yaml.safe_load_all(path.read_text(encoding="utf-8")) if one is not None]
    return [None]


def _is_patch(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(one, dict) and "op" in one for one in value)


def _directory(place: Path, found: dict[Path, Files], checkout: Path) -> Directory:
    here = found[place]
    above = [found[one] for one in (place, *place.parents) if one in found]
    documents = next((one.documents for one in above if one.documents), ())
    settings = next((one for one in above if one.settings is not None or one.drop_ins), Files())
    problems = list(here.problems)
    workloads = list(_workloads(documents))
    if len(workloads) != 1:
        problems.append(f"{len(workloads) or 'no'} workloads: which one has the policy is not known")
    for name, cases in here.cases:
        problems += [f"{name}: {one}" for one in cases.problems]
    return Directory(
        str(place.relative_to(checkout)),
        workloads[0] if len(workloads) == 1 else None,
        documents,
        settings.settings,
        settings.drop_ins,
        here.cases,
        tuple(problems),
    )


def _workloads(documents: tuple[Json, ...]) -> Iterator[Workload]:
    """Yield the objects that have a pod."""
    for document in documents:
        metadata = mapping(document.get("metadata"))
        kind, version = str(document.get("kind")), str(document.get("apiVersion"))
        if kind in KINDS and KINDS[kind][0] == version:
            yield workloads_of(
                document,
                (),
                Ref(version, kind, (metadata or {}).get("namespace", ""), (metadata or {}).get("name", "")),
            )[0]
