"""Recordings as files: for Perfetto and Chrome, or as a picture."""

import json
from collections.abc import Sequence
from pathlib import Path

from nvshare.errors import BadInputError
from nvshare.telemetry.trace.chrome import trace_events
from nvshare.telemetry.trace.picture import draw
from nvshare.telemetry.trace.recording import Recording


def write_chrome(path: Path, recordings: Sequence[Recording], title: str) -> None:
    """Write them in the Trace Event Format."""
    _write(path, json.dumps(trace_events(recordings, title), separators=(",", ":")) + "\n")


def write_picture(path: Path, recordings: Sequence[Recording], title: str) -> None:
    """Write them as SVG."""
    _write(path, draw(recordings, title))


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise BadInputError(
            f"{path} cannot be written", why=error.strerror, do="give another path"
        ) from error
