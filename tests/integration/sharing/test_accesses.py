"""The results of `shared_accesses` for known instructions and registers."""

import struct
import subprocess
from pathlib import Path

import pytest

from .accesses import shared_accesses

BASE, HEAP, SHARED = 0x7F0000000000, 0x10000, 0x20000
ORDER = (
    *("r15", "r14", "r13", "r12", "rbp", "rbx", "r11", "r10", "r9", "r8", "rax", "rcx", "rdx"),
    *("rsi", "rdi", "orig_rax", "rip", "cs", "eflags", "rsp", "ss", "fs_base", "gs_base"),
    *("ds", "es", "fs", "gs"),
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("code")


def accesses(folder: Path, instruction: str, **registers: int) -> set[str]:
    """One instruction of a library, with the registers it uses; the others are 0."""
    source, library = folder / "code.s", folder / "libcode.so"
    source.write_text(f".globl at\nat: {instruction}\n.data\nvalue: .quad 0\n")
    compiler = ["cc", "-shared", "-nostdlib", str(source), "-o", str(library)]
    subprocess.run(compiler, check=True)
    list_symbols = ["nm", str(library)]
    symbols = subprocess.run(list_symbols, check=True, capture_output=True, text=True)
    (at,) = (line.split()[0] for line in symbols.stdout.splitlines() if line.endswith(" at"))
    known = {**registers, "rip": BASE + int(at, 16)}
    values = [known.get(name, 0) for name in ORDER]
    trace = folder / "trace"
    trace.write_bytes(struct.pack(f"<{len(ORDER)}Q", *values))
    maps = (
        f"{HEAP:x}-{HEAP + 0x1000:x} rw-p 00000000 00:00 0 [heap]\n"
        f"{SHARED:x}-{SHARED + 0x1000:x} rw-s 00000000 00:01 1 /memfd:page (deleted)\n"
        f"{BASE:x}-{BASE + 0x10000:x} r-xp 00000000 fe:00 1 {library}\n"
    )
    return {text.split(": ")[1].split()[0] for text in shared_accesses(library, trace, maps)}


@pytest.mark.parametrize(
    ("instruction", "registers"),
    [
        ("movq %rax, (%rbx)", {"rbx": SHARED}),
        ("movq %rax, -8(%rbx,%rcx,4)", {"rbx": SHARED, "rcx": 2}),
        ("movq %rax, (,%rcx,8)", {"rcx": SHARED // 8}),
        ("addq $1, 0xff8(%r12)", {"r12": SHARED}),
        ("movq %fs:8(%rdx), %rax", {"fs_base": SHARED}),
        ("rep stosq", {"rdi": SHARED}),
        ("movsq", {"rdi": HEAP, "rsi": SHARED}),
        ("lock cmpxchgl %eax, 4(%rsp)", {"rsp": SHARED}),
        ("jmp *(%rax)", {"rax": SHARED}),
    ],
)
def test_memory_of_others(folder: Path, instruction: str, registers: dict[str, int]) -> None:
    assert len(accesses(folder, instruction, **registers)) == 1


@pytest.mark.parametrize(
    ("instruction", "registers"),
    [
        ("movq %rax, (%rbx)", {"rbx": HEAP, "rax": SHARED}),
        ("movq %rax, %rbx", {"rax": SHARED, "rbx": SHARED}),
        ("movq value(%rip), %rax", {"rax": SHARED}),
        ("leaq 8(%rbx), %rax", {"rbx": SHARED}),
        ("nopw 0(%rax,%rax,1)", {"rax": SHARED // 2}),
        ("nopw %cs:0(%rax)", {"rax": SHARED}),
    ],
)
def test_memory_of_its_own(folder: Path, instruction: str, registers: dict[str, int]) -> None:
    assert accesses(folder, instruction, **registers) == set()


def test_an_address_that_nothing_is_at(folder: Path) -> None:
    with pytest.raises(AssertionError, match="no memory at 8, which is used at"):
        accesses(folder, "movq %rax, 8(%rbx)")
