"""A host that puts everything into one `kind: List`, additions of a render included: the render knows them again."""

from tests import quick_yaml as yaml
from tests.cli.conftest import Shop
from tests.failures.world import World


def listed(rendered: bytes) -> bytes:
    """What `kubectl create --dry-run=client -o yaml` makes of a stream."""
    items = [value for value in yaml.safe_load_all(rendered) if value]
    return yaml.safe_dump({"apiVersion": "v1", "kind": "List", "items": items}, sort_keys=False).encode()


def by_name(data: bytes) -> dict[str, object]:
    (one,) = (value for value in yaml.safe_load_all(data) if value)
    return {f"{item['kind']}/{item['metadata']['name']}": item for item in one["items"]}


def emitting(shop: Shop) -> None:
    world = World()
    world.spec["runtimeClasses"] = "emit"
    shop.change(world)


def test_a_list_of_rendered_objects_renders_to_itself(shop: Shop, rendered: bytes) -> None:
    emitting(shop)
    once = listed(rendered)
    run = shop("generate", "-", "--config", "config.yaml", data=once)
    assert (run.code, run.stderr) == (0, "")
    assert by_name(run.stdout).keys() == by_name(once).keys()
    assert shop("generate", "-", "--config", "config.yaml", data=run.stdout).stdout == run.stdout
    assert shop("check", data=run.stdout).code == 0
    assert shop("manifest", data=once).stdout == shop("manifest", data=rendered).stdout


def test_additions_in_a_list_follow_the_workloads(shop: Shop, rendered: bytes) -> None:
    world = World()
    world.spec["runtimeClasses"] = "emit"
    world.spec["manifest"]["policies"] = {"web": {"sans": ["web.example.com"]}}
    shop.change(world)
    run = shop("generate", "-", "--config", "config.yaml", data=listed(rendered))
    assert run.code == 0, run.stderr
    assert "web.example.com" in shop("manifest", data=run.stdout).stdout.decode()
    assert by_name(run.stdout).keys() == by_name(listed(rendered)).keys()


def test_additions_that_are_not_configured_any_more_leave_the_list(shop: Shop, rendered: bytes) -> None:
    world = World()
    world.spec["manifest"]["emit"] = "none"
    shop.change(world)
    run = shop("generate", "-", "--config", "config.yaml", data=listed(rendered))
    assert run.code == 0, run.stderr
    gone = by_name(listed(rendered)).keys() - by_name(run.stdout).keys()
    assert {name.partition("/")[0] for name in gone} == {"ConfigMap", "RuntimeClass"}


def test_uninject_takes_additions_out_of_a_list(shop: Shop, rendered: bytes) -> None:
    run = shop("uninject", data=listed(rendered))
    assert run.code == 0, run.stderr
    given = {f"{value['kind']}/{value['metadata']['name']}": value for value in yaml.safe_load_all(World().stream())}
    assert by_name(run.stdout) == given
