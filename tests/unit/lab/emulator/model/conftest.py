"""Nodes in memory for tests of the model, and the programs that the tests run.

The program is compiled with the address and undefined-behaviour sanitizers; an error or a leak ends
it and fails the test.
"""

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from nvshare.lab.emulator.conf import Settings, write_conf
from nvshare.lab.emulator.gpus import parse_gpus

from .play import Play

ROOT = Path(__file__).parents[5]
EMULATOR = ROOT / "lab/emulator"

MakeConf = Callable[..., Path]


@pytest.fixture(scope="session")
def build_with_model(once: Callable[..., Path]) -> Callable[..., Path]:
    """Compile a program of lab/tests with the model, and nothing else of the emulator."""

    def build(name: str, *flags: str) -> Path:
        command = ["cc", "-std=gnu11", "-D_GNU_SOURCE", "-g", "-Wall", "-Wextra", "-Werror", *flags]
        own = ROOT / "lab/tests"
        sources = [*own.glob(f"{name}.c"), *own.glob(f"{name}/*.c")]
        sources += sorted((EMULATOR / "model").glob("*.c"))
        command += [f"-I{EMULATOR}", *map(str, sources), "-lm", "-lpthread"]

        def make(program: Path) -> None:
            subprocess.run([*command, "-o", str(program)], check=True, timeout=120)

        return once(name, make)

    return build


@pytest.fixture(scope="session")
def player(build_with_model: Callable[..., Path]) -> Iterator["subprocess.Popen[str]"]:
    """One process that plays all scripts, one after the other."""
    checks = "-fsanitize=address,undefined,float-divide-by-zero,float-cast-overflow"
    program = build_with_model("model_play", "-O1", checks, "-fno-sanitize-recover=all")
    with subprocess.Popen(
        [program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        yield process
        _, complaints = process.communicate(timeout=60)
        assert process.returncode == 0, complaints


@pytest.fixture
def make_conf(tmp_path: Path) -> MakeConf:
    """Write a node.conf; keywords replace values of the profiles, in every GPU."""

    def write(gpus: str = "t4", **constants: object) -> Path:
        text = write_conf("test", Settings(), parse_gpus(gpus))
        lines = text.splitlines()
        for key, value in constants.items():
            assert any(line.startswith(f"{key}=") for line in lines), key
            lines = [f"{key}={value}" if line.startswith(f"{key}=") else line for line in lines]
        path = tmp_path / "node.conf"
        path.write_text("\n".join(lines) + "\n", encoding="ascii")
        return path

    return write


@pytest.fixture
def begin(player: "subprocess.Popen[str]", make_conf: MakeConf) -> Iterator[Callable[..., Play]]:
    """Begin a node of a test's own kind. At the end, all derived values must match a recount."""
    begun: list[Play] = []

    def begin(gpus: str = "t4", **settings: object) -> Play:
        begun.append(Play(player, make_conf(gpus, **settings)))
        return begun[-1]

    yield begin
    for play in begun[-1:]:
        assert play.problem or play.difference() is None


@pytest.fixture
def play(begin: Callable[..., Play]) -> Play:
    """One T4."""
    return begin()
