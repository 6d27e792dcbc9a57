"""Turns bytes of a terminal into keys: characters, and names for all other keys."""

from collections.abc import Iterator

_SEQUENCES = {
    "\x1b[A": "up",
    "\x1b[B": "down",
    "\x1bOA": "up",
    "\x1bOB": "down",
    "\r": "enter",
    "\n": "enter",
    "\x7f": "backspace",
    "\x08": "backspace",
    "\x03": "quit",
    "\x1b": "escape",
}
_LONGEST = max(map(len, _SEQUENCES))


def keys(data: bytes) -> Iterator[str]:
    """Return the keys that were pressed. Unknown escape sequences are skipped."""
    text = data.decode(errors="ignore")
    while text:
        found = next((text[:n] for n in range(_LONGEST, 0, -1) if text[:n] in _SEQUENCES), "")
        if found == "\x1b" and len(text) > 1 and text[1] in "[O":
            text = _after_sequence(text)
        elif found:
            yield _SEQUENCES[found]
            text = text[len(found) :]
        else:
            if text[0].isprintable():
                yield text[0]
            text = text[1:]


def _after_sequence(text: str) -> str:
    """Return the text after an unknown sequence, which ends with a letter or ~."""
    for place in range(2, len(text)):
        if text[place].isalpha() or text[place] == "~":
            return text[place + 1 :]
    return ""
