"""`python -m tools.stamp COMMIT ADDRESS`: write what only a release build knows into the package, before it is built.

COMMIT: 40 hexadecimal digits. ADDRESS: of the folder docs/ as it is published for this version, without a slash at the
end. It needs nothing but Python, and fails if either place is not there exactly once.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
PLACES = {
    "COMMIT": (ROOT / "krm_function" / "__init__.py", "__commit__", r"[0-9a-f]{40}"),
    "ADDRESS": (ROOT / "krm_function" / "findings" / "__init__.py", "DOCUMENTATION", r"https://[\w./-]*[\w-]"),
}


def stamped(text: str, name: str, value: str) -> str:
    """Return the text with another value of one empty constant. Raises ValueError if it is not there exactly once."""
    made, count = re.subn(rf'^{name} = ""', f'{name} = "{value}"', text, flags=re.MULTILINE)
    if count != 1:
        raise ValueError(f"{name}: {count} empty constants of this name, wanted one")
    return made


def main(arguments: list[str]) -> int:
    """Check both, then write both."""
    if len(arguments) != len(PLACES):
        print("usage: python -m tools.stamp COMMIT ADDRESS", file=sys.stderr)
        return 2
    texts = {}
    for (what, (path, name, form)), value in zip(PLACES.items(), arguments, strict=True):
        if not re.fullmatch(form, value):
            print(f"{what}: {value!r} has not the form {form}", file=sys.stderr)
            return 2
        texts[path] = stamped(path.read_text(encoding="utf-8"), name, value)
    for path, text in texts.items():
        path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
