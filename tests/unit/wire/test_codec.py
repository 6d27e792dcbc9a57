"""Every frame survives a round trip, in pieces of any size; bad bytes raise WireError."""

import random
import re
from contextlib import suppress
from dataclasses import fields
from itertools import pairwise
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nvshare.wire import frames
from nvshare.wire.codec import VersionError, WireError, client_frames, daemon_frames
from nvshare.wire.frames import HEADER, MAGIC, MAX_PAYLOAD, VERSION, Frame, FromClient, Hello, Want
from protocol.model import Range, read_protocol

PROTOCOL = read_protocol()
FROM_CLIENT = get_args(FromClient)
U64 = st.integers(0, 2**64 - 1)
WIDTHS = {"H": 16, "I": 32, "Q": 64}


def values(cls: type[Any]) -> st.SearchStrategy[Any]:
    """Frames of a class, with any values."""
    codes = [c for c in _codes(cls.LAYOUT.format) if not c.endswith("x")]
    (frame,) = (one for one in PROTOCOL.frames if one.number == cls.TYPE)
    ranges = {one.name: one.range for one in frame.fields}
    return st.builds(
        cls,
        *[_value(f.type, code, ranges[f.name]) for f, code in zip(fields(cls), codes, strict=True)],
    )


def _codes(layout: str) -> list[str]:
    return re.findall(r"\d*[sxHIQ]", layout)


def _value(kind: Any, code: str, numbers: Range | None) -> st.SearchStrategy[Any]:
    if kind is bytes:
        size = int(code[:-1])
        return st.binary(min_size=size, max_size=size)
    if kind is str:
        room = int(code[:-1]) - 1
        return st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])).filter(
            lambda text: len(text.encode()) <= room
        )
    if kind is int:
        widest = 2 ** WIDTHS[code] - 1
        least, most = (numbers.least, numbers.most) if numbers else (0, None)
        return st.integers(least, widest if most is None else min(most, widest))
    return st.sampled_from(kind)


CLIENT_FRAMES = st.one_of([values(cls) for cls in FROM_CLIENT])
DAEMON_FRAMES = st.one_of([values(cls) for cls in get_args(frames.FromDaemon)])


@given(st.lists(CLIENT_FRAMES, max_size=8), st.lists(st.integers(0, 400)))
def test_client_frames_in_pieces(sent: list[FromClient], cuts: list[int]) -> None:
    decoder = client_frames()
    assert [f for piece in pieces(sent, cuts) for f in decoder.feed(piece)] == sent
    assert decoder.waiting == 0


@given(st.lists(DAEMON_FRAMES, max_size=8), st.lists(st.integers(0, 400)))
def test_daemon_frames_in_pieces(sent: list[frames.FromDaemon], cuts: list[int]) -> None:
    decoder = daemon_frames()
    assert [f for piece in pieces(sent, cuts) for f in decoder.feed(piece)] == sent


def pieces(sent: "list[Any]", cuts: list[int]) -> list[bytes]:
    data = b"".join(frame.pack() for frame in sent)
    places = sorted({0, len(data), *(cut for cut in cuts if cut < len(data))})
    return [data[a:b] for a, b in pairwise(places)]


def test_byte_by_byte() -> None:
    sent: list[Frame] = [Want(1), Want(frames.MOST_TURN)]
    decoder = client_frames()
    data = b"".join(frame.pack() for frame in sent)
    assert [f for i in range(len(data)) for f in decoder.feed(data[i : i + 1])] == sent


def test_frames_of_unknown_type_are_skipped() -> None:
    unknown = HEADER.pack(MAGIC, VERSION, 999, 3, 0) + b"abc"
    assert list(client_frames().feed(unknown + Want(5).pack() + unknown)) == [Want(5)]


def test_a_frame_may_have_grown() -> None:
    grown = HEADER.pack(MAGIC, VERSION, Want.TYPE, 16, 0) + bytes(16)
    assert list(client_frames().feed(grown)) == [Want(0)]


def test_a_long_text_is_cut() -> None:
    reject = frames.Reject(frames.RejectCode.FULL, "é" * 100)
    (read,) = daemon_frames().feed(reject.pack())
    assert isinstance(read, frames.Reject)
    assert read.text == "é" * 63 + "\N{REPLACEMENT CHARACTER}"


def bad_enumerator() -> bytes:
    data = bytearray(HELLO.pack())
    data[HEADER.size + 16] = 77
    return bytes(data)


HELLO = Hello(
    device_uuid=bytes(16),
    allocation_kind=frames.AllocationKind.MANAGED,
    flags=frames.HelloFlags(0),
    allocated=0,
    pinned=0,
    swapped_out=0,
    memory_limit=0,
    compute_percent=0,
    limit_flags=frames.LimitFlags(0),
    turn=0,
    group=bytes(16),
    library_version="1",
    slot_key=0,
)


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        (b"GET / HTTP/1.1\r\n", "a frame does not begin with"),
        (HEADER.pack(MAGIC, VERSION, 2, MAX_PAYLOAD + 1, 0), "4096 is the most"),
        (HEADER.pack(MAGIC, VERSION, 2, 7, 0) + bytes(7), "only 7 bytes"),
        (bad_enumerator(), "77 is not a valid AllocationKind"),
    ],
)
def test_bad_bytes(data: bytes, complaint: str) -> None:
    given = client_frames().feed(Want(1).pack() + data)
    assert next(given) == Want(1)
    with pytest.raises(WireError, match=complaint):
        next(given)


def test_another_version() -> None:
    with pytest.raises(VersionError, match="version 9") as caught:
        list(client_frames().feed(HEADER.pack(MAGIC, 9, 1, 0, 0)))
    assert caught.value.version == 9


def test_damaged_frames_raise_nothing_else() -> None:
    chance = random.Random(2)
    good = HELLO.pack() + Want(1).pack()
    for _ in range(20_000):
        data = bytearray(good)
        for _ in range(chance.randint(1, 4)):
            data[chance.randrange(len(data))] = chance.randrange(256)
        decoder = client_frames()
        with suppress(WireError):
            list(decoder.feed(bytes(data[: chance.randint(0, len(data))])))


@given(st.binary(max_size=200))
def test_random_bytes_raise_nothing_else(data: bytes) -> None:
    with suppress(WireError):
        list(client_frames().feed(data))


def test_flags_that_nobody_knows_are_left_out_and_take_no_memory() -> None:
    known = len(frames.HelloFlags._value2member_map_)
    for bit in range(16, 32):
        flags = int(frames.HelloFlags.WANTS) | 1 << bit
        data = bytearray(HELLO.pack())
        data[HEADER.size + 20 : HEADER.size + 24] = flags.to_bytes(4, "little")
        (read,) = client_frames().feed(bytes(data))
        assert isinstance(read, frames.Hello)
        assert read.flags == frames.HelloFlags.WANTS
    assert len(frames.HelloFlags._value2member_map_) == known
