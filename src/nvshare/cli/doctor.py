"""``nvshare doctor``: checks that sharing has all it needs, and says what to do if not.

With ``--gpu`` it examines a GPU and its driver instead; that is ``doctor_gpu.py``.
"""

from pathlib import Path

import click

from nvshare.cli.doctor_checks import CHECKS, Finding, State
from nvshare.cli.json_output import show_json

_MARKS = {State.GOOD: "ok", State.NOTE: "note", State.BAD: "BAD"}


@click.command()
@click.option("--gpu", is_flag=True, help="Measure what a GPU and its driver do; up to 5 minutes.")
@click.option("--device", type=click.IntRange(min=0), metavar="N", help="CUDA index of the GPU.")
@click.option("--output", type=click.Path(path_type=Path), metavar="FILE", help="The report.")
@click.option("--quick", is_flag=True, help="Use less memory and time; less exact.")
@click.option("--json", "as_json", is_flag=True, help="Print one line of JSON.")
@click.pass_context
def doctor(
    ctx: click.Context,
    gpu: bool,
    device: int | None,
    output: Path | None,
    quick: bool,
    as_json: bool,
) -> None:
    """Check driver, libraries, sockets, permissions and versions.

    With --gpu, find out instead what a GPU and its driver really do, and write a report that can
    be sent to others. Exits with 1 if something is bad.
    """
    if gpu:
        from nvshare.cli.doctor_gpu import examine_gpu

        ctx.exit(examine_gpu(device or 0, output, quick, as_json))
    if device is not None or output is not None or quick:
        ctx.fail("--device, --output and --quick belong to --gpu.")
    findings = [finding for check in CHECKS for finding in check()]
    bad = sum(finding.state is State.BAD for finding in findings)
    if as_json:
        show_json({"findings": [_described(finding) for finding in findings], "bad": bad})
        ctx.exit(1 if bad else 0)
    for finding in findings:
        _show(finding)
    click.echo("Everything is in order." if not bad else f"{bad} to fix.")
    ctx.exit(1 if bad else 0)


def _described(finding: Finding) -> dict[str, str | None]:
    return {"state": finding.state.value, "what": finding.what, "do": finding.do}


def _show(finding: Finding) -> None:
    click.echo(f"{_MARKS[finding.state]:>4}  {finding.what}")
    if finding.do:
        click.echo(f"      what to do: {finding.do}")
