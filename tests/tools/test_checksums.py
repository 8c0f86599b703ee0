import subprocess
from pathlib import Path

import pytest

from tools.checksums import checksums, main


def test_sha256sum_checks_what_is_written(tmp_path: Path) -> None:
    (tmp_path / "b.tar.gz").write_text("b")
    (tmp_path / "a with a space").write_text("a")
    (tmp_path / "folder").mkdir()
    assert main([str(tmp_path)]) == main([str(tmp_path)]) == 0
    check = ["sha256sum", "--check", "--strict", "SHA256SUMS"]
    done = subprocess.run(check, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "a with a space: OK\nb.tar.gz: OK\n")
    (tmp_path / "b.tar.gz").write_text("c")
    assert subprocess.run(check, cwd=tmp_path, capture_output=True, check=False).returncode == 1


def test_a_name_of_two_lines_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a\nb").write_text("")
    with pytest.raises(ValueError, match="another way"):
        checksums(str(tmp_path))
