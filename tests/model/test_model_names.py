"""Annotation keys, label names and suggestions."""

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from krm_function.contrast.annotations import KNOWN, MISSPELT, correct_location, is_contrast_key, is_known, suggest_key
from krm_function.kubernetes.objects import is_dns_label, is_dns_subdomain, is_label_key, is_label_value
from krm_function.schema.check import nearest

PREFIX = "contrast.edgeless.systems/"
HEAVY = (
    "dataclasses argparse pathlib difflib logging cryptography jsonschema ruamel ipaddress fractions decimal inspect"
)


def test_no_module_of_these_rooms_imports_anything_heavy() -> None:
    root = Path(__file__).parents[2]
    names = [
        f"krm_function.{room}.{path.stem}"
        for room in ("kubernetes", "contrast", "config")
        for path in sorted((root / "krm_function" / room).glob("*.py"))
        if path.stem != "__init__"
    ]
    code = f"import sys, {', '.join(names)}; print(sorted(set('{HEAVY}'.split()) & set(sys.modules)))"

    done = subprocess.run([sys.executable, "-S", "-c", _with_paths(code)], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[]"


def _with_paths(code: str) -> str:
    return f"import sys; sys.path[:0] = {sys.path!r}; {code}"


def test_every_known_key_has_a_place_and_a_value_in_words() -> None:
    for key, known in KNOWN.items():
        assert key == known.key
        assert key.startswith(PREFIX)
        assert known.places
        assert known.value
        assert correct_location(key).startswith("the ")


def test_every_misspelling_leads_to_a_known_key_and_is_none_itself() -> None:
    for wrong, right in MISSPELT.items():
        assert right in KNOWN
        assert wrong not in KNOWN
        assert suggest_key(wrong) == right


@pytest.mark.parametrize(
    "key, expected",
    [
        ("Service-Mesh-Ingress", "servicemesh-ingress"),
        ("service_mesh_egress", "servicemesh-egress"),
        ("servicemesh-ingres", "servicemesh-ingress"),
        ("skip-initialiser", "skip-initializer"),
        ("podrole", "pod-role"),
    ],
)
def test_a_slip_finds_its_key(key: str, expected: str) -> None:
    assert suggest_key(PREFIX + key) == PREFIX + expected


def test_a_key_is_known_in_its_place_only() -> None:
    assert is_known(PREFIX + "servicemesh-ingress", "pod annotation")
    assert not is_known(PREFIX + "servicemesh-ingress", "Service annotation")
    assert is_known(PREFIX + "pod-role", "pod label")
    assert not is_known(PREFIX + "nonsense", "pod annotation")


def test_a_key_of_contrasts_domain_is_recognised_in_any_letter_case() -> None:
    assert is_contrast_key("Contrast.Edgeless.Systems/x")
    assert not is_contrast_key("contrast.edgeless.systems.example/x")


def test_suggestions_are_close_or_none() -> None:
    assert nearest("Platfrom", ["platform", "policy"]) == "platform"
    assert nearest("zzz", ["platform", "policy"]) == ""
    assert nearest("x" * 100000, ["platform"]) == ""
    assert nearest("", []) == ""


@pytest.mark.parametrize("text", ["a", "a-b", "0", "a" * 63])
def test_dns_labels_are_accepted(text: str) -> None:
    assert is_dns_label(text)


@pytest.mark.parametrize("text", ["", "A", "-a", "a-", "a.b", "a" * 64, "a\n", "é"])
def test_other_texts_are_no_dns_labels(text: str) -> None:
    assert not is_dns_label(text)


def test_a_subdomains_labels_may_be_longer_than_63_but_the_whole_not_than_253() -> None:
    assert is_dns_subdomain("a" * 253)
    assert is_dns_subdomain("v1.25.0")
    assert not is_dns_subdomain("a" * 254)
    assert not is_dns_subdomain("a..b")


@pytest.mark.parametrize("text", ["a", "A_b.c-9", "a.b/c", "x" * 63, "y" * 253 + "/" + "x" * 63])
def test_label_keys_are_accepted(text: str) -> None:
    assert is_label_key(text)


@pytest.mark.parametrize("text", ["", "/a", "a/", "a/b/c", "A.b/c", "_a", "a_", "x" * 64, "y" * 254 + "/a", "a\n"])
def test_other_texts_are_no_label_keys(text: str) -> None:
    assert not is_label_key(text)


@given(st.text("aB9-_.", max_size=65))
def test_a_label_value_is_empty_or_a_key_without_prefix(text: str) -> None:
    assert is_label_value(text) == (not text or is_label_key(text))
