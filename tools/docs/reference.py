"""Writes reference pages, man pages, trees and pictures: `make reference`. A test compares.

docs/cli.md and the man pages come from click's own commands (verbs.py), so they match `--help`.
The trees come from docstrings (tree.py), the pictures of ways from docs/ways (ways/picture.py).
"""

import textwrap
from collections.abc import Callable
from functools import partial
from pathlib import Path

from tools.docs import tree
from tools.docs.pages import ROOT
from tools.docs.verbs import Verb, is_example, kubectl_verbs, sections
from tools.docs.ways import picture, way

_HEAD = """\
# Command line reference

<!-- Written by `make reference` from the commands themselves. Do not edit. -->

What `--help` of every verb says. How commands, errors, tables and completion behave in general is
in [the command line](commands.md).
"""


def page() -> str:
    """Return the reference as a page of the documentation."""
    parts = [_HEAD]
    for title, verbs in sections().items():
        parts.append(f"## {title}\n")
        parts += [_section(verb) for verb in verbs]
    return "\n".join(parts)


def _section(verb: Verb) -> str:
    lines = [f"### {verb.name}", "", f"    {verb.usage}", ""]
    for paragraph in verb.paragraphs:
        lines += [f"    {paragraph.strip()}" if is_example(paragraph) else _filled(paragraph), ""]
    if verb.options:
        lines += ["| option | |", "|---|---|"]
        lines += [f"| `{_cell(one.names)}` | {_cell(_prose(one.help))} |" for one in verb.options]
        lines.append("")
    return "\n".join(lines)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _prose(text: str) -> str:
    """Escape characters that Markdown would interpret, except within code."""
    parts = text.split("`")
    parts[::2] = [
        part.replace("<", "&lt;").replace("*", "\\*").replace("_", "\\_") for part in parts[::2]
    ]
    return "`".join(parts)


def _filled(text: str) -> str:
    return textwrap.fill(_prose(text), 100, break_long_words=False, break_on_hyphens=False)


def manual(name: str, summary: str, verbs: list[Verb]) -> str:
    """Return a man page with all verbs of one program."""
    lines = [
        '.\\" Written by `make reference` from the commands themselves. Do not edit.',
        f'.TH "{name.upper()}" "1" "" "nvshare" "User Commands"',
        ".SH NAME",
        f"{_roff(name)} \\- {_roff(summary)}",
        ".SH SYNOPSIS",
        f".B {_roff(name.replace('kubectl-', 'kubectl '))}",
        "VERB [OPTIONS]",
        ".SH COMMANDS",
    ]
    for verb in verbs:
        lines += [f".SS {_roff(verb.usage)}"]
        for paragraph in verb.paragraphs:
            text = _roff(paragraph.strip())
            as_is = [".RS 4", ".nf", text, ".fi", ".RE"]
            lines += [".PP", *(as_is if is_example(paragraph) else [text])]
        for option in verb.options:
            lines += [".TP", f".B {_roff(option.names)}", _roff(option.help)]
    return "\n".join(lines) + "\n"


def _roff(text: str) -> str:
    """Escape characters that troff would interpret."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{escaped}" if escaped.startswith((".", "'")) else escaped


def _nvshare_manual() -> str:
    of_nvshare = [verbs for title, verbs in sections().items() if title != "In a cluster"]
    every = [verb for verbs in of_nvshare for verb in verbs]
    return manual("nvshare", "share GPUs between programs", every)


def _kubectl_manual() -> str:
    summary = "share the GPUs of a cluster between pods"
    return manual("kubectl-nvshare", summary, kubectl_verbs())


def _architecture() -> str:
    return tree.with_tree((ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8"))


def _picture(name: str) -> str:
    return picture.draw(way.read(name))


def outputs() -> dict[str, Callable[[], str]]:
    """Return what makes each file that is written here, by its path in the repository."""
    return {
        "docs/cli.md": page,
        "docs/files.md": tree.page,
        "ARCHITECTURE.md": _architecture,
        "deploy/man/nvshare.1": _nvshare_manual,
        "deploy/man/kubectl-nvshare.1": _kubectl_manual,
        **{f"docs/ways/{name}.svg": partial(_picture, name) for name in way.names()},
    }


def main() -> None:
    """Write all of them."""
    for path, make in outputs().items():
        target = Path(ROOT / path)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(make(), encoding="utf-8")


if __name__ == "__main__":
    main()
