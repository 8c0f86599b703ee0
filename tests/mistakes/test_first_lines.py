"""The mistakes of a newcomer whose first line did not help: what is typed now, and that the first line helps.

A review tried 127 mistakes with the program; 101 were right at the first line, and the other 26 are the rows here. A
first line helps if the finding (or the line of usage) names what is wrong, and it or its hint what to do.
"""

import re
from collections.abc import Callable
from typing import NamedTuple

import pytest

from krm_function.findings import every_row
from tests.cli.conftest import Shop
from tests.failures.checking import CONFIG
from tests.failures.running import Run
from tests.failures.world import World

TRIED, RIGHT_AT_ONCE, WANTED = 127, 101, 120
Type = Callable[[Shop], Run]


class Row(NamedTuple):
    """A mistake. first: a pattern of the first line; hint: of its hint. elsewhere: what tries a row without `type`."""

    title: str
    type: Type | None
    first: str = ""
    hint: str = ""
    elsewhere: str = ""
    helps: bool = True


def typed(*arguments: str) -> Type:
    return lambda shop: shop(*arguments)


def changed(change: Callable[[World], object]) -> Type:
    def run(shop: Shop) -> Run:
        world = World()
        change(world)
        shop.change(world)
        return shop.generate("-o", "out.yaml")

    return run


def after_init(*again: str) -> Type:
    def run(shop: Shop) -> Run:
        made = shop("init", "config", "--files", "deployment", "--platform", "metal-qemu-snp")
        assert made.code == 0, made.stderr
        return shop(*again)

    return run


def old_output(shop: Shop) -> Run:
    assert shop.generate("-o", "deployment/rendered.yaml").code == 0
    return shop.generate("-o", "out.yaml")


def misspelt_kind(world: World) -> None:
    world["web"]["kind"] = "deployment"


def skipped_tcb(world: World) -> None:
    del world.spec["manifest"]["referenceValues"]


def select(value: object) -> Callable[[World], None]:
    return lambda world: world.spec.update(workloads=value)


def host_network(world: World) -> None:
    world.pod["hostNetwork"] = True


def overlay(shop: Shop) -> Run:
    shop.write("deployment/kustomization.yaml", "resources: [resources.yaml]\n")
    return shop.generate("-o", "out.yaml")


def assess_output(shop: Shop) -> Run:
    assert shop.generate("-o", "out.yaml").code == 0
    run = shop("assess", "out.yaml")
    return run._replace(stderr=next(line for line in run.stdout.decode().splitlines() if "web" in line))


def warning_of_a_tool(shop: Shop) -> Run:
    assert shop.generate("-o", "out.yaml").code == 0
    return shop("check", "-", data=b"WARNING: text\n---\n" + (shop.directory / "out.yaml").read_bytes())


GENERATE = ("generate", "deployment", "--config")
OTHER_PLATFORM = ("init", "config", "--files", "deployment", "--platform", "metal-qemu-tdx")
IMPORT = ("release", "import", CONFIG, "-o", "overlays/confidential/release.yaml")
MAP = "write required or optional, or a map of kind, name"
ENGINE = "test_no_hint_leaves_pods_unsealed"
ROWS = (
    Row(
        "the empty release of init",
        after_init(*GENERATE, "config"),
        "CC0511 .*lacks the pinned image",
        "release import",
    ),
    Row(
        "check of what was not rendered", typed("check", "deployment"), "CC1101 .*was not replaced", "run the function"
    ),
    Row("minimum TCB skipped", changed(skipped_tcb), r"CC0703.*snp\[0\]", "MinimumTCB"),
    Row("an old output among the input", old_output, "CC0118", r"deployment/rendered.yaml is the output of an earlier"),
    Row("workloads: [web]", changed(select(["web"])), "CC0901 .*must be required, optional or a map", MAP),
    Row("release import into no directory", typed(*IMPORT), "CC1002 .*there is no directory overlays/confidential"),
    Row("init with another platform", after_init(*OTHER_PLATFORM), "CC1311 .*spec.platform is metal-qemu-snp already"),
    Row("init FILE", typed("init", CONFIG), "CC1001 .*not a directory"),
    Row("-out", typed(*GENERATE, CONFIG, "-out", "r.yaml"), "unknown argument -out", "did you mean --output"),
    Row("lock nginx:1.29", typed("lock", "nginx:1.29"), "nginx:1.29: it is an image", "name the resources"),
    Row("one --post-renderer-args", typed("post-render --config config"), "unknown command", "each word"),
    Row("kind: deployment", changed(misspelt_kind), "CC1109 .*there is no such kind", "did you mean Deployment"),
    Row("why after a webhook", None, elsewhere="tests/diagnosis: CC1165 web: env, without the variable", helps=False),
    Row("upgrade of a kustomize directory", None, elsewhere="tests/upgrade: CC0840, and then CC0122", helps=False),
    Row("uninstall.md of kustomize", None, elsewhere="tests/docs/test_commands.py runs the page"),
    Row("an option before the command", typed("--config", CONFIG, *GENERATE[:2]), "--config is before the command"),
    Row("another one", typed("-q", "plan", "deployment"), "-q is before the command", "write the command first"),
    Row(
        "the configuration as input",
        typed("generate", CONFIG),
        "CC0289.* only contrast-krm objects",
        "name the resources",
    ),
    Row("an overlay as files", overlay, "CC0122.* the kustomization in deployment is not applied", "pipe the build"),
    Row("hostNetwork: true", changed(host_network), "CC0601 .*hostNetwork", ""),
    Row("WARNING: text of a tool", warning_of_a_tool, "WARNING", helps=False),
    Row("assess of output", assess_output, "web: sealed"),
    Row("-out as a name of a file", typed("plan", "deployment", "-out"), "unknown argument -out"),
    Row("the engine in the hint for a lock", None, elsewhere=ENGINE),
    Row("the engine in the hint for a manifest", None, elsewhere=ENGINE),
    Row("the engine in the hint for hostPID", None, elsewhere=ENGINE),
)


@pytest.mark.parametrize("row", [row for row in ROWS if row.type], ids=lambda row: row.title)
def test_the_first_line_helps(row: Row, shop: Shop) -> None:
    assert row.type
    run = row.type(shop)
    lines = [line for line in run.stderr.splitlines() if not line.startswith("  at:")]
    assert bool(re.search(row.first, lines[0])) is row.helps, run.stderr
    if row.hint:
        assert re.search(row.hint, next(line for line in lines if line.startswith("  hint:"))), run.stderr


def test_no_hint_leaves_pods_unsealed() -> None:
    hints = [
        hint for entry in every_row().values() for hint in (entry.hint, *(one.hint for one in entry.variants.values()))
    ]
    assert [hint for hint in hints if re.search(r"\b(set|use|write) \S*(engine|emit): none", hint)] == []


def test_the_first_line_helps_in_as_many_as_wanted() -> None:
    assert len(ROWS) == TRIED - RIGHT_AT_ONCE
    assert [row for row in ROWS if not row.type and not row.elsewhere] == []
    assert RIGHT_AT_ONCE + sum(row.helps for row in ROWS) == 124
    assert WANTED <= 124
