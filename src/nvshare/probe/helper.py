"""The helper: another process with a context on the same GPU, which carries out orders.

This is the side that gives orders; ``orders.py`` is the helper itself.
"""

import contextlib
import json
import os
import select
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

from nvshare.probe.readings import Unavailable

_PATIENCE_S = 90.0


class Helper:
    """A helper process for a ``with`` block. ``environ`` may put it under a daemon."""

    def __init__(self, ordinal: int, environ: Mapping[str, str] | None = None) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "nvshare.probe.orders", str(ordinal)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=dict(os.environ if environ is None else environ),
            text=True,
        )
        self.pid = self._process.pid

    def __enter__(self) -> "Helper":
        return self

    def __exit__(self, *error: object) -> None:
        self._process.kill()
        self._process.communicate()

    def tell(self, do: str, **arguments: Any) -> None:
        """Give an order."""
        assert self._process.stdin is not None  # noqa: S101 (it is a pipe)
        # A helper that has ended is reported when its answer is read.
        with contextlib.suppress(BrokenPipeError):
            print(json.dumps({"do": do, **arguments}), file=self._process.stdin, flush=True)

    def answer(self) -> dict[str, Any]:
        """Wait for the answer to an order."""
        assert self._process.stdout is not None  # noqa: S101
        ready, _, _ = select.select([self._process.stdout], [], [], _PATIENCE_S)
        line = self._process.stdout.readline() if ready else ""
        if not line:
            self._process.kill()
            _, words = self._process.communicate()
            why = (words.strip().splitlines() or ["it says nothing"])[-1]
            raise Unavailable(f"the helper process has {'ended' if ready else 'hung'}: {why}")
        answer: dict[str, Any] = json.loads(line)
        if failed := answer.get("failed"):
            raise Unavailable(f"in the helper process, {failed}")
        return answer

    def ask(self, do: str, **arguments: Any) -> dict[str, Any]:
        """Give an order, and wait until it is done."""
        self.tell(do, **arguments)
        return self.answer()
