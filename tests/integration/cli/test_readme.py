"""README's two programs, word for word, in a shell, with programs that exist."""

import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
BEGINNING = "Two programs share one emulated T4"


def commands() -> str:
    """Return the indented block that follows the beginning."""
    text = (ROOT / "README.md").read_text(encoding="utf-8").partition(BEGINNING)[2]
    found = re.search(r"((?:^    .*\n)+)", text, re.MULTILINE)
    assert found is not None
    return re.sub(r"^    ", "", found[1], flags=re.MULTILINE)


@pytest.mark.slow
def test_two_programs_share_one_emulated_gpu(tmp_path: Path) -> None:
    script = commands()
    assert "nvshare run python examples/train.py &" in script
    # It is built already, or this test could not run. Another build would disturb other tests.
    script = script.replace("make build\n", "", 1)
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(("NVSHARE_", "LD_"))}
    done = subprocess.run(
        ["/bin/bash", "-eux", "-c", script],
        cwd=ROOT,
        # The nodes of the user who runs the tests are left alone.
        env={**inherited, "NVSHARE_EMULATOR_ROOT": str(tmp_path / "nodes")},
        capture_output=True,
        text=True,
        timeout=110,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "train: 20000 steps on 13 GiB" in done.stdout
    assert "notebook: 20 bursts on 3 GiB" in done.stdout
    shown, _, after = done.stdout.partition("train: ")
    assert re.search(r"daemon \d+, up", shown + after)
    # Unless this machine was so busy that the first had ended before the second.
    assert re.search(r"(?m)^ *\d+ +\d+ +\S+ +train\.py ", shown) or "daemon" in after
    assert 'The emulated node "default" is gone.' in done.stdout
    assert not list((tmp_path / "nodes").iterdir())
