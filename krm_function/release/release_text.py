"""Write a ContrastRelease, a new file or an existing one updated in place; and read one back as facts.

Rule of this file: an update changes values and adds missing ones; comments, order and unknown fields stay.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from krm_function.api.document import CONFIG_KINDS, is_config
from krm_function.api.modeline import modeline
from krm_function.api.records import API_VERSION
from krm_function.findings import Path
from krm_function.krm.kube_object import LOCAL_CONFIG
from krm_function.model.lookup import dig, mapping, maps
from krm_function.model.platforms import PLATFORMS
from krm_function.record import NamedTuple
from krm_function.release.combine import Combined
from krm_function.release.facts import MEASURED, NO_VERSION, POLICY_PROFILE, Fact
from krm_function.yamltext import Change, Chunk, decode, encode, parse, split_stream
from krm_function.yamltext.edit.splice import splice
from krm_function.yamltext.writer import dump

KIND = CONFIG_KINDS[1]
HEAD = """# The facts of one Contrast release. Written by `contrast-krm release import`; comments of yours stay.
# Whoever can change this file decides what the deployment accepts: review it, and take its sources over a channel that
# you trust.
"""


class Existing(NamedTuple):
    """The ContrastRelease document of a file: its value, its first line, and its position in the text."""

    value: dict[str, Any]
    line: int
    chunk: Chunk


def existing(data: bytes) -> Existing | None:
    """Find the only ContrastRelease of a file; None for none. Raises YamlError, and ValueError for a second one."""
    text = decode(data).text
    documents: list[Existing] = []
    for chunk in split_stream(text):
        if chunk.kind == KIND and is_config(chunk.api_version):
            value = parse(chunk.of(text), line=chunk.line).value
            documents.append(Existing(mapping(value), chunk.line, chunk))
    if len(documents) > 1:
        raise ValueError("it has two objects of kind ContrastRelease")
    return documents[0] if documents else None


def new_text(release: Combined, schema: str = "") -> bytes:
    """Write a new file. schema: location of the JSON Schema for editors, "" for no such line."""
    metadata = {"name": release.version, "annotations": {LOCAL_CONFIG: "true"}}
    value = {"apiVersion": API_VERSION, "kind": KIND, "metadata": metadata, "spec": _spec(release, {})}
    return (modeline(schema) + HEAD + dump(value)).encode()


def updated_text(release: Combined, data: bytes, old: Existing) -> bytes:
    """Update the document of the release in the bytes of a file. Raises YamlError."""
    source = decode(data)
    document = parse(old.chunk.of(source.text), line=old.line)
    before = mapping(old.value.get("spec"))
    changes = list(_difference(before, _spec(release, before), ("spec",)))
    name = mapping(old.value.get("metadata")).get("name")
    if name in {release.before, NO_VERSION} and name != release.version:  # a name of a person's own stays
        changes.append(Change(("metadata", "name"), "set", release.version))
    if not changes:
        return data
    return encode(old.chunk.replaced(source.text, splice(document, changes).text), source.bom)


def _spec(release: Combined, before: Mapping[str, Any]) -> dict[str, Any]:
    """Put the facts into the existing spec."""
    spec: dict[str, Any] = _copied(before)
    spec["version"] = release.version
    if POLICY_PROFILE in release.facts:
        spec["policyProfile"] = release.facts[POLICY_PROFILE].value
    spec["platforms"] = mapping(spec.get("platforms"))
    for path, fact in release.facts.items():
        match path:
            case ("platforms", str() as platform, *rest):
                _put(spec["platforms"].setdefault(platform, {}), platform, rest, fact)
            case ("images", str() as image):
                spec["images"] = mapping(spec.get("images")) | {image: fact.value}
            case _:
                pass
    order = [name for name in PLATFORMS if name in spec["platforms"]]
    spec["platforms"] = {name: spec["platforms"][name] for name in order}
    return spec


def _put(facts: dict[str, Any], platform: str, path: list[str | int], fact: Fact) -> None:
    """Put one fact into its platform."""
    if path[0] not in {"snp", "tdx"}:
        key, value = str(path[0]), fact.value
        facts[key] = mapping(facts.get(key)) | {str(path[1]): value} if len(path) > 1 else value
        return
    tee, product, field, *index = path
    entries = facts.setdefault("referenceValues", {}).setdefault(str(tee), [])
    entry: dict[str, Any] = next((one for one in entries if (one.get("ProductName") or "") == product), {})
    if not entry:
        entry |= {"Platform": PLATFORMS[platform].marker} | ({"ProductName": product} if product else {})
        entries.append(entry)
    if index:
        values = entry.setdefault(str(field), [])
        values[len(values) :] = [""] * (int(index[0]) + 1 - len(values))
        values[int(index[0])] = fact.value
    else:
        entry[str(field)] = fact.value


def _copied(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _copied(item) for key, item in value.items()}
    return [_copied(item) for item in value] if isinstance(value, list) else value


def _difference(before: Any, after: Any, path: Path) -> Iterator[Change]:
    """Yield the changes from one spec to the other; nothing is ever removed. Keys that were numbers stay as written."""
    if isinstance(before, dict) and isinstance(after, dict) and before:
        written = {str(key): key for key in before}
        for key, value in after.items():
            if key not in written:
                yield Change((*path, key), "set", value)
            else:
                yield from _difference(before[written[key]], value, (*path, written[key]))
    elif isinstance(before, list) and isinstance(after, list) and before:
        for index, value in enumerate(after):
            if index < len(before):
                yield from _difference(before[index], value, (*path, index))
            else:
                yield Change((*path, index), "insert", value)
    elif before != after:
        yield Change(path, "set", after)


def known_facts(value: Any, file: str, line: int = 0) -> tuple[Fact, ...]:
    """Return the facts of a valid ContrastRelease; its placeholder version is left out."""
    spec = mapping(mapping(value).get("spec"))
    return tuple(Fact(path, found, file, line) for path, found in _facts_in(spec) if found not in (None, NO_VERSION))


def _facts_in(spec: dict[str, Any]) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    yield ("version",), spec.get("version")
    yield POLICY_PROFILE, spec.get("policyProfile")
    for name, facts in mapping(spec.get("platforms")).items():
        here = ("platforms", name)
        tee = PLATFORMS[name].tee
        yield (*here, "handler"), mapping(facts).get("handler")
        yield (*here, "overhead"), mapping(facts).get("overhead")
        for entry in maps(dig(facts, ("referenceValues", tee))):
            place = (*here, tee, entry.get("ProductName") or "")
            for field in MEASURED[tee]:
                if field == "Rtmrs":
                    yield from (((*place, field, index), one) for index, one in enumerate(entry.get(field) or ()))
                else:
                    yield (*place, field), entry.get(field)
        yield from (
            ((*here, "rtmr0ByVCPU", str(count)), one)
            for count, one in mapping(mapping(facts).get("rtmr0ByVCPU")).items()
        )
    yield from ((("images", name), image) for name, image in mapping(spec.get("images")).items())
