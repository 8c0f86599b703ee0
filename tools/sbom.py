"""`python -m tools.sbom DIRECTORY`: DIRECTORY/contrast-krm-VERSION.cdx.json, the parts list of a release in CycloneDX.

cyclonedx-py lists the virtual environment, with licences and what needs what. Kept is what the program needs with its
extras: all that the bundle and the image hold, and what a wheel asks for. The bundle's Python is added.

Rule of this file: the same lock file gives the same bytes, and a library of another version than its is an error.
"""

import json
import os
import re
import subprocess
import sys
import sysconfig
import tomllib
from typing import Any

from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

from krm_function import __version__
from tools.cache import HERE, ToolError, say

ROOT = os.path.dirname(HERE)
EXTRAS = ("lock", "html", "settings", "completion")
BUNDLED = "python314"  # the tool with the Python of tools/bundle.py


def sbom() -> str:
    """Return the parts list as JSON. Raises ToolError."""
    listed = _listed()
    needed = _needed(listed)
    parts = [one for one in listed["components"] if one["bom-ref"] in needed]
    locked = _locked()
    for one in parts:
        if locked[_normal(one["name"])] != one["version"]:
            raise ToolError(
                f"sbom: {one['name']} {one['version']} is installed, and not what requirements/run.txt says"
            )
    python = _python()
    root = listed["metadata"]["component"]
    root |= {"version": __version__, "purl": f"pkg:pypi/contrast-krm@{__version__}"}
    del listed["metadata"]["properties"]
    listed["components"] = [*parts, python]
    listed["dependencies"] = [
        {**one, "dependsOn": [name for name in one.get("dependsOn", []) if name in needed]}
        for one in listed["dependencies"]
        if one["ref"] in needed
    ]
    listed["dependencies"] += [
        {"ref": root["bom-ref"], "dependsOn": sorted(_first(parts))},
        {"ref": python["bom-ref"]},
    ]
    text = json.dumps(listed, indent=2, sort_keys=True) + "\n"
    if wrong := JsonStrictValidator(SchemaVersion.V1_6).validate_str(text):
        raise ToolError(f"sbom: not CycloneDX: {wrong}")
    return text


def _listed() -> Any:
    """Return what cyclonedx-py says of this environment."""
    program = os.path.join(sysconfig.get_path("scripts"), "cyclonedx-py")
    options = ["--spec-version=1.6", "--output-reproducible", "--of=JSON", "--pyproject=pyproject.toml"]
    environment = {name: value for name, value in os.environ.items() if name != "SOURCE_DATE_EPOCH"}
    done = subprocess.run(
        [program, "environment", *options, sys.executable],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise ToolError(f"sbom: cyclonedx-py: {(done.stderr.strip() or 'failed').splitlines()[-1]}")
    return json.loads(done.stdout)


def _needed(listed: Any) -> set[str]:
    """Return the references of all that the program needs, directly or not.

    An edge that leaves the lock file is of an extra that some other package of this environment asks for.
    """
    locked = _locked()
    known = {one["bom-ref"] for one in listed["components"] if _normal(one["name"]) in locked}
    needs = {one["ref"]: one.get("dependsOn", []) for one in listed["dependencies"]}
    left = _first(listed["components"])
    needed: set[str] = set()
    while left:
        one = left.pop()
        if one in known - needed:
            needed.add(one)
            left |= set(needs.get(one, ()))
    return needed


def _first(parts: Any) -> set[str]:
    """Return the references of what pyproject.toml names. Raises ToolError for what is not installed."""
    with open(os.path.join(ROOT, "pyproject.toml"), "rb") as file:
        project = tomllib.load(file)["project"]
    named = [*project["dependencies"], *(one for extra in EXTRAS for one in project["optional-dependencies"][extra])]
    by_name = {_normal(one["name"]): one["bom-ref"] for one in parts}
    found = set()
    for requirement in named:
        name = _normal(re.match(r"[\w.-]+", requirement)[0])  # type: ignore[index]
        if name in by_name:
            found.add(by_name[name])
        elif ";" not in requirement:
            raise ToolError(f"sbom: {name} is not installed")
    return found


def _locked() -> dict[str, str]:
    """Name -> version of the lock file."""
    with open(os.path.join(ROOT, "requirements", "run.txt"), encoding="utf-8") as file:
        return {
            _normal(name): version for name, version in re.findall(r"^([\w.-]+)==([^\s;]+)", file.read(), re.MULTILINE)
        }


def _python() -> dict[str, Any]:
    """Return the Python of the bundle, by the pin of the module that carries it."""
    with open(os.path.join(HERE, BUNDLED, "go.mod"), encoding="utf-8") as file:
        module, version = re.findall(r"^require (\S+) (v\S+)$", file.read(), re.MULTILINE)[0]
    python = re.fullmatch(r"v0\.0\.0-(\d+\.\d+\.\d+)-\d+-\d+", version)
    if python is None:
        raise ToolError(f"sbom: {module}: {version} names no version of Python")
    purl = f"pkg:generic/cpython@{python[1]}"
    return {
        "bom-ref": purl,
        "type": "application",
        "name": "cpython",
        "version": python[1],
        "purl": purl,
        "description": "in the bundle only",
        "licenses": [{"license": {"id": "PSF-2.0"}}],
        "externalReferences": [{"type": "distribution", "url": f"https://{module}", "comment": version}],
    }


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def main(arguments: list[str]) -> int:
    """Write the file; 1 with one line that says what is wrong."""
    if len(arguments) != 1:
        print("usage: python -m tools.sbom DIRECTORY", file=sys.stderr)
        return 2
    try:
        text = sbom()
    except (ToolError, OSError) as error:
        say(f"error: {error}")
        return 1
    path = os.path.join(arguments[0], f"contrast-krm-{__version__}.cdx.json")
    with open(path, "w", encoding="utf-8") as target:
        target.write(text)
    print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
