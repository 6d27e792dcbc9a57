"""``make audit``: the licences and the known vulnerabilities of nvshare's dependencies.

    python -m tools.audit              both; the second needs the network
    python -m tools.audit --licences   the first alone

It covers what `pip install nvshare[kubernetes]` installs, in the versions that are installed here,
but not the development tools, which are not shipped.
"""

import re
import subprocess
import sys
from importlib.metadata import Distribution, distribution
from pathlib import Path
from tempfile import TemporaryDirectory

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

# Licences that software under Apache-2.0 may depend on, by the beginning of their names.
_FINE = re.compile(
    r"(MIT|BSD|[0-9]-Clause BSD|Apache|ISC|PSF|Python Software|Mozilla|MPL)", re.IGNORECASE
)


def shipped(
    name: str = "nvshare", extras: frozenset[str] = frozenset({"kubernetes"})
) -> list[Distribution]:
    """Return all direct and indirect dependencies of a distribution."""
    found: dict[str, Distribution] = {}
    waiting = [(name, extras)]
    seen = set()
    while waiting:
        key = waiting.pop()
        if key in seen:
            continue
        seen.add(key)
        one = distribution(key[0])
        found[canonicalize_name(key[0])] = one
        for text in one.requires or ():
            need = Requirement(text)
            if need.marker is None or any(
                need.marker.evaluate({"extra": extra}) for extra in {*key[1], ""}
            ):
                waiting.append((canonicalize_name(need.name), frozenset(need.extras)))
    del found[canonicalize_name(name)]
    return [found[key] for key in sorted(found)]


def licences(one: Distribution) -> list[str]:
    """Return the licence that a distribution states: an expression, or names."""
    tags = one.metadata.get_all("Classifier") or []
    named = [tag.rpartition(" :: ")[2] for tag in tags if tag.startswith("License :: ")]
    fields = (one.metadata.get_all(name) or [""] for name in ("License-Expression", "License"))
    said = next((field[0] for field in fields if field[0]), "")
    # Some distributions have the whole text there.
    first = said.strip().partition("\n")[0]
    parts = re.split(r" (?:AND|OR) ", first.strip("()")) if first else []
    return parts or [tag for tag in named if tag != "OSI Approved"]


def is_fine(one: Distribution) -> bool:
    """Whether we may depend on a distribution with this licence."""
    said = licences(one)
    return bool(said) and all(_FINE.match(part) for part in said)


def _report(every: list[Distribution]) -> int:
    for one in every:
        mark = "" if is_fine(one) else "    NOT among the accepted licences of tools/audit.py"
        print(f"{one.name} {one.version}: {', '.join(licences(one)) or 'names no licence'}{mark}")
    return 0 if all(map(is_fine, every)) else 1


def _look_up(every: list[Distribution]) -> int:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "requirements.txt"
        path.write_text("".join(f"{one.name}=={one.version}\n" for one in every))
        options = ["--strict", "--no-deps", "--disable-pip", "--progress-spinner=off"]
        command = [sys.executable, "-m", "pip_audit", *options, "--requirement", str(path)]
        return subprocess.run(command).returncode


if __name__ == "__main__":
    installed = shipped()
    code = _report(installed)
    sys.exit(code if "--licences" in sys.argv else _look_up(installed) or code)
