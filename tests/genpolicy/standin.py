"""A stand-in for genpolicy 4.1: its command line, its settings parser, its policy and its ways to end.

It follows what the real program is documented to do with the arguments that Contrast gives: the workload on standard
input, the base64 of the initdata on standard output, a panic on standard error with exit code 101. It comes in two
kinds, plain and as Contrast patches it. What it shall do is read from an annotation of the pod, because its environment
and arguments are the matter of the tests. The policy has `standin` in its data: what the program saw of the world
around it.
"""

import argparse
import base64
import gzip
import json
import os
import sys
import time
from collections.abc import Callable
from typing import Any, NoReturn

import yaml

from tests.genpolicy.standin_pod import Pod, Refused
from tests.genpolicy.standin_policy import policy_data, variables
from tests.genpolicy.standin_settings import PATCHED, PLAIN, complaint

ORDER = "test.example.com/genpolicy"
PATHS: dict[str, tuple[str, ...]] = {"Pod": (), "CronJob": ("spec", "jobTemplate", "spec", "template")}


def panic(message: str, *, old: bool = False) -> NoReturn:
    where = "src/policy.rs:41:9"
    said = (
        f"thread 'main' panicked at '{message}', {where}" if old else f"thread 'main' panicked at {where}:\n{message}"
    )
    note = "note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace"
    sys.stderr.write(f"[2026-11-01T00:00:00Z INFO  genpolicy::policy] working\n{said}\n{note}\n")
    sys.exit(101)


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(allow_abbrev=False)
    for name in ("rego-rules-path", "json-settings-path", "layers-cache-file-path"):
        parser.add_argument(f"--{name}", required=True)
    for name in ("runtime-class-names", "config-file"):
        parser.add_argument(f"--{name}", action="append", default=[])
    parser.add_argument("--base64-out", action="store_true")
    return parser.parse_args()


def pod_of(value: Any) -> Any:
    for step in PATHS.get(value["kind"], ("spec", "template")):
        value = value[step]
    return value


def fail(order: str, pod: Any, all_variables: Callable[[], list[str]]) -> None:  # noqa: C901 (one order after the other)
    """Every way in which a run ends without an annotation."""
    for key in ("initContainers", "containers"):
        for index, container in enumerate(pod["spec"].get(key) or ()):
            if "workingDir" in container:
                panic(f"Unsupported field: spec.template.spec.{key}[{index}].workingDir", old=order == "old panic")
            if "stdinOnce" in container:
                panic(f"Unsupported field: spec.template.spec.{key}.{index}.?.stdinOnce")
    if order == "quote":
        panic(f"invalid value: {json.dumps(pod['spec']['containers'][0]['env'][0]['value'])}, and {all_variables()}")
    if order == "refuse":
        sys.stderr.write(
            "[2026-11-01T00:00:00Z INFO  genpolicy] x\nerror: UID 1000 is not in the YAML\n\n  runAsUser: 1\n"
        )
        sys.exit(1)
    if order == "log":
        sys.stderr.write("[2026-11-01T00:00:00Z ERROR genpolicy] no route to the registry\n")
        sys.exit(1)
    if order == "silent":
        sys.exit(3)
    if order == "killed":
        os.kill(os.getpid(), 9)
    while order in {"hang", "chatter"}:
        time.sleep(0 if order == "chatter" else 60)
        sys.stderr.write("chatter\n" * 1000)
    if order == "child":  # ends, but leaves a child that keeps the streams open
        if not os.fork():
            time.sleep(60)
        os._exit(0)
    while order == "flood":
        sys.stdout.write("A" * 65536)
    if order == "garbage":
        print("annotated: yaml")
    if order in {"garbage", "nothing"}:
        sys.stdout.flush()
        sys.exit(0)


def main(kind: str, *, tells: bool = True) -> None:
    """Do what the program does. kind: plain or patched. tells: the policy says what the program saw around it."""
    given, patched = options(), kind == "patched"
    value = yaml.safe_load(sys.stdin)
    with open(given.rego_rules_path) as file:
        rules = file.read()
    with open(given.json_settings_path) as file:
        settings = json.load(file)
    assert rules.startswith("package agent_policy") or "\npackage agent_policy" in rules
    said = complaint(settings, PATCHED if patched else PLAIN)
    if said:
        panic(f"Merged settings are invalid: {said}")
    data: dict[tuple[str, str], dict[str, str]] = {}
    for path in given.config_file:
        with open(path) as file:
            for document in filter(None, yaml.safe_load_all(file)):
                if set(document) - {"apiVersion", "kind", "metadata", "data"}:
                    panic("Unsupported field: stringData")
                pairs = document["data"]
                if document["kind"] == "Secret":
                    pairs = {key: base64.b64decode(text).decode() for key, text in pairs.items()}
                data[document["kind"], document["metadata"]["name"]] = pairs
    pod = pod_of(value)
    if not any(pod["spec"].get("runtimeClassName", "").startswith(prefix) for prefix in given.runtime_class_names):
        return
    notes = pod.get("metadata", {}).get("annotations") or {}
    order = notes.get(ORDER, "")
    containers = [*pod["spec"].get("initContainers", [])[::-1], *pod["spec"]["containers"]]
    fail(order, pod, lambda: variables(containers[-1], data))
    around = {
        "environment": sorted(os.environ),
        "files": sorted(os.listdir()),
        "modes": sorted({os.stat(name).st_mode & 0o077 for name in (".",)}),
        "annotations": sorted(notes),
        "configs": len(given.config_file),
        "settings": sorted(settings),
        "cached": os.path.exists(given.layers_cache_file_path),
    }
    with open(given.layers_cache_file_path, "w") as file:
        file.write("[]")
    try:
        policy = policy_data(Pod(value, pod, data, settings, patched)) | ({"standin": around} if tells else {})
    except Refused as why:
        panic(str(why))
    text = f"{rules}\npolicy_data := {json.dumps(policy, indent=2)}"
    if order == "another rego":
        text = "package agent_policy\n"
    algorithm = "sha384" if order == "sha384" else "sha256"
    files = {"policy.rego": text}
    if order == "shuffled":
        files = {"zz.toml": "a = 1", **files} if os.urandom(1)[0] % 2 else {**files, "zz.toml": "a = 1"}
    if order == "no policy":
        files = {"aa.toml": ""}
    lines = [f"{json.dumps(name)} = {json.dumps(content)}" for name, content in files.items()]
    toml = "\n".join([f'version = "0.1.0"\nalgorithm = "{algorithm}"\n\n[data]', *lines, ""])
    sys.stdout.write(base64.b64encode(gzip.compress(toml.encode())).decode())
