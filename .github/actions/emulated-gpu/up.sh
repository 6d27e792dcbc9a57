#!/usr/bin/env bash
# Installs nvshare, starts a node, and sets the environment of later steps. Reads GPUS, SPEED, DATA, SOURCE and PYTHON; writes to GITHUB_ENV and GITHUB_OUTPUT.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)
python=${PYTHON:-python3}
node=ci

# SOURCE=installed: nvshare is installed already.
if [[ ${SOURCE:-} != installed ]]; then
    "$python" -m pip install --quiet "${SOURCE:-$here}"
fi
"$python" -m nvshare emulate up "$node" --gpus "${GPUS:-t4}" --speed "${SPEED:-1}" --data "${DATA:-on}"
variables=$("$python" -m nvshare emulate env "$node" --json)
"$python" - "$variables" "$GITHUB_ENV" "$GITHUB_OUTPUT" <<'PYTHON'
import json
import sys

variables = json.loads(sys.argv[1])["environment"]
environment, output = sys.argv[2:]
with open(environment, "a", encoding="utf-8") as file:
    file.writelines(f"{name}={value}\n" for name, value in variables.items())
with open(output, "a", encoding="utf-8") as file:
    file.write(f"node={variables['NVSHARE_EMULATOR_NODE']}\n")
PYTHON
"$python" -m nvshare emulate smi "$node"
