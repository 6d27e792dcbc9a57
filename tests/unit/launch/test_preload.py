from pathlib import Path

import pytest

from nvshare.errors import NvshareError
from nvshare.launch import preload
from nvshare.launch.preload import Wishes, library, program_environment, without_preload

HERE = Path("/opt/nvshare/lib/libnvshare.so")
FOLDER = Path("/run/nvshare")


def build(wishes: Wishes | None = None, path: Path = HERE, **inherited: str) -> dict[str, str]:
    return program_environment(wishes or Wishes(), FOLDER, path, inherited)


def test_what_every_program_gets() -> None:
    variables = build()
    token = variables.pop("NVSHARE_GROUP")
    assert len(bytes.fromhex(token)) == 16
    assert variables == {"LD_PRELOAD": str(HERE), "NVSHARE_SOCKET_DIR": "/run/nvshare"}
    assert build()["NVSHARE_GROUP"] != token


def test_what_one_can_wish_for() -> None:
    wishes = Wishes(gpus="0,GPU-x", memory_limit=4 << 30, compute_percent=40, allocation="native")
    variables = build(wishes)
    assert variables["CUDA_VISIBLE_DEVICES"] == "0,GPU-x"
    assert variables["NVSHARE_GPU_MEMORY_LIMIT"] == str(4 << 30)
    assert variables["NVSHARE_GPU_CORE_LIMIT"] == "40"
    assert variables["NVSHARE_ALLOCATION"] == "native"


def test_a_command_within_a_command_belongs_to_the_same_group() -> None:
    assert build(NVSHARE_GROUP="ab" * 16)["NVSHARE_GROUP"] == "ab" * 16


@pytest.mark.parametrize("old", ["/a/x.so /b/y.so", "/a/x.so:/b/y.so", f"/a/x.so {HERE} /b/y.so"])
def test_what_was_preloaded_stays_behind_ours(old: str) -> None:
    assert build(LD_PRELOAD=old)["LD_PRELOAD"] == f"{HERE} /a/x.so /b/y.so"


def test_a_path_with_a_space() -> None:
    variables = build(path=Path("/my apps/libnvshare.so"), LD_LIBRARY_PATH="/old")
    assert variables["LD_PRELOAD"] == "libnvshare.so"
    assert variables["LD_LIBRARY_PATH"] == "/my apps:/old"


def test_a_path_that_cannot_be_preloaded() -> None:
    with pytest.raises(NvshareError, match="cannot be preloaded"):
        build(path=Path("/a:b/libnvshare.so"))


def test_our_own_processes_are_no_guests() -> None:
    assert without_preload({"LD_PRELOAD": str(HERE), "A": "b"}) == {"A": "b"}
    assert without_preload({"LD_PRELOAD": f"{HERE}:/x.so"}) == {"LD_PRELOAD": "/x.so"}
    assert without_preload({}) == {}


def test_a_library_that_is_not_installed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(preload, "files", lambda _: tmp_path)
    with pytest.raises(NvshareError, match="is not installed"):
        library()
