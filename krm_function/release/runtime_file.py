"""runtime-<platform>.yml: the handler and the overhead of a platform, and the release by its node installer.

Rule of this file: a RuntimeClass and its handler have the same name, because pods ask for the class and nodes for the
handler.
Source: docs/facts/contrast.md#runtime-file.
"""

from collections.abc import Iterator
from typing import Any

from krm_function.findings import Finding, finding
from krm_function.model.lookup import dig, mapping, maps
from krm_function.model.objects import reference
from krm_function.model.platforms import Platform
from krm_function.model.runtime_class_names import Insecure, NotContrast, is_placeholder, parse_runtime_class
from krm_function.release.facts import Fact, Facts
from krm_function.release.image_tags import version_facts

INSTALLER = "installer"


def runtime_facts(value: dict[str, Any], file: str, line: int) -> Facts | None:
    """Return the facts of a RuntimeClass or a node installer; None for objects that are not Contrast's."""
    if value.get("kind") == "DaemonSet":
        return _installer(value, file, line)
    name, handler = dig(value, ("metadata", "name")), value.get("handler")
    meant = parse_runtime_class(handler if isinstance(handler, str) else "")
    if isinstance(meant, NotContrast):
        return None
    problems = tuple(_problem(value, name, handler, meant))
    if problems or not isinstance(meant, Platform):
        return Facts(findings=tuple(one._replace(file=file, line=line) for one in problems))
    facts = [Fact(("platforms", meant.name, "handler"), handler, file, line)]
    overhead = dig(value, ("overhead", "podFixed"))
    if overhead is not None:
        facts.append(Fact(("platforms", meant.name, "overhead"), overhead, file, line))
    return Facts(tuple(facts))


def _problem(value: dict[str, Any], name: Any, handler: Any, meant: object) -> Iterator[Finding]:
    ref = reference(value)
    if isinstance(meant, Insecure):
        yield finding("CC1305.insecure", ref, what=f"runtime class {handler}")
    elif not isinstance(meant, Platform) or is_placeholder(handler):
        yield finding("CC1304.handler", ref, ("handler",), handler=handler)
    elif name != handler:
        yield finding("CC1304.names", ref, ("handler",), name=name, handler=handler)


def _installer(value: dict[str, Any], file: str, line: int) -> Facts | None:
    containers = maps(dig(value, ("spec", "template", "spec", "initContainers")))
    images = [mapping(entry).get("image") for entry in containers if entry.get("name") == INSTALLER]
    return Facts(version_facts(images, file, line)) if images else None
