"""Every hooked call, found in every possible way, reaches our wrapper and then the driver."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import LIBRARY

ROOT = Path(__file__).parents[3]
VICTIMS = ROOT / "native" / "tests" / "victims"

# The interposer answers this one from its own records.
ANSWERED = "cuMemGetInfo_v2"

LOADERS = {
    "linked": ("linked",),
    "dlsym": ("lookup", "dlsym"),
    "dlvsym": ("lookup", "dlvsym"),
    "default": ("lookup", "default"),
    "cuGetProcAddress": ("lookup", "proc1"),
    "cuGetProcAddress_v2": ("lookup", "proc2"),
    "cuGetProcAddress_v2 per thread": ("lookup", "proc2-per-thread"),
    "plugin": ("lookup", "plugin", "plugin.so"),
    "plugin with RTLD_DEEPBIND": ("lookup", "deepbind", "plugin.so"),
    "constructor of a library that is loaded": ("lookup", "load", "constructor.so"),
    "constructor of a library that was linked": ("linked-to-constructor",),
}

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The recording driver and the victims."""
    folder = tmp_path_factory.mktemp("victims")
    find = [sys.executable, str(ROOT / "cmake" / "find_headers.py"), "cuda.h"]
    include = subprocess.run(find, capture_output=True, text=True, check=True).stdout.strip()
    generate = [sys.executable, "-B", str(VICTIMS / "generate_victims.py"), include, str(folder)]
    subprocess.run(generate, check=True)
    flags = ["-std=gnu11", "-O1", "-g", "-D_GNU_SOURCE", "-Wall", f"-I{VICTIMS}"]
    flags += ["-D__CUDA_API_VERSION_INTERNAL=", "-DNVML_NO_UNVERSIONED_FUNC_DEFS="]
    flags += [f"-isystem{include}"]
    shared = ["-shared", "-fPIC"]
    calls = ["victims.o", str(VICTIMS / "run_victims.c")]
    linked = [*calls, "linked.c", str(VICTIMS / "main_linked.c")]
    drivers = ["-L.", "-l:libcuda.so.1", "-l:libnvidia-ml.so.1"]

    def compile_with(*arguments: str) -> None:
        command = ["cc", *flags, *arguments]
        subprocess.run(command, cwd=folder, check=True, timeout=120)

    # The longest by far, and in every program below.
    compile_with("-c", "-fPIC", "victims.c")
    for name, macro in (("cuda", "RECORDER_CUDA"), ("nvml", "RECORDER_NVML")):
        soname = "libcuda.so.1" if name == "cuda" else "libnvidia-ml.so.1"
        options = [f"-D{macro}", "-Wl,-Bsymbolic", f"-Wl,--version-script={name}.map"]
        options += [f"-Wl,-soname,{soname}", f"recorder_{name}.c", str(VICTIMS / "recorder.c")]
        compile_with(*shared, *options, "-o", soname)
    compile_with(*linked, *drivers, "-ldl", "-o", "linked")
    compile_with(*shared, "-DPLUGIN", *linked, *drivers, "-ldl", "-o", "plugin.so")
    early = [*shared, "-DCONSTRUCTOR", "-Wl,-soname,constructor.so"]
    compile_with(*early, *linked, *drivers, "-ldl", "-o", "constructor.so")
    compile_with(*calls, str(VICTIMS / "main_lookup.c"), "-ldl", "-o", "lookup")
    compile_with(
        str(VICTIMS / "main_nothing.c"),
        "-Wl,--no-as-needed",
        "-L.",
        "-Wl,-rpath-link,.",
        "-l:constructor.so",
        "-o",
        "linked-to-constructor",
    )
    compile_with(str(VICTIMS / "main_without_driver.c"), "-ldl", "-o", "without-driver")
    compile_with(*shared, str(VICTIMS / "neighbour.c"), "-ldl", "-o", "neighbour.so")
    return folder


@pytest.fixture
def run(built: Path, tmp_path: Path) -> Run:
    def call(
        *command: str, preload: tuple[str, ...] = (str(LIBRARY),), **variables: str
    ) -> "subprocess.CompletedProcess[str]":
        program, *arguments = command
        paths = [str(built / word) if word.endswith(".so") else word for word in arguments]
        environment = {
            "PATH": os.environ["PATH"],
            "LD_LIBRARY_PATH": str(built),
            "NVSHARE_SOCKET_DIR": str(tmp_path),
            "VICTIMS_ANSWERED": ANSWERED,
            "NVSHARE_LOG_FILE": "/dev/null",
            **variables,
        }
        if preload:
            names = [str(built / name) if "/" not in name else name for name in preload]
            environment["LD_PRELOAD"] = " ".join(names)
        return subprocess.run(
            [built / program, *paths],
            env=environment,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    return call


def counts(done: "subprocess.CompletedProcess[str]") -> dict[str, int]:
    assert (done.returncode, done.stderr) == (0, "")
    fields = dict(word.split("=") for word in done.stdout.splitlines()[-1].split() if "=" in word)
    return {name: int(value) for name, value in fields.items()}


@pytest.mark.parametrize("how", LOADERS)
def test_every_call_reaches_the_wrapper_and_the_driver(run: Run, how: str) -> None:
    found = counts(run(*LOADERS[how]))
    assert found["wrapped"] == found["called"] > 50
    assert found["failures"] == 0


@pytest.mark.parametrize("how", ["linked", "dlsym", "cuGetProcAddress_v2"])
def test_the_gate_in_plain_c_passes_the_same_arguments_on(
    run: Run, portable_library: Path, how: str
) -> None:
    found = counts(run(*LOADERS[how], preload=(str(portable_library),)))
    assert found["wrapped"] == found["called"] > 50
    assert found["failures"] == 0


@pytest.mark.parametrize("how", LOADERS)
def test_switched_off_not_one_call_is_answered_here(run: Run, how: str) -> None:
    found = counts(run(*LOADERS[how], NVSHARE_DISABLE="1", VICTIMS_ANSWERED=""))
    assert found["failures"] == 0


def test_the_victims_find_fault(run: Run) -> None:
    """Without the interposer nothing is wrapped, and the test would notice."""
    done = run(*LOADERS["dlsym"], preload=(), VICTIMS_ANSWERED="")
    assert counts(done)["wrapped"] == 0


def test_both_flavours_are_everything(run: Run) -> None:
    """cuGetProcAddress, plain and per thread, returns all functions that the headers declare."""
    all_of_cuda = counts(run(*LOADERS["dlsym"]))["called"] - 2  # less two of NVML
    plain = counts(run(*LOADERS["cuGetProcAddress_v2"]))["called"]
    per_thread = counts(run(*LOADERS["cuGetProcAddress_v2 per thread"]))["called"]
    assert plain + per_thread == all_of_cuda


def test_without_a_driver_names_are_not_found(run: Run) -> None:
    """A program that asks whether there is a driver gets the same answer as without us."""
    ours, bare = (run("without-driver", preload=names) for names in ((str(LIBRARY),), ()))
    assert ours.returncode == bare.returncode == 0
    assert ours.stdout == bare.stdout


@pytest.mark.parametrize("order", ["before", "after"])
def test_beside_another_preloaded_library(run: Run, order: str) -> None:
    """A lookup of the next function finds ours, and never the caller itself."""
    preload = ("neighbour.so", str(LIBRARY))
    done = run(*LOADERS["linked"], preload=preload if order == "before" else preload[::-1])
    assert counts(done)["failures"] == 0
    assert "neighbour: next cuCtxSetCurrent is in libnvshare.so\n" in done.stdout
