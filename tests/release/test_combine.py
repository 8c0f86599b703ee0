"""Two long values of one fact are told apart where they differ."""

import pytest

from krm_function.config.release_text import _shorten_pair

IMAGE = "ghcr.io/edgelesssys/contrast/initializer:v1.25.0@sha256:"


@pytest.mark.parametrize(
    ("one", "other", "shown"),
    [
        ("682Mi", "1Gi", ("682Mi", "1Gi")),
        (f"{IMAGE}{'a' * 64}", f"{IMAGE}{'b' * 64}", (f"…@sha256:{'a' * 16}…", f"…@sha256:{'b' * 16}…")),
        ("a" * 96, "b" * 96, (f"{'a' * 24}…", f"{'b' * 24}…")),
        (f"{IMAGE}{'a' * 64}", IMAGE, (f"…@sha256:{'a' * 16}…", "…@sha256:")),
    ],
)
def test_the_part_that_differs_is_shown(one: str, other: str, shown: tuple[str, str]) -> None:
    assert _shorten_pair(one, other) == shown
