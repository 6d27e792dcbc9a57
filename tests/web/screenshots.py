"""Draws docs/images: the page of a staged daemon, in light and dark colours, and on a phone.

python -m tests.web.screenshots [SECONDS]

SECONDS is how long programs run before the pictures are taken (default: 290). Needs the packages
that `make test-web` installs, and Pillow, which makes the pictures small.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

from PIL import Image

from nvshare.lab.emulator.conf import Settings
from nvshare.lab.emulator.gpus import parse_gpus
from nvshare.lab.emulator.libraries import library_folder
from nvshare.lab.emulator.root import node_root
from nvshare.lab.emulator.transient import transient_node
from nvshare.lab.emulator.workload import installed_program

from .browser import Browser

IMAGES = Path(__file__).parents[2] / "docs" / "images"
_LARGEST = 80_000
_GIB = 1 << 30
# Their names, and their work: a trainer and a larger model that do not fit together, a notebook
# beside them; and two programs on the other GPU, one of which has a share.
PROGRAMS = {
    "train-resnet": ("--kernel", "0.01", "--memory", str(9 * _GIB)),
    "finetune-llm": ("--kernel", "0.01", "--memory", str(8 * _GIB)),
    "notebook": ("--kernel", "0.02", "--burst", "40", "--rest", "7", "--memory", str(3 * _GIB)),
    "serve-bert": ("--kernel", "0.004", "--memory", str(4 * _GIB), "--device", "1"),
    "embeddings": (
        *("--kernel", "0.01", "--burst", "300", "--rest", "5"),
        *("--memory", str(5 * _GIB), "--device", "1"),
    ),
}
OPTIONS = {"serve-bert": ("--compute", "35"), "notebook": ("--priority", "high", "--memory", "4Gi")}
NVSHARE = (sys.executable, "-m", "nvshare")


def main(seconds: float) -> None:
    """Stage the programs, wait, and take three pictures."""
    with ExitStack() as stack:
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        url = stage(stack, scratch)
        time.sleep(seconds)
        browser = Browser(scratch / "profile")
        stack.callback(browser.close)
        IMAGES.mkdir(exist_ok=True)
        browser.open(url)
        take(browser, "web-light", 1200, 800)
        browser.click("tr.program .name")
        browser.until(lambda: "last " in browser.text("tr.details p"))
        take(browser, "web-dark", 1200, 800, dark=True)
        browser.click("tr.program .name")
        take(browser, "web-narrow", 390, 844)


def stage(stack: ExitStack, scratch: Path) -> str:
    """Start a daemon, programs and the page's server; return the URL."""
    settings = Settings(speed=1.0, data="off")
    node = stack.enter_context(transient_node(node_root(), settings, parse_gpus("2xt4")))
    environment = {**os.environ, **node.environment(library_folder(), os.environ)}
    environment["NVSHARE_TURN"] = "25"
    for name, arguments in PROGRAMS.items():
        program = str(shutil.copy(installed_program("workloads", "driver-kernels"), scratch / name))
        begin(stack, environment, "run", *OPTIONS.get(name, ()), "--", program, *arguments)
    named = {**environment, "NVSHARE_NODE_NAME": "workstation"}
    page = begin(stack, named, "web", "--address", "127.0.0.1:0")
    assert page.stdout is not None
    return page.stdout.readline().strip()


def begin(stack: ExitStack, environment: dict[str, str], *words: str) -> "subprocess.Popen[str]":
    """Start a command that ends with us."""
    process = subprocess.Popen(
        [*NVSHARE, *words],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    stack.enter_context(process)
    stack.callback(process.terminate)
    return process


def take(browser: Browser, name: str, width: int, height: int, *, dark: bool = False) -> None:
    """Take a picture, with as few colours as it looks good with."""
    browser.shape(width, height, "dark" if dark else "light")
    time.sleep(2.5)
    path = IMAGES / f"{name}.png"
    browser.driver.save_screenshot(str(path))
    with Image.open(path) as image:
        small = image.convert("RGB").quantize(200, dither=Image.Dither.NONE)
    small.save(path, optimize=True)
    size = path.stat().st_size
    print(path, size)
    assert size < _LARGEST, "it is too large for a repository"


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 290.0)
