"""How verbs print for programs: lines of JSON. Imports nothing that draws."""

import contextlib
import json
import time
from collections.abc import Callable
from typing import Any

import click


def show_json(value: Any) -> None:
    """Print a value as one line."""
    click.echo(json.dumps(value))


def follow_json(read: Callable[[], Any], seconds: float | None) -> None:
    """Print the value as a line; with ``seconds``, again and again until Control-C."""
    show_json(read())
    with contextlib.suppress(KeyboardInterrupt):
        while seconds is not None:
            time.sleep(seconds)
            show_json(read())
