import subprocess
from pathlib import Path

from tools.release.checksums import NAME, sums


def test_sums_are_those_that_sha256sum_checks(tmp_path: Path) -> None:
    (tmp_path / "b.whl").write_bytes(b"two")
    (tmp_path / "a.tar.gz").write_bytes(b"one")
    (tmp_path / NAME).write_text(sums(tmp_path))
    # The file of the sums does not list itself, however often it is made.
    assert sums(tmp_path) == (tmp_path / NAME).read_text()
    check = ["/usr/bin/sha256sum", "--check", "--strict", NAME]
    done = subprocess.run(check, cwd=tmp_path, capture_output=True, text=True)
    assert done.stdout == "a.tar.gz: OK\nb.whl: OK\n"
    (tmp_path / "b.whl").write_bytes(b"other")
    assert subprocess.run(check, cwd=tmp_path, capture_output=True).returncode == 1
