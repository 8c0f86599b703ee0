"""Print every local, parameter and field whose name does not say what it holds; exit 1 if there is one.

Rule of this file: a closed list of words. A name that is one of them hides a workload, a finding or a mount. Where such
a word is the field's own, ALLOWED names its file.
"""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
VAGUE = {
    *("one", "found", "made", "known", "wanted", "wrong", "said", "given", "left", "kept", "taken", "moved", "placed"),
    *("named", "each", "there", "other", "others", "more", "own", "before", "after", "here", "every", "what", "who"),
}
ALLOWED = {
    "krm_function/check/adopt.py": {"before", "after"},  # of an AdoptedPod
    "krm_function/kubernetes/resource.py": {"before", "after"},  # of an Edit
    "krm_function/krm/fields.py": {"other"},  # of an operator, as Python writes it
    "krm_function/krm/kube_object.py": {"other"},
    "krm_function/policy/compare_values.py": {"what"},  # and why, of a Difference
}


def bound_names(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield line and name of each binding."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.id
        elif isinstance(node, ast.arg):
            yield node.lineno, node.arg
        elif isinstance(node, ast.MatchAs | ast.MatchStar | ast.ExceptHandler) and node.name:
            yield node.lineno, node.name


def main() -> int:
    """Look at the program."""
    problems = [
        f"{path}:{line}: {name}"
        for package in ("krm_function", "helm_plugin")
        for file in sorted((ROOT / package).rglob("*.py"))
        for path in [file.relative_to(ROOT).as_posix()]
        for line, name in bound_names(ast.parse(file.read_text(encoding="utf-8")))
        if name in VAGUE - ALLOWED.get(path, set())
    ]
    print("\n".join(problems), end="\n" * bool(problems))
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
