"""Where arrays begin: in whatever order they are noted, the next one is found."""

import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

ROOT = Path(__file__).parents[5]
EMULATOR = ROOT / "lab" / "emulator"
LIMIT = 100_000
MOST = 4096

# Close together, so that many are noted twice; some lie at the limit or beyond.
ADDRESSES = st.lists(st.one_of(st.integers(0, 40), st.integers(0, LIMIT + 2)), max_size=60)


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("arrays") / "arrays_play"
    sources = [ROOT / "lab/tests/arrays_play.c", EMULATOR / "process/arrays.c"]
    command = ["cc", "-std=gnu11", "-D_GNU_SOURCE", "-g", "-Wall", "-Wextra", "-Werror"]
    command += ["-fsanitize=address,undefined", f"-I{EMULATOR}"]
    subprocess.run([*command, *map(str, sources), "-o", str(path)], check=True, timeout=60)
    return path


def found(program: Path, told: list[int], asked: list[int]) -> list[int]:
    lines = [f"n {address}" for address in told] + [f"f {address}" for address in asked]
    done = subprocess.run(
        [program], input="\n".join(lines), capture_output=True, text=True, check=True, timeout=30
    )
    return list(map(int, done.stdout.split()))


def next_of(told: list[int], address: int) -> int:
    return min((begin for begin in told if begin > address), default=LIMIT)


@given(told=ADDRESSES, asked=ADDRESSES)
@settings(max_examples=40, deadline=None, derandomize=True)
def test_the_next_one_is_found(program: Path, told: list[int], asked: list[int]) -> None:
    wanted = [min(LIMIT, next_of(told, address)) for address in asked]
    assert found(program, told, asked) == wanted


def test_thousands_are_too_many(program: Path) -> None:
    told = list(range(2 * MOST))
    assert found(program, told, [MOST - 2, MOST - 1]) == [MOST - 1, LIMIT]
