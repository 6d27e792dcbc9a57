"""Cubins, compared with the PTX they were made from."""

import errno
import struct
from collections.abc import Callable
from typing import Any

import pytest

Dump = Callable[..., Any]
Cubin = Callable[[str], bytes]


@pytest.mark.parametrize("architecture", ["75", "80", "90", "120"])
def test_agrees_with_its_source(
    dump: Dump, cubin: Cubin, module: str, module_variables: dict[str, Any], architecture: str
) -> None:
    image = dump(cubin(architecture), "--capability", architecture)
    source = dump(module, "--capability", architecture)
    assert image["variables"] == module_variables
    assert image["kernels"].keys() == source["kernels"].keys()
    for name, kernel in image["kernels"].items():
        assert kernel.pop("registers") > 0
        # Machine code does not keep pragmas.
        expected = {**source["kernels"][name], "cost_ns": 0}
        assert kernel == {key: expected[key] for key in kernel}


def test_size_may_be_unknown(dump: Dump, cubin: Cubin) -> None:
    assert dump(cubin("75"), "--unknown-size") == dump(cubin("75"))


@pytest.mark.parametrize(
    ("architecture", "device", "accepted"),
    [
        ("80", 86, True),
        ("80", 75, False),
        ("80", 90, False),
        ("86", 80, False),
        ("100a", 100, True),
        ("100a", 103, False),
        ("100", 103, True),
    ],
)
def test_device(dump: Dump, cubin: Cubin, architecture: str, device: int, accepted: bool) -> None:
    image = dump(cubin(architecture), "--capability", str(device))
    assert image.get("error") == (None if accepted else errno.ENOEXEC)


def test_damage_is_told_from_a_wrong_device(dump: Dump, cubin: Cubin) -> None:
    assert dump(cubin("75")[:500])["error"] == errno.EBADMSG


@pytest.mark.parametrize(("specific", "device", "accepted"), [(0, 86, True), (0x800, 86, False)])
def test_layout_before_cuda_13(
    dump: Dump, cubin: Cubin, specific: int, device: int, accepted: bool
) -> None:
    """Up to CUDA 12 the header was different: ABI 0x33, and the architectures in the flags."""
    newer = cubin("80")
    older = bytearray(newer)
    older[7:9] = b"\x33\x07"
    struct.pack_into("<I", older, 48, 75 << 16 | 0x500 | specific | 80)
    image = dump(bytes(older), "--capability", str(device))
    if accepted:
        assert image == dump(newer, "--capability", str(device))
    else:
        assert image["error"] == errno.ENOEXEC


def test_unknown_layout(dump: Dump, cubin: Cubin) -> None:
    image = bytearray(cubin("75"))
    image[7] = 0x99
    assert dump(bytes(image))["error"] == errno.ENOTSUP


def section_header(image: bytes | bytearray, name: bytes) -> int:
    """The offset of a section's header."""
    (table,) = struct.unpack_from("<Q", image, 40)
    count, names = struct.unpack_from("<HH", image, 60)
    (strings,) = struct.unpack_from("<Q", image, table + 64 * names + 24)
    for header in range(table, table + 64 * count, 64):
        (offset,) = struct.unpack_from("<I", image, header)
        if image[strings + offset :].startswith(name + b"\0"):
            return header
    raise KeyError(name)


def test_symbols_that_share_one_large_piece(dump: Dump, cubin: Cubin) -> None:
    """A small file must not make the reader copy a large one many times over."""
    image = bytearray(cubin("75"))
    initial, symbols = section_header(image, b".nv.global.init"), section_header(image, b".symtab")
    index = (initial - struct.unpack_from("<Q", image, 40)[0]) // 64
    symbol = struct.pack("<IBBHQQ", 1, 0x11, 0, index, 0, len(image))
    struct.pack_into("<QQ", image, initial + 24, 0, len(image))
    struct.pack_into("<QQ", image, symbols + 24, len(image), 100 * len(symbol))
    refusal = dump(bytes(image) + 100 * symbol)
    assert refusal["error"] == errno.EBADMSG
    assert "overlap" in refusal["why"]
