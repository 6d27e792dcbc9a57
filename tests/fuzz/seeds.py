"""Inputs that can be made or found elsewhere in the repository, as beginnings for the fuzzers."""

import importlib.util
import struct
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, get_args

from nvshare.daemon.groups.quota_page import CHECK, HEADER_SIZE, MAGIC
from nvshare.lab.emulator.conf import Settings, write_conf
from nvshare.lab.emulator.profile import load_known
from nvshare.wire import frames
from tests.fuzz import tiny
from tests.fuzz.inputs import kept

ROOT = Path(__file__).parents[2]
# Longer ones make a fuzzer slow, and show nothing that shorter ones do not.
LONGEST = 20_000


def made(target: str) -> dict[str, bytes]:
    """Return the inputs that can be made for a target, by name."""
    return _MAKERS.get(target, lambda: _damaged(target))()


def frame_of(cls: "type[Any]") -> bytes:
    """Return a frame of a class, with ones in it where that is allowed."""
    payload = bytes(cls.LAYOUT.size)
    for filled in (b"\1" + bytes(7), b"\1\0\0\0", b"\1\0", b"\0"):
        tried = (filled * cls.LAYOUT.size)[: cls.LAYOUT.size]
        try:
            cls.unpack(tried)
        except ValueError:
            continue
        payload = tried
        break
    head = frames.HEADER.pack(frames.MAGIC, frames.VERSION, cls.TYPE, len(payload), 0)
    return head + payload


def compiled(target: str) -> dict[str, bytes]:
    """Return the output of the vendor's compilers for the kept PTX; that takes seconds."""
    return {"cubin": _cubins, "fatbin": _fatbins}.get(target, dict)()


def damage(whole: bytes) -> dict[str, bytes]:
    """Return an input truncated at every place, and with every four bytes at their maximum."""
    places = range(0, len(whole), 4)
    cut = {f"cut-{place}": whole[: place + 1] for place in places}
    large = {f"large-{place}": whole[:place] + b"\xff" * 4 + whole[place + 4 :] for place in places}
    return {"whole": whole, **cut, **large}


def _damaged(target: str) -> dict[str, bytes]:
    """The kept inputs, damaged: for readers of text, for which no tool makes input."""
    return {
        f"{name}-{what}": changed
        for name, whole in kept(target).items()
        for what, changed in damage(whole).items()
    }


def _frames(classes: Any) -> dict[str, bytes]:
    return {cls.__name__: frame_of(cls) for cls in get_args(classes)}


def _native_frames() -> dict[str, bytes]:
    """The first byte is the size of the pieces in which they arrive (native/fuzz/frames.c)."""
    each = _frames(frames.FromDaemon)
    whole = {name: b"\xff" + frame for name, frame in each.items()}
    damaged = damage(b"\1" + each["Welcome"] + each["Grant"])
    return {**whole, **damaged, "all": b"\1" + b"".join(each.values())}


def _steps() -> dict[str, bytes]:
    """One event each; native/fuzz/machine.c has their layout."""
    one = {
        f"event-{event}": struct.pack("<BBBBQQQ", event, 0xDD, 1, 3, 1, 2, 4096)
        for event in range(40)
    }
    return {**one, "all": b"".join(one.values()) * 2}


def _pages() -> dict[str, bytes]:
    """A page with a limit and two members, behind the numbers of native/fuzz/page.c."""
    own = struct.pack("<IIQQQQQ", 1, 250_000, 7, 4096, 8192, 10**12, 10**8)
    return damage(own + _page(0))


def _page(magic: int) -> bytes:
    limit = 1 << 20
    head = struct.pack("<QQQIIQQ16xQ", magic, limit, limit ^ CHECK, 2, 0, 1, 64, 10**12)
    slots = struct.pack("<QQQQ", 5, 4096, 0, 0) + struct.pack("<QQQQ", 7, 4096, 0, 64)
    return head.ljust(HEADER_SIZE, b"\0") + slots


def _nodes() -> dict[str, bytes]:
    text = write_conf("seed", Settings(), [load_known("t4"), load_known("a100-40g")])
    return {"two-gpus": text.encode()}


def _tool(name: str) -> str:
    """A compiler of the vendor's, from nvidia-cuda-nvcc."""
    spec = importlib.util.find_spec("nvidia.cu13")
    folders = spec.submodule_search_locations if spec else None
    return str(Path((folders or ["."])[0]) / "bin" / name)


def _compiled(folder: Path) -> dict[str, Path]:
    """Cubins of the PTX that is kept, for two architectures."""
    source = folder / "seed.ptx"
    source.write_bytes(kept("ptx")["kernels.ptx"])
    found = {}
    for architecture in ("75", "90"):
        cubin = found[architecture] = folder / f"{architecture}.cubin"
        command = [_tool("ptxas"), "-arch", f"sm_{architecture}", str(source), "-o", str(cubin)]
        subprocess.run(command, check=True, timeout=120, stderr=subprocess.DEVNULL)
    return found


def _cubins() -> dict[str, bytes]:
    with tempfile.TemporaryDirectory() as folder:
        return {path.name: path.read_bytes() for path in _compiled(Path(folder)).values()}


def _fatbins() -> dict[str, bytes]:
    with tempfile.TemporaryDirectory() as name:
        folder, found = Path(name), {}
        cubins = _compiled(folder)
        parts = [f"--image3=kind=elf,sm={sm},file={path}" for sm, path in cubins.items()]
        parts.append(f"--image3=kind=ptx,sm=75,file={folder / 'seed.ptx'}")
        for mode in (["none"], ["size"], ["speed"], ["size", "--concat"]):
            out = folder / f"{'-'.join(mode)}.fatbin"
            options = ["-64", f"--create={out}", "--compress-all", f"--compress-mode={mode[0]}"]
            command = [_tool("fatbinary"), *options, *mode[1:], *parts]
            subprocess.run(command, check=True, timeout=120)
            found[out.name] = out.read_bytes()
        return found


def _files(pattern: str) -> dict[str, bytes]:
    found = {path.name: path.read_bytes() for path in sorted(ROOT.glob(pattern))}
    return {name: content for name, content in found.items() if len(content) <= LONGEST}


def _deep() -> dict[str, bytes]:
    """Nested more deeply than Python's readers follow: it used to raise another exception."""
    return {"arrays": b"[" * 5000, "objects": b'{"a":' * 5000}


_MAKERS: Mapping[str, Callable[[], dict[str, bytes]]] = {
    "frames": _native_frames,
    "machine": _steps,
    "page": _pages,
    "group-page": lambda: damage(_page(MAGIC)),
    "node": _nodes,
    "cubin": lambda: {**damage(tiny.cubin()), "90": tiny.cubin(90)},
    "fatbin": lambda: {**damage(tiny.fatbin()), "lz4": tiny.fatbin(compressed=True)},
    "daemon-frames": lambda: _frames(frames.FromDaemon),
    "client-frames": lambda: _frames(frames.FromClient),
    "config": lambda: {"nested": b"a = " + b"[" * 5000},
    "scenario": lambda: {
        "nested": b"a = " + b"[" * 5000,
        **_files("src/nvshare/lab/sim/**/*.toml"),
    },
    "body": _deep,
    "remembered": _deep,
    "journal": lambda: {**_deep(), **_files("tests/replay/*.jsonl")},
}
