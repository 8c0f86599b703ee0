"""How long a policy may be: for regorus as it is published, for regorus with the agent's limits, and for `seal`."""

import copy
from collections.abc import Callable, Iterator
from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from krm_function.contrast.profiles import DEFAULT
from krm_function.findings import Cause
from krm_function.policy.seal import LONGEST_LINE, MOST_BYTES, MOST_LINES, _find_exceeded_limit
from tests.policy.engines import agreed
from tests.policy.engines.answer import Answer
from tests.policy.engines.limits import AGENT, PUBLISHED, Limits
from tests.policy.engines.lines import Lines
from tests.policy.engines.regocpp import RegoCpp
from tests.policy.oracle import workloads
from tests.policy.oracle.requests import life
from tests.real_tools import needing

pytestmark = needing("regorus", "regorus-agent")

HEAD = "package agent_policy\n"
SNP = "kpt Deployment/web"
TDX = "multi-runtime CronJob/report"
LIMITS = {"regorus": PUBLISHED, "regorus-agent": AGENT}
WIDER = ["x", "\u00fc", "\u20ac", "\U0001f600"]  # one byte to four


@pytest.fixture(scope="module", params=LIMITS)
def engine(request: pytest.FixtureRequest) -> Iterator[Lines]:
    made = Lines(request.param)
    yield made
    made.close()


@pytest.fixture(scope="module")
def agent() -> Iterator[Lines]:
    made = Lines("regorus-agent")
    yield made
    made.close()


def asked(engine: Lines, policy: str) -> Answer:
    return engine.ask(policy, "CreateContainerRequest", {}, {})


def line(size: int, character: str = "x") -> str:
    """A policy whose second line has that many bytes."""
    room = size - len('x := ""')
    count = len(character.encode())
    return f'{HEAD}x := "{"y" * (room % count)}{character * (room // count)}"\n'


def lines(count: int) -> str:
    """A policy of that many lines, the empty one behind the last line end among them."""
    return HEAD + "\n" * (count - 2)


def size(count: int) -> str:
    """A policy of that many bytes, in as few lines as both engines take."""
    text = (f"#{'y' * 998}\n" * (count // 1000 + 1))[: count - len(HEAD)]
    return HEAD + text


MADE: dict[str, tuple[Callable[[int], str], Callable[[Limits], int], str]] = {
    "columns": (line, lambda limits: limits.columns - 1, "line exceeds maximum column width"),
    "lines": (lines, lambda limits: limits.lines, "exceeds maximum allowed line count"),
    "size": (size, lambda limits: limits.size, "exceeds maximum allowed policy file size"),
}


def test_a_sealed_snp_policy_is_evaluated_by_the_regorus_with_the_agents_limits_only(agent: Lines) -> None:
    rego = workloads.examples()[SNP]
    published = Lines("regorus")
    refused = asked(published, rego)
    published.close()

    assert max(map(len, rego.splitlines())) > 5464, "an ID-auth annotation is one line"
    assert refused == ("error", None, "error: line exceeds maximum column width of 1024")
    assert asked(agent, rego).value is False
    assert [each.name for each in agreed.asked_about(rego)] == ["regorus-agent", "opa", "rego-cpp"]
    assert agreed.ask(rego, "CreateContainerRequest", {}, {}).value is False


POLICIES: dict[str, Callable[[], str]] = {
    "everything": lambda: workloads.everything(DEFAULT),
    "gpus": lambda: workloads.gpus(DEFAULT),
    "an example": lambda: workloads.examples()[TDX],
}


@pytest.mark.parametrize("policy", POLICIES.values(), ids=POLICIES)
def test_both_builds_of_regorus_are_asked_about_every_other_policy(policy: Callable[[], str]) -> None:
    rego = policy()
    assert [each.name for each in agreed.asked_about(rego)] == ["regorus-agent", "regorus", "opa", "rego-cpp"]
    assert [each.name for each in agreed.asked_about(rego, quick=True)] == ["regorus-agent", "regorus", "opa"]


def test_a_changed_request_is_denied_under_a_sealed_snp_policy() -> None:
    rego = workloads.examples()[SNP]
    creates = [each for each in life(rego, quick=True) if each.entry_point == "CreateContainerRequest"]
    assert len(creates) > 2
    for create in creates:
        changed = copy.deepcopy(create.request)
        changed["OCI"]["Process"]["Args"].append("more")
        assert agreed.ask(rego, create.entry_point, create.state, changed).value is False, create.name


@pytest.mark.parametrize("limit", MADE)
def test_each_limit_is_exact(limit: str, engine: Lines) -> None:
    make, most, message = MADE[limit]
    limits = LIMITS[engine.name]
    longest, longer = make(most(limits)), make(most(limits) + 1)

    assert asked(engine, longest).kind == "undefined"
    assert limits.admit(longest)
    assert message in asked(engine, longer).text
    assert not limits.admit(longer)


@pytest.mark.parametrize("character", WIDER)
def test_a_line_of_64_kib_is_one_byte_too_long_for_the_agent(character: str, agent: Lines) -> None:
    assert asked(agent, line(65535, character)).kind == "undefined"
    assert asked(agent, line(65536, character)).kind == "error"


def test_the_limits_are_those_of_the_agent() -> None:
    assert AGENT == (65536, 200_000, 16_777_216)
    assert (LONGEST_LINE + 1, MOST_LINES, MOST_BYTES) == AGENT


WIDE = Cause("CC0604.long-line", {"limit": 65535})
LONG = Cause("CC0604.long-policy", {"limit": 200000, "unit": "lines"})
LARGE = Cause("CC0604.long-policy", {"limit": 16777216, "unit": "bytes"})


@pytest.mark.parametrize(
    ("make", "length", "said"),
    [(line, LONGEST_LINE, WIDE), (lines, MOST_LINES, LONG), (size, MOST_BYTES, LARGE)],
)
def test_seal_says_what_is_too_long(make: Callable[[int], str], length: int, said: Cause) -> None:
    assert _find_exceeded_limit(make(length).encode()) is None
    assert _find_exceeded_limit(make(length).removesuffix("\n").encode()) is None
    assert _find_exceeded_limit(make(length + 1).encode()) == said


def test_seal_looks_at_every_line() -> None:
    longest, longer = line(LONGEST_LINE), line(LONGEST_LINE + 1)
    assert _find_exceeded_limit((longest * 3).encode()) is None
    assert _find_exceeded_limit((longest + longer).encode()) == WIDE
    assert _find_exceeded_limit((longest * 3 + longer.removesuffix("\n")).encode()) == WIDE


texts = st.builds(
    lambda tabs, character, size: "\t" * tabs + line(max(size - 4 * tabs, 16), character).removeprefix(HEAD),
    st.integers(0, 3),
    st.sampled_from(WIDER),
    st.integers(65530, 65540) | st.integers(16, 200),
)


@settings(max_examples=60)
@given(st.lists(texts, min_size=1, max_size=4))
@example([line(LONGEST_LINE).removeprefix(HEAD), line(LONGEST_LINE + 1).removeprefix(HEAD)])
def test_seal_refuses_what_the_agent_refuses_and_nothing_else(agent: Lines, found: list[str]) -> None:
    policy = HEAD + "".join(text.replace("x :=", f"x{number} :=", 1) for number, text in enumerate(found))
    loads = asked(agent, policy).kind != "error"

    assert (_find_exceeded_limit(policy.encode()) is None) is loads
    assert AGENT.admit(policy) is loads


def test_a_long_comment_is_no_disagreement(agent: Lines) -> None:
    policy = f"{HEAD}# {'y' * 2000}\nx := 1\n"
    assert not PUBLISHED.admit(policy)
    assert agreed.ask(policy, "x", {}, {}).value == 1


def test_the_other_engines_take_lines_of_any_length() -> None:
    policy = line(LONGEST_LINE + 100)
    opa = Lines("opa")
    said = [opa.ask(policy, "x", {}, {}), RegoCpp().ask(policy, "x", {}, {})]
    opa.close()
    assert all(one.same(other) and len(one.value) > LONGEST_LINE for one, other in pairwise(said))
