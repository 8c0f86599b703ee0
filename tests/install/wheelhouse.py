"""The libraries of this environment as wheels again, so that an installer finds them without network.

Rule of this file: a wheel holds what its distribution lists in RECORD and has the tags that WHEEL names; scripts are
made anew by whoever installs it. `make .venv/installed-dev` has checked the hashes of what these come from.
"""

import base64
import hashlib
import re
import zipfile
from collections.abc import Iterable
from importlib.metadata import Distribution, distribution
from pathlib import Path

from packaging.requirements import Requirement


def wheelhouse(directory: Path, names: Iterable[str]) -> Path:
    """Write a wheel of each of these distributions and of all that they need; the directory."""
    directory.mkdir()
    waiting, done = list(names), set()
    while waiting:
        name = _normalised(waiting.pop())
        if name not in done:
            done.add(name)
            found = distribution(name)
            _write(found, directory)
            waiting += needed(found)
    return directory


def needed(found: Distribution, extras: Iterable[str] = ("",)) -> list[str]:
    """What a distribution needs in this environment."""
    wanted = [Requirement(line) for line in found.requires or ()]
    return [one.name for one in wanted if one.marker is None or any(one.marker.evaluate({"extra": e}) for e in extras)]


def _normalised(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _write(found: Distribution, directory: Path) -> None:
    tags = re.findall(r"^Tag: (\S+)-(\S+)-(\S+)$", found.read_text("WHEEL") or "", re.MULTILINE)
    tag = "-".join(".".join(sorted(set(parts))) for parts in zip(*tags, strict=True))
    stem = f"{_normalised(found.name).replace('-', '_')}-{found.version}"
    record = []
    with zipfile.ZipFile(directory / f"{stem}-{tag}.whl", "w") as wheel:
        for file in found.files or ():
            if ".." in file.parts or "__pycache__" in file.parts or file.name in {"RECORD", "INSTALLER", "REQUESTED"}:
                continue
            data = Path(str(file.locate())).read_bytes()
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
            record.append(f"{file},sha256={digest},{len(data)}")
            wheel.writestr(str(file), data)
        name = next(str(file) for file in found.files or () if file.name == "WHEEL").replace("/WHEEL", "/RECORD")
        wheel.writestr(name, "\n".join([*record, f"{name},,"]) + "\n")
