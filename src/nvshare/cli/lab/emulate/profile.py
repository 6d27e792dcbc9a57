"""``nvshare emulate profile``: a GPU profile from a report of ``nvshare doctor --gpu``."""

from pathlib import Path

import click

from nvshare.cli.lab.emulate.calibration import write_profile
from nvshare.errors import NvshareError
from nvshare.probe.report import load_report


@click.command()
@click.argument("report", metavar="FROM.json", type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write the profile to FILE.",
)
def profile(report: Path, output: Path | None) -> None:
    """Write a GPU profile from a report of `nvshare doctor --gpu`.

    Values that the report lacks come from the nearest known profile, and are marked as assumed.
    """
    text = write_profile(load_report(report))
    if output is None:
        click.echo(text, nl=False)
        return
    try:
        output.write_text(text, encoding="utf-8")
    except OSError as error:
        raise NvshareError(
            f"{output} cannot be written", why=error.strerror, do="choose another file"
        ) from error
    # A bare name would mean one of the profiles that come with nvshare.
    path = output if output.is_absolute() else f"./{output}"
    click.echo(f"Run a program on such a GPU:  nvshare emulate --gpus {path} -- COMMAND")
