"""Bytes that are nearly right: seeds with some changes, as a strategy of Hypothesis.

Random bytes hardly ever get past a reader's first check.
"""

from collections.abc import Callable, Sequence

from hypothesis import strategies as st

Edit = Callable[[bytes], bytes]

# Difficult input: ends of ranges, other spellings of numbers, depth, odd characters.
_WORDS = [
    *(b"0", b"-1", b"1.5", b"1e308", b"1e999", b"1e-400", b"nan", b"inf", b"1_0", b"0x1"),
    *(b"4294967296", b"9223372036854775808", b"18446744073709551615", b"9" * 30, b"9" * 5000),
    *(b"null", b"true", b'"', b"'", b"\\", b"=", b",", b"\n", b"\0", b"\\ud800", b"\\u0000"),
    *(b"\xff\xfe", b"\xed\xa0\x80", "\u202e\u0660".encode()),
    *(b"[" * 5000, b'{"a":' * 2000, b"a." * 3000),
    *(bytes(8), b"\xff" * 8, b"\0\0\0\x80", bytes(7) + b"\x80"),
]
_PLACES = st.integers(0, 1 << 16)
_LENGTHS = st.integers(1, 64)


def _insert(place: int, piece: bytes) -> Edit:
    return lambda data: data[: (at := place % (len(data) + 1))] + piece + data[at:]


def _overwrite(place: int, piece: bytes) -> Edit:
    def edit(data: bytes) -> bytes:
        at = place % (len(data) + 1)
        return data[:at] + piece + data[at + len(piece) :]

    return edit


def _replace(place: int, length: int, piece: bytes) -> Edit:
    def edit(data: bytes) -> bytes:
        at = place % (len(data) + 1)
        return data[:at] + piece + data[at + length :]

    return edit


def _repeat(place: int, length: int, times: int) -> Edit:
    def edit(data: bytes) -> bytes:
        at = place % (len(data) + 1)
        return data[:at] + data[at : at + length] * times + data[at + length :]

    return edit


def mutated(seeds: Sequence[bytes]) -> "st.SearchStrategy[bytes]":
    """Seeds with up to eight changes; now and then any bytes."""
    pieces = st.one_of(st.sampled_from(_WORDS), st.binary(min_size=1, max_size=8))
    edits = st.one_of(
        st.builds(_insert, _PLACES, pieces),
        st.builds(_overwrite, _PLACES, pieces),
        st.builds(_replace, _PLACES, _LENGTHS, st.one_of(st.just(b""), pieces)),
        st.builds(_repeat, _PLACES, _LENGTHS, st.integers(2, 200)),
        st.builds(_insert, _PLACES, st.sampled_from(list(seeds))),
    )
    return st.builds(_apply, st.sampled_from(list(seeds)), st.lists(edits, max_size=8))


def _apply(seed: bytes, edits: list[Edit]) -> bytes:
    for edit in edits:
        seed = edit(seed)
    return seed
