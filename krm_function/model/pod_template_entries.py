"""`podTemplates` of ContrastGenerate, and the catalogue, which has the same form: where objects of a kind have pods.

Rule of this file: what an author of entries writes, and the kinds that it stands for. An entry never says what a pod is
allowed beside its template, only what the controller of its kind adds: a text known from the object, or a form that is
narrow (model/template_texts.py).
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any, Literal

from krm_function.model.pod_kind import PATH, PodKind, PodTemplate
from krm_function.model.template_texts import FIELD, text_problem
from krm_function.record import Annotated, NamedTuple
from krm_function.schema.check import faults
from krm_function.schema.kinds import Anything, Choice, Field, ListOf, MapOf, Number, Problems, Record, Text
from krm_function.schema.table import EMPTY, table

GROUP = r"[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)+"
VARIABLE = "[-._a-zA-Z][-._a-zA-Z0-9]*"
TEXTS = Text("a text in which {FIELD} stands for a field of the object", check=text_problem)
KEYS = Text("a label or annotation key", "[A-Za-z0-9./_-]+", 317)
LINE = Text("a sentence, on one line", r"[^\r\n]+", 500)
WHICH = ("all", "containers", "first", "initContainers")
PLACES = ("first", "last", "missing")
PROBES = ("livenessProbe", "readinessProbe", "startupProbe")

CONDITIONS = MapOf(Text("a field of the object", FIELD), ListOf(Text()))
WHEN = "only where each of these fields has one of these values; an empty text stands for an absent field"
UNLESS = "not where one of these fields has one of these values"


def _check_variable(entry: dict[str, Any]) -> Problems:
    if (entry.get("value") is None) == (entry.get("fieldPath") is None):
        return (((), "needs either value or fieldPath"),)
    return ()


VARIABLES = Record(
    {
        "name": Field(Text("the name of a variable", VARIABLE, 253), required=True),
        "value": Field(TEXTS, "its value"),
        "fieldPath": Field(
            Text("a field of the pod", r"[^\0\r\n]+", 400), "the field of the pod that it has, as fieldRef"
        ),
        "containers": Field(
            Choice(WHICH),
            "all, init containers included; only containers; the first of these; or only init containers",
            default="all",
        ),
        "place": Field(
            Choice(PLACES),
            "first: before the variables of the template, in place of one of its name; last: behind them; "
            "missing: behind them, where the template has none of its name",
            default="first",
        ),
        "when": Field(CONDITIONS, WHEN),
        "unless": Field(CONDITIONS, UNLESS),
    },
    check=_check_variable,
)


def _check_added(entry: dict[str, Any]) -> Problems:
    """Look at what an added object has beside the fields of a pod spec."""
    own = {name: entry[name] for name in BESIDE.fields if name in entry}
    return tuple((fault.path, fault.problem) for fault in faults(BESIDE, own))


COMMAND = ListOf(TEXTS)
BESIDE = Record(
    {
        "containers": Field(Choice(WHICH), "of a mount: which containers get it"),
        "place": Field(Choice(PLACES), "missing: only where the template has none of it"),
        "like": Field(Choice(("first",)), "of an init container: it has what the first container has"),
        "command": Field(COMMAND, "of an init container"),
        "args": Field(COMMAND, "of an init container"),
        "when": Field(CONDITIONS, WHEN),
        "unless": Field(CONDITIONS, UNLESS),
    }
)
OBJECT = MapOf(Text(), Anything(), check=_check_added)
PROCESS = Record(
    {
        "command": Field(COMMAND, "its command"),
        "args": Field(COMMAND, "its arguments"),
        "instead": Field(LINE, "what to do with a template that has a command of its own", required=True),
        "when": Field(CONDITIONS, WHEN),
        "unless": Field(CONDITIONS, UNLESS),
    }
)
PROBE = Record(
    {
        "name": Field(Choice(PROBES), "the field of the container", required=True),
        "command": Field(COMMAND, "what the kubelet runs in the container", required=True),
        "when": Field(CONDITIONS, WHEN),
        "unless": Field(CONDITIONS, UNLESS),
    }
)
ADDS = Record(
    {
        "labels": Field(MapOf(KEYS, TEXTS), "labels of each pod, for variables that are made of them"),
        "annotations": Field(MapOf(KEYS, TEXTS), "annotations of each pod, for variables that are made of them"),
        "env": Field(ListOf(VARIABLES), "variables of its containers"),
        "volumes": Field(ListOf(OBJECT), "volumes, as in a pod spec"),
        "volumeMounts": Field(ListOf(OBJECT), "mounts of each container, as in a pod spec"),
        "initContainers": Field(ListOf(OBJECT), "init containers behind those of the template, as in a pod spec"),
        "process": Field(ListOf(PROCESS), "the command of the first container, of a template that has none"),
        "probes": Field(ListOf(PROBE), "exec probes of the first container, of a template that has none of the name"),
    }
)
REFUSAL = Record(
    {
        "reason": Field(LINE, "why no policy describes the pods, or what none covers", required=True),
        "instead": Field(LINE, "what to do", required=True),
        "when": Field(CONDITIONS, WHEN),
        "unless": Field(CONDITIONS, UNLESS),
    }
)


class TemplateEntry(NamedTuple):
    """Where one pod template stands, and what becomes of it."""

    path: Annotated[
        str,
        Field(
            Text("a path such as spec.workers[*].template", PATH, 400, "spec.template"),
            "from the object to the pod template; [*] stands for each entry of a list",
        ),
    ]
    part: Annotated[
        str,
        Field(
            Text("a short text", check=text_problem, longest=200),
            "the name of the workload behind # in addresses, such as workers-{.groupName}; "
            "absent: made of the path, none for an only template",
        ),
    ] = ""
    names: Annotated[
        tuple[str, ...],
        Field(
            ListOf(TEXTS),
            "what names the controller gives to the pods; absent: any name. With {suffix} at its end it is a name that "
            "the API server makes: cut at 58 characters, and five letters",
        ),
    ] = ()
    longestName: Annotated[  # noqa: N815 (a field of the API)
        int,
        Field(
            Number(1, 253), "characters of the longest name of an object of which there will be pods; absent: no limit"
        ),
    ] = 0
    when: Annotated[Mapping[str, tuple[str, ...]], Field(CONDITIONS, WHEN)] = EMPTY
    unless: Annotated[Mapping[str, tuple[str, ...]], Field(CONDITIONS, UNLESS)] = EMPTY
    claims: Annotated[
        str,
        Field(
            Choice(("spec.volumeClaimTemplates",)),
            "where the claim templates of the pods are, if they are as in a StatefulSet",
        ),
    ] = ""
    adds: Annotated[  # a map of ADDS, which a schema beside people's files would be too long with
        Mapping[str, Any],
        Field(
            MapOf(
                Text(f"one of {', '.join(ADDS.fields)}", "|".join(ADDS.fields)),
                Anything(),
            ),
            "what the controller adds to each pod: labels, annotations, env, volumes, volumeMounts, initContainers, "
            "process, probes",
        ),
    ] = EMPTY
    refuses: Annotated[
        tuple[Mapping[str, Any], ...],
        Field(ListOf(REFUSAL), "objects that are refused, each with the reason and what to do"),
    ] = ()
    warns: Annotated[
        tuple[Mapping[str, Any], ...],
        Field(ListOf(REFUSAL), "objects that are sealed with a warning of what no policy covers, and what to do"),
    ] = ()


def _check_template(entry: dict[str, Any]) -> Problems:
    return tuple((("adds", *fault.path), fault.problem) for fault in faults(ADDS, entry.get("adds") or {}))


class KindEntry(NamedTuple):
    """A kind of custom resources whose pods are sealed, or why they are not."""

    group: Annotated[str, Field(Text("an API group, such as example.com", GROUP, 253), "of the kind")]
    kind: Annotated[str, Field(Text("a kind, such as Thing", "[A-Z][A-Za-z0-9]*", 63), "of the objects")]
    versions: Annotated[
        tuple[str, ...], Field(ListOf(Text("a version, such as v1", "v[0-9][a-z0-9]*", 63)), "absent: any")
    ] = ()
    templates: Annotated[
        tuple[TemplateEntry, ...], Field(ListOf(table(TemplateEntry, _check_template)), "its pod templates")
    ] = ()
    refused: Annotated[str, Field(Text("a reason, on one line", r"[^\r\n]+", 500), "why its pods cannot be sealed")] = (
        ""
    )
    instead: Annotated[str, Field(Text("a remedy, on one line", r"[^\r\n]+", 500), "what to do in place of that")] = ""
    sources: Annotated[
        tuple[str, ...], Field(ListOf(Text("a source", r"[^\r\n]+", 500)), "where this is known from, for readers")
    ] = ()


def _check(entry: dict[str, Any]) -> Problems:
    if bool(entry.get("templates")) == bool(entry.get("refused")):
        return (((), "needs either templates or refused"),)
    return ()


def _check_once(entries: list[Any]) -> Problems:
    keys = [(entry["group"], entry["kind"]) for entry in entries]
    return tuple(((index,), "is there twice") for index, key in enumerate(keys) if key in keys[:index])


KIND_ENTRY = table(KindEntry, _check)
ENTRIES = ListOf(KIND_ENTRY, check=_check_once)


def kinds_of(
    entries: Iterable[KindEntry], source: Literal["catalogue", "configuration"]
) -> Mapping[tuple[str, str], PodKind]:
    """Return the kinds that entries stand for, by group and kind."""
    return {
        (one.group, one.kind): PodKind(
            one.group,
            one.kind,
            tuple(_template(each) for each in one.templates),
            one.versions,
            one.refused,
            one.instead,
            source,
        )
        for one in entries
    }


def _template(entry: TemplateEntry) -> PodTemplate:
    claims = tuple(entry.claims.split(".")) if entry.claims else ()
    conditions = {"when": entry.when, "unless": entry.unless}
    return PodTemplate(
        _pattern(entry.path),
        entry.part,
        entry.names,
        entry.adds,
        claims,
        conditions,
        tuple(entry.refuses),
        tuple(entry.warns),
        entry.longestName,
    )


def _pattern(path: str) -> tuple[str, ...]:
    return tuple(re.sub(r"\[\*\]", ".*", path).split("."))
