"""Whatever is wrong, whoever asks in whichever form: no Secret, variable's value or long annotation is ever told."""

import tempfile
from pathlib import Path

from hypothesis import given
from hypothesis import settings as tried
from hypothesis import strategies as st

from tests.failures import config_cases, issue_cases, pod_cases
from tests.failures.case import Case
from tests.failures.world import CANARY, World, canaries, encoded
from tests.hosts.running import called

CASES = [case for case in (*issue_cases.cases, *pod_cases.cases, *config_cases.cases) if "generate" in case.hosts]
FORMS = ("text", "json", "github", "sarif")
ASK = (
    ("generate", "-o", "out.yaml"),
    ("plan",),
    ("plan", "-o", "json"),
    ("explain", "deploy/web"),
    ("explain", "deploy/web", "-o", "json"),
    ("explain", "sts/coordinator"),
    ("diff",),
    ("check",),
)
NAMES = st.text("ABCXYZ", min_size=1, max_size=5)


def unbroken(_: World) -> None:
    """A deployment in which nothing is wrong tells as little."""


@st.composite
def worlds(draw: st.DrawFn) -> World:
    """A deployment with more that must not be told, in one way broken or not."""
    world = World()
    for name in draw(st.lists(NAMES, max_size=3, unique=True)):
        world.container["env"].append({"name": f"MORE_{name}", "value": f"{CANARY}{name}"})
        world["secret"]["data"][name] = encoded(f"{CANARY}-secret")
    place = draw(st.sampled_from(["web", "coordinator"]))
    for metadata in (world[place]["metadata"], world[place]["spec"]["template"]["metadata"]):
        metadata.setdefault("annotations", {})[f"example.com/{draw(NAMES)}"] = CANARY * draw(st.integers(11, 40))
    case: Case | None = draw(st.sampled_from([None, *CASES]))
    (case.change if case else unbroken)(world)
    return world


@tried(max_examples=60)
@given(worlds(), st.sampled_from(ASK), st.sampled_from(FORMS), st.booleans())
def test_no_canary_is_told(world: World, ask: tuple[str, ...], form: str, listed: bool) -> None:
    with tempfile.TemporaryDirectory() as directory:
        config, report = Path(directory, "config.yaml"), Path(directory, "report")
        config.write_bytes(world.config())
        command, *more = (part if part != "out.yaml" else str(Path(directory, part)) for part in ask)
        arguments = [command, *more, "--format", form, "--report", str(report)]
        arguments += [] if listed else ["--config", str(config)]
        ran = called(*arguments, stdin=world.resource_list() if listed else world.stream())
        written = report.read_text() if report.exists() else ""
    assert "internal error" not in ran.err
    answer = "" if command == "check" else ran.out.decode()  # a list is answered with itself
    assert not list(canaries(answer + ran.err + written))
