"""Damaged images are refused or read, but never cause a crash, a leak, or a read beyond the end."""

import struct
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

Load = Callable[[bytes], Any]

FUZZ = settings(
    max_examples=300,
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
EDITS = st.lists(
    st.tuples(
        st.floats(0, 1, exclude_max=True),
        st.one_of(
            st.binary(min_size=1, max_size=8),
            st.sampled_from([b"\xff" * 4, b"\xff" * 8, b"\0" * 8, b"\xff" * 3 + b"\x7f"]),
        ),
    ),
    min_size=1,
    max_size=6,
)
# A place, how many words are removed, and which words of the text come instead.
CUTS = st.lists(
    st.tuples(st.floats(0, 1), st.integers(0, 40), st.lists(st.integers(0, 9999))),
    min_size=1,
    max_size=4,
)
MARKS = [b"{", b"}", b"(", b"[", b"]", b'"', b"/*", b"\0", b"-1", b"0x", b"="]


@pytest.fixture(scope="session")
def samples(
    module: str, cubin: Callable[[str], bytes], fatbin: Callable[..., bytes]
) -> dict[str, bytes]:
    parts = ("sm_75", "sm_80", "compute_75")
    return {
        "ptx": module.encode(),
        "cubin": cubin("75"),
        # For another device: only the code that finds that out runs.
        "cubin-other": cubin("100"),
        "fatbin": fatbin(*parts),
        "fatbin-lz4": fatbin(*parts, mode="speed"),
        "fatbin-zstd": fatbin(*parts, mode="size"),
        "fatbin-concat": fatbin(*parts, mode="size", concat=True),
    }


def check(image: Any) -> None:
    """Check the rules for every accepted image."""
    for kernel in image.get("kernels", ()):
        assert kernel["parameter_bytes"] <= 32764
        for offset, size in kernel["parameters"]:
            assert size > 0
            assert offset + size <= kernel["parameter_bytes"]


@pytest.mark.parametrize(
    "kind", ["ptx", "cubin", "cubin-other", "fatbin", "fatbin-lz4", "fatbin-zstd", "fatbin-concat"]
)
class TestEveryKind:
    def test_cut_anywhere(self, samples: dict[str, bytes], load: Load, kind: str) -> None:
        image = samples[kind]
        for size in range(len(image)):
            check(load(image[:size]))

    @pytest.mark.parametrize("value", [0, 0x7FFFFFFF, 0xFFFFFFFF])
    def test_any_number_replaced(
        self, samples: dict[str, bytes], load: Load, kind: str, value: int
    ) -> None:
        image = samples[kind]
        step = 4 * (1 + len(image) // 8192)
        for offset in range(0, len(image) - 4, step):
            check(load(image[:offset] + struct.pack("<I", value) + image[offset + 4 :]))

    @FUZZ
    @given(edits=EDITS)
    def test_bytes_replaced(
        self, samples: dict[str, bytes], load: Load, kind: str, edits: list[tuple[float, bytes]]
    ) -> None:
        image = bytearray(samples[kind])
        for place, new in edits:
            offset = int(place * len(image))
            image[offset : offset + len(new)] = new
        check(load(bytes(image)))


class TestShuffledWords:
    """PTX with misplaced words, with a size and without."""

    @FUZZ
    @given(cuts=CUTS)
    def test_size_makes_no_difference(
        self,
        module: str,
        load: Load,
        load_unsized: Load,
        cuts: list[tuple[float, int, list[int]]],
    ) -> None:
        words = module.encode().split(b" ")
        choice = [*words, *MARKS]
        for place, count, new in cuts:
            start = int(place * len(words))
            words[start : start + count] = [choice[i % len(choice)] for i in new]
        text = b" ".join(words) + b"\0"
        image = load(text)
        check(image)
        assert image == load_unsized(text)
