"""The room with network is the only one."""

import ast
from pathlib import Path

from krm_function import findings

ROOT = Path(findings.__file__).parents[1]
NETWORK = {"socket", "ssl", "http", "urllib", "urllib3", "asyncio", "ftplib", "smtplib", "xmlrpc", "socketserver"}
CLUSTER = (ROOT / "operations/api_server.py",)  # --cluster asks an API server
MODULES = [*ROOT.rglob("*.py"), *(ROOT.parent / "helm_plugin").rglob("*.py")]


def imported(path: Path) -> set[str]:
    """Top-level names of everything that a module imports, wherever in it; urllib.parse opens nothing."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {name.name.partition(".")[0] for name in node.names}
        if isinstance(node, ast.ImportFrom) and node.module and node.module != "urllib.parse":
            found.add(node.module.partition(".")[0])
    return found


def test_no_other_room_imports_what_opens_connections() -> None:
    for path in MODULES:
        if path.parent != ROOT / "lock" and path not in CLUSTER:
            assert not imported(path) & NETWORK


def test_the_room_itself_does() -> None:
    assert any(imported(path) & NETWORK for path in (ROOT / "lock").glob("*.py"))
