"""``nvshare doctor``: checks that all is here that sharing needs, and says what to do if not."""

import click

from nvshare.cli.doctor_checks import CHECKS, Finding, State

_MARKS = {State.GOOD: "ok", State.NOTE: "note", State.BAD: "BAD"}


@click.command()
@click.pass_context
def doctor(ctx: click.Context) -> None:
    """Check driver, libraries, sockets, permissions and versions.

    Exits with 1 if something is bad.
    """
    findings = [finding for check in CHECKS for finding in check()]
    for finding in findings:
        _show(finding)
    bad = sum(finding.state is State.BAD for finding in findings)
    click.echo("Everything is in order." if not bad else f"{bad} to put right.")
    ctx.exit(1 if bad else 0)


def _show(finding: Finding) -> None:
    click.echo(f"{_MARKS[finding.state]:>4}  {finding.what}")
    if finding.do:
        click.echo(f"      what to do: {finding.do}")
