"""runtime/error.c in a program of its own, under the sanitizers, for each major version."""

import subprocess
from pathlib import Path

import pytest

from .test_runtime_exports import INCLUDE

ROOT = Path(__file__).parents[4]
EMULATOR = ROOT / "lab" / "emulator"


@pytest.mark.parametrize("major", [12, 13])
def test_last_errors(major: int, tmp_path: Path) -> None:
    program = tmp_path / "check"
    command = ["cc", "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-g", "-pthread"]
    command += ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    command += ["-D_GNU_SOURCE=", "-D__CUDA_API_VERSION_INTERNAL="]
    command += [f"-I{EMULATOR / 'runtime'}", f"-I{EMULATOR}", f"-I{ROOT / 'native/headers'}"]
    command += [f"-isystem{folder}" for folder in INCLUDE[major]]
    command += [str(ROOT / "lab" / "tests" / "runtime_error_check.c")]
    command += [str(EMULATOR / "runtime" / "error.c"), "-o", str(program)]
    subprocess.run(command, check=True, timeout=60)
    done = subprocess.run([program], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
