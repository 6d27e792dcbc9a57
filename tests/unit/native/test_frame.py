"""frame.c reads bytes as nvshare.wire.codec does, whatever the bytes are."""

import random
import struct
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from nvshare.wire.frames import HEADER, MAGIC, MAX_PAYLOAD, VERSION, Grant, Want

ROOT = Path(__file__).parents[3]
Dump = Callable[[bytes], str]


@pytest.fixture(scope="module")
def dump(build_common: Callable[[Path], Path]) -> Iterator[Dump]:
    """One process that reads many byte strings."""
    program = build_common(ROOT / "native/tests/frame_dump.c")
    process = subprocess.Popen(
        [program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )

    def read(data: bytes) -> str:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(struct.pack("<I", len(data)) + data)
        process.stdin.flush()
        return process.stdout.readline().decode().removesuffix("\n")

    yield read
    _, complaints = process.communicate(timeout=60)
    assert process.returncode == 0, complaints.decode()


def read_in_python(data: bytes) -> str:
    """The expected output of frame_dump.c."""
    words: list[str] = []
    while len(data) >= HEADER.size:
        magic, version, kind, length, _ = HEADER.unpack_from(data)
        if magic != MAGIC:
            return " ".join([*words, "magic"])
        if version != VERSION:
            return " ".join([*words, "version"])
        if length > MAX_PAYLOAD:
            return " ".join([*words, "length"])
        if len(data) < HEADER.size + length:
            break
        words.append(f"{kind}:{data[HEADER.size : HEADER.size + length].hex()}")
        data = data[HEADER.size + length :]
    return " ".join([*words, f"more {len(data)}"])


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"NVSH",
        Grant(turn=1, fill_bytes=2).pack(),
        Want(3).pack() + Grant(4, 5).pack() + Want(6).pack()[:-1],
        HEADER.pack(MAGIC, VERSION, 999, 0, 7),
        HEADER.pack(MAGIC, VERSION, 999, MAX_PAYLOAD, 0) + bytes(MAX_PAYLOAD),
        HEADER.pack(MAGIC, VERSION, 999, MAX_PAYLOAD + 1, 0),
        HEADER.pack(MAGIC, VERSION + 1, 1, 0, 0),
        HEADER.pack(MAGIC + 1, VERSION, 1, 0, 0),
    ],
)
def test_chosen_bytes(dump: Dump, data: bytes) -> None:
    assert dump(data) == read_in_python(data)


def test_damaged_bytes(dump: Dump) -> None:
    chance = random.Random(1)
    good = Want(3).pack() + Grant(4, 5).pack()
    for _ in range(3000):
        data = bytearray(good * chance.randint(1, 3))
        for _ in range(chance.randint(0, 3)):
            data[chance.randrange(len(data))] = chance.randrange(256)
        cut = bytes(data[: chance.randint(0, len(data))])
        assert dump(cut) == read_in_python(cut)
