"""Compares how we and Go read a stream: what kubectl, Helm or kustomize reads as a Contrast pod, we select or refuse.

Rule of this file: `goreaders` makes the inputs and reads them, with the API server's parser of group and version; here
each is read as the commands read it. Every pod that Go finds must be among the selected ones, as often as one reader
finds it and with the same pod spec, and what asks for a class of Contrast's in any other object must be refused.
Anything else is a find: its input is reduced and written to a file. `make fuzz` is the long form.
"""

import base64
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from helm_plugin.helm_stream import decode_helm
from krm_function.contrast.platforms import is_contrast_name
from krm_function.findings import has_errors
from krm_function.hosts.functions import cut_list
from krm_function.hosts.pass_through import passes_through
from krm_function.hosts.stream import cut_stream
from krm_function.krm import is_resource_list
from krm_function.krm.result import NotAResourceListError
from krm_function.kubernetes.kinds import KINDS
from krm_function.kubernetes.resource import Resource
from krm_function.render.read import read
from krm_function.render.select import select_all
from krm_function.text.changes import same
from krm_function.text.errors import YamlError, decode
from tools.cache import HERE, ToolError
from tools.real import tool

CORPUS = os.path.join(os.path.dirname(HERE), "tests", "adversary", "corpus")
FINDS = "out/fuzz"
SEED, RUNS, SECONDS = 1, 10_000_000, 3600


class Pod(NamedTuple):
    """A pod as both sides name it: its identity and its runtime class."""

    kind: str
    namespace: str
    name: str
    runtime_class: str


class Seen(NamedTuple):
    """What we make of one input. refused: the codes of errors, which are an answer, too."""

    pods: dict[Pod, list[Any]]
    refused: tuple[str, ...] = ()


class Tally(NamedTuple):
    """The result of a run. pods: inputs in which Go finds a Contrast pod."""

    executions: int
    pods: int
    refused: int
    seen: int
    finds: tuple[str, ...]


def judge(data: bytes, found: Iterable[dict[str, Any]]) -> str:
    """How we answer an input in which Go's readers find these pods: `refused`, `seen`, `none` or what is wrong."""
    pods = [one for one in found if is_contrast_name(one["runtimeClassName"])]
    if not pods:
        return "none"
    if passes_through(data):
        return "hidden from the early answer"
    answers = [_answer(_as_input(data), pods)]
    if b"*" in data or b"ResourceList" in data:  # else it is the same reading
        answers.append(_answer(_as_helm(data), pods))
    return next((answer for answer in answers if answer not in ("refused", "seen")), answers[0])


def _answer(seen: Seen, found: list[dict[str, Any]]) -> str:
    if seen.refused:
        return "refused"
    others = [one for one in found if not _is_pod(one)]
    if others:
        return f"asks for a class and is not refused, {others[0]['reader']} sees it"
    for reader in {one["reader"] for one in found}:
        pods = [one for one in found if one["reader"] == reader]
        by_name = reader == "kubectl"  # to kyaml, a key in base64 is no name; Helm's two splitters may both see a pod
        wanted = Counter(_known(_pod(one), by_name=by_name) for one in pods)
        ours = Counter({_known(pod, by_name=by_name): 0 for pod in seen.pods})
        for pod, specs in seen.pods.items():
            ours[_known(pod, by_name=by_name)] += len(specs)
        missing = set(wanted) - set(ours) if reader == "helm" else wanted - ours
        if missing:
            return f"hidden from us, {reader} sees {min(missing).kind}"
        if by_name and not all(any(same(one.get("spec"), spec) for spec in seen.pods[_pod(one)]) for one in pods):
            return "another pod spec than kubectl's"
    return "seen"


def _is_pod(found: dict[str, Any]) -> bool:
    """Whether an API server would run it, and we seal it. Group and version: as apimachinery parses them."""
    group, _, version = KINDS[found["kind"]][0].rpartition("/") if found["kind"] in KINDS else ("", "", None)
    return (found["group"], found["version"]) == (group, version)


def _known(pod: Pod, *, by_name: bool) -> Pod:
    return pod if by_name else Pod(pod.kind, "", "", pod.runtime_class.strip())


def _pod(found: dict[str, Any]) -> Pod:
    return Pod(found["kind"], found["namespace"], found["name"], found["runtimeClassName"])


def _as_input(data: bytes) -> Seen:
    """As `generate`, `check` and `fn` read it."""
    try:
        source = decode(data)
        return _selected((cut_list(source) if is_resource_list(source.text) else cut_stream(source)).resources)
    except NotAResourceListError:
        return Seen({}, ("CC0108",))
    except YamlError as problem:
        return Seen({}, (problem.code,))


def _as_helm(data: bytes) -> Seen:
    """As `post-render` reads it."""
    try:
        stream = decode_helm(decode(data))
    except YamlError as problem:
        return Seen({}, (problem.code,))
    return _selected(stream.resources)


def _selected(resources: Sequence[Resource]) -> Seen:
    known = read(resources)
    chosen = select_all(known.resources, known.findings, None, live=True)
    findings = (*known.findings, *chosen.findings)
    if has_errors(findings):
        return Seen({}, tuple(found.code for found in findings))
    pods: dict[Pod, list[Any]] = {}
    for workload in chosen.workloads:
        metadata = workload.object.get("metadata")
        name = metadata.get("name") if isinstance(metadata, dict) else None
        pod = Pod(
            workload.ref.kind, workload.ref.namespace, name if isinstance(name, str) else "", workload.runtime_class
        )
        pods.setdefault(pod, []).append(workload.pod_spec)
    return Seen(pods)


def go_reads(data: bytes) -> list[dict[str, Any]]:
    """Return the pods that Go's readers find in one input."""
    answer = subprocess.run([tool("goreaders"), "read"], input=data, capture_output=True, timeout=60, check=True).stdout
    pods: list[dict[str, Any]] = json.loads(answer)["pods"] or []
    return pods


def smaller(data: bytes, problem: str) -> bytes:
    """Return the input without the lines that the find does not need."""
    lines = data.splitlines(keepends=True)
    at = 0
    while at < len(lines) and len(lines) < 200:
        rest = b"".join((*lines[:at], *lines[at + 1 :]))
        if judge(rest, go_reads(rest)) == problem:
            del lines[at]
        else:
            at += 1
    return b"".join(lines)


def run(seed: int = SEED, runs: int = RUNS, seconds: int = SECONDS, most: int = 20) -> Tally:
    """Fuzz within a budget; it ends early after so many finds."""
    counts: Counter[str] = Counter()
    finds: dict[str, bytes] = {}
    executions = -1
    for line in _lines_of(["fuzz", CORPUS, str(seed), str(runs), str(seconds)]):
        if "executions" in line:
            executions = line["executions"]
            break
        data = base64.b64decode(line["input"])
        try:
            answer = judge(data, line["pods"])
        except Exception as error:  # noqa: BLE001  # whatever is raised here would be a bug report of a user
            answer = f"raised {type(error).__name__}: {error}"
        counts[answer] += 1
        if answer not in ("refused", "seen", "none"):
            finds.setdefault(answer, data)
            if len(finds) >= most:
                break
    if executions < 0 and not finds:
        raise ToolError("goreaders ended before its time")
    pods = sum(counts.values()) - counts["none"]
    return Tally(executions, pods, counts["refused"], counts["seen"], tuple(_kept(finds)))


def _lines_of(arguments: Sequence[str]) -> Iterator[dict[str, Any]]:
    with subprocess.Popen([tool("goreaders"), *arguments], stdout=subprocess.PIPE) as program:
        try:
            for line in program.stdout or ():
                yield json.loads(line)
        finally:
            program.kill()


def _kept(finds: dict[str, bytes]) -> Iterator[str]:
    """Write each find to a file, and answer a line about it."""
    for number, (problem, data) in enumerate(finds.items()):
        os.makedirs(FINDS, exist_ok=True)
        path = os.path.join(FINDS, f"find-{number}.yaml")
        with open(path, "wb") as file:
            file.write(data if problem.startswith("raised") else smaller(data, problem))
        yield f"{path}: {problem}"


def main() -> int:
    """Run with FUZZ_SEED, FUZZ_RUNS and FUZZ_SECONDS; 1 if anything was found."""
    budget = [
        int(os.environ.get(f"FUZZ_{name}", value))
        for name, value in (("SEED", SEED), ("RUNS", RUNS), ("SECONDS", SECONDS))
    ]
    tally = run(*budget)
    print(f"{tally.executions} executions, {tally.pods} with a Contrast pod to Go")
    print(f"of these {tally.refused} refused, {tally.seen} seen")
    print("\n".join(tally.finds) or "no find")
    return 1 if tally.finds else 0


if __name__ == "__main__":
    sys.exit(main())
