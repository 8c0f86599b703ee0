"""`check --cluster`: what was not compared is said, whatever else is wrong."""

import json

import pytest

from tests.cli.conftest import Shop


@pytest.mark.slow
def test_an_error_in_the_output_does_not_drop_the_cluster_without_a_word(shop: Shop) -> None:
    said = "not compared with the cluster, because there are errors"
    ran = shop("check", "--cluster", "deployment")  # never rendered; and there is no cluster
    assert (ran.code, said in ran.stderr) == (1, True)
    ran = shop("check", "--cluster", "deployment", "--format", "json")
    assert [said in one["message"] for one in json.loads(ran.stderr)["findings"]].count(True) == 1
