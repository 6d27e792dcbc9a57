"""Fatbins: compression, and the choice of the best entry for a device."""

import errno
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Dump = Callable[..., Any]
Cubin = Callable[[str], bytes]
Fatbin = Callable[..., bytes]


@pytest.mark.parametrize(
    ("mode", "concat"),
    [
        ("none", False),
        ("speed", False),
        ("balance", False),
        ("size", False),
        ("speed", True),
        ("size", True),
    ],
)
def test_compression(dump: Dump, cubin: Cubin, fatbin: Fatbin, mode: str, concat: bool) -> None:
    image = fatbin("sm_75", "sm_80", "compute_75", mode=mode, concat=concat)
    for device in ("75", "80"):
        expected = dump(cubin(device), "--capability", device)
        assert dump(image, "--capability", device) == expected
    assert dump(image, "--unknown-size") == dump(image)
    assert dump(image, "--wrapper") == dump(image)
    # No machine code fits this device, so its own compiler takes the text.
    assert dump(image, "--capability", "90")["kernels"]["add"]["ptx_version"] == 75


@pytest.mark.parametrize(
    ("parts", "device", "chosen"),
    [
        (("sm_80", "sm_86"), "86", (75, 86)),
        (("sm_80", "sm_86"), "89", (75, 86)),
        (("sm_86", "compute_75"), "80", (75, 80)),
        (("compute_75", "compute_80", "sm_75"), "90", (80, 90)),
        (("compute_80", "compute_90"), "75", None),
        (("sm_80",), "75", None),
    ],
)
def test_choice(
    dump: Dump,
    fatbin: Fatbin,
    parts: tuple[str, ...],
    device: str,
    chosen: tuple[int, int] | None,
) -> None:
    image = dump(fatbin(*parts), "--capability", device)
    if chosen is None:
        assert image["error"] == errno.ENOEXEC
        assert parts[0] in image["why"]
    else:
        add = image["kernels"]["add"]
        assert (add["ptx_version"], add["binary_version"]) == chosen


def test_wrapper_is_no_file(dump: Dump) -> None:
    assert dump(struct.pack("<IIQQ", 0x466243B1, 1, 4096, 0))["error"] == errno.EBADMSG


@pytest.mark.parametrize("mode", ["speed", "size"])
def test_library_is_missing(
    dump: Dump, fatbin: Fatbin, build: Callable[..., Path], mode: str
) -> None:
    missing = [f'-DIMAGE_{name}_LIBRARY="libmissing.so.1"' for name in ("LZ4", "ZSTD")]
    without = build("image_dump_without_libraries", *missing)
    refusal = dump(fatbin("sm_75", mode=mode), executable=without)
    assert refusal["error"] == errno.ENOTSUP
    assert "libmissing.so.1 is not installed" in refusal["why"]
