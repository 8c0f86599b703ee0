"""Call a genpolicy, Kata's or Contrast's, for one pod, and read the initdata that it prints.

It pulls images: docs/facts/kata.md#image-data. Its arguments are those of docs/facts/kata.md#command-line and
docs/facts/contrast-manifest.md#policy-generator-call.
"""

import json
import re
import subprocess
from base64 import b64encode
from collections.abc import Iterator, Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any

from krm_function.config.references import References, Undecodable
from krm_function.contrast.owned import CONTAINERS
from krm_function.contrast.profiles import Profile
from krm_function.kubernetes.objects import dig, mapping, maps
from krm_function.kubernetes.workload import INITDATA, Workload, volume_sources
from krm_function.policy.initdata import POLICY, Initdata, decode_toml, from_annotation, read_policy_data
from krm_function.policy.rules import load_rules
from krm_function.policy.settings import default_document
from krm_function.text.writer import dump

SECONDS = 300  # for one pod: a large layer takes minutes
LONGEST_MESSAGE = 300

# Members that the programs require and the default settings may lack, with Kata's values. The parsers of genpolicy 4.1,
# Kata's and Contrast's, fail on a missing member and ignore an unknown one, so one document serves both.
_REQUIRED: dict[tuple[str, ...], Any] = {
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


class Broken(Exception):
    """Why the program compares nothing."""


class Refused(Exception):
    """Why the program makes no policy of a pod."""


class Genpolicy:
    """A program by its path. directory: for the files of a call, and for the layers that one call leaves the next."""

    def __init__(self, program: str, directory: Path) -> None:
        """Start nothing yet."""
        self._program = Path(program).resolve()
        self._directory = directory

    def initdata(self, workload: Workload, references: References, profile: Profile) -> Initdata:
        """Return what the program makes of a pod with the rules and settings of a profile. Raises Refused, Broken."""
        objects = "".join(f"---\n{dump(document)}" for document in _referenced_objects(workload, references))
        files = {
            "workload.yaml": pod_for_genpolicy(workload),
            "config.yaml": objects,
            "rules.rego": load_rules(profile),
            "settings.json": json.dumps(settings_for_genpolicy(profile), indent=2),
        }
        for name, text in files.items():
            (self._directory / name).write_text(text, newline="")
        arguments = [
            "--runtime-class-names=contrast-cc",
            f"--rego-rules-path={self._directory}/rules.rego",
            f"--json-settings-path={self._directory}/settings.json",
            f"--layers-cache-file-path={self._directory}/layers-cache.json",
            *([f"--config-file={self._directory}/config.yaml"] if objects else []),
            "--base64-out",
        ]
        with (self._directory / "workload.yaml").open("rb") as pod:
            try:
                done = subprocess.run(
                    [self._program, *arguments],
                    stdin=pod,
                    capture_output=True,
                    cwd=self._directory,
                    timeout=SECONDS,
                    check=False,
                )
            except (OSError, subprocess.TimeoutExpired) as problem:
                raise Broken(f"genpolicy: {problem}") from None
        if done.returncode:
            message = _error_message(done.stderr.decode("utf-8", "replace")) or f"exit code {done.returncode}"
            if done.returncode < 0 or "settings are invalid" in message:
                raise Broken(f"genpolicy: {message}")
            raise Refused(message)
        return _read_initdata(done.stdout)


def _read_initdata(output: bytes) -> Initdata:
    try:
        made = decode_toml(from_annotation(output.strip().decode("ascii", "replace")))
        read_policy_data(made.data.get(POLICY, ""))
    except ValueError as problem:
        raise Broken(f"genpolicy prints no usable initdata: {problem}") from None
    return made


def _error_message(log: str) -> str:
    """Return the message of a panic, else all lines that are not log lines, else the last log line; as one line."""
    panic = _PANIC.search(log)
    if panic:
        lines = (panic["old"] or panic["new"] or "").splitlines()
    else:
        lines = [line for line in log.splitlines() if not _LOG_LINE.match(line)]
        lines = lines if any(map(str.strip, lines)) else [_LOG_LINE.sub("", line) for line in log.splitlines()[-1:]]
    text = " ".join(" ".join(lines).split())
    return f"{text[:LONGEST_MESSAGE]}…" if len(text) > LONGEST_MESSAGE else text


def settings_for_genpolicy(profile: Profile) -> dict[str, Any]:
    """Return the settings of a profile with every member that the programs require."""
    document = default_document(profile)
    for path, value in _REQUIRED.items():
        dig(document, path[:-1]).setdefault(path[-1], value)
    return document


def pod_for_genpolicy(workload: Workload) -> str:
    """Write an object without its initdata, and what ends the program in another way that means the same."""
    value = deepcopy(workload.object)
    for holder in (value, dig(value, workload.template_path[len(workload.root) :])):
        annotations = mapping(mapping(holder).get("metadata")).get("annotations")
        if isinstance(annotations, dict):
            annotations.pop(INITDATA, None)
    spec = mapping(dig(value, workload.spec_path[len(workload.root) :]))
    for container in maps(spec.get("initContainers")):
        context = mapping(container.get("securityContext"))
        if container.get("name") in CONTAINERS and context.get("runAsNonRoot") is False:
            del context["runAsNonRoot"]  # an injected container that is root states the default
    for volume in maps(spec.get("volumes")):
        if volume_sources(volume) == ("emptyDir",):
            volume["emptyDir"] = volume.get("emptyDir") or {}
    return dump(value)


def _referenced_objects(workload: Workload, references: References) -> Iterator[dict[str, Any]]:
    """Yield the ConfigMaps and Secrets that environments reference, without members that genpolicy would refuse."""
    seen: set[tuple[str, str]] = set()
    namespace = str(mapping(workload.object.get("metadata")).get("namespace") or "")
    for kind, name in _references(workload):
        if (kind, name) in seen:
            continue
        seen.add((kind, name))
        try:
            pairs = references.find(kind, namespace, name)
        except Undecodable:
            continue  # genpolicy reports it as missing
        if pairs is not None:
            data: Mapping[str, str] = pairs
            if kind == "Secret":
                data = {key: b64encode(text.encode()).decode() for key, text in pairs.items()}
            yield {"apiVersion": "v1", "kind": kind, "metadata": {"name": name}, "data": dict(data)}


def _references(workload: Workload) -> Iterator[tuple[str, str]]:
    for container in (*workload.init_containers, *workload.containers):
        sources = [mapping(entry.get("valueFrom")) for entry in maps(container.get("env"))]
        for source in (*sources, *maps(container.get("envFrom"))):
            for form, kind in (
                ("configMapKeyRef", "ConfigMap"),
                ("configMapRef", "ConfigMap"),
                ("secretKeyRef", "Secret"),
                ("secretRef", "Secret"),
            ):
                name = mapping(source.get(form)).get("name")
                if isinstance(name, str):
                    yield kind, name
