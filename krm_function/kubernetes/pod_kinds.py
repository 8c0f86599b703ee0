"""The kinds that have pod templates: those of Kubernetes, the catalogue, and `spec.podTemplates`."""

import functools
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Literal

from krm_function.findings import Path, Ref
from krm_function.kubernetes.kinds import CATALOGUED, KINDS, REFUSED, Pattern, expand
from krm_function.kubernetes.objects import dig, mapping, maps
from krm_function.kubernetes.quantity import nano, units
from krm_function.record import Annotated, NamedTuple
from krm_function.schema.check import faults
from krm_function.schema.table import EMPTY, filled, read_value, table
from krm_function.schema.values import Anything, Choice, Field, ListOf, MapOf, Number, Problems, Record, Text
from krm_function.text.parse import read_value as read_yaml

# --- A kind of objects with pod templates: their paths, and the changes by its controller
#
# Rule: records, and how paths in them are written.


_KEY = "[A-Za-z][A-Za-z0-9_-]*"
PATH = rf"{_KEY}(?:\[\*\])?(?:\.{_KEY}(?:\[\*\])?)*"  # of a template, in an entry
OF_CONTROLLER = "the controller, as "  # the source of an open variable with a known form begins with this


class PlacedTemplate(NamedTuple):
    """One pod template of an object. path: from the object. part: as in an address. made_by: None for the eight."""

    path: Path
    part: str = ""
    made_by: "PodTemplate | None" = None


# --- Texts of an entry of spec.podTemplates: the texts that a controller writes into pods
#
#     {metadata.name}                    the field of the object
#     {spec.network.subdomain=web}       the field, or `web` where it is absent or empty
#     {.groupName}                       the field of the list entry with the pod template
#     {.params['num-cpus']}              a key with other characters than letters and digits
#     {.ports[name=http].containerPort}  a field of the entry of a list that has this name
#     {rayStart}, {rayPods}              computed from the object by a rule (kubernetes/pod_kinds.py)
#     {number}, {suffix}, {templateHash}, {hash}, {digest}, {uid}
#                                        a text of that form that only the cluster knows
#     {index}                            the completion index of a Job, which stays where a name is cut
#     {pod}                              the name of the pod
#     {{ and }}                          braces
#
# Rule: a form is as narrow as the texts of controllers, and no form allows any text. A known text
# can never be read as a form: forms are markers until the policy is written.


# name in braces -> the token of policy/expansion.py
FORMS: Mapping[str, str] = {
    "number": "pod-index",
    "index": "completion-index",
    "suffix": "generated",
    "templateHash": "template-hash",
    "hash": "controller-hash",
    "pod": "sandbox-name",
    "digest": "controller-digest",
    "uid": "pod-uid",
}
RULES = ("rayStart", "rayPods")
NAMESPACE = "metadata.namespace"
FIELD = r"(?:metadata|spec)?(?:\.[A-Za-z][A-Za-z0-9]*|\['[A-Za-z0-9._/-]+'\]|\[name=[A-Za-z0-9.-]+\])+"
PIECES = r"\{\{|\}\}|\{([^{}]*)\}|[{}]"
REFERENCE = rf"({FIELD})(?:=([A-Za-z0-9._-]*))?"
STEPS = r"\[name=([^\]]+)\]|([A-Za-z][A-Za-z0-9]*)|\['([^']+)'\]"
AT_LEAST = ">="  # before a version, in a condition

Known = Literal["form", "field", "rule", "text"]


class MissingFieldError(ValueError):
    """A field that a text needs is not in the object, or is neither a text nor a number."""


class NotDerivedError(MissingFieldError):
    """A rule cannot derive the controller's text for this object. reason, instead: as in a finding."""

    def __init__(self, reason: str, instead: str) -> None:
        super().__init__(reason)
        self.reason, self.instead = reason, instead


class Piece(NamedTuple):
    """A piece of a text. value: the text, the name of a form or rule, or the path of a field. default: or None."""

    kind: Known
    value: str
    default: str | None = None


def text_problem(text: str) -> str:
    """Return the problem of a text of an entry, or ""."""
    if "\0" in text:
        return "contains a NUL byte"
    try:
        pieces(text)
    except ValueError as problem:
        return str(problem)
    return ""


@functools.lru_cache(maxsize=1024)  # the texts of an entry are those of all objects of its kind
def pieces(text: str) -> tuple[Piece, ...]:
    """Return the pieces of a text. Raises ValueError with its problem."""
    return tuple(_split_pieces(text))


def _split_pieces(text: str) -> Iterator[Piece]:
    end = 0
    for match in re.finditer(PIECES, text):
        if match.start() > end:
            yield Piece("text", text[end : match.start()])
        end = match.end()
        inside = match[1]
        if inside is None:
            if match[0] in "{}":
                raise ValueError("has a brace without its other one; write {{ or }} for a brace")
            yield Piece("text", match[0][0])
        elif inside in FORMS:
            yield Piece("form", inside)
        elif inside in RULES:
            yield Piece("rule", inside)
        else:
            reference = re.fullmatch(REFERENCE, inside)
            if reference is None:
                raise ValueError(f"has {{{inside}}}, which is no field of the object and none of {', '.join(FORMS)}")
            yield Piece("field", reference[1], reference[2])
    if end < len(text):
        yield Piece("text", text[end:])


def field_of(path: str, value: Any, template: Path) -> Any:
    """Return a field of an object, or of the list entry around a pod template; None without it."""
    steps = field_steps(path)
    if not path.startswith((".", "[")):
        return _follow_steps(value, steps)
    inner = next((index for index in reversed(range(len(template))) if isinstance(template[index], int)), None)
    return None if inner is None else _follow_steps(dig(value, template[: inner + 1]), steps)


def _follow_steps(value: Any, steps: tuple[str, ...]) -> Any:
    """In a list, a step is the name of an entry, or else a field of one; the first one counts."""
    for step in steps:
        if isinstance(value, list):
            entry_named = next((entry for entry in maps(value) if entry.get("name") == step), None)
            fields = (entry[step] for entry in maps(value) if entry.get(step) is not None)
            value = entry_named if entry_named is not None else next(fields, None)
        else:
            value = mapping(value).get(step)
    return value


@functools.lru_cache(maxsize=1024)
def field_steps(path: str) -> tuple[str, ...]:
    """Return the keys and names of the path of a field.

    >>> field_steps("metadata.annotations['ray.io/x']")
    ('metadata', 'annotations', 'ray.io/x')
    >>> field_steps(".ports[name=http].containerPort")
    ('ports', 'http', 'containerPort')
    """
    return tuple(match[1] or match[2] or match[3] for match in re.finditer(STEPS, path))


def applies(entry: Mapping[str, Any], value: Any, template: Path) -> bool:
    """Tell whether all conditions of `when` hold for an object, and none of `unless`."""
    when, unless = entry.get("when") or {}, entry.get("unless") or {}
    if not when and not unless:
        return True
    return all(_has_value(path, values, value, template) for path, values in when.items()) and not any(
        _has_value(path, values, value, template) for path, values in unless.items()
    )


def _has_value(path: str, values: Any, value: Any, template: Path) -> bool:
    content = field_of(path, value, template)
    if isinstance(content, (dict, list)):
        return False  # is not a text, and writing a whole pod template as text takes long
    text = "" if content is None else str(content).lower() if isinstance(content, bool) else str(content)
    return text in values or any(_is_at_least(text, version) for version in values if version.startswith(AT_LEAST))


def _is_at_least(text: str, condition: str) -> bool:
    """Tell whether a text begins with a version of at least the one in `>=1.2.3`."""
    versions = [re.match(r"v?([0-9]+(?:\.[0-9]+)*)", version) for version in (text, condition.removeprefix(AT_LEAST))]
    if not all(versions):
        return False
    present, least = ([int(number) for number in version[1].split(".")] for version in versions if version)
    size = max(len(present), len(least))
    return [*present, *[0] * (size - len(present))] >= [*least, *[0] * (size - len(least))]


def written(text: str, value: Any, template: Path, *, marked: bool = True) -> str:
    """Return a text with its fields, and with markers for its forms.

    value, template: the object and the path of the pod template in it. marked: else a form is MissingFieldError, too.
    """
    parts = []
    for piece in pieces(text):
        match piece.kind:
            case "text":
                parts.append(piece.value)
            case "form":
                if not marked:
                    raise MissingFieldError(piece.value)
                parts.append(f"\0{FORMS[piece.value]}\0")
            case "rule":
                parts.append(RAY[piece.value](value, template))
            case "field":
                parts.append(_scalar_text(piece, field_of(piece.value, value, template)))
    return "".join(parts)


def _scalar_text(piece: Piece, value: Any) -> str:
    if (value is None or value == "") and piece.default is not None:
        return piece.default
    if (value is None or value == "") and piece.value == NAMESPACE:
        return "\0sandbox-namespace\0"  # as kubectl sets it
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int) or (isinstance(value, str) and "\0" not in value):
        return str(value)
    raise MissingFieldError(piece.value)


# --- Texts that KubeRay computes from a RayCluster: the command that starts Ray, and the prefix of its pods' names
#
# Rule: any case that the operator computes differently is refused, never guessed. The address of the
# head is left as `$(FQ_RAY_IP)`, a variable that the operator writes into the same container, so that the policy has
# its value from one place. Source: docs/facts/controllers.md#kuberay.


PORT = "6379"
FLAGS = ("log-color", "include-dashboard")  # options whose value may be the word true or false
COUNTED = ("google.com/tpu", "aws.amazon.com/neuroncore")  # these become JSON in the option `resources`
LONGEST_PREFIX = 50  # characters of a pod's name before its role
MADE = {"rayClusterSpec", "rayClusterConfig"}  # of a RayJob and a RayService, whose RayCluster has a suffix
SUFFIX = "\0generated\0"
_GPU = r".*gpu|.*nvidia\.com/mig-[0-9]+g\.[0-9]+gb"


def ray_start(value: Any, template: Path) -> str:
    """Return the operator's command from rayStartParams and the limits of the first container.

    template: path of the group's pod template. Raises NotDerivedError.
    """
    is_head = "headGroupSpec" in template
    params = _start_params(value, template[:-1])
    if is_head:
        params.setdefault("dashboard-host", "0.0.0.0")  # noqa: S104 (what the operator writes)
    else:
        head = _start_params(value, (*template[: template.index("workerGroupSpecs")], "headGroupSpec"))
        params.setdefault("address", f"$(FQ_RAY_IP):{head.get('port', PORT)}")
    params.setdefault("metrics-export-port", "8080")
    params.setdefault("dashboard-agent-listen-port", "52365")
    params["block"] = "true"
    _add_resources(params, mapping((maps(dig(value, (*template, "spec", "containers"))) or [{}])[0].get("resources")))
    return f"ray start {'--head ' if is_head else ''}{''.join(map(_write_option, sorted(params.items())))}"


def _start_params(value: Any, group: Path) -> dict[str, str]:
    """Raise NotDerivedError for a parameter that is not a text."""
    params = mapping(dig(value, (*group, "rayStartParams")))
    for name, text in params.items():
        if not isinstance(text, str) or "\0" in text:
            raise NotDerivedError(
                f"{name} of rayStartParams is not a string", f'write {name} as a string: "1" instead of 1'
            )
    return dict(params)


def _add_resources(params: dict[str, str], resources: Mapping[str, Any]) -> None:
    """Add the first container's CPUs, memory and GPUs."""
    limits, requests = (mapping(resources.get(name)) for name in ("limits", "requests"))
    for option, amounts in (
        ("num-cpus", (limits.get("cpu"), requests.get("cpu"))),
        ("memory", (limits.get("memory"),)),
    ):
        amount_found = next((amount for amount in amounts if _is_positive(amount)), None)
        if option not in params and amount_found is not None:
            params[option] = str(units(amount_found))
    counted = [name for name in COUNTED if name in limits]
    if counted:
        raise NotDerivedError(f"the operator includes {counted[0]} in its command", f"remove {counted[0]}")
    gpus = [name for name in sorted(limits) if re.fullmatch(_GPU, name) and _is_positive(limits[name])]
    if gpus:
        params.setdefault("num-gpus", str(units(limits[gpus[0]])))


def _is_positive(amount: Any) -> bool:
    """Tell whether a quantity is there and not zero. Raises NotDerivedError for anything else."""
    try:
        return amount is not None and nano(amount) != 0
    except ValueError as problem:
        raise NotDerivedError(f"an amount of resources {problem}", "write a Kubernetes quantity") from problem


def _write_option(option: tuple[str, str]) -> str:
    """Use the operator's spaces: a word for true, nothing for false."""
    name, text = option
    if text.lower() in ("true", "false") and name not in FLAGS:
        return f" --{name} " if text.lower() == "true" else ""
    return f" --{name}={text} "


def ray_pods(value: Any, template: Path) -> str:
    """Return the prefix of a group's pod names: the cluster and the group, cut, and the role."""
    name = str(dig(value, ("metadata", "name")) or "")
    size, suffix = len(name), ""
    if MADE.intersection(map(str, template)):
        suffix, size = f"-{SUFFIX}", size + 6
    if size > LONGEST_PREFIX and suffix:
        raise NotDerivedError(
            "the name of its RayCluster is truncated in the names of pods", "use a name of 44 characters"
        )
    if "headGroupSpec" in template:
        return f"{name[:LONGEST_PREFIX]}{suffix}-head".lower()
    group = str(dig(value, (*template[:-1], "groupName")) or "")
    rest = f"-{group}"[: max(0, LONGEST_PREFIX - size)]
    return f"{name[:LONGEST_PREFIX]}{suffix}{rest}-worker".lower()


RAY: Mapping[str, Callable[[Any, Path], str]] = {"rayStart": ray_start, "rayPods": ray_pods}


# --- The name of a pod template in its object: the part after `#` in an address
#
# Rule: a name is unique in its object and can be typed. Without a name in the entry it has the words of its
# path, and the name of its list entry, or its number.
#
#     spec.template                      (none, if the object has no other template)
#     spec.leader                        leader
#     spec.workerGroupSpecs[*].template  workerGroupSpecs-gpu, for the entry with `name: gpu`


_TYPED = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?")
_LEFT_OUT = ("spec", "template")


def placed_templates(pod_kind: "PodKind", value: object) -> list[PlacedTemplate]:
    """Return the present pod templates of an object of a kind of catalogue or configuration.

    An object need not have all templates of the entry. If it has none, the first counts.
    """
    candidates = [
        (template, path)
        for template in pod_kind.templates
        for path in expand(template.path, value)
        if applies({"when": template.when, "unless": template.unless}, value, path)
    ]
    present = [(template, path) for template, path in candidates if dig(value, path) is not None] or candidates[:1]
    alone = len(pod_kind.templates) == 1 and "*" not in pod_kind.templates[0].path and not pod_kind.templates[0].part
    result: list[PlacedTemplate] = []
    parts: set[str] = set()
    for template, path in present:
        part = "" if alone else _template_part(template, path, value)
        if part in parts:
            part = f"{part}-{len(result)}"
        parts.add(part)
        result.append(PlacedTemplate(path, part, template))
    return result


def _template_part(template: "PodTemplate", path: Path, value: Any) -> str:
    try:
        part = written(template.part, value, path, marked=False) if template.part else ""
    except MissingFieldError:
        part = ""
    return part if _TYPED.fullmatch(part) else _part_of_path(path, value)


def _part_of_path(path: Path, value: Any) -> str:
    words = []
    for index, step in enumerate(path):
        if isinstance(step, int):
            name = dig(value, (*path[: index + 1], "name"))
            words.append(name if isinstance(name, str) and _TYPED.fullmatch(name) else str(step))
        elif step not in _LEFT_OUT:
            words.append(step)
    return "-".join(words) or "pod"


# --- `podTemplates` of ContrastGenerate, and the catalogue, which has the same form: where objects of a kind have
# pods
#
# Rule: the entries of an author, and their kinds. An entry never allows a pod anything beside its
# template but the additions of its kind's controller: a text known from the object, or a narrow form
# (kubernetes/pod_kinds.py).


GROUP = r"[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)+"
VARIABLE = "[-._a-zA-Z][-._a-zA-Z0-9]*"
TEXTS = Text("a text in which {FIELD} stands for a field of the object", check=text_problem)
KEYS = Text("a label or annotation key", "[A-Za-z0-9./_-]+", 317)
WHICH = ("all", "containers", "first", "initContainers")
PLACES = ("first", "last", "missing")
PROBES = ("livenessProbe", "readinessProbe", "startupProbe")


def _line(meaning: str) -> Text:
    return Text(f"{meaning}, on one line", r"[^\r\n]+", 500)


LINE = _line("a sentence")
CONDITIONS = MapOf(Text("a field of the object", FIELD), ListOf(Text()))
WHEN = "only where each of these fields has one of these values; an empty text stands for an absent field"
UNLESS = "not where one of these fields has one of these values"
_CONDITIONAL = {"when": Field(CONDITIONS, WHEN), "unless": Field(CONDITIONS, UNLESS)}


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
        **_CONDITIONAL,
    },
    check=_check_variable,
)


def _check_added(entry: dict[str, Any]) -> Problems:
    """Check the fields of an added object that a pod spec does not have."""
    beside = {name: entry[name] for name in BESIDE.fields if name in entry}
    return tuple((fault.path, fault.problem) for fault in faults(BESIDE, beside))


COMMAND = ListOf(TEXTS)
BESIDE = Record(
    {
        "containers": Field(Choice(WHICH), "of a mount: which containers get it"),
        "place": Field(Choice(PLACES), "missing: only where the template has none of it"),
        "like": Field(Choice(("first",)), "of an init container: it has what the first container has"),
        "command": Field(COMMAND, "of an init container"),
        "args": Field(COMMAND, "of an init container"),
        **_CONDITIONAL,
    }
)
OBJECT = MapOf(Text(), Anything(), check=_check_added)
PROCESS = Record(
    {
        "command": Field(COMMAND, "its command"),
        "args": Field(COMMAND, "its arguments"),
        "instead": Field(LINE, "what to do with a template that has a command of its own", required=True),
        **_CONDITIONAL,
    }
)
PROBE = Record(
    {
        "name": Field(Choice(PROBES), "the field of the container", required=True),
        "command": Field(COMMAND, "what the kubelet runs in the container", required=True),
        **_CONDITIONAL,
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
        **_CONDITIONAL,
    }
)


class PodTemplate(NamedTuple):
    """The place of pod templates in an object, and the changes of its controller to the pods.

    path: from the object. part: the workload's name after `#`, "" if the object has one workload; `{...}` is a field.
    names: the forms of its pods' names, () for any name. longest_name: 0 for any. when, unless: of the objects that
    this entry is for. claims: path of the pods' claim templates, as in a StatefulSet; () for none. refuses: the objects
    that no render seals, and why. warns: the objects with parts that no policy covers.
    """

    path: Annotated[
        Pattern,
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
    longest_name: Annotated[
        int,
        Field(
            Number(1, 253), "characters of the longest name of an object of which there will be pods; absent: no limit"
        ),
    ] = 0
    when: Annotated[Mapping[str, tuple[str, ...]], Field(CONDITIONS, WHEN)] = EMPTY
    unless: Annotated[Mapping[str, tuple[str, ...]], Field(CONDITIONS, UNLESS)] = EMPTY
    claims: Annotated[
        Path,
        Field(
            Choice(("spec.volumeClaimTemplates",)),
            "where the claim templates of the pods are, if they are as in a StatefulSet",
        ),
    ] = ()
    adds: Annotated[  # a map of ADDS, which would make the schema in editors too long
        Mapping[str, Any],
        Field(
            MapOf(Text(f"one of {', '.join(ADDS.fields)}", "|".join(ADDS.fields)), Anything()),
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


def _make_template(path: str, claims: str = "", **fields: Any) -> PodTemplate:
    pattern = tuple(path.replace("[*]", ".*").split("."))
    return PodTemplate(pattern, claims=tuple(claims.split(".")) if claims else (), **fields)


class PodKind(NamedTuple):
    """A kind with pod templates. versions: known ones, () for any. refused: why no render seals its pods.

    instead: the remedy then. source: the origin of the entry.
    """

    group: Annotated[str, Field(Text("an API group, such as example.com", GROUP, 253), "of the kind")]
    kind: Annotated[str, Field(Text("a kind, such as Thing", "[A-Z][A-Za-z0-9]*", 63), "of the objects")]
    versions: Annotated[
        tuple[str, ...], Field(ListOf(Text("a version, such as v1", "v[0-9][a-z0-9]*", 63)), "absent: any")
    ] = ()
    templates: Annotated[
        tuple[PodTemplate, ...],
        Field(ListOf(table(PodTemplate, _check_template, _make_template)), "its pod templates"),
    ] = ()
    refused: Annotated[str, Field(_line("a reason"), "why its pods cannot be sealed")] = ""
    instead: Annotated[str, Field(_line("a remedy"), "what to do in place of that")] = ""
    source: Literal["built-in", "catalogue", "configuration"] = "built-in"


def _check_kind(entry: dict[str, Any]) -> Problems:
    if bool(entry.get("templates")) == bool(entry.get("refused")):
        return (((), "needs either templates or refused"),)
    return ()


def _check_once(entries: list[Any]) -> Problems:
    keys = [(entry["group"], entry["kind"]) for entry in entries]
    return tuple(((index,), "is there twice") for index, key in enumerate(keys) if key in keys[:index])


_SOURCES = {"sources": Field(ListOf(Text("a source", r"[^\r\n]+", 500)), "where this is known from, for readers")}
KIND_ENTRY = table(PodKind, _check_kind, unread=_SOURCES)
ENTRIES = ListOf(KIND_ENTRY, check=_check_once)


def kinds_of(
    entries: Iterable[PodKind], source: Literal["catalogue", "configuration"]
) -> Mapping[tuple[str, str], PodKind]:
    """Return the kinds of entries by group and kind."""
    return {(entry.group, entry.kind): entry._replace(source=source) for entry in entries}


# --- Load the shipped catalogue: one file for each API group, in the form of spec.podTemplates
#
# Rule: a file is read when an object of its group and of one of its kinds is there, and never before;
# `CATALOGUED` of kubernetes/kinds.py lists these kinds.


DIRECTORY = os.path.join(os.path.dirname(os.path.abspath(__file__)), "catalogue")


def shipped(group: str, kind: str) -> PodKind | None:
    """Return the kind of this group and name in the catalogue, or None."""
    return of_group(group).get((group, kind))


@functools.cache
def of_group(group: str) -> Mapping[tuple[str, str], PodKind]:
    """Return the kinds of one group. Raises ValueError if the file, which is part of the package, is broken."""
    with open(os.path.join(DIRECTORY, f"{group}.yaml"), encoding="utf-8") as file:
        entries, problems = read_value(ENTRIES, read_yaml(file.read())["podTemplates"])
    if problems:
        raise ValueError(f"{group}: {problems[0]}")
    return kinds_of(filled(ENTRIES, entries), "catalogue")


# --- The kinds that have pod templates, as one value: the eight, the shipped catalogue, and those of the
# configuration
#
# Rule: a kind is identified by group and name, and an entry of the configuration replaces the catalogue's.
# The catalogue is loaded when an object of one of its kinds is there, and not before.
#
#     apiVersion and kind                         its pod templates are
#     of one of the eight                         those of kubernetes/kinds.py, whatever the configuration has
#     of an entry of spec.podTemplates            those of the entry, in the versions that it lists
#     of an entry of the catalogue, not refused   those of the entry, in the versions that it lists
#     of anything else                            none that a render seals


class Kinds:
    """All kinds with pod templates of one call. configured: by group and kind."""

    __slots__ = ("configured", "names")

    def __init__(self, configured: Mapping[tuple[str, str], PodKind] = EMPTY) -> None:  # type: ignore[assignment]
        """Index the kinds of a configuration. names: of all kinds that may have pod templates."""
        self.configured = configured
        self.names = frozenset((*KINDS, *CATALOGUED, *(kind for _, kind in configured)))

    def of(self, ref: Ref) -> PodKind | None:
        """Return the kind of an object, None if no render seals its pods."""
        built_in = KINDS.get(ref.kind)
        if built_in is not None and ref.api_version == built_in[0]:
            return BUILT_IN[ref.kind]
        entry = self.entry(ref)
        version = ref.api_version.rpartition("/")[2]
        if entry is None or entry.refused or (entry.versions and version not in entry.versions):
            return None
        return entry

    def entry(self, ref: Ref) -> PodKind | None:
        """Return the entry of configuration or catalogue for the group and kind of an object, in any version."""
        group = ref.api_version.rpartition("/")[0]
        if (group, ref.kind) in self.configured:
            return self.configured[group, ref.kind]
        if group not in CATALOGUED.get(ref.kind, ()) and ref.kind not in REFUSED.get(group, ()):
            return None

        return shipped(group, ref.kind)

    def templates(self, ref: Ref, value: object) -> list[PlacedTemplate]:
        """Return the pod templates of an object, present or not; none if no render seals it."""
        pod_kind = self.of(ref)
        if pod_kind is None:
            return []
        if pod_kind.source == "built-in":
            return [PlacedTemplate(path) for template in pod_kind.templates for path in expand(template.path, value)]

        return placed_templates(pod_kind, value)

    def paths(self, ref: Ref, value: object) -> list[Path]:
        """Return the paths of the pod templates of an object, as `templates` does."""
        return [template.path for template in self.templates(ref, value)]


BUILT_IN = {
    kind: PodKind("", kind, templates=tuple(map(PodTemplate, patterns))) for kind, (_, *patterns) in KINDS.items()
}
SHIPPED = Kinds()
