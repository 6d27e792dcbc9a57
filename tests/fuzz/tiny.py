"""The smallest cubin and fatbins with one example of everything that their readers look at.

Those of the vendor's compilers are twenty times as large, and take a second to make.
"""

import struct

_SYMTAB, _STRTAB, _PROGBITS, _NOBITS = 2, 3, 1, 8
_FUNCTION, _OBJECT, _ENTRY = 2, 1, 0x10
_CUBIN, _PTX = 2, 1
_LZ4 = 0x2000


def cubin(architecture: int = 75) -> bytes:
    """A kernel with one parameter, a variable with initial bytes and one without."""
    names = b"\0k\0v\0z\0"
    symbols = (
        bytes(24)
        + struct.pack("<IBBHQQ", 1, _FUNCTION, _ENTRY, 4, 0, 16)
        + struct.pack("<IBBHQQ", 3, _OBJECT, 0, 6, 0, 4)
        + struct.pack("<IBBHQQ", 5, _OBJECT, 0, 7, 0, 8)
    )
    # A parameter of 8 bytes; the total; 32 threads at most.
    info = (
        struct.pack("<BBHIHHI", 4, 0x17, 12, 0, 0, 0, 8 << 18)
        + struct.pack("<BBH", 3, 0x19, 8)
        + struct.pack("<BBHIII", 4, 0x05, 12, 32, 1, 1)
    )
    # Registers of symbol 1.
    module = struct.pack("<BBHII", 4, 0x2F, 8, 1, 10)
    return _elf(
        architecture,
        [
            (".shstrtab", _STRTAB, b"", 0, 0),
            (".strtab", _STRTAB, names, 0, 0),
            (".symtab", _SYMTAB, symbols, 2, 0),
            (".text.k", _PROGBITS, bytes(16), 0, 0),
            (".nv.info.k", _PROGBITS, info, 0, 4),
            (".nv.global.init", _PROGBITS, b"\1\2\3\4", 0, 0),
            (".nv.global", _NOBITS, bytes(8), 0, 0),
            (".nv.shared.k", _NOBITS, bytes(64), 0, 4),
            (".nv.info", _PROGBITS, module, 3, 0),
        ],
    )


def _elf(architecture: int, sections: "list[tuple[str, int, bytes, int, int]]") -> bytes:
    names = b"\0" + b"".join(name.encode() + b"\0" for name, *_ in sections)
    body, table, place = b"", bytes(64), 1
    for name, kind, content, link, info in sections:
        content = names if name == ".shstrtab" else content
        where = (64 + len(body), len(content))
        table += struct.pack("<IIQQQQIIQQ", place, kind, 0, 0, *where, link, info, 1, 0)
        body += b"" if kind == _NOBITS else content
        place += len(name) + 1
    ident = b"\x7fELF\2\1\1\x33" + bytes(8)
    flags = architecture | architecture << 16
    head = struct.pack("<HHIQQQ", 2, 190, 1, 0, 0, 64 + len(body))
    head += struct.pack("<IHHHHHH", flags, 64, 0, 0, 64, len(sections) + 1, 1)
    return ident + head + body + table


def fatbin(*, compressed: bool = False) -> bytes:
    """PTX and a cubin; compressed, with a size that is a lie."""
    ptx = b".version 8.0\n.target sm_75\n.entry p() { ret; }\n\0"
    flags = _LZ4 if compressed else 0
    body = _entry(_PTX, 75, ptx, flags) + _entry(_CUBIN, 75, cubin(), flags)
    return struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(body)) + body


def _entry(kind: int, architecture: int, content: bytes, flags: int) -> bytes:
    packed, unpacked = (len(content), 4 * len(content)) if flags else (0, 0)
    head = struct.pack("<HHIQII", kind, 0x101, 64, len(content), packed, 0)
    head += struct.pack("<IIIIQQQ", 0, architecture, 0, 0, flags, 0, unpacked)
    return head + content
