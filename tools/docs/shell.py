"""From the text of a code block to the commands in it, each as a list of words.

Not a shell: it knows only the syntax that the documentation uses, and the signs of a synopsis
(`[--json]`, `A|B`, `…`), which no shell would understand.
"""

import re
import shlex
from collections.abc import Iterator

_OPERATORS = {";", "|", "&", "&&", "||", ">", ">>", "<", "2>", "2>&1", "&>", "(", ")", "{", "}"}
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
# Words before a command that change nothing about which command it is.
_PREFIXES = {"sudo", "exec", "time", "then", "do", "nice"}


_DRAWING = re.compile(r"[─-╿▀-◿]")


def lines_of_commands(block: str) -> list[str]:
    """Return the lines that are typed: those after `$ ` if there are any, otherwise all.

    A block with lines and arrows in it is a drawing.
    """
    if _DRAWING.search(block):
        return []
    joined = re.sub(r"\\\n\s*", " ", block)
    lines = [line.strip() for line in joined.splitlines() if line.strip()]
    typed = [line[2:] for line in lines if line.startswith("$ ")]
    return typed or lines


def commands(line: str) -> Iterator[list[str]]:
    """Return the commands of a line, without the shell's own syntax."""
    # A command substitution contains a command as well.
    opened = re.sub(r'"?\$\(([^)]*)\)"?', r" X ; \1 ; ", line)
    for words in _split(_words(opened)):
        while words and (words[0] in _PREFIXES or _ASSIGNMENT.match(words[0])):
            words = words[1:]
        if words:
            yield words


def _words(line: str) -> list[str]:
    # A comment follows a blank, or begins the line; "#3" is an ordinary word.
    text = re.sub(r"(^|\s)#\s.*$", "", line)
    try:
        found = shlex.split(text)
    except ValueError:  # an apostrophe: the line is prose
        return []
    return [word for part in found for word in _plain(part)]


def _plain(word: str) -> Iterator[str]:
    """Remove the signs of a synopsis from a word."""
    if word.endswith(";") and word != ";":
        yield from _plain(word[:-1])
        yield ";"
    elif "=" not in word and (bare := word.strip("[]{}").rstrip("…")):
        yield bare
    elif "=" in word:
        yield word.strip("[]{}").rstrip("…").rstrip("]")


def _split(words: list[str]) -> Iterator[list[str]]:
    command: list[str] = []
    for word in words:
        if word in _OPERATORS:
            yield command
            command = []
        else:
            command.append(word)
    yield command
