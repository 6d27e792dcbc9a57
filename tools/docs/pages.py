"""Finds the code blocks and code spans of the documentation. Does not interpret them.

A comment above a block says how its commands are tested:

    <!-- run -->                  they are run, in a shell that all such blocks of the page share
    <!-- run: shows "is gone" --> the same, and their output contains this text
    <!-- not run: needs a GPU --> they are only looked up, for this reason
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

ROOT = Path(__file__).parents[2]
# Languages of blocks with commands; an indented block has none, and may be anything.
_SHELL = {"", "console", "sh", "bash", "shell"}
_MARK = re.compile(
    r'<!--\s*(run(: shows "(?P<shows>.*?)")?|not run:\s*(?P<why>.*?))\s*-->\s*$', re.DOTALL
)


@dataclass(frozen=True)
class Block:
    """A code block that may contain commands."""

    page: Path
    line: int
    text: str
    is_run: bool = False
    shows: str | None = None
    why_not: str | None = None

    @property
    def is_marked(self) -> bool:
        """Whether a comment says how it is tested."""
        return self.is_run or self.why_not is not None


@dataclass(frozen=True)
class Span:
    """Code within a sentence."""

    page: Path
    line: int
    text: str


def pages(root: Path = ROOT) -> list[Path]:
    """Return every page that users or contributors read."""
    top = [root / name for name in ("README.md", "CONTRIBUTING.md", "ARCHITECTURE.md")]
    return [page for page in top if page.exists()] + sorted((root / "docs").rglob("*.md"))


def blocks(page: Path) -> list[Block]:
    """Return the code blocks of a page that may contain commands, in their order."""
    found = []
    mark: re.Match[str] | None = None
    for token in _tokens(page):
        if token.type in ("fence", "code_block") and token.info.strip() in _SHELL:
            shows, why_not = (mark["shows"], mark["why"]) if mark else (None, None)
            is_run = mark is not None and why_not is None
            found.append(Block(page, _line(token), token.content, is_run, shows, why_not))
        mark = _MARK.match(token.content) if token.type == "html_block" else None
    return found


def spans(page: Path) -> list[Span]:
    """Return all code within sentences, headings and tables."""
    return [
        Span(page, _line(token), child.content)
        for token in _tokens(page)
        for child in token.children or ()
        if child.type == "code_inline"
    ]


def _tokens(page: Path) -> Iterator[Token]:
    reader = MarkdownIt("commonmark").enable("table")
    yield from reader.parse(page.read_text(encoding="utf-8"))


def _line(token: Token) -> int:
    return token.map[0] + 1 if token.map else 0
