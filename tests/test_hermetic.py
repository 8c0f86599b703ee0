"""A render opens no socket, starts no program and reads no file that its operator did not name."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
QUICKSTART = ROOT / "examples" / "quickstart"

WATCHED = """
import os, sys
from importlib.machinery import all_suffixes

sys.dont_write_bytecode = True  # the interpreter's own writing is not ours
code = (*all_suffixes(), ".rego", ".jinja", "plan.css", "findings/table.txt", ".pth", ".egg-link")
seen = []


def watch(event, args):
    if event.startswith(("socket.", "subprocess.", "os.exec", "os.posix_spawn", "os.fork", "os.system", "urllib.")):
        seen.append(event)
    if event == "open" and isinstance(args[0], str) and not args[0].endswith(code):
        writes = args[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC)
        seen.append(f"open {args[0]} {args[1] or ('w' if writes else 'r')}")  # no mode: of os.open


from krm_function.cli import main

sys.addaudithook(watch)
sys.argv = ["contrast-krm", *sys.argv[1:]]
status = main()
sys.stderr.write("".join(f"SEEN {line}\\n" for line in seen))
sys.exit(status)
"""


def watched(*arguments: str, data: bytes = b"") -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", WATCHED, *arguments], input=data, capture_output=True, check=False, cwd=QUICKSTART
    )
    assert done.returncode == 0, done.stderr.decode()
    return [line.removeprefix("SEEN ") for line in done.stderr.decode().splitlines() if line.startswith("SEEN ")]


def resource_list() -> bytes:
    from benchmarks.inputs import quickstart as made

    return made(2).encode()


def test_the_function_touches_nothing_but_its_streams() -> None:
    assert watched(data=resource_list()) == []


def test_a_post_renderer_opens_only_the_configuration_it_was_given() -> None:
    files = sorted((QUICKSTART / "resources").glob("*.yaml"))
    stream = b"".join(b"---\n" + file.read_bytes() for file in files)

    seen = watched("post-render", "--config", "config", data=stream)

    assert {line.split()[1] for line in seen} == {f"config/{name}.yaml" for name in ("contrast", "release", "images")}


@pytest.mark.parametrize("command", [("plan",), ("generate",), ("diff",), ("explain", "deploy/web")])
def test_file_mode_opens_only_the_files_it_was_given_and_writes_none(command: tuple[str, ...]) -> None:
    seen = watched(*command, "resources", "--config", "config")

    assert {line.split()[0] for line in seen} == {"open"}
    assert {os.path.dirname(line.split()[1]) for line in seen} == {"resources", "config"}
    assert {line.split()[2] for line in seen} == {"r"}


def test_an_attested_render_opens_no_file_besides_but_the_one_it_writes(tmp_path: Path) -> None:
    seen = watched("generate", "resources", "--config", "config", "--attest", str(tmp_path / "statement.json"))

    assert {line.split()[0] for line in seen} == {"open"}
    installed = {line for line in seen if "dist-info" in line}  # which build this is
    there = {os.path.dirname(line.split()[1]) for line in seen if line not in installed and "/lib/python" not in line}
    assert there == {"resources", "config", "", str(tmp_path.parent)}, "the temporary file, by its name; its directory"


@pytest.mark.parametrize("form", ["text", "json", "mermaid", "html"])
def test_a_plan_with_nodes_opens_only_them_besides(form: str) -> None:
    seen = watched("plan", "resources", "--config", "config", "--nodes", "nodes.yaml", "-o", form)

    assert {line.split()[0] for line in seen} == {"open"}
    assert {os.path.dirname(line.split()[1]) or line.split()[1] for line in seen} == {
        "resources",
        "config",
        "nodes.yaml",
    }
    assert {line.split()[2] for line in seen} == {"r"}
