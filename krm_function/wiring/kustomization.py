"""kustomization.yaml: the ContrastGenerate as the last transformer, release and lock among the resources.

Rule of this file: a list is only ever appended to. kustomize runs transformers in the order of the list
(docs/facts/kustomize.md#order), and nothing may change a pod after it is sealed.
"""

from typing import Any

from krm_function.findings import Finding, finding
from krm_function.model.lookup import mapping
from krm_function.wiring.wired import Files, Wired
from krm_function.yamltext import Change, parse
from krm_function.yamltext.edit.splice import splice

KUSTOMIZATIONS = ("kustomization.yaml", "kustomization.yml", "Kustomization")  # the names that kustomize knows
NEW_KUSTOMIZATION = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n"


def wire_kustomization(text: str, files: Files, resources: tuple[str, ...] = ()) -> Wired:
    """Add what is missing. resources: further ones, for a new file. Raises YamlError."""
    text = text if text.strip() else NEW_KUSTOMIZATION
    document = parse(text)
    value = mapping(document.value)
    problem = _problem(document.value)
    if problem:
        return Wired(text, findings=(problem,))
    changes: list[Change] = []
    steps: list[str] = []
    for key, names in (("resources", (*resources, files.release, files.lock)), ("transformers", (files.generate,))):
        present = listed(value, key)
        added = [name for name in dict.fromkeys(names) if name not in present]
        changes += _append(value.get(key), key, added)
        steps += [f"{key}: {', '.join(added)}"] if added else []
    spliced = splice(document, changes).text if changes else text
    return Wired(spliced, tuple(steps), _not_last(value, files.generate))


def listed(value: Any, key: str) -> tuple[str, ...]:
    """Return the entries of one list of a kustomization, as paths: `./a.yaml` is a.yaml."""
    entries = mapping(value).get(key)
    texts = [entry for entry in entries if isinstance(entry, str)] if isinstance(entries, list) else []
    return tuple(text.removeprefix("./") for text in texts)


def _problem(value: Any) -> Finding | None:
    """Return why a file cannot be wired, if so."""
    kind = mapping(value).get("kind", "Kustomization")
    if not isinstance(value, dict):
        return finding("CC1311.no-map")
    if kind != "Kustomization":
        return finding("CC1311.kustomization", path=("kind",), kind=kind)
    for key in ("resources", "transformers"):
        if not isinstance(value.get(key), list | None):
            return finding("CC1311.list", path=(key,), field=key)
    return None


def _append(present: Any, key: str, names: list[str]) -> list[Change]:
    """Return the changes that put names at the end of a list, which may not be there yet."""
    if not names:
        return []
    if not present:
        return [Change((key,), "set", names)]
    return [Change((key, len(present) + number), "insert", name) for number, name in enumerate(names)]


def _not_last(value: dict[str, Any], name: str) -> tuple[Finding, ...]:
    transformers = listed(value, "transformers")
    if name not in transformers or transformers[-1] == name:
        return ()
    return (finding("CC1312", what=f"transformer {name}", after=transformers[-1]),)
