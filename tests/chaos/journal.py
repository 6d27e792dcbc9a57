"""A log of a campaign for people, and a list of its failures. Judges nothing."""

import threading
import time
from pathlib import Path


class Journal:
    """Lines with their times, in a file, and on standard output on request."""

    def __init__(self, path: Path, *, is_shown: bool) -> None:
        self._began = time.monotonic()
        self._file = path.open("w", encoding="utf-8")
        self._is_shown = is_shown
        self._lock = threading.Lock()
        self.lines: list[str] = []
        self.failures: list[str] = []

    def say(self, text: str) -> None:
        """Write a line."""
        with self._lock:
            line = f"{time.monotonic() - self._began:8.2f} {text}"
            self.lines.append(line)
            self._file.write(line + "\n")
            self._file.flush()
            if self._is_shown:
                print(line, flush=True)

    def fail(self, text: str) -> None:
        """Write that something is wrong. The campaign ends soon."""
        self.failures.append(text)
        self.say(f"WRONG: {text}")

    def close(self) -> None:
        """End the log."""
        self._file.close()
