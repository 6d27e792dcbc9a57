"""The table of ``nvshare doctor --gpu``. Measures nothing."""

from rich.console import Group, RenderableType
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from nvshare.probe.report import Report
from nvshare.probe.verdict import Line, Verdict

_STYLES = {
    Verdict.OK: "green",
    Verdict.BAD: "bold red",
    Verdict.INFO: "dim",
    Verdict.UNKNOWN: "dim",
}


def draw(report: Report) -> RenderableType:
    """Return the table, and after it an explanation of each bad line."""
    table = Table(title=_title(report), title_justify="left")
    for heading in ("what", "measured", "expected"):
        table.add_column(heading, overflow="fold")
    table.add_column("", no_wrap=True)
    topic = ""
    for line in report.lines:
        if topic and line.name.partition(".")[0] != topic:
            table.add_section()
        topic = line.name.partition(".")[0]
        verdict = Text(line.verdict.value, style=_STYLES[line.verdict])
        table.add_row(escape(line.what), escape(line.measured), escape(line.expected), verdict)
    bad = [line for line in report.lines if line.verdict is Verdict.BAD]
    return Group(table, *(_explain(line) for line in bad))


def _title(report: Report) -> str:
    values = report.readings.values
    name = f"{values.get('machine.name', 'GPU')}, driver {values.get('machine.driver', '?')}"
    return escape(f"{name}, emulated" if report.emulated else name)


def _explain(line: Line) -> Text:
    return Text.assemble(
        ("BAD  ", "bold red"),
        f"{line.what}: {line.measured}; expected: {line.expected}\n",
        f"     source: {line.source}\n",
        f"     what depends on it: {line.decision}",
    )
