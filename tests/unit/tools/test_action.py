"""The action that gives emulated GPUs to a job in CI: its script, as a runner starts it."""

import os
import subprocess
import sys
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[3]
ACTION = ROOT / ".github" / "actions" / "emulated-gpu"
COUNT = "import pynvml; pynvml.nvmlInit(); print(pynvml.nvmlDeviceGetCount())"


def test_later_steps_see_the_gpus(tmp_path: Path) -> None:
    environment, output = tmp_path / "environment", tmp_path / "output"
    base = {k: v for k, v in os.environ.items() if not k.startswith(("NVSHARE_", "LD_"))}
    base["NVSHARE_EMULATOR_ROOT"] = str(tmp_path / "nodes")
    inputs = {"GPUS": "3xt4", "SPEED": "100", "DATA": "off", "PYTHON": sys.executable}
    # The package that pip would install is here already.
    files = {"GITHUB_ENV": str(environment), "GITHUB_OUTPUT": str(output), "SOURCE": "installed"}

    subprocess.run([ACTION / "up.sh"], check=True, env={**base, **inputs, **files})

    later = dict(line.split("=", 1) for line in environment.read_text().splitlines())
    seen = subprocess.check_output(
        [sys.executable, "-c", COUNT], env={**base, **later}, text=True, timeout=60
    )
    assert seen == "3\n"
    assert output.read_text() == f"node={tmp_path}/nodes/ci\n"


def test_every_input_comes_as_a_variable_that_the_script_reads() -> None:
    action = yaml.safe_load((ACTION / "action.yml").read_text())
    (step,) = action["runs"]["steps"]
    script = (ACTION / "up.sh").read_text()

    given = dict(step["env"])
    assert set(given.values()) == {f"${{{{ inputs.{name} }}}}" for name in action["inputs"]}
    assert [name for name in given if f"${{{name}" not in script] == []
    assert "${{" not in step["run"]
