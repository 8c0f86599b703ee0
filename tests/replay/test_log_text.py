"""Reading logs: every documented form gives the same requests, and nothing that begins like one is lost in silence."""

import json

import pytest

from krm_function.operations import replay_log as log_text
from krm_function.operations.replay_log import NESTING, Log, read_log
from tests.policy.host import SANDBOX_ID
from tests.replay.logs import DATA, agent, kubectl, life, line, refused

ASKED = refused()
REQUEST = line("ExecProcessRequest", {"container_id": "c", "process": {"Args": ['say "ä"\n', "\\"]}})


def read(text: str) -> Log:
    return read_log(text.encode())


@pytest.mark.parametrize("name", ["refused.jsonl", "refused-journal.log", "refused-kubectl.log"])
def test_every_form_has_the_same_requests(name: str) -> None:
    log = read_log((DATA / name).read_bytes())
    assert [(one.kind, one.input) for one in log.requests] == ASKED
    assert (log.denials, log.unreadable) == ((), ())
    assert log.lines == len((DATA / name).read_text().splitlines())


def test_lines_and_times_are_those_of_the_log() -> None:
    found = read_log((DATA / "refused-journal.log").read_bytes()).requests
    assert [one.line for one in found] == [2, 3, 4, 5, 6, 7]
    assert {one.sandbox for one in found} == {SANDBOX_ID}
    assert found[0].time == "Nov 23 06:00:01"
    assert read_log((DATA / "refused-kubectl.log").read_bytes()).requests[0].time == "2026-11-23T06:00:01.123456789Z"
    assert {one.time for one in read_log((DATA / "refused.jsonl").read_bytes()).requests} == {""}


@pytest.mark.parametrize("times", [0, 1, 2, 3])
def test_quotes_around_quotes_are_taken_off(times: int) -> None:
    text = REQUEST
    for _ in range(times):
        text = json.dumps({"msg": text}, ensure_ascii=False)
    (found,) = read(f"before {text} after").requests
    assert found.input == json.loads(REQUEST)["request"]


def test_a_character_that_json_writes_as_two_is_one() -> None:
    (found,) = read(
        json.dumps({"log": line("CopyFileRequest", {"path": "😀"}).replace("\\ud83d\\ude00", "😀")})
    ).requests
    assert found.input == {"path": "😀"}


def test_quotes_of_go_are_taken_off() -> None:
    text = r'level=debug msg="{\"kind\":\"CopyFileRequest\",\"request\":{\"path\":\"/\u00fc\U0001f600\\t\x41\"}}" x=1'
    (found,) = read(text).requests
    assert found.input == {"path": "/ü😀\tA"}


def test_deeper_quotes_are_named_and_not_read() -> None:
    text = REQUEST
    for _ in range(4):
        text = json.dumps(text)
    log = read(text)
    assert log.requests == ()
    assert log.unreadable == ((1, "quoted more than 3 times"),)


def test_several_requests_on_one_line_are_all_read() -> None:
    assert len(read(f"{REQUEST} {REQUEST}\n{REQUEST}").requests) == 3


@pytest.mark.parametrize("cut", [12, 40, len(REQUEST) - 1])
@pytest.mark.parametrize("quoted", [False, True])
def test_a_line_that_was_cut_off_is_counted(cut: int, *, quoted: bool) -> None:
    text = json.dumps(REQUEST)[1:-1] if quoted else REQUEST
    log = read(f"{REQUEST}\n{text[:cut]}\n{REQUEST}")
    assert [one.line for one in log.requests] == [1, 3]
    assert log.unreadable == ((2, "cut off, or no JSON"),)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{"kind": "A", "request": ' + "[" * 100_000, "cut off, or no JSON"),
        ('{"kind": "A", "request": ' + "[" * 400 + "]" * 400 + "}", f"nested more than {NESTING} levels deep"),
        ('{"kind": "A", "request": {}, "more": 1}', "not of the form {kind, request}"),
        ('{"kind": "A"}', "not of the form {kind, request}"),
        ('{"kind": ["A"], "request": {}}', "not of the form {kind, request}"),
        ('{"kind": "A.b", "request": {}}', "not of the form {kind, request}"),
        ('{"kind": "A with input as x", "request": {}}', "not of the form {kind, request}"),
        ('{"kind": "A", "request": {"a": 1, "a": 2}}', "a member appears twice"),
        ('{"kind": "A", "request": NaN}', "cut off, or no JSON"),
        ('{"kind": "A", "request": 1e999}', "cut off, or no JSON"),
        ('{"kind": "A", "request": ' + "9" * 5000 + "}", "cut off, or no JSON"),
        ('{"kind": "A", "request": "\\ud800"}', "not UTF-8"),
    ],
)
def test_what_is_no_request_is_counted_with_the_reason(text: str, problem: str) -> None:
    log = read(text)
    assert log.requests == ()
    assert log.unreadable == ((1, problem),)


def test_bytes_that_are_no_utf_8_are_no_request() -> None:
    assert read_log(b'\xff\xfe text\n{"kind": "A", "request": "\xff"}').unreadable == ((2, "not UTF-8"),)


def test_a_log_that_is_too_long_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_text, "LONGEST", 100)
    with pytest.raises(ValueError, match="it has 101 bytes; at most 100 are read"):
        read_log(b"x" * 101)


def test_a_denial_alone_is_found_and_what_stands_behind_it_is_not_kept() -> None:
    log = read_log((DATA / "events.txt").read_bytes())
    assert [(one.kind, one.line, one.time) for one in log.denials] == [
        ("CreateContainerRequest", 4, ""),
        ("CreateContainerRequest", 5, "Nov 23 06:00:07"),
    ]
    assert "CANARY" not in repr(log)


def test_carriage_returns_and_separators_inside_of_a_text_do_not_end_a_line() -> None:
    text = agent(life()).replace("\n", "\r\n") + kubectl(life()) + line("CopyFileRequest", {"path": "a\u2028b\x85"})
    assert len(read(text).requests) == 2 * len(life()) + 1
