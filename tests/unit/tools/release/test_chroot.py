"""Programs in a root folder: what they see, and that nothing of them remains."""

from pathlib import Path

import pytest

from tools.release.chroot import inside, scratch
from tools.release.tree import ReleaseError

pytestmark = pytest.mark.needs("root")
ROOT = Path("/")


def test_it_has_a_tmp_of_its_own() -> None:
    with scratch() as tmp:
        (tmp / "given").write_text("from here")
        told = inside(ROOT, ("sh", "-c", "cat /tmp/given; echo from there >/tmp/made"), tmp)
        assert told == "from here"
        assert (tmp / "made").read_text() == "from there\n"
    assert not tmp.exists()


def test_it_sees_only_its_own_processes() -> None:
    with scratch() as tmp:
        assert inside(ROOT, ("sh", "-c", "echo /proc/[0-9]*"), tmp).split() == ["/proc/1"]


def test_its_variables_are_those_given_and_the_way_to_the_network(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "proxy.test")
    monkeypatch.setenv("PYTHONPATH", "/elsewhere")
    with scratch() as tmp:
        told = inside(ROOT, ("env",), tmp, {"PIP_CERT": "file"})
    assert {"HTTPS_PROXY=proxy.test", "PIP_CERT=file"} <= set(told.split())
    assert "PYTHONPATH" not in told


def test_what_it_says_is_the_error_if_it_fails() -> None:
    with scratch() as tmp, pytest.raises(ReleaseError, match=r"ended with exit code 3:\nno room"):
        inside(ROOT, ("sh", "-c", "echo no room; exit 3"), tmp)
