"""Addresses of device memory: no overlap, no leak, right look-ups, for any order of calls."""

import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

ROOT = Path(__file__).parents[5]
EMULATOR = ROOT / "lab" / "emulator"
CHUNK = 2 << 20
CHUNKS = 16

# A number up to 99 releases that allocation of the living ones; a larger one is a size.
SCRIPTS = st.lists(
    st.one_of(st.integers(0, 99), st.integers(100, 3000), st.integers(100_000, 5 * CHUNK)),
    max_size=60,
)


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("arena") / "arena_play"
    sources = [ROOT / "lab/tests/arena_play.c", EMULATOR / "process/arena.c"]
    command = ["cc", "-std=gnu11", "-D_GNU_SOURCE", "-g", "-Wall", "-Wextra", "-Werror"]
    # Not the leak checker: the arena lives as long as the process, and is never given back.
    command += ["-fsanitize=address,undefined", f"-I{EMULATOR}"]
    subprocess.run([*command, *map(str, sources), "-o", str(path)], check=True, timeout=60)
    return path


@dataclass
class Allocation:
    number: int
    offset: int
    size: int


def play(program: Path, lines: list[str]) -> list[str]:
    done = subprocess.run(
        [program, str(CHUNKS * CHUNK)],
        input="\n".join(lines),
        capture_output=True,
        text=True,
        check=True,
        env={"ASAN_OPTIONS": "detect_leaks=0"},
        timeout=30,
    )
    return done.stdout.split("\n")[:-1]


def chunks_of(allocation: Allocation) -> range:
    last = (allocation.offset + allocation.size - 1) // CHUNK
    return range(allocation.offset // CHUNK, last + 1)


@given(script=SCRIPTS)
@settings(max_examples=40, deadline=None, derandomize=True)
def test_allocations_never_overlap_and_are_found(program: Path, script: list[int]) -> None:
    lines: list[str] = []
    alive: list[Allocation] = []
    used: set[int] = set()
    number = 0
    for step in script:
        if step < 100:
            if not alive:
                continue
            gone = alive.pop(step % len(alive))
            lines.append(f"r {gone.offset}")
            first, given_back = map(int, play(program, lines)[-1].split())
            used -= set(range(first, first + given_back))
        else:
            number += 1
            lines.append(f"a {step}")
            answer = play(program, lines)[-1]
            if answer == "none":
                assert step > CHUNK // 2 or len(used) == CHUNKS
                continue
            offset, first, taken = map(int, answer.split())
            assert offset % 512 == 0
            assert offset + step <= CHUNKS * CHUNK
            assert used.isdisjoint(range(first, first + taken))
            used |= set(range(first, first + taken))
            alive.append(Allocation(number, offset, step))
        assert used == {chunk for allocation in alive for chunk in chunks_of(allocation)}
    for one in alive:
        for other in alive:
            apart = one.offset + one.size <= other.offset or other.offset + other.size <= one.offset
            assert one is other or apart
    finds = [f"f {a.offset + where}" for a in alive for where in (0, a.size - 1)]
    answers = play(program, lines + finds)[len(lines) :]
    assert answers == [str(a.number) for a in alive for _ in range(2)]
