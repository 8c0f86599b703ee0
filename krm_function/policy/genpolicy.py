"""Prepare a call of genpolicy and read its result, for profiles that use it as the engine.

Sources: docs/facts/kata.md#command-line, docs/facts/contrast-manifest.md#policy-generator-call.

Rule of this file: it starts nothing; an Engine is a function that the command line passes in. Its output is input like
any other: the initdata is read, checked and written anew, because genpolicy's own key order varies from run to run
(docs/facts/kata.md#initdata). An error message of genpolicy may quote the pod, so values are removed before it is
reported.
"""

import re
from binascii import b2a_base64
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from typing import Any, Literal

from krm_function.config.references import References, Undecodable
from krm_function.contrast.owned import CONTAINERS
from krm_function.contrast.profiles import Profile
from krm_function.findings import Cause, Finding, Path, finding
from krm_function.kubernetes.lookup import dig, mapping, maps
from krm_function.kubernetes.workload import INITDATA, Workload, volume_sources
from krm_function.policy.initdata import POLICY, Initdata, decode_toml, from_annotation, read_policy_data
from krm_function.policy.pod_metadata import is_bookkeeping
from krm_function.policy.settings import default_document
from krm_function.record import NamedTuple
from krm_function.text.writer import dump

OUTPUT_LIMIT = 1024 * 1024  # bytes of output; Kubernetes allows 256 KiB of annotations
LONGEST = 300  # characters of a message of genpolicy that are reported
SECRET = 4  # characters from which on a value is worth hiding; shorter ones are words like `on` or `80`
LONG_ANNOTATION = 64
MARK = "# policy_data: genpolicy\n"  # follows the native rules; shows that the data are not of the native generator

# Members that the programs require and the default settings may lack, with Kata's values. The parsers of genpolicy 4.1,
# Kata's and Contrast's, fail on a missing member and ignore an unknown one, so one document serves both.
_REQUIRED: dict[Path, Any] = {
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
    """The input of one call. workload: standard input; the others: files named by its arguments."""

    workload: str
    config_maps: str
    rules: str
    settings: str


class GenpolicyResult(NamedTuple):
    """The result of one call: exit code (negative: the signal), standard output, the end of standard error.

    ended: "timeout" or "output" if it was stopped for exceeding a limit; "start" if it could not be started, for the
    reason in log.
    """

    ended: Literal["exit", "timeout", "output", "start"]
    code: int = 0
    output: bytes = b""
    log: str = ""
    seconds: int = 0


Engine = Callable[[GenpolicyInput], GenpolicyResult]


def settings_text(override: Mapping[str, Any] | None, profile: Profile) -> str:
    """Return the settings file of a call: the given settings, else a profile's with every member genpolicy requires."""
    import json

    if override is not None:
        return json.dumps(override, indent=2)
    document = default_document(profile)
    for path, value in _REQUIRED.items():
        dig(document, path[:-1]).setdefault(path[-1], value)
    return json.dumps(document, indent=2)


def genpolicy_input(workload: Workload, references: References, rules: str, settings: str) -> GenpolicyInput:
    """Build the input for one workload: its object, and the ConfigMaps and Secrets that it references."""
    value = deepcopy(workload.object)
    for holder in (value, dig(value, workload.template_path[len(workload.root) :])):
        metadata = mapping(mapping(holder).get("metadata"))
        annotations = metadata.get("annotations")
        if isinstance(annotations, dict):
            metadata["annotations"] = {
                key: text for key, text in annotations.items() if key != INITDATA and not is_bookkeeping(str(key))
            }
    _plain_fields(mapping(dig(value, workload.spec_path[len(workload.root) :])))
    named = [_document(kind, name, pairs) for kind, name, pairs in _referenced_objects(workload, references)]
    return GenpolicyInput(dump(value), "".join(f"---\n{dump(document)}" for document in named), rules, settings)


def _plain_fields(spec: dict[str, Any]) -> None:
    """Write what the program ends at in another way that means the same to Kubernetes. spec: changed in place."""
    for container in maps(spec.get("initContainers")):
        context = mapping(container.get("securityContext"))
        if container.get("name") in CONTAINERS and context.get("runAsNonRoot") is False:
            # an injected container that is root says so; false is the default
            container["securityContext"] = {key: one for key, one in context.items() if key != "runAsNonRoot"}
    for volume in maps(spec.get("volumes")):
        if volume_sources(volume) == ("emptyDir",):
            volume["emptyDir"] = volume.get("emptyDir") or {}


def read_result(
    answer: GenpolicyResult, workload: Workload, references: References
) -> tuple[Initdata | None, tuple[Finding, ...]]:
    """Return the initdata that genpolicy printed, or None and one finding (CC0614, CC0615, CC0616)."""
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
    """Read the initdata that genpolicy printed, or return what is wrong with it: CC0615 with a variant."""
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
    """Return the finding of a failed call, at the field that its message names."""
    message = _error_message(_without_values(answer.log, workload, references))
    if not message:
        code = "CC0614.signal" if answer.code < 0 else "CC0614.exit"
        return finding(code, workload.ref, workload.spec_path, status=answer.code, signal=-answer.code)
    unsupported = _UNSUPPORTED.search(message)
    if unsupported:
        return finding("CC0614.field", workload.ref, _path(unsupported[1], workload), error=message)
    if _OF_THE_SETTINGS.search(message):
        return finding("CC0614.settings", workload.ref, workload.root, error=message)  # no field of the pod
    return finding("CC0614.pod", workload.ref, workload.spec_path, error=message)


def _error_message(log: str) -> str:
    """Return the message of a panic, else all lines that are not log lines, else the last log line; as one line."""
    panic = _PANIC.search(log)
    if panic:
        lines = (panic["old"] or panic["new"] or "").splitlines()
    else:
        lines = [line for line in log.splitlines() if not _LOG_LINE.match(line)]
        lines = lines if any(map(str.strip, lines)) else [_LOG_LINE.sub("", line) for line in log.splitlines()[-1:]]
    text = " ".join(" ".join(lines).split())
    return f"{text[:LONGEST]}…" if len(text) > LONGEST else text


def _path(dotted: str, workload: Workload) -> Path:
    """Return the path of `spec.containers[0].x` or `spec.containers.0.x` in the document."""
    path: Path = workload.root
    value: Any = workload.object
    for step in _STEP.findall(dotted):
        if step == "?":  # how serde writes that a field is optional
            continue
        key = int(step) if isinstance(value, list) and step.isdecimal() else step
        path, value = (*path, key), dig(value, (key,))
    return path


def _without_values(text: str, workload: Workload, references: References) -> str:
    """Remove env values, values of Secrets and ConfigMaps and long annotations from a text, however quoted."""
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
    """Yield the ConfigMaps and Secrets of the input that environments reference, as (kind, name, pairs)."""
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
                        continue  # genpolicy reports it as missing
                    if pairs is not None:
                        yield kind, name, pairs


def _document(kind: str, name: str, pairs: Mapping[str, str]) -> dict[str, Any]:
    """Build a ConfigMap or Secret without members that genpolicy would refuse, such as stringData."""
    data = dict(pairs)
    if kind == "Secret":
        data = {key: b2a_base64(text.encode(), newline=False).decode("ascii") for key, text in data.items()}
    return {"apiVersion": "v1", "kind": kind, "metadata": {"name": name}, "data": data}
