"""Read an existing ContrastRelease as facts.

Rule of this file: the inverse of text.py.
"""

from collections.abc import Iterator
from typing import Any

from krm_function.model.lookup import dig, mapping, maps
from krm_function.model.platforms import PLATFORMS
from krm_function.release.facts import MEASURED, NO_VERSION, POLICY_PROFILE, Fact


def known_facts(value: Any, file: str, line: int = 0) -> tuple[Fact, ...]:
    """Return the facts of a valid ContrastRelease; its placeholder version is left out."""
    spec = mapping(mapping(value).get("spec"))
    return tuple(Fact(path, found, file, line) for path, found in _walk(spec) if found not in (None, NO_VERSION))


def _walk(spec: dict[str, Any]) -> Iterator[tuple[tuple[str | int, ...], Any]]:
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
