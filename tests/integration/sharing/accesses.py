"""Which memory the instructions of a library use, from a trace of registers and a disassembler.

Only accesses that instructions name count: calls and returns use the thread's own stack.
"""

import re
import struct
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

# struct user_regs_struct of x86-64. The segment selectors, at the end, are not needed.
_NAMES = (
    *("r15", "r14", "r13", "r12", "rbp", "rbx", "r11", "r10", "r9", "r8", "rax", "rcx", "rdx"),
    *("rsi", "rdi", "orig_rax", "rip", "cs", "eflags", "rsp", "ss", "fs", "gs"),
)
_REGISTERS = struct.Struct(f"<{len(_NAMES)}Q32x")
_INSTRUCTION = re.compile(r" +([0-9a-f]+):\t(.+)")
_OPERAND = re.compile(
    r"(?:%([fg]s):)?(-?0x[0-9a-f]+)?\((?:%(\w+))?(?:,%(\w+)(?:,([1248]))?)?\)(?:.*# ([0-9a-f]+))?"
)
# These only compute an address, or ignore it.
_USES_NOTHING = re.compile(r"(cs |data16 )*(lea|nop)")
_WORD = 2**64


def _number(text: str | None) -> int:
    return int(text or "0", 16)


@dataclass(frozen=True)
class _Operand:
    segment: str | None
    base: str | None
    index: str | None
    scale: int
    offset: int
    fixed: int | None
    """In the library, beside the code."""

    def address(self, registers: Mapping[str, int], library: int) -> int:
        if self.fixed is not None:
            return library + self.fixed
        parts = [registers[name] for name in (self.segment, self.base) if name]
        scaled = registers[self.index] * self.scale if self.index else 0
        return (sum(parts) + scaled + self.offset) % _WORD


def _operands(text: str) -> Iterator[_Operand]:
    if _USES_NOTHING.match(text):
        return
    for segment, offset, base, index, scale, fixed in _OPERAND.findall(text):
        where = _number(fixed) if base == "rip" else None
        yield _Operand(segment, base, index, int(scale or 1), _number(offset), where)


def _disassemble(library: Path) -> dict[int, str]:
    command = ["objdump", "--disassemble", "--no-show-raw-insn", str(library)]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return {int(at, 16): text for at, text in _INSTRUCTION.findall(said)}


def shared_accesses(library: Path, trace: Path, maps: str) -> set[str]:
    """Return the instructions that have used memory shared with other processes.

    ``maps`` is /proc/PID/maps, which shows such memory and the library.
    """
    lines = maps.splitlines()
    base = min(_range(line).start for line in lines if library.name in line)
    is_shared = {_range(line): line.split()[1][3] == "s" for line in lines}
    assert any(is_shared.values())
    code = _disassemble(library)
    operands = {at: list(_operands(text)) for at, text in code.items()}
    found = set()
    for values in _REGISTERS.iter_unpack(trace.read_bytes()):
        registers = dict(zip(_NAMES, values, strict=True))
        at = registers["rip"] - base
        for operand in operands[at]:
            address = operand.address(registers, base)
            there = [shared for one, shared in is_shared.items() if address in one]
            assert there, f"no memory at {address:x}, which is used at {at:x}: {code[at]}"
            if any(there):
                found.add(f"{at:x}: {code[at]}")
    return found


def _range(line: str) -> range:
    begin, end = line.split()[0].split("-")
    return range(int(begin, 16), int(end, 16))
