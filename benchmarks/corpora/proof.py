"""Render what is accepted, as the command line does: again the same, back byte for byte, and the rest untouched.

Rule of this file: a render of the workloads that `adopt` leaves without an error; the others of the stream stay plain.
"""

import tempfile
from collections.abc import Collection
from pathlib import Path
from typing import NamedTuple

from benchmarks.corpora.plant import Key, facts, planted
from benchmarks.corpora.stages import API, GENERATE, LOCK, RELEASE, Staged
from tests.hosts.running import called
from tests.quick_yaml import safe_dump

CONFIGURATION = ("contrast.yaml", "release.yaml", "quickstart.yaml", "images.yaml")


class Proof(NamedTuple):
    """untouched: the stream without workloads that ask. The rest is None where nothing is accepted."""

    untouched: bool
    renders: bool | None = None
    again: bool | None = None
    undone: bool | None = None
    said: str = ""


def proof(text: str, staged: Staged, accepted: Collection[Key]) -> Proof:
    """Render the accepted workloads of an application."""
    with tempfile.TemporaryDirectory() as directory:
        here = Path(directory)
        generate = {**GENERATE, "spec": staged.spec or GENERATE["spec"]}
        (here / "contrast.yaml").write_text(safe_dump(generate))
        (here / "release.yaml").write_bytes(RELEASE.read_bytes())
        (here / "quickstart.yaml").write_bytes(LOCK.read_bytes())
        (here / "images.yaml").write_text(safe_dump(_lock(staged)))
        (here / "first").mkdir()  # a rule of what `adopt` wrote may name nothing where no pod asks
        (here / "first/contrast.yaml").write_text(safe_dump(GENERATE))
        untouched = _ran(["generate", "--config", str(here / "first"), "--config", str(RELEASE)], text) == text
        render = ["generate", *(word for name in CONFIGURATION for word in ("--config", str(here / name)))]
        if not accepted:
            return Proof(untouched)
        given = planted(text, lambda key: key in accepted).text
        out = _ran(render, given)
        if out is None:
            return Proof(untouched, renders=False, said=_said(render, given))
        return Proof(untouched, True, _ran(render, out) == out, _ran(["uninject"], out) == given)


def _lock(staged: Staged) -> dict[str, object]:
    images = {
        name: {"digest": one.digest, "config": dict(one.config), "passwd": "", "group": ""}
        for name, one in facts(list(staged.planted.workloads.values())).items()
    }
    return {"apiVersion": API, "kind": "ImageLock", "metadata": {"name": "made-up"}, "spec": {"images": images}}


def _ran(arguments: list[str], text: str) -> str | None:
    ran = called(*arguments, stdin=text.encode())
    return ran.out.decode() if not ran.code else None


def _said(arguments: list[str], text: str) -> str:
    return called(*arguments, stdin=text.encode()).err.partition("\n")[0]
