"""The driver's log, which is always empty."""

import ctypes
from pathlib import Path
from typing import Any


def nothing_is_ever_written(cu: Any) -> None:
    callback = ctypes.CFUNCTYPE(
        None, ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_size_t
    )
    heard: list[bytes] = []
    listener = callback(lambda _, __, text, ___: heard.append(text))
    handle = ctypes.c_void_p()
    assert cu.libcuda.cuLogsRegisterCallback(listener, None, ctypes.byref(handle)) == 0
    assert cu.error("cuMemAlloc", 0) == "INVALID_VALUE"
    size = ctypes.c_size_t(64)
    text = ctypes.create_string_buffer(b"untouched", 64)
    assert cu.libcuda.cuLogsDumpToMemory(None, text, ctypes.byref(size), 0) == 0
    assert (text.value, size.value, heard) == (b"", 0, [])
    assert cu.libcuda.cuLogsUnregisterCallback(handle) == 0


def a_file_of_it_is_empty(cu: Any) -> None:
    path = Path("/tmp") / f"nvshare-log-{id(cu)}"
    try:
        assert cu.libcuda.cuLogsDumpToFile(None, str(path).encode(), 0) == 0
        assert path.read_bytes() == b""
    finally:
        path.unlink(missing_ok=True)
    assert cu.libcuda.cuLogsDumpToFile(None, b"/no/such/folder/log", 0) == 1


def test_listening(emulated: Any) -> None:
    emulated(nothing_is_ever_written)


def test_dumping(emulated: Any) -> None:
    emulated(a_file_of_it_is_empty)
