"""The pods that two how-to pages show render and pass `check`; the tables say what the code says."""

import re
from pathlib import Path
from typing import Any

import pytest

from krm_function.config.image_lock import ImageFacts
from krm_function.contrast.profiles import KATA
from tests import quick_yaml as yaml
from tests.cli.conftest import Shop, call, shop  # noqa: F401 - fixtures
from tests.failures.world import WEB_IMAGE, World
from tests.policy import pods

HOW_TO = Path(__file__).parents[2] / "docs" / "how-to"
FENCED = re.compile("^```yaml\n(.*?)^```", re.MULTILINE | re.DOTALL)
BLOCKS = [
    (page, number, text)
    for page in ("users-of-images.md", "volumes.md")
    for number, text in enumerate(FENCED.findall((HOW_TO / page).read_text()))
    if text.startswith("apiVersion")
]
PASSWD, GROUP = "root:x:0:0:::\nweb:x:1000:2000:::\n", "root:x:0:\nwheel:x:10:root\n"
ROWS: list[tuple[str, str, str, dict[str, Any], dict[str, Any]]] = [  # of the table for kata-4.1: image, container, pod
    ("", "", "", {}, {}),
    ("0", PASSWD, "root:x:0:\n", {}, {}),
    ("", PASSWD, GROUP, {}, {"supplementalGroups": [10]}),
    ("", PASSWD, GROUP, {}, {"supplementalGroupsPolicy": "Strict"}),
    ("1000", "", "", {"runAsUser": 1000, "runAsGroup": 0}, {}),
    ("1000", PASSWD, "", {"runAsUser": 1000, "runAsGroup": 2000}, {}),
    ("1000:2000", "", "", {"runAsUser": 1000, "runAsGroup": 2000}, {}),
    ("web", PASSWD, "", {"runAsUser": 1000, "runAsGroup": 2000}, {}),
    ("web", "", "", {"runAsUser": 5, "runAsGroup": 6}, {}),
]


def test_both_pages_show_pods() -> None:
    assert [(page, number) for page, number, _ in BLOCKS] == [
        ("users-of-images.md", 0),
        *(("volumes.md", number) for number in range(3)),
    ]


@pytest.mark.parametrize(("page", "number", "text"), BLOCKS, ids=lambda value: value if value != str(value) else None)
def test_a_pod_of_the_page_renders_and_passes_check(page: str, number: int, text: str, shop: Shop) -> None:  # noqa: F811
    world = World()
    document = yaml.safe_load(text)
    (container,) = document["spec"]["template"]["spec"]["containers"]
    assert container["image"].endswith("@sha256:…")
    container["image"] = WEB_IMAGE
    world["web"] = document
    shop.change(world)
    made = shop.generate()
    assert (made.code, made.stderr) == (0, ""), (page, number)
    shop.write("rendered.yaml", made.stdout)
    checked = shop("check", "rendered.yaml", "--config", "config.yaml")
    assert checked.code == 0, checked.stderr
    if page == "users-of-images.md":
        plan = shop("plan", "deployment", "--config", "config.yaml").stdout.decode()
        assert "+1 container as user 0:0, " in plan
        said = shop("explain", "Deployment/web", "deployment", "--config", "config.yaml").stdout.decode()
        assert "user 0 and group 0 of its image" in said


@pytest.mark.parametrize(("user", "passwd", "group", "container", "pod"), ROWS)
def test_what_the_table_wants_of_a_pod_is_needed_and_enough(
    user: str, passwd: str, group: str, container: dict[str, Any], pod: dict[str, Any]
) -> None:
    facts: ImageFacts = pods.IMAGE._replace(passwd=passwd, group=group)

    def refused(own: dict[str, Any], of_pod: dict[str, Any]) -> bool:
        from krm_function.config.references import References
        from krm_function.policy.rules import load_rules
        from krm_function.policy.seal import seal
        from krm_function.policy.settings import default_settings

        spec = {"containers": [{"name": "a", "image": "i", "securityContext": own}], "securityContext": of_pod}
        image = facts._replace(config={**facts.config, "User": user})
        images = {pods.pinned("i"): image}
        return seal(pods.workload(spec), images, References(), default_settings(KATA), load_rules(KATA))[0] is None

    assert not refused(container, pod)
    assert refused({}, {}) == bool(container or pod)
