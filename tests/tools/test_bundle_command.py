"""What the makers of a bundle and of its notice answer before they make anything; tests/install has the bundle."""

from pathlib import Path

import pytest

from tools import bundle, bundle_notice


def test_without_a_wheel_it_names_the_command_that_makes_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert bundle.main([str(tmp_path)]) == 1
    assert "run `make dist`" in capsys.readouterr().err
    assert bundle.main([]) == 2
    assert list(tmp_path.iterdir()) == []


def test_every_library_in_c_that_python_is_asked_about_has_a_name_and_a_license() -> None:
    asked = set(bundle_notice.ASK.split('"')) & set(bundle_notice.LINKED)
    assert asked == set(bundle_notice.LINKED)
