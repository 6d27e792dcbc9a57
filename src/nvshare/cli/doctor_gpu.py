"""``nvshare doctor --gpu``: examines a GPU, shows a table, and writes a report as it proceeds."""

import json
import os
from datetime import datetime, timezone
from pathlib import Path

import click

import nvshare
from nvshare.cli.doctor_table import draw
from nvshare.cli.json_output import show_json
from nvshare.cli.output import show
from nvshare.probe.bench import Bench
from nvshare.probe.examination import examination, examine, overdue
from nvshare.probe.report import Report, write_report
from nvshare.probe.ways import recommend

_STUCK = 3


def examine_gpu(ordinal: int, output: Path | None, quick: bool, as_json: bool = False) -> int:
    """Examine; return the exit code."""
    began = datetime.now(timezone.utc)
    path = output or Path(f"nvshare-doctor-{began:%Y%m%d-%H%M%S}.json")
    with examination(ordinal, quick) as bench:
        writer = _Writer(bench, path, f"{began:%Y-%m-%d}")
        with overdue(writer.give_up):
            examine(bench, writer.begun, writer.ended)
        report = writer.save()
    if as_json:
        show_json(json.loads(write_report(report)))
    else:
        show(draw(report))
        _sum_up(report, path)
    return 1 if report.bad else 0


class _Writer:
    """Saves the report before each probe: a hanging driver or a crash is a finding, too."""

    def __init__(self, bench: Bench, path: Path, date: str) -> None:
        self._bench, self._path, self._date = bench, path, date
        self._probe = ""

    def begun(self, probe: str) -> None:
        self._probe = probe
        click.echo(f"{probe} …", err=True)
        self.save()

    def ended(self) -> None:
        if why := self._bench.readings.absent.get(self._probe):
            click.echo(f"  could not be tried: {why}", err=True)
        if self._probe == "machine" and self._bench.readings.values.get("machine.others"):
            click.echo(
                "  other programs are on this GPU: the measured times will include their work",
                err=True,
            )
        self._probe = ""

    def save(self) -> Report:
        report = self._report()
        self._path.write_text(write_report(report), encoding="utf-8")
        return report

    def _report(self) -> Report:
        bench = self._bench
        return Report(
            version=nvshare.__version__,
            date=self._date,
            emulated=bench.node is not None,
            speed=bench.clock.speed,
            quick=bench.quick,
            readings=bench.readings,
            unfinished=self._probe,
        ).judged()

    def give_up(self) -> None:
        """Name the probe that does not end, and exit: nothing else can stop it."""
        self.save()
        click.echo(
            f"nvshare: the probe {self._probe} does not end\n  why: the driver does not return "
            f"from a call, or is far too slow\n  what to do: send {self._path}, which says how "
            "far the probe got",
            err=True,
        )
        os._exit(_STUCK)


def _sum_up(report: Report, path: Path) -> None:
    if report.readings.values.get("machine.others"):
        click.echo("Other programs are on this GPU: the measured values include their work.")
    if report.speed > 1:
        click.echo(
            f"This node runs {report.speed:g} times as fast as real time, and the time that "
            "Python takes counts as often: --speed 1 is more exact."
        )
    if advice := recommend(report.readings):
        click.echo(advice)
    click.echo("Everything is as expected." if not report.bad else f"{report.bad} not as expected.")
    click.echo(f"The report is {path}. docs/doctor.md says what it means and how to send it.")
