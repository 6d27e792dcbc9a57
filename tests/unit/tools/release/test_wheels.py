import platform

import pytest

from tools.release import wheels
from tools.release.tree import ReleaseError, version


def test_a_build_for_this_machine_needs_nothing() -> None:
    assert wheels.cross(platform.machine()) == {}


def test_a_build_for_another_machine_gets_its_compiler_and_its_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = []
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    monkeypatch.setattr(wheels, "need", lambda *words: asked.append(words))
    variables = wheels.cross("aarch64")
    assert variables["CMAKE_TOOLCHAIN_FILE"].endswith("cmake/aarch64.cmake")
    assert variables["_PYTHON_HOST_PLATFORM"] == "linux-aarch64"
    assert asked[0][0] == "aarch64-linux-gnu-gcc"


def test_a_machine_without_a_toolchain_is_refused() -> None:
    with pytest.raises(ReleaseError, match="wheels for riscv64 cannot be built"):
        wheels.cross("riscv64")


def test_wheels_are_named_by_the_oldest_c_library() -> None:
    name = f"nvshare-{version()}-py3-none-manylinux2014_aarch64.manylinux_2_17_aarch64.whl"
    assert wheels.wheel("aarch64").name == name
