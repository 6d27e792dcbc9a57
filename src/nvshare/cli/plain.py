"""Text for terminals and files that cannot show every character. Imports little, prints nothing."""

import codecs
import io
import sys

_ERRORS = "nvshare-plain"
# ASCII by another name: under its own name click takes it for a misconfiguration and uses UTF-8
# instead.
_ASCII = "nvshare_ascii"
# Any other character is written as a Python escape, "\xe9": nothing is lost, and nothing fails.
_PLAIN = {
    "…": "...",
    "÷": "/",
    "\N{MULTIPLICATION SIGN}": "x",
    "·": "-",
    "\N{EN DASH}": "-",
    "—": "-",
    "→": "->",
    "↔": "<->",
    "Σ": "sum",
    "µ": "u",
    "≤": "<=",
    "≥": ">=",
}


def prepare_streams() -> None:
    """Make standard output and error accept all text, whatever their encoding."""
    codecs.register_error(_ERRORS, plain)
    codecs.register(_find_ascii)
    for stream in (sys.stdout, sys.stderr):
        # None, if the descriptor is closed.
        if isinstance(stream, io.TextIOWrapper):
            is_ascii = codecs.lookup(stream.encoding).name == "ascii"
            stream.reconfigure(encoding=_ASCII if is_ascii else stream.encoding, errors=_ERRORS)


def _find_ascii(name: str) -> codecs.CodecInfo | None:
    if name != _ASCII:
        return None
    known = codecs.lookup("ascii")
    return codecs.CodecInfo(
        known.encode,
        known.decode,
        known.streamreader,
        known.streamwriter,
        known.incrementalencoder,
        known.incrementaldecoder,
        name,
    )


def plain(error: UnicodeError) -> tuple[str | bytes, int]:
    """Replace characters that an encoding does not have; an error handler for `codecs`."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    wanted = error.object[error.start : error.end]
    return "".join(map(_one, wanted)), error.end


def _one(character: str) -> str:
    # A byte of a file name that is not valid text in any encoding.
    if "\udc80" <= character <= "\udcff":
        return f"\\x{ord(character) - 0xDC00:02x}"
    return _PLAIN.get(character) or character.encode("ascii", "backslashreplace").decode()
