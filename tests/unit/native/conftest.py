"""Programs around native/common, under the sanitizers."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
COMMON = ROOT / "native/common"


@pytest.fixture(scope="session")
def build_common(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Path], Path]:
    """Compile a program with all of native/common."""

    def build(source: Path) -> Path:
        program = tmp_path_factory.mktemp("common") / source.stem
        command = ["cc", "-std=gnu11", "-D_GNU_SOURCE", "-g", "-O1", "-Wall", "-Wextra", "-Werror"]
        command += ["-fsanitize=address,undefined", "-fno-sanitize-recover=all", f"-I{COMMON}"]
        command += [str(source), *map(str, sorted(COMMON.glob("*.c")))]
        subprocess.run([*command, "-lpthread", "-o", str(program)], check=True, timeout=120)
        return program

    return build
