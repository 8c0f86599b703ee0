"""Every example: accepted by strict validation, applied at the first try, and what comes back passes `check`."""

import json
from collections.abc import Iterator

import pytest

from tests.cluster.api import Api, Json
from tests.cluster.conftest import clear_runtime_classes
from tests.cluster.control_plane import ControlPlane
from tests.hosts.applied import APPLIED, Example
from tests.hosts.running import EXAMPLES, called

EVERY = (*APPLIED, Example("from-scratch/expected/rendered.yaml", ""))
BY_KUBECTL = [example for example in EVERY if not example.rendered.startswith("helm/")]
KINDS = "all,configmaps,secrets"
# Folders of examples that hold no rendered output of their own, and why.
NOT_APPLIED = {
    "argo-cd": "applications of Argo CD, whose kinds no plain cluster has; what they apply is another example",
    "fleet": "the configuration of Porch, whose kinds no plain cluster has; its packages are made while it is measured",
    "flux": "sources and Kustomizations of Flux, whose kinds no plain cluster has; what they apply is another example",
    "custom-resources": "its kinds need controllers, which test_custom_resources_example.py runs",
}


def test_every_example_is_applied() -> None:
    """A new folder needs a row in tests/hosts/applied.py, or a reason here."""
    folders = {path.name for path in EXAMPLES.iterdir() if path.is_dir()}
    assert folders - NOT_APPLIED.keys() == {example.rendered.partition("/")[0] for example in EVERY}


@pytest.fixture(autouse=True)
def no_class_is_left(api: Api) -> Iterator[None]:
    """Remove the RuntimeClasses of an example; its namespace goes with the fixture `shop`."""
    yield
    clear_runtime_classes(api)


@pytest.mark.usefixtures("shop")
@pytest.mark.parametrize("example", EVERY, ids=lambda example: example.rendered)
def test_every_object_is_valid_to_the_letter(api: Api, example: Example) -> None:
    """A field that the server does not know, or one that is there twice, is an error with fieldValidation=Strict."""
    refused = []
    for value in example.applied():
        answer = api.create(value, "?dryRun=All&fieldValidation=Strict")
        exists = value["kind"] == "Namespace" and answer.code == 409
        if answer.code != 201 and not exists:
            refused.append((value["kind"], value["metadata"]["name"], answer.message))
    assert refused == []


@pytest.mark.parametrize("example", BY_KUBECTL, ids=lambda example: example.rendered)
def test_the_first_apply_succeeds_and_check_passes_on_what_comes_back(
    cluster: ControlPlane, request: pytest.FixtureRequest, example: Example
) -> None:
    """As often as it is applied, the cluster has what was rendered. The READMEs leave the namespace to the user."""
    creates_it = any(value["kind"] == "Namespace" for value in example.applied())
    request.getfixturevalue("no_shop" if creates_it else "shop")
    text = "\n---\n".join(map(json.dumps, example.applied()))
    first = cluster.kubectl("apply", "-f", "-", stdin=text)
    assert (first.returncode, first.stderr) == (0, "")
    again = cluster.kubectl("apply", "-f", "-", stdin=text)
    assert again.returncode == 0
    changed = [line for line in again.stdout.splitlines() if not line.endswith(" unchanged")]
    # to kubectl, stringData and the defaults of claim templates are changes each time; `kubectl diff` shows none
    assert [line for line in changed if not line.startswith(("secret/", "statefulset.apps/"))] == []
    difference = cluster.kubectl("diff", "-f", "-", stdin=text)
    assert (difference.returncode, difference.stdout) == (0, "")
    assert check_errors(live(cluster), example) == check_errors((EXAMPLES / example.rendered).read_bytes(), example)


def live(cluster: ControlPlane, kinds: str = KINDS) -> bytes:
    """The objects of the shop, and the classes, as kubectl prints them."""
    found: list[Json] = []
    for arguments in (("get", kinds, "-n", "shop"), ("get", "runtimeclasses")):
        done = cluster.kubectl(*arguments, "-o", "json")
        assert done.returncode == 0, done.stderr
        found += json.loads(done.stdout)["items"]
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": found}).encode()


def check_errors(stream: bytes, example: Example) -> list[tuple[str, str]]:
    """What `check` has against some objects, without and with the configuration of the example's render."""
    manifest = (EXAMPLES / example.rendered).parent / "manifest.json"
    options = [] if b"manifest.json" in stream else ["--manifest", str(manifest)]
    found: list[tuple[str, str]] = []
    for more in ([], example.options if example.config else []):
        ran = called("check", "--format", "json", *options, *more, "-", stdin=stream)
        findings = json.loads(ran.err)["findings"]
        found += [(one["code"], one["message"]) for one in findings if one["severity"] == "error"]
    return found
