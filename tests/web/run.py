"""``make test-web``: the web page in a real browser, with a real daemon and real programs.

    python -m tests.web.run [--where-possible] [ARGUMENTS OF PYTEST]

Installs missing requirements first: Chromium from Debian (root), Selenium from PyPI. It is an error
if that is impossible. With --where-possible every test is skipped instead, and pytest says so and
why.
"""

import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.again import judged, remembering

_WHERE_POSSIBLE = "--where-possible"
_NOTES = Path(".pytest_cache/web")
# Programs, and the Debian packages that they are in.
_NEEDED = {"chromium": "chromium", "chromedriver": "chromium-driver"}
OBSTACLE = "TEST_WEB_OBSTACLE"


class ImpossibleError(Exception):
    """There can be no browser on this machine; the message says why."""


def main() -> int:
    """Prepare, then test."""
    arguments = [word for word in sys.argv[1:] if word != _WHERE_POSSIBLE]
    try:
        prepare()
    except ImpossibleError as error:
        print(f"The tests in a browser are NOT run: {error}.", file=sys.stderr, flush=True)
        if _WHERE_POSSIBLE not in sys.argv:
            return 1
        return _test(["-rs", *arguments], {OBSTACLE: str(error)})
    return _test(arguments, {})


def prepare() -> None:
    """Install the browser and its driver."""
    if missing := [package for name, package in _NEEDED.items() if shutil.which(name) is None]:
        if os.getuid() != 0 or shutil.which("apt-get") is None:
            raise ImpossibleError(
                f"there is no {' '.join(missing)} here, and only root can install it with apt-get"
            )
        print(f"installing {' '.join(missing)}", flush=True)
        # Without a known font, no text would be drawn.
        _run("apt-get", "update")
        _run(
            "apt-get", "install", "--yes", "--no-install-recommends", *missing, "fonts-dejavu-core"
        )
    if importlib.util.find_spec("selenium") is None:
        _run(sys.executable, "-m", "pip", "install", "--quiet", "--group", "browser")


def _run(*command: str) -> None:
    done = subprocess.run(
        command,
        env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    if done.returncode != 0:
        said = done.stderr.strip().splitlines() or ["nothing"]
        raise ImpossibleError(f"`{' '.join(command[:3])} …` failed with: {said[-1]}")


def _test(arguments: list[str], environment: dict[str, str]) -> int:
    def run(words: Sequence[str]) -> int:
        command = [sys.executable, "-m", "pytest", *words]
        return subprocess.run(command, env={**os.environ, **environment}).returncode

    code = run(["tests/web", *remembering(_NOTES), *arguments])
    return judged([(code, _NOTES)], run)


if __name__ == "__main__":
    sys.exit(main())
