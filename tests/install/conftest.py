"""Tests of what `make bundle` and `make image` have made run only where their files are named, as those targets do."""

from pathlib import Path

import pytest

MADE = ("test_bundle", "test_image")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave them out of `make test`."""
    named = {Path(argument.partition("::")[0]).resolve() for argument in config.args}
    return True if collection_path.name.startswith(MADE) and collection_path not in named else None
