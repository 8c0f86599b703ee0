"""Configuration that lost its local-config annotation is told before an apply stops at it."""

import pytest

from krm_function.text.writer import dump
from tests.hosts.running import EXAMPLES, called
from tests.world import Json

RESOURCES = str(EXAMPLES / "quickstart/resources")
QUICKSTART = ("--config", str(EXAMPLES / "quickstart/config"))


def image_lock(*, local: bool) -> Json:
    annotations = {"annotations": {"config.kubernetes.io/local-config": "true"}} if local else {}
    value = {"apiVersion": "contrast-krm.dev/v1alpha1", "kind": "ImageLock"}
    return value | {"metadata": {"name": "more"} | annotations, "spec": {"images": {}}}


def beside(value: Json) -> bytes:
    """The rendered quickstart with one more object."""
    rendered = called("generate", RESOURCES, *QUICKSTART).out
    return rendered + b"---\n" + dump(value).encode()


@pytest.mark.parametrize("command", ["generate", "check"])
@pytest.mark.parametrize("listed", [False, True])
def test_configuration_without_the_annotation_would_be_applied(command: str, *, listed: bool) -> None:
    value = image_lock(local=False)
    given = {"apiVersion": "v1", "kind": "List", "items": [value]} if listed else value
    ran = called(command, "-", *QUICKSTART, stdin=beside(given))
    assert (ran.code, command == "generate" and ran.out) == (2, command == "generate" and b"")
    assert "error CC0912 more " in ran.err
    assert "this ImageLock would be applied" in ran.err


@pytest.mark.parametrize("command", ["generate", "check"])
def test_what_follows_the_hint_passes(command: str) -> None:
    ran = called(command, "-", *QUICKSTART, stdin=beside(image_lock(local=False)))
    assert 'annotation config.kubernetes.io/local-config: "true"' in ran.err
    assert called(command, "-", *QUICKSTART, stdin=beside(image_lock(local=True))).code == 0


def test_a_file_of_the_function_under_resources_is_named_by_the_hint() -> None:
    ran = called("check", RESOURCES)
    assert "the function's file under transformers, not under resources" in ran.err
