"""Compare every object of rendered output with what another render makes of it.

Rule of this file: nothing is left out. An object whose text that render does not change is the same; any other is
compared as plain data, and an object without a counterpart on the other side is an error.

    the input has    the render has    answer
    an object        the same          nothing
    an object        another value     CC1103 where the policy differs, CC1114 where anything else does
    an object        nothing           CC1115: it drops the object
    nothing          an object         CC1115: it adds the object; not if it is local to the package, which hosts drop
"""

from collections.abc import Iterator
from typing import Any

from krm_function.checking.drift import differing_fields
from krm_function.checking.excused_differences import EXCUSES, comparable
from krm_function.checking.parse_output import Output
from krm_function.checking.paths_text import paths_text
from krm_function.checking.seal_checks import stale
from krm_function.findings import Finding, Path, dotted, finding
from krm_function.manifest.ordered_fields import FILE
from krm_function.model.finding_position import yaml_finding
from krm_function.model.lookup import dig
from krm_function.model.objects import objects, reference
from krm_function.model.pod_kinds import Kinds
from krm_function.model.resource import Resource
from krm_function.model.workload import EMITTED, INITDATA, LOCAL_CONFIG, ORIGINAL, workloads_of
from krm_function.pipeline.result import Rendered
from krm_function.policy import decode_toml, from_annotation, read_policy_data
from krm_function.policy.initdata import POLICY
from krm_function.stages.manifest_config_map import manifest_of
from krm_function.yamltext import Document, YamlError, parse
from krm_function.yamltext.comparison import differing_paths

MANIFEST: Path = ("data", FILE)

ObjectAt = tuple[Path, Any]


def compare_objects(output: Output, rendered: Rendered) -> list[Finding]:
    """Compare with another render, a finding for each difference."""
    findings: list[Finding] = []
    for resource, text in zip(output.resources, rendered.texts, strict=True):
        if text == resource.text:
            continue
        try:
            given = resource.given()
        except YamlError as problem:
            findings.append(yaml_finding(problem, resource))
            continue
        after = None if text is None else parse(text)
        findings += map(given.placed, _compared(given, after))
    for value in rendered.added:
        if dig(value, ("metadata", "annotations", LOCAL_CONFIG)) != "true":
            findings.append(finding("CC1115.adds", reference(value)))
    return findings


def written_by_a_cluster(output: Output) -> Iterator[Finding]:
    """Yield a finding for each object of a render with a status or an owner: no render writes these, all keep them.

    Those that come out of a cluster have a uid, which nothing but a cluster gives, and may have both. An empty status
    is what `kubectl create --dry-run` prints.
    """
    for resource, root, value in output.objects():
        rendered = any(dig(value, ("metadata", "annotations", name)) is not None for name in (ORIGINAL, EMITTED))
        if not rendered or dig(value, ("metadata", "uid")):
            continue
        for path in (("status",), ("metadata", "ownerReferences")):
            if dig(value, path):
                yield resource.placed(finding("CC1114", reference(value), root + path, fields=dotted(path)))


def _compared(given: Resource, after: Document | None) -> Iterator[Finding]:
    before, now = list(objects(given.value)), list(objects(after.value)) if after else []
    pairs = zip(before, now, strict=True) if len(before) == len(now) == 1 else _paired(before, now)
    for old, new in pairs:
        if old is None and new is not None:
            yield finding("CC1115.adds", reference(new[1]))
        elif old is not None and new is None:
            yield finding("CC1115.drops", reference(old[1]), (*old[0], "metadata"))
        elif old is not None and new is not None:
            yield from _differing(old[0], old[1], new[1], given.kinds)


def _paired(before: list[ObjectAt], now: list[ObjectAt]) -> Iterator[tuple[ObjectAt | None, ObjectAt | None]]:
    """Pair the objects of two lists by identity, None where one side has none. Equal ones are paired in order."""
    left: dict[Any, list[ObjectAt]] = {}
    for standing in now:
        left.setdefault(reference(standing[1]), []).append(standing)
    for standing in before:
        found = left.get(reference(standing[1]))
        yield standing, found.pop(0) if found else None
    for rest in left.values():
        for standing in rest:
            yield None, standing


def _differing(root: Path, before: Any, now: Any, kinds: Kinds) -> Iterator[Finding]:
    """Yield the findings of one object, which stands at `root` of its document."""
    paths = differing_paths(comparable(before, kinds), comparable(now, kinds), EXCUSES)
    ref = reference(before)
    fields = list(paths)
    for workload in workloads_of(before, root, ref, kinds=kinds):
        initdata: Path = (*workload.template, "metadata", "annotations", INITDATA)
        policy = (*initdata, "data", POLICY)
        inside = [path for path in paths if path[: len(initdata)] == initdata]
        if policy in paths:
            yield from (stale(workload, field) for field in _moved(dig(before, initdata), dig(now, initdata)))
        fields = [path for path in fields if path not in inside]
        if others := {*inside} - {policy, (*initdata, "")}:
            fields += sorted(others, key=str)
        elif inside and policy not in inside:
            fields.append(initdata)  # the same files in another document
    if manifest_of(before) is not None:
        fields = [path for path in fields if path != MANIFEST]  # CC1113 names its fields
    if fields:
        yield finding("CC1114", ref, root + fields[0], fields=paths_text(fields))


def _moved(before: Any, now: Any) -> list[str]:
    """Return the fields of a pod by which the policies of two initdata annotations differ."""
    try:
        sealed, again = (read_policy_data(decode_toml(from_annotation(text)).data[POLICY]) for text in (before, now))
    except (ValueError, KeyError, TypeError, AttributeError):
        return ["its policy"]
    return differing_fields(sealed, again)
