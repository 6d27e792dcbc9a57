"""The installation on a node works for programs of every kind of C library."""

import os
import subprocess
from pathlib import Path

import pytest

import nvshare
from nvshare.kubernetes.layout import install
from nvshare.lab.emulator.libraries import library_folder
from nvshare.launch.preload import library


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return install(tmp_path_factory.mktemp("node"))


def mapped(preload: str) -> str:
    """Return the libraries that a glibc program of this machine has in memory."""
    done = subprocess.run(
        ["/bin/cat", "/proc/self/maps"],
        env={"LD_PRELOAD": preload},
        capture_output=True,
        text=True,
        timeout=30,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_this_machines_glibc_finds_the_interposer(installed: Path) -> None:
    assert f"{installed}/libnvshare.so" in mapped(f"{installed}/$LIB/libnvshare.so")


@pytest.mark.parametrize("lib", ["lib", "lib64", "lib/x86_64-linux-gnu", "lib/aarch64-linux-gnu"])
def test_whatever_glibc_puts_in_the_place_of_lib_leads_to_the_interposer(
    installed: Path, lib: str
) -> None:
    assert (installed / lib / "libnvshare.so").read_bytes() == library().read_bytes()


def test_all_of_the_emulated_gpu_is_there(installed: Path) -> None:
    names = {path.name for path in (installed / "emulator").iterdir()}
    assert names == {path.name for path in library_folder().iterdir()}


def run(*command: str | Path, preload: Path | None = None) -> "subprocess.CompletedProcess[str]":
    environment = {"PATH": os.environ["PATH"], **({"LD_PRELOAD": str(preload)} if preload else {})}
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=30)


def test_who_leaves_lib_as_it_is_finds_a_library_that_needs_nothing(installed: Path) -> None:
    plain = installed / "$LIB" / "libnvshare.so"
    assert "NEEDED" not in run("readelf", "--dynamic", "--wide", plain).stdout
    assert run("nm", "--dynamic", "--undefined-only", plain).stdout == ""


def test_that_library_speaks_only_in_the_first_process_of_a_container(installed: Path) -> None:
    plain = installed / "other.so"
    plain.write_bytes((installed / "$LIB" / "libnvshare.so").read_bytes())
    assert run("true", preload=plain).stderr == ""
    privilege = [] if os.getuid() == 0 else ["--user", "--map-root-user"]
    first = run("unshare", *privilege, "--pid", "--fork", "env", f"LD_PRELOAD={plain}", "true")
    assert (first.returncode, first.stdout) == (0, "")
    assert "do not use glibc" in first.stderr


def test_installing_again_replaces_files_that_are_in_use_without_touching_them(
    tmp_path: Path,
) -> None:
    target = install(tmp_path)
    assert target.name == nvshare.__version__
    with (target / "libnvshare.so").open("rb") as before:
        install(tmp_path)
        assert os.fstat(before.fileno()).st_ino != (target / "libnvshare.so").stat().st_ino
    assert not list(target.rglob(".*"))
    assert (target / "ld.so.preload").read_text() == "/usr/local/nvshare/libnvshare.so\n"
