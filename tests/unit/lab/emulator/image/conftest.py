"""Fixtures for code images: the program that prints them, and the vendor's compilers.

Cubins and fatbins are made on the fly by nvidia-cuda-nvcc, which needs no GPU. Everything runs
under the address and undefined-behaviour sanitizers.
"""

import importlib.util
import json
import os
import struct
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[5]
SOURCES = sorted((ROOT / "lab/emulator/image").glob("*.c"))
ENVIRONMENT = {**os.environ, "ASAN_OPTIONS": "allocator_may_return_null=1:detect_leaks=1"}

MODULE = """
.version 8.8
.target sm_75
.address_size 64
.global .align 4 .b8 table[16] = {1, 2, 3, 4};
.visible .global .align 8 .u64 counter;
.const .f32 scale = 0f3F800000;
.visible .const .align 4 .u32 lut[2][2] = {{1, 2}, {3, 0x10}};
.func (.param .b32 result) helper(.param .b64 a) { .reg .b32 %r<2>; ret; }
.visible .entry add(
    .param .u64 .ptr .global .align 16 add_a, // a comment with .entry in it
    .param .u32 add_n,
    .param .align 8 .b8 add_s[24], /* and
                                      another */
    .param .f64 add_d,
    .param .u8 add_c
)
.maxntid 256, 2, 1
{
    .reg .u64 %rd<9>;
    .reg .u32 %r<9>;
    .reg .f32 %f<9>;
    .shared .align 4 .b8 tile[1024];
    .pragma "nvshare cost_us 500";
    ld.param.u64 %rd1, [add_a];
    cvta.to.global.u64 %rd1, %rd1;
    ld.param.u32 %r1, [add_n];
    ld.const.f32 %f1, [scale];
    ld.const.u32 %r4, [lut+4];
    add.u32 %r1, %r1, %r4;
    st.global.f32 [%rd1+16], %f1;
    mov.u32 %r2, tile;
    st.shared.u32 [%r2], %r1;
    bar.sync 0;
    ld.shared.u32 %r1, [tile+8];
    st.global.u32 [%rd1], %r1;
    st.global.u64 [counter], %rd1;
    st.global.u32 [table+4], %r1;
    ret;
}
.visible .entry fixed() .reqntid 32, 2 { ret; }
.weak .entry large(.param .align 16 .b8 p[8192], .param .u32 q)
{
    .reg .u32 %r<3>;
    .reg .u64 %rd<3>;
    .local .align 4 .b8 depot[64];
    ld.param.u32 %r1, [q];
    ld.param.u64 %rd1, [p+8184];
    cvta.to.global.u64 %rd1, %rd1;
    st.global.u32 [%rd1], %r1;
    ret;
}
"""


@pytest.fixture(scope="session")
def module() -> str:
    """The PTX from which all other images are made."""
    return MODULE


@pytest.fixture(scope="session")
def module_variables() -> dict[str, Any]:
    """Its variables, as a dump shows them: size and initial bytes."""
    return {
        "table": (16, "01020304" + "00" * 12),
        "counter": (8, None),
        "scale": (4, "0000803f"),
        "lut": (16, "01000000020000000300000010000000"),
    }


@pytest.fixture(scope="session")
def build(once: Callable[..., Path]) -> Callable[..., Path]:
    """Compile lab/tests/image_dump.c with the reader, under a name."""

    def compile_with(name: str, *flags: str) -> Path:
        command = ["cc", "-std=c11", "-g", "-O1", "-Wall", "-Wextra", "-Werror"]
        command += ["-fsanitize=address,undefined", "-fno-sanitize-recover=all", *flags]
        command += [f"-I{SOURCES[0].parent}", *map(str, SOURCES)]
        command += [str(ROOT / "lab/tests/image_dump.c"), "-ldl"]

        def make(program: Path) -> None:
            subprocess.run([*command, "-o", str(program)], check=True, timeout=120)

        return once(name, make)

    return compile_with


@pytest.fixture(scope="session")
def program(build: Callable[..., Path]) -> Path:
    return build("image_dump")


@pytest.fixture
def dump(program: Path, tmp_path: Path) -> Callable[..., Any]:
    """Load one image; a crash or a leak fails the test."""

    def run(image: bytes | str, *options: str, executable: Path = program) -> Any:
        path = tmp_path / "image"
        path.write_bytes(image.encode() if isinstance(image, str) else image)
        command = [str(executable), *options, str(path)]
        done = subprocess.run(command, capture_output=True, env=ENVIRONMENT, timeout=60)
        assert done.returncode == 0, done.stderr.decode()
        shown = json.loads(done.stdout)
        # By name, as programs look for them.
        for part in ("kernels", "globals"):
            shown[part] = {item["name"]: item for item in shown.get(part, ())}
        shown["variables"] = {
            name: (item["bytes"], item["initial"]) for name, item in shown["globals"].items()
        }
        return shown

    return run


def stream(program: Path, *options: str) -> Iterator[Callable[[bytes], Any]]:
    """One process that loads many images, for fuzzing. Leaks show when it ends."""
    process = subprocess.Popen(
        [str(program), "--stream", *options],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=ENVIRONMENT,
    )
    to, back, complaints = process.stdin, process.stdout, process.stderr
    assert to is not None
    assert back is not None
    assert complaints is not None

    def load(image: bytes) -> Any:
        try:
            to.write(struct.pack("<I", len(image)) + image)
            to.flush()
        except BrokenPipeError:
            pytest.fail(complaints.read().decode())
        line = back.readline()
        assert line, complaints.read().decode()
        return json.loads(line)

    yield load
    _, rest = process.communicate(timeout=60)
    assert process.returncode == 0, rest.decode()


@pytest.fixture(scope="class")
def load(program: Path) -> Iterator[Callable[[bytes], Any]]:
    """Load many images, one after the other."""
    yield from stream(program)


@pytest.fixture(scope="class")
def load_unsized(program: Path) -> Iterator[Callable[[bytes], Any]]:
    """As load, but the reader is not told the size."""
    yield from stream(program, "--unknown-size")


@pytest.fixture(scope="session")
def tool() -> Callable[..., None]:
    """Run a compiler of the vendor."""
    spec = importlib.util.find_spec("nvidia.cu13") if importlib.util.find_spec("nvidia") else None
    places = (
        [Path(place) / "bin" for place in spec.submodule_search_locations or ()] if spec else []
    )
    folder = next((place for place in places if (place / "ptxas").exists()), None)
    if folder is None:
        pytest.fail("needs ptxas and fatbinary: pip install nvidia-cuda-nvcc")

    def run(name: str, *arguments: str) -> None:
        subprocess.run(
            [str(folder / name), *arguments], check=True, timeout=60, capture_output=True
        )

    return run


@pytest.fixture(scope="session")
def images(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("images")


@pytest.fixture(scope="session")
def ptx_file(images: Path) -> Callable[[str], Path]:
    """The module as a file, for a target such as "75"."""

    def write(target: str) -> Path:
        path = images / f"{target}.ptx"
        path.write_text(MODULE.replace("sm_75", f"sm_{target}"))
        return path

    return write


@pytest.fixture(scope="session")
def cubin_file(
    images: Path, tool: Callable[..., None], ptx_file: Callable[[str], Path]
) -> Callable[[str], Path]:
    """The module as machine code, for an architecture such as "75"."""

    def make(architecture: str) -> Path:
        path = images / f"{architecture}.cubin"
        if not path.exists():
            source = ptx_file(architecture if architecture.endswith("a") else "75")
            tool("ptxas", "-arch", f"sm_{architecture}", str(source), "-o", str(path))
        return path

    return make


@pytest.fixture(scope="session")
def cubin(cubin_file: Callable[[str], Path]) -> Callable[[str], bytes]:
    return lambda architecture: cubin_file(architecture).read_bytes()


@pytest.fixture(scope="session")
def fatbin(
    images: Path,
    tool: Callable[..., None],
    ptx_file: Callable[[str], Path],
    cubin_file: Callable[[str], Path],
) -> Callable[..., bytes]:
    """Parts such as "sm_75" and "compute_80" in one fatbin."""

    def make(*parts: str, mode: str = "none", concat: bool = False) -> bytes:
        path = images / "made.fatbin"
        options = ["--compress-all", f"--compress-mode={mode}", *(["--concat"] if concat else [])]
        for part in parts:
            kind, architecture = part.split("_")
            file = cubin_file(architecture) if kind == "sm" else ptx_file(architecture)
            kind = "elf" if kind == "sm" else "ptx"
            options.append(f"--image3=kind={kind},sm={architecture},file={file}")
        tool("fatbinary", "-64", f"--create={path}", *options)
        return path.read_bytes()

    return make
