"""`check` of nothing: a command that failed prints nothing, and that is no success."""

import pytest
import yaml

from tests.cli.conftest import Shop

NOTHING = [b"", b"\n", b"# a comment\n", b"---\n", b"---\n# a comment\n---\n...\n", b"null\n", b"~\n---\n"]
LIST = {"apiVersion": "config.kubernetes.io/v1", "kind": "ResourceList"}
CHECK = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"mode": "check"}}


@pytest.mark.parametrize("data", NOTHING)
def test_no_document_is_an_error(shop: Shop, data: bytes) -> None:
    for arguments in ((), ("--config", "config.yaml")):
        run = shop("check", "--format", "json", *arguments, data=data)
        assert run.code == 1
        assert [error["code"] for error in run.errors] == ["CC1118" if data.strip() else "CC0109"]


def test_a_file_without_a_document_is_an_error_and_two_of_which_one_has_one_are_none(shop: Shop) -> None:
    shop.write("empty.yaml", "# nothing\n")
    shop.write("one.yaml", "apiVersion: v1\nkind: Service\nmetadata: {name: a}\n")
    assert shop("check", "empty.yaml").code == 1
    assert shop("check", "empty.yaml", "one.yaml").code == 0


def test_a_function_that_is_sent_no_item_fails(shop: Shop) -> None:
    data = yaml.safe_dump({**LIST, "functionConfig": CHECK, "items": []}).encode()
    run = shop(data=data)
    assert run.code == 1
    assert "error CC1118: there is no document to check" in run.stderr
    assert shop("check", data=data).code == 1


def test_a_function_that_sees_no_workload_of_contrasts_says_so(shop: Shop) -> None:
    service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "a"}}
    data = yaml.safe_dump({**LIST, "functionConfig": CHECK, "items": [service]}).encode()
    run = shop(data=data)
    assert (run.code, run.stdout, run.stderr) == (0, data, "checked 0 Contrast workloads\n")
