"""The service mesh annotations."""

import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from krm_function.contrast.annotations import (
    ADMIN_PORT,
    EGRESS,
    INGRESS,
    LONGEST,
    read_mesh,
)
from krm_function.findings import Cause, finding
from tests.wording import wording


def problems(key: str, value: object) -> list[str]:
    return [said(key, cause) for _, cause in read_mesh({key: value})[1]]


def said(key: str, cause: Cause) -> str:
    """The sentence of a finding with this cause, without the annotation's name."""
    message = finding(cause.code, key=key, grammar="", **cause.values).message
    return message.removeprefix(f"annotation {key}: ")


@pytest.mark.parametrize("annotations", [{"other": 1}, {INGRESS: ""}, {INGRESS: "DISABLED"}])
def test_what_names_no_admin_port_has_none(annotations: dict[str, Any]) -> None:
    assert read_mesh(annotations) == (None, ())


def test_entries_are_read() -> None:
    port, wrong = read_mesh(
        {
            INGRESS: "web#8080#false##metrics#9000#true",
            EGRESS: "db#127.0.0.2:5432#db.shop.svc.cluster.local:5432"
            "##v6#127.1.2.3:1#[::1]:65535##ip#127.0.0.3:1#10.0.0.1:80",
            ADMIN_PORT: "9901",
        }
    )
    assert (port, wrong) == (9901, ())


@pytest.mark.parametrize(
    "value, expected",
    [
        ("asdf", ["entry 1 must be name#port#disableTLS"]),
        ("a#1#true#x", ["entry 1 must be name#port#disableTLS"]),
        ("a#1#true##", ["entry 2 must be name#port#disableTLS"]),
        ("a#1#true###b#2#true", ["entry 2 must be name#port#disableTLS"]),
        ("a#0#true", ["entry 1: the port must be between 1 and 65535"]),
        ("a#65536#true", ["entry 1: the port must be between 1 and 65535"]),
        ("a#080#true", ["entry 1: the port must be between 1 and 65535"]),
        ("a#\u0661#true", ["entry 1: the port must be between 1 and 65535"]),
        ("a#1#True", ["entry 1: disableTLS must be true or false"]),
        ("a#1#yes", ["entry 1: disableTLS must be true or false"]),
        ("#1#true", ["entry 1: the name must be 1 to 128 letters, digits, '-', '_' or '.'"]),
        ("a b#1#true", ["entry 1: the name must be 1 to 128 letters, digits, '-', '_' or '.'"]),
        ("a#1#true##a#2#true", ["entry 2: the name is used twice"]),
        ("a#1#true##b#1#false", ["entry 2: port 1 is used twice"]),
        ("DISABLED##a#1#true", [wording("CC0204.disabled", entry="1")]),
        ("a#1#true##DISABLED", [wording("CC0204.disabled", entry="2")]),
        ("disabled", ["entry 1 must be name#port#disableTLS"]),
        (" ", ["entry 1 must be name#port#disableTLS"]),
        ("x" * (LONGEST + 1), [f"is longer than {LONGEST} characters"]),
        (None, ["must be a string"]),
        (8080, ["must be a string"]),
    ],
)
def test_a_faulty_ingress_is_a_problem(value: object, expected: list[str]) -> None:
    assert problems(INGRESS, value) == expected


@pytest.mark.parametrize(
    "value, expected",
    [
        ("", ["the egress annotation is empty"]),
        ("asdf", ["entry 1 must be name#listenIP:port#host:port"]),
        ("a#10.0.0.1:1#h:1", ["entry 1: the listen address must be in 127.0.0.0/8"]),
        ("a#128.0.0.1:1#h:1", ["entry 1: the listen address must be in 127.0.0.0/8"]),
        ("a#127.0.0.256:1#h:1", ["entry 1: the listen address must be in 127.0.0.0/8"]),
        ("a#127.0.0.01:1#h:1", ["entry 1: the listen address must be in 127.0.0.0/8"]),
        ("a#localhost:1#h:1", ["entry 1: the listen address must be in 127.0.0.0/8"]),
        ("a#[::1]:1#h:1", ["entry 1: the listen address must be in 127.0.0.0/8"]),
        ("a#127.0.0.1:0#h:1", ["entry 1: the listen port must be between 1 and 65535"]),
        ("a#127.0.0.1:1#h", ["entry 1: the remote must end in :port, between 1 and 65535"]),
        ("a#127.0.0.1:1#h:x", ["entry 1: the remote must end in :port, between 1 and 65535"]),
        ("a#127.0.0.1:1#:1", ["entry 1: the remote host must be a DNS name or an IP address"]),
        ("a#127.0.0.1:1#a b:1", ["entry 1: the remote host must be a DNS name or an IP address"]),
        ("a#127.0.0.1:1#300.0.0.1:1", ["entry 1: the remote host must be a DNS name or an IP address"]),
        ("a#127.0.0.1:1#-a:1", ["entry 1: the remote host must be a DNS name or an IP address"]),
        ("a#127.0.0.1:1#http://h:1", ["entry 1: the remote host must be a DNS name or an IP address"]),
        ("a#127.0.0.1:1#h:1##b#127.0.0.1:1#i:1", ["entry 2: the listen address and port are used twice"]),
        ("a#127.0.0.1:1#h:1##a#127.0.0.2:1#i:1", ["entry 2: the name is used twice"]),
        ("a#127.0.0.1:1#h:1##DISABLED", ["entry 2 must be name#listenIP:port#host:port"]),
    ],
)
def test_a_faulty_egress_is_a_problem(value: str, expected: list[str]) -> None:
    assert problems(EGRESS, value) == expected


@pytest.mark.parametrize("value", ["", "0", "65536", "x", "1.5", " 1", "+1", "-1", "01"])
def test_an_admin_port_must_be_a_port(value: str) -> None:
    assert problems(ADMIN_PORT, value) == ["must be a port between 1 and 65535"]


@pytest.mark.parametrize("key, value", [(INGRESS, "a#9901#true"), (EGRESS, "a#127.0.0.1:9901#h:1")])
def test_the_admin_port_must_be_free(key: str, value: str) -> None:
    ((about, cause),) = read_mesh({key: value, ADMIN_PORT: "9901"})[1]
    assert about == ADMIN_PORT
    assert said(about, cause) == "port 9901 is used by an ingress or egress entry"


def test_an_entry_with_a_problem_takes_no_port() -> None:
    _, wrong = read_mesh({INGRESS: "a#1#true##b#9901#x", ADMIN_PORT: "9901"})
    assert [key for key, _ in wrong] == [INGRESS]


@pytest.mark.parametrize("part", ["#", "##", "a#", "a-", "127.", "a.", ":", "a#1#true##", "1"])
def test_a_long_value_takes_linear_time(part: str) -> None:
    value = (part * LONGEST)[:LONGEST]

    start = time.process_time()
    read_mesh({INGRESS: value, EGRESS: value, ADMIN_PORT: value})
    read_mesh({EGRESS: f"a#127.0.0.1:1#{value[: LONGEST - 20]}"})

    assert time.process_time() - start < 1


MESH_TEXT = st.text("a1#:.[]-DISABLEDtruefalse 127", max_size=60)


@given(st.fixed_dictionaries({}, optional={INGRESS: MESH_TEXT, EGRESS: MESH_TEXT, ADMIN_PORT: MESH_TEXT}))
def test_any_value_is_valid_or_a_problem(annotations: dict[str, Any]) -> None:
    port, wrong = read_mesh(annotations)
    assert wrong or str(port) == annotations.get(ADMIN_PORT, "None")
    assert {key for key, _ in wrong} <= annotations.keys()
