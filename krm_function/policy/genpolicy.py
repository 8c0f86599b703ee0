"""genpolicy as the engine: what one call of it is given, and what its answer means.

Sources: docs/facts/kata.md#command-line, docs/facts/contrast-manifest.md#policy-generator-call.

Rule of this file: it starts nothing; an Engine is a function that the command line hands in. What comes back is judged
like any other input: the initdata is read, checked and written anew, because genpolicy's own key order varies from run
to run (docs/facts/kata.md#initdata). What it says about a failure may quote the pod, so values are taken out before it
is told.
"""

import re
from binascii import b2a_base64
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from typing import Any, Literal

from krm_function.findings import Cause, Finding, Path, finding
from krm_function.model.profiles import Profile
from krm_function.model.workload import INITDATA, Workload, dig, mapping, maps
from krm_function.policy.defaults import default_document
from krm_function.policy.document import read_policy_data
from krm_function.policy.initdata import POLICY, Initdata, decode_toml, from_annotation
from krm_function.policy.pod_metadata import is_bookkeeping
from krm_function.policy.references import References, Undecodable
from krm_function.record import NamedTuple
from krm_function.yamltext import dump

OUTPUT_LIMIT = 1024 * 1024  # bytes of an answer; Kubernetes allows 256 KiB of annotations
LONGEST = 300  # characters of what genpolicy says that are told
SECRET = 4  # characters from which on a value is worth hiding; shorter ones are words like `on` or `80`
LONG_ANNOTATION = 64
MARK = "# policy_data: genpolicy\n"  # behind our own rules, so that nobody takes the data for our generator's

# What the programs' settings have and ours may lack: member -> Kata's value. The parsers of plain genpolicy 4.1 and of
# Contrast's end at a member that is missing and overlook one that they do not know, so one document serves both.
_WANTED: dict[Path, Any] = {
    ("volumes", "emptyDir"): {  # read by the schema, used by no code
        "mount_type": "local",
        "mount_source": "^$(cpath)/$(sandbox-id)/rootfs/local/",
        "mount_point": "^$(cpath)/$(sandbox-id)/rootfs/local/",
        "driver": "local",
        "driver_options": [],
        "source": "local",
        "fstype": "local",
        "options": ["mode=0777"],
        "shared": False,
    },
    ("volumes", "image_volume"): {  # Kata's; Contrast's program has none
        "mount_type": "bind",
        "mount_source": "$(sfprefix)",
        "driver": "local",
        "source": "local",
        "fstype": "bind",
        "options": ["rbind", "rprivate", "rw"],
    },
    ("cluster_config", "pause_container_id_policy"): "v1",  # Contrast's
}

_PANIC = re.compile(
    r"^thread '[^\n]*? panicked at (?:'(?P<old>.*?)', \S+:\d+:\d+$"
    r"|\S+:\d+:\d+:\n(?P<new>.*?)(?=^note: |^stack backtrace:|\Z))",
    re.MULTILINE | re.DOTALL,
)
_LOG_LINE = re.compile(r"^\[\S+ (?:INFO|DEBUG|TRACE|WARN|ERROR)\b[^\]]*\] ?")
_UNSUPPORTED = re.compile(r"Unsupported field: (\S+)")
_OF_THE_SETTINGS = re.compile(r"settings are invalid")
_STEP = re.compile(r"[^.\[\]]+")


class GenpolicyInput(NamedTuple):
    """The texts of one call. workload: on standard input; the others: files that its arguments name."""

    workload: str
    config_maps: str
    rules: str
    settings: str


class GenpolicyResult(NamedTuple):
    """What one call left: exit code (negative: the signal), standard output, the end of standard error.

    ended: "timeout" and "output" when it was stopped for taking or writing too much; "start" when there was no call,
    and log says why.
    """

    ended: Literal["exit", "timeout", "output", "start"]
    code: int = 0
    output: bytes = b""
    log: str = ""
    seconds: int = 0


Engine = Callable[[GenpolicyInput], GenpolicyResult]


def settings_text(override: Mapping[str, Any] | None, profile: Profile) -> str:
    """The settings file of a call: the operator's as they are, else a profile's with every member genpolicy wants."""
    import json

    if override is not None:
        return json.dumps(override, indent=2)
    ours = default_document(profile)
    for path, value in _WANTED.items():
        dig(ours, path[:-1]).setdefault(path[-1], value)
    return json.dumps(ours, indent=2)


def genpolicy_input(workload: Workload, references: References, rules: str, settings: str) -> GenpolicyInput:
    """What genpolicy is given for one workload: the object alone, and the ConfigMaps and Secrets that it names."""
    value = deepcopy(workload.object)
    for holder in (value, dig(value, workload.template_path[len(workload.root) :])):
        metadata = mapping(mapping(holder).get("metadata"))
        notes = metadata.get("annotations")
        if isinstance(notes, dict):
            metadata["annotations"] = {
                key: text for key, text in notes.items() if key != INITDATA and not is_bookkeeping(str(key))
            }
    named = [_document(kind, name, pairs) for kind, name, pairs in _referenced_objects(workload, references)]
    return GenpolicyInput(dump(value), "".join(f"---\n{dump(document)}" for document in named), rules, settings)


def read_result(
    answer: GenpolicyResult, workload: Workload, references: References
) -> tuple[Initdata | None, tuple[Finding, ...]]:
    """The initdata that genpolicy made; None and the one reason why there is none (CC0614, CC0615, CC0616)."""
    ref, here = workload.ref, workload.spec_path
    if answer.ended == "timeout":
        return None, (finding("CC0616", ref, here, seconds=answer.seconds),)
    if answer.ended == "start":
        return None, (finding("CC0614.start", ref, here, error=answer.log),)
    if answer.ended == "output":
        return None, (finding("CC0615.size", ref, here, limit=OUTPUT_LIMIT),)
    if answer.code:
        return None, (_failure(answer, workload, references),)
    made = _initdata(answer.output)
    if isinstance(made, Cause):
        return None, (finding(made.code, ref, here, **made.values),)
    return made, ()


def _initdata(output: bytes) -> Initdata | Cause:
    """The document in what genpolicy printed, or what is wrong with it: CC0615 with a variant."""
    text = output.strip()
    if not text:
        return Cause("CC0615.nothing")
    try:
        made = decode_toml(from_annotation(text.decode("ascii", "replace")))
        if made.algorithm != "sha256":
            return Cause("CC0615.algorithm", {"algorithm": made.algorithm})
        if POLICY not in made.data:
            return Cause("CC0615.no-policy", {"member": POLICY})
        read_policy_data(made.data[POLICY])
    except ValueError as problem:
        return Cause("CC0615.content", {"error": str(problem)})
    return made


def _failure(answer: GenpolicyResult, workload: Workload, references: References) -> Finding:
    """The one finding of a call that failed, at the field it speaks of."""
    said = _error_message(_without_values(answer.log, workload, references))
    if not said:
        code = "CC0614.signal" if answer.code < 0 else "CC0614.exit"
        return finding(code, workload.ref, workload.spec_path, status=answer.code, signal=-answer.code)
    unsupported = _UNSUPPORTED.search(said)
    if unsupported:
        return finding("CC0614.field", workload.ref, _path(unsupported[1], workload), error=said)
    if _OF_THE_SETTINGS.search(said):
        return finding("CC0614.settings", workload.ref, workload.root, error=said)  # no field of the pod
    return finding("CC0614.pod", workload.ref, workload.spec_path, error=said)


def _error_message(log: str) -> str:
    """The message of a panic, else what was not logging, else the last error logged; in one line."""
    panic = _PANIC.search(log)
    if panic:
        lines = (panic["old"] or panic["new"] or "").splitlines()
    else:
        lines = [line for line in log.splitlines() if not _LOG_LINE.match(line)]
        lines = lines if any(map(str.strip, lines)) else [_LOG_LINE.sub("", line) for line in log.splitlines()[-1:]]
    text = " ".join(" ".join(lines).split())
    return f"{text[:LONGEST]}…" if len(text) > LONGEST else text


def _path(dotted: str, workload: Workload) -> Path:
    """The field that genpolicy means by `spec.containers[0].x` or `spec.containers.0.x`, from the document's root."""
    path: Path = workload.root
    value: Any = workload.object
    for step in _STEP.findall(dotted):
        if step == "?":  # how serde writes that a field is optional
            continue
        key = int(step) if isinstance(value, list) and step.isdecimal() else step
        path, value = (*path, key), dig(value, (key,))
    return path


def _without_values(text: str, workload: Workload, references: References) -> str:
    """The text without any env value, Secret or ConfigMap value or long annotation of the pod, however quoted."""
    import json

    found: set[str] = set()
    for value in _values(workload, references):
        for form in (value, *(line for line in value.splitlines() if len(line) >= SECRET)):
            found |= {form, json.dumps(form)[1:-1], json.dumps(form, ensure_ascii=False)[1:-1]}
            found.add(b2a_base64(form.encode("utf-8", "replace"), newline=False).decode("ascii"))
    for value in sorted(found, key=len, reverse=True):
        text = text.replace(value, "(value)")
    return text


def _values(workload: Workload, references: References) -> Iterator[str]:
    texts = [entry.get("value") for container in _containers(workload) for entry in maps(container.get("env"))]
    texts += [text for text in workload.annotations.values() if len(str(text)) > LONG_ANNOTATION]
    texts += [text for _, _, pairs in _referenced_objects(workload, references) for text in pairs.values()]
    return (str(text) for text in texts if text is not None and len(str(text)) >= SECRET)


def _containers(workload: Workload) -> list[dict[str, Any]]:
    return [*workload.init_containers, *workload.containers]


def _referenced_objects(workload: Workload, references: References) -> Iterator[tuple[str, str, Mapping[str, str]]]:
    """The ConfigMaps and Secrets that the environments name, as far as they are in the input."""
    seen: set[tuple[str, str]] = set()
    namespace = str(mapping(workload.object.get("metadata")).get("namespace") or "")
    for container in _containers(workload):
        sources = [mapping(entry.get("valueFrom")) for entry in maps(container.get("env"))]
        for source in (*sources, *maps(container.get("envFrom"))):
            for kind in ("ConfigMap", "Secret"):
                key = "configMap" if kind == "ConfigMap" else "secret"
                for form in (f"{key}KeyRef", f"{key}Ref"):
                    name = mapping(source.get(form)).get("name")
                    if not isinstance(name, str) or (kind, name) in seen:
                        continue
                    seen.add((kind, name))
                    try:
                        pairs = references.find(kind, namespace, name)
                    except Undecodable:
                        continue  # genpolicy will say that it is missing
                    if pairs is not None:
                        yield kind, name, pairs


def _document(kind: str, name: str, pairs: Mapping[str, str]) -> dict[str, Any]:
    """A ConfigMap or Secret with nothing in it that genpolicy would refuse, such as stringData."""
    data = dict(pairs)
    if kind == "Secret":
        data = {key: b2a_base64(text.encode(), newline=False).decode("ascii") for key, text in data.items()}
    return {"apiVersion": "v1", "kind": kind, "metadata": {"name": name}, "data": data}
