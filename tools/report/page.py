"""The page: sections as one HTML file with its pictures in it, and as Markdown beside SVG files."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from tools.report.chart import draw
from tools.report.section import Section

TITLE = "nvshare, measured"
CAVEAT = (
    "The programs, the library, the daemon and the scheduler are real. The GPUs are emulated or "
    "simulated, and so is every second of their work."
)
_STYLE = """\
:root{color-scheme:light dark;--ink:#24292f;--soft:#59636e;--line:#d8dee4;--back:#f6f8fa;
--card:#fff}
@media(prefers-color-scheme:dark){:root{--ink:#e6edf3;--soft:#9aa4af;--line:#30363d;--back:#0d1117;
--card:#161b22}}
body{font:15px/1.5 system-ui,-apple-system,"Segoe UI",sans-serif;color:var(--ink);margin:0 auto;
background:var(--back);max-width:60rem;padding:2rem 1.5rem 4rem}
h1{font-size:1.7rem;margin:0 0 .2rem}h2{font-size:1.15rem;margin:0 0 .3rem}
p{margin:.3rem 0 .9rem;color:var(--soft);max-width:46rem}
.tiles{display:grid;grid-template-columns:repeat(auto-fill,minmax(12rem,1fr));gap:.7rem;
margin:1.2rem 0}
.tile,section{background:var(--card);border:1px solid var(--line);border-radius:8px}
.tile{padding:.8rem 1rem}.tile b{display:block;font-size:1.45rem;line-height:1.3}
.tile span{color:var(--soft);font-size:.85rem}
section{padding:1.2rem 1.4rem;margin:1rem 0}svg{max-width:100%;height:auto;display:block}
table{border-collapse:collapse;font-size:.85rem;margin-top:.6rem;width:100%}
th,td{text-align:right;padding:.22rem .7rem;border-bottom:1px solid var(--line);
font-variant-numeric:tabular-nums}
th{color:var(--soft);font-weight:600}th:first-child,td:first-child{text-align:left}
details{margin-top:.8rem}summary{cursor:pointer;color:var(--soft)}
code{font:.85rem ui-monospace,Menlo,Consolas,monospace}dt{color:var(--soft)}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.2rem 1rem;margin:0}dd{margin:0}
"""


@dataclass(frozen=True)
class About:
    """The conditions of the figures: pairs of name and value, and the commands that were run."""

    facts: tuple[tuple[str, str], ...]
    commands: tuple[str, ...]


def html(sections: Sequence[Section], about: About) -> str:
    """Return the page as HTML."""
    tiles = "".join(
        f'<div class="tile"><b>{escape(value)}</b><span>{escape(what)}</span></div>\n'
        for what, value in _headlines(sections)
    )
    facts = "".join(f"<dt>{escape(k)}</dt><dd>{escape(v)}</dd>\n" for k, v in about.facts)
    commands = "".join(f"<code>{escape(command)}</code><br>\n" for command in about.commands)
    return (
        '<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width">\n'
        f"<title>{TITLE}</title>\n<style>\n{_STYLE}</style>\n"
        f"<h1>{TITLE}</h1>\n<p>{CAVEAT}</p>\n"
        f'<div class="tiles">\n{tiles}</div>\n'
        + "".join(map(_html_section, sections))
        + f"<section><h2>Machine and settings</h2>\n<dl>\n{facts}<dt>commands</dt>"
        f"<dd>{commands}</dd></dl></section>\n</html>\n"
    )


def _html_section(section: Section) -> str:
    text = f"<section><h2>{escape(section.title)}</h2>\n<p>{escape(section.about)}</p>\n"
    if not section.is_measured:
        return f"{text}<p>Not part of this run: <code>{section.command}</code></p></section>\n"
    head = "".join(f"<th>{escape(cell)}</th>" for cell in section.head)
    rows = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>\n"
        for row in section.rows
    )
    table = f"<table><tr>{head}</tr>\n{rows}</table>"
    return (
        text
        + (draw(section.chart) if section.chart else "")
        + f"<details><summary>All figures: <code>{section.command}</code></summary>\n"
        + f"{table}</details></section>\n"
    )


def markdown(sections: Sequence[Section], about: About) -> str:
    """Return the page as Markdown; its pictures are files beside it."""
    parts = [f"# {TITLE}", CAVEAT]
    if headlines := _headlines(sections):
        parts.append("\n".join(f"* **{value}** {what}" for what, value in headlines))
    for section in sections:
        parts += [f"## {section.title}", section.about]
        if not section.is_measured:
            parts.append(f"Not part of this run: `{section.command}`.")
            continue
        if section.chart:
            parts.append(f"![{section.chart.title}]({section.chart.name}.svg)")
        parts.append(_markdown_table(section.head, section.rows))
    parts += ["## Machine and settings", _markdown_table(("", ""), about.facts)]
    parts.append("\n".join(f"    {command}" for command in about.commands))
    return "\n\n".join(parts) + "\n"


def _markdown_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', '/') for cell in row)} |" for row in lines)


def _headlines(sections: Sequence[Section]) -> list[tuple[str, str]]:
    return [section.headline for section in sections if section.headline]
