"""Plain data of Kubernetes objects: values by path, names and selectors, identity and controllers."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from krm_function.findings import Path, Ref
from krm_function.krm.group_version import plain_api_version
from krm_function.record import NamedTuple

# --- Find the objects of a document, the members of lists among them, and their identity
#
# Rule: a document may have any shape, so nothing here raises.


def _text_of(source: dict[str, Any], key: str) -> str:
    value = source.get(key)
    return value if isinstance(value, str) else ""


def reference(value: Any) -> Ref:
    """Return the object's identity, "" for each missing part; generateName is used if `name` is absent.

    Its apiVersion is in the ordinary spelling, `v1` for `/v1`, so that comparisons see Kubernetes' reading.
    """
    root = mapping(value)
    metadata = mapping(root.get("metadata"))
    name = _text_of(metadata, "name") or _text_of(metadata, "generateName")
    return Ref(
        plain_api_version(_text_of(root, "apiVersion")),
        _text_of(root, "kind"),
        _text_of(metadata, "namespace"),
        name,
    )


def objects(document: Any, root: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Yield every object of a document with its path: the members of lists, recursively, and anything else itself.

    kubectl treats any object with a list of `items` as a list, even a ConfigMap; other tools still read the ConfigMap.
    So both the members and the object are yielded, unless its kind ends with `List`.
    """
    value = dig(document, root)
    members = mapping(value).get("items")
    if isinstance(members, list):
        for index in range(len(members)):
            yield from objects(document, (*root, "items", index))
        if _text_of(value, "kind").endswith("List"):
            return
    yield root, value


# --- The controller that owns an object, as the object's ownerReferences name it
#
# Rule: any author can write an ownerReference, so it is a claim; `render/copies.py` decides when it counts.


OWNERS = "ownerReferences"  # without this word in a text, YAML escapes aside, no object of it is owned


class Controller(NamedTuple):
    """The controller that owns an object, as its ownerReference names it."""

    namespace: str
    kind: str
    name: str
    uid: str


def controller_of(value: Any) -> Controller | None:
    """Return the owner of an object that has `controller: true`, None without one."""
    metadata = mapping(mapping(value).get("metadata"))
    for owner in maps(metadata.get(OWNERS)):
        if owner.get("controller") is True:
            kind, name, uid = (str(owner.get(key) or "") for key in ("kind", "name", "uid"))
            return Controller(reference(value).namespace, kind, name, uid)
    return None


# --- Name several objects in one sentence: the first ones, and the number of others


LIMIT = 5


def listed(names: Sequence[str]) -> str:
    """Write `Deployment/a, Deployment/b and 3 more`: at most five names."""
    rest = len(names) - LIMIT
    return ", ".join(names[:LIMIT]) + (f" and {rest} more" if rest > 0 else "")


# --- Find the pod specs in an object of an unknown kind
#
# Rule: a map with a list of containers is a pod. An object that makes pods without showing any cannot be recognized.
# Members of a list are objects of their own; ConfigMap and Secret hold text, and a CustomResourceDefinition schemas.


WITHOUT_PODS = frozenset(("ConfigMap", "Secret", "CustomResourceDefinition", "RuntimeClass"))
FIELDS = ("containers", "initContainers")
DEEPEST = 100  # maps and lists around a pod spec, as the reader of YAML allows


def pod_specs(value: Any, path: Path = ()) -> Iterator[Path]:
    """Yield the path of each map that lists containers, the outermost ones. path: that of `value`."""
    if len(path) > DEEPEST:
        return
    if isinstance(value, list):
        for index, part in enumerate(value):
            yield from pod_specs(part, (*path, index))
    elif isinstance(value, dict):
        if any(_lists_containers(value.get(field)) for field in FIELDS):
            yield path
            return
        for key, part in value.items():
            if path or key != "items":
                yield from pod_specs(part, (*path, str(key)))


def _lists_containers(value: Any) -> bool:
    return isinstance(value, list) and any(isinstance(entry, dict) for entry in value)


# --- Look up a value in plain data of any shape
#
# Rule: nothing here raises; a value that is missing or of another type is None or empty.


def dig(value: Any, path: Path) -> Any:
    """Return the value at `path`, or None when any step is missing or of another type."""
    for part in path:
        if isinstance(part, str):
            if not isinstance(value, dict):
                return None
            value = value.get(part)
        elif isinstance(value, list) and 0 <= part < len(value):
            value = value[part]
        else:
            return None
    return value


def mapping(value: Any) -> dict[str, Any]:
    """Return `value` if it is a map, else an empty one: for reading documents of any shape."""
    return value if isinstance(value, dict) else {}


def maps(value: Any) -> list[dict[str, Any]]:
    """Return the maps of a list, [] for anything else. Positions are kept: any other entry becomes {}."""
    return [entry if isinstance(entry, dict) else {} for entry in value] if isinstance(value, list) else []


# --- Check names as Kubernetes does: DNS names, label keys and values
#
# Rule: each pattern is the one of apimachinery's validation package, written without `$` and matched
# whole, and every text is capped first.


DNS_LABEL = r"[a-z0-9]+(?:-+[a-z0-9]+)*"  # 63 characters by itself, any length inside a subdomain
DNS_SUBDOMAIN = rf"{DNS_LABEL}(?:\.{DNS_LABEL})*"
LABEL_NAME = r"[A-Za-z0-9](?:[A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?"
LABEL_KEY = rf"(?:{DNS_SUBDOMAIN}/)?{LABEL_NAME}"
LABEL_VALUE = rf"(?:{LABEL_NAME})?"
LONGEST_SUBDOMAIN = 253


def is_dns_label(text: str) -> bool:
    """Tell whether a text is 1 to 63 lower-case letters, digits and inner hyphens."""
    return len(text) <= 63 and re.fullmatch(DNS_LABEL, text) is not None


def is_dns_subdomain(text: str) -> bool:
    """Tell whether a text is DNS labels joined by dots, at most 253 characters."""
    return len(text) <= LONGEST_SUBDOMAIN and re.fullmatch(DNS_SUBDOMAIN, text) is not None


def is_label_key(text: str) -> bool:
    """Tell whether a text is a qualified name: `name` or `dns.subdomain/name`."""
    return text.rfind("/") <= LONGEST_SUBDOMAIN and matches_label_key(text)


def matches_label_key(text: str) -> bool:
    """Tell whether a text matches LABEL_KEY, whose subdomain may have any length."""
    prefix, slash, name = text.rpartition("/")
    return (not slash or re.fullmatch(DNS_SUBDOMAIN, prefix) is not None) and re.fullmatch(LABEL_NAME, name) is not None


def is_label_value(text: str) -> bool:
    """Tell whether a text is empty, or 1 to 63 letters, digits, `-_.`, starting and ending with a letter or digit."""
    return len(text) <= 63 and re.fullmatch(LABEL_VALUE, text) is not None


# --- Match labels with a label selector of Kubernetes, as far as it can be read
#
# Rule: an unknown operator selects, so that everything it may select counts. An empty selector selects everything.


def selects(selector: Mapping[str, Any], labels: Mapping[str, Any]) -> bool:
    """Tell whether `matchLabels` and `matchExpressions` may select an object with these labels."""
    if any(labels.get(key) != value for key, value in mapping(selector.get("matchLabels")).items()):
        return False
    return all(_matches_expression(expression, labels) for expression in maps(selector.get("matchExpressions")))


def _matches_expression(expression: dict[str, Any], labels: Mapping[str, Any]) -> bool:
    key, values = str(expression.get("key")), expression.get("values")
    values = values if isinstance(values, list) else []
    match expression.get("operator"):
        case "In":
            return labels.get(key) in values
        case "NotIn":
            return labels.get(key) not in values
        case "Exists":
            return key in labels
        case "DoesNotExist":
            return key not in labels
        case _:
            return True


# --- Match a name against a pattern where `*` matches any text, the empty one included
#
# Rule: the pattern is about the whole name, every other character stands for itself, and the time is
# linear in the length of the name for each `*`.


def fits(pattern: str, name: str) -> bool:
    """Tell whether a pattern describes the whole of a name.

    >>> fits("db-*", "db-main"), fits("db-*", "my-db-main"), fits("a*b*c", "a.b.b.c"), fits("*", "")
    (True, False, True, True)
    """
    first, *rest = pattern.split("*")
    if not rest:
        return name == pattern
    if not name.startswith(first):
        return False
    at = len(first)
    for piece in rest[:-1]:
        start = name.find(piece, at)
        if start < 0:
            return False
        at = start + len(piece)
    return len(name) - at >= len(rest[-1]) and name.endswith(rest[-1])


# --- Recognise hooks, which Helm or Argo CD creates at a moment of their own, apart from the other objects of a release
#
# Rule: the annotation alone makes an object a hook, whatever else it has. Argo CD reads those of Helm, too. Source:
# docs/facts/helm.md#hooks.


HOOK = "helm.sh/hook"
ARGO_HOOK = "argocd.argoproj.io/hook"
WEIGHT = "helm.sh/hook-weight"
ARGO_WEIGHT = "argocd.argoproj.io/sync-wave"


def hook_of(value: Any) -> str:
    """Return the value of a Helm hook's annotation, "" for an object that is not a hook."""
    hook = dig(value, ("metadata", "annotations", HOOK))
    return hook if isinstance(hook, str) else ""


class Hook(NamedTuple):
    """When a hook is created: at which moments, none for an ordinary object, and in which order."""

    events: frozenset[str] = frozenset()
    weight: int = 0

    @property
    def early(self) -> str:
        """The moments before the ordinary objects are created or changed."""
        return ", ".join(sorted(self.events & BEFORE))

    def follows(self, source: "Hook") -> bool:
        """Tell whether a source is there first, each time. Of the same weight, a ConfigMap precedes a pod."""
        return bool(self.events) and self.events <= source.events and source.weight <= self.weight


ORDINARY = Hook()
BEFORE = frozenset(("pre-install", "pre-upgrade", "pre-rollback", "PreSync"))


def read_hook(value: Any) -> Hook:
    """Read the annotations of an object. A weight that is not a number counts as 0, as in Helm and Argo CD."""
    annotations = mapping(dig(value, ("metadata", "annotations")))
    names = (name.strip() for key in (HOOK, ARGO_HOOK) for name in _text_of(annotations, key).split(","))
    events = frozenset(filter(None, names))
    weight = _text_of(annotations, WEIGHT) or _text_of(annotations, ARGO_WEIGHT)
    return Hook(events, int(weight) if re.fullmatch("[+-]?[0-9]{1,9}", weight) else 0) if events else ORDINARY
