"""``nvshare trace``: record what happens on the GPUs, for a viewer or as a picture."""

import time
from pathlib import Path

import click

from nvshare.cli.control import Daemon
from nvshare.cli.json_output import show_json
from nvshare.cli.trace_file import write_chrome, write_picture
from nvshare.errors import BadInputError, NvshareError
from nvshare.telemetry.trace.items import Item
from nvshare.telemetry.trace.recording import Recording, gather

_WRITERS = {".json": write_chrome, ".svg": write_picture}


@click.command()
@click.option(
    "--seconds", default=30.0, show_default=True, metavar="S", help="Duration of the recording."
)
@click.option(
    "-o",
    "--output",
    "path",
    required=True,
    type=click.Path(path_type=Path, dir_okay=False),
    help="FILE.json for Perfetto or Chrome, FILE.svg for a picture.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def trace(seconds: float, path: Path, as_json: bool) -> None:
    """Record which programs have turns, compute, wait, are held back and move memory, to a file.

    Open FILE.json at https://ui.perfetto.dev or chrome://tracing. Ctrl-C ends the recording earlier
    and writes what there is.

    nvshare trace --seconds 30 -o t.json
    """
    writer = _WRITERS.get(path.suffix)
    if writer is None:
        raise BadInputError(
            f"the format of {path} is not known",
            why="the name of the file ends in neither .json nor .svg",
            do="give FILE.json for Perfetto or Chrome, or FILE.svg for a picture",
        )
    # Fail now, instead of after half a minute of recording.
    if not path.absolute().parent.is_dir():
        raise BadInputError(f"{path} cannot be written", why="there is no such folder")
    recording = gather(record(seconds))
    writer(path, [recording], _title(recording))
    _report(recording, path, as_json)


def record(seconds: float) -> list[Item]:
    """Return the events until the recording ends, is interrupted, or the daemon goes away."""
    items: list[Item] = []
    try:
        Daemon().trace(seconds, items.append)
    except KeyboardInterrupt:
        if not items:
            raise
    except BadInputError:
        raise
    except NvshareError:
        # The daemon went away during the recording, whose beginning may still be useful.
        if not items:
            raise
    return items


def _title(recording: Recording) -> str:
    when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(recording.unix))
    return f"{recording.seconds:.3g} s from {when}"


def _report(recording: Recording, path: Path, as_json: bool) -> None:
    turns = sum(len(life.turns) for life in recording.lives)
    moves = sum(len(life.moves) for life in recording.lives)
    if as_json:
        found = {"file": str(path), "seconds": round(recording.seconds, 3), "turns": turns}
        counts = {"gpus": len(recording.gpus), "programs": len(recording.lives)}
        show_json({**found, **counts, "moves": moves, "dropped": recording.dropped})
        return
    click.echo(
        f"{path}: {recording.seconds:.1f} s, {len(recording.gpus)} GPUs, "
        f"{len(recording.lives)} programs, {turns} turns, {moves} moves of memory"
    )
    if recording.dropped:
        click.echo(f"{recording.dropped} items are missing: this machine was too slow for them")
    if path.suffix == ".json":
        click.echo("Open it at https://ui.perfetto.dev or chrome://tracing.")
