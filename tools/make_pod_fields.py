"""Write the list of all fields of a pod spec, out of the Kubernetes API that the Python client is generated from.

    python tools/make_pod_fields.py kubernetes-37.0.2-py2.py3-none-any.whl

The wheel is what `pip download --no-deps kubernetes` gives; it is read, never installed or run. One line per field:
its type, its name, what it holds (`[X]` a list of X, `{X}` a map to X). The tests of the policy compare the list with
`krm_function/kubernetes/pod_fields.py`: a field of a newer API that is not classified there fails them.
"""

import ast
import os
import re
import sys
import zipfile
from collections.abc import Iterator

OUT = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "tests", "policy", "data")
NAME = "pod_fields.txt"
MODELS = "kubernetes/client/models/"
SCALARS = {"StrictStr": "string", "StrictInt": "integer", "StrictBool": "boolean", "str": "string", "Any": "any"}


def main() -> int:
    """Read the wheel that the command line names and write the list."""
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    with zipfile.ZipFile(sys.argv[1]) as wheel:
        classes = {model.name: model for model in models(wheel)}
        version = re.search(rb"OpenAPI document: (\S+)", wheel.read(MODELS + "v1_pod_spec.py"))
    lines = [f"# {os.path.basename(sys.argv[1])}, API {version[1].decode() if version else '?'}", *listed(classes)]
    os.makedirs(OUT, exist_ok=True)
    with open(os.path.join(OUT, NAME), "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
    return 0


def models(wheel: zipfile.ZipFile) -> Iterator[ast.ClassDef]:
    """All classes of the client's models."""
    for name in wheel.namelist():
        if name.startswith(MODELS + "v1_"):
            yield from (node for node in ast.parse(wheel.read(name)).body if isinstance(node, ast.ClassDef))


def listed(classes: dict[str, ast.ClassDef]) -> list[str]:
    """`type field: what it holds` for every type that a pod spec is made of."""
    waiting, seen, lines = ["V1PodSpec"], set(), []
    while waiting:
        model = waiting.pop()
        if model in seen:
            continue
        seen.add(model)
        for field, holds in fields(classes[model]):
            lines.append(f"{model.removeprefix('V1')} {field}: {shown(holds)}")
            waiting += [node.id for node in ast.walk(holds) if isinstance(node, ast.Name) and node.id in classes]
    return sorted(lines)


def fields(model: ast.ClassDef) -> Iterator[tuple[str, ast.expr]]:
    """Yield the fields of a model by the name they have in JSON."""
    for node in model.body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            if isinstance(node.annotation, ast.Subscript) and ast.unparse(node.annotation.value) == "ClassVar":
                continue
            keywords = node.value.keywords if isinstance(node.value, ast.Call) else []
            alias = next((ast.literal_eval(word.value) for word in keywords if word.arg == "serialization_alias"), None)
            yield alias or node.target.id, node.annotation


def shown(holds: ast.expr) -> str:
    """Return a type annotation in the words of the list."""
    if isinstance(holds, ast.Subscript):
        outer = ast.unparse(holds.value)
        if outer == "Optional":
            return shown(holds.slice)
        if outer in {"List", "list"}:
            return f"[{shown(holds.slice)}]"
        if outer in {"Dict", "dict"} and isinstance(holds.slice, ast.Tuple):
            return f"{{{shown(holds.slice.elts[1])}}}"
    text = ast.unparse(holds)
    return SCALARS.get(text, text.removeprefix("V1"))


if __name__ == "__main__":
    raise SystemExit(main())
