"""`python -m tools.release TAG`: check that a tag is the version everywhere, and print its section of the changelog.

It needs nothing but Python, so that the release workflow can ask before it installs anything. A place is a file and the
line that has the version; Helm's plugins write it in the same way, as releases have no suffix. The owner of the
repository is in pyproject.toml, and everything else that names it is compared with that.
"""

import os
import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
PLACES = {
    "krm_function/__init__.py": r'^__version__ = "(.+?)"',
    "plugin.yaml": r"^version: (\S+)$",
    "helm_plugin/plugin.yaml": r"^version: (\S+)$",
    "Dockerfile": r'org\.opencontainers\.image\.version="(.+?)"',
}
OTHERS = ("CHANGELOG.md", "README.md", "SECURITY.md")
CONTACTS = {
    "mail address": r"^- Mail: <(\S+@\S+)>$",
    "fingerprint of the release key": r"^- Release key: `([0-9A-F]{40})`$",
}
PROJECT: str = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["urls"]["Source"]
UNPUBLISHED = "not published yet"
TAG = re.compile(r"v(\d+\.\d+\.\d+)")


def problems(tag: str, texts: dict[str, str]) -> list[str]:
    """Return what keeps this tag from being a release. texts: those of PLACES and OTHERS."""
    named = TAG.fullmatch(tag)
    if not named:
        return [f"{tag!r} is no tag of the form vX.Y.Z"]
    found = []
    for path, pattern in PLACES.items():
        versions = re.findall(pattern, texts[path], re.MULTILINE)
        if versions != [named[1]]:
            found.append(f"{path}: {', '.join(versions) or 'no version'}, not {named[1]}")
    if not notes(named[1], texts["CHANGELOG.md"]):
        found.append(f"CHANGELOG.md: no section `## [{named[1]}] - YYYY-MM-DD` with anything in it")
    if UNPUBLISHED in texts["README.md"]:
        found.append("README.md: its section Install still has the note that nothing is published")
    there = contacts(texts["SECURITY.md"])
    found += [f"SECURITY.md: no {name}" for name in CONTACTS if name not in there]
    here = os.environ.get("GITHUB_REPOSITORY", "")
    if here and not PROJECT.endswith(f"/{here}"):
        found.append(f"this repository is {here}, and every address is of {PROJECT}")
    return found


def contacts(security: str) -> dict[str, str]:
    """Return those of CONTACTS that are in the text of SECURITY.md."""
    lines = {name: re.search(pattern, security, re.MULTILINE) for name, pattern in CONTACTS.items()}
    return {name: match[1] for name, match in lines.items() if match}


def notes(version: str, changelog: str) -> str:
    """Return the section of a version without its heading, "" if there is none."""
    _, *sections = re.split(r"^## ", changelog, flags=re.MULTILINE)
    for section in sections:
        heading, _, text = section.partition("\n")
        if re.fullmatch(rf"\[{re.escape(version)}\] - 20\d\d-\d\d-\d\d", heading):
            return text.strip() + "\n" if text.strip() else ""
    return ""


def main(arguments: list[str]) -> int:
    """Print the notes; 1 with a line for each problem."""
    if len(arguments) != 1:
        print("usage: python -m tools.release TAG", file=sys.stderr)
        return 2
    texts = {path: (ROOT / path).read_text(encoding="utf-8") for path in (*PLACES, *OTHERS)}
    found = problems(arguments[0], texts)
    for problem in found:
        print(f"release: error: {problem}", file=sys.stderr)
    if found:
        return 1
    print(notes(arguments[0][1:], texts["CHANGELOG.md"]), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
