"""The readers in C: which there are (native/fuzz/targets.h), and programs that try them."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from nvshare.errors import NvshareError
from tests.fuzz import chance
from tests.integration.building import build_native

ROOT = Path(__file__).parents[2]
BUILD = ROOT / "build" / "fuzz"
PROGRAMS = Path("native") / "fuzz"
# A reader may ask for very much memory, and is refused it as on a machine without that much.
ENVIRONMENT = {**os.environ, "ASAN_OPTIONS": "allocator_may_return_null=1"}


def targets() -> list[str]:
    """Return the names of the readers."""
    text = (ROOT / "native" / "fuzz" / "targets.h").read_text(encoding="utf-8")
    return re.findall(r" TARGET\(([a-z]+)\)", text)


def build_replay(folder: Path) -> None:
    """Build the program that tries inputs once, with any compiler."""
    build_native(folder, "-DNVSHARE_FUZZ=ON", targets=["replay"])


def build_fuzzers() -> None:
    """Build a fuzzer for each reader; this takes clang."""
    build_native(BUILD, "-DNVSHARE_FUZZ=ON", "-DCMAKE_C_COMPILER=clang", targets=["fuzzers"])


def fuzzer(target: str, seconds: int, folders: Sequence[Path], crashes: Path) -> list[str]:
    """Return the command that fuzzes a reader; new inputs go to the first folder."""
    return [
        *(str(BUILD / PROGRAMS / f"fuzz_{target}"), f"-max_total_time={seconds}"),
        f"-seed={chance.seed()}",
        *("-timeout=25", "-rss_limit_mb=2048", "-use_value_profile=1"),
        *(f"-artifact_prefix={crashes}/", *map(str, folders)),
    ]


def has_clang() -> bool:
    """Whether clang is there, with the library that its fuzzers need."""
    clang = _clang()
    if not clang:
        return False
    program = "int LLVMFuzzerTestOneInput(void) { return 0; }"
    with tempfile.TemporaryDirectory() as folder:
        command = [clang, "-fsanitize=fuzzer,address,undefined", "-xc", "-", "-o", f"{folder}/out"]
        done = subprocess.run(command, input=program.encode(), capture_output=True, timeout=60)
    return done.returncode == 0


def _clang() -> str:
    return shutil.which("clang") or ""


def install_clang() -> None:
    """Install Debian's clang, or say what to do."""
    apt = shutil.which("apt-get")
    if apt is None or os.getuid() != 0:
        raise NvshareError(
            "the readers in C cannot be fuzzed",
            why="fuzzing them needs clang and its libFuzzer",
            do="install clang (as root on Debian and Ubuntu, `make fuzz` does that itself), or "
            "choose other readers with ONLY=NAME",
        )
    print("installing clang", file=sys.stderr, flush=True)
    _install(apt, "clang")
    # libFuzzer is in a package of its own, with the version in its name.
    asked = subprocess.run([_clang(), "-dumpversion"], capture_output=True, text=True, check=True)
    _install(apt, f"libclang-rt-{asked.stdout.partition('.')[0]}-dev")


def _install(apt: str, package: str) -> None:
    command = [apt, "install", "--yes", "--quiet", "--no-install-recommends", package]
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    subprocess.run(command, check=True, env=environment, stdout=subprocess.DEVNULL)
