"""Makes the source distribution, and from it an audited wheel for each architecture.

Wheels are made from the source distribution, that of this machine in an isolated build as by `pip
install`, which shows that the source distribution is complete.
"""

import platform
import tempfile
from pathlib import Path

from tools.release.tree import DIST, ROOT, Command, ReleaseError, environ, need, run, tool, version

MACHINES = ("x86_64", "aarch64")
# The oldest C library that wheels support, as auditwheel and pip name it.
OLDEST = "manylinux_2_17"


def make_sdist() -> Path:
    """Make the source distribution."""
    run([tool("python"), "-m", "build", "--sdist", f"--outdir={DIST}"], environ())
    return sdist()


def make_wheels() -> list[Path]:
    """Make a wheel for each machine."""
    return [_make_wheel(machine) for machine in MACHINES]


def sdist() -> Path:
    """Return the path of the source distribution."""
    return DIST / f"nvshare-{version()}.tar.gz"


def wheel(machine: str) -> Path:
    """Return the path of the wheel for a machine."""
    # The older name of the same platform is for installers that know no other.
    return DIST / f"nvshare-{version()}-py3-none-{tags(machine)}.whl"


def tags(machine: str) -> str:
    """Return the platform tags in the name of a wheel, in auditwheel's order."""
    return f"manylinux2014_{machine}.{OLDEST}_{machine}"


def _make_wheel(machine: str) -> Path:
    with tempfile.TemporaryDirectory() as scratch:
        command: Command = [tool("python"), "-m", "pip", "wheel", "--quiet", "--no-deps"]
        # An isolated build would fetch a CMake for the other machine: ours is among the tools.
        command += ["--no-build-isolation"] if cross(machine) else []
        # Debug information would be four fifths of the wheel, and name folders of this machine.
        command += ["--config-settings=install.strip=true", f"--wheel-dir={scratch}", sdist()]
        run(command, {**environ(), **cross(machine)})
        (made,) = Path(scratch).glob("*.whl")
        # "auto" is the oldest that fits. auditwheel knows others only for the machine it runs on.
        audit: Command = [tool("auditwheel"), "repair", "--plat=auto", f"--wheel-dir={DIST}", made]
        told = run(audit, environ())
    if not wheel(machine).exists():
        raise ReleaseError(f"the wheel for {machine} needs more than {OLDEST}:\n{told}")
    return wheel(machine)


def cross(machine: str) -> dict[str, str]:
    """Return the variables of a cross build for this machine; none if we are on it."""
    if machine == platform.machine():
        return {}
    toolchain = ROOT / "cmake" / f"{machine}.cmake"
    if not toolchain.exists():
        raise ReleaseError(
            f"wheels for {machine} cannot be built on {platform.machine()}: there is no {toolchain}"
        )
    need(f"{machine}-linux-gnu-gcc", f"gcc-{machine}-linux-gnu libc6-dev-arm64-cross")
    return {
        "CMAKE_TOOLCHAIN_FILE": str(toolchain),
        # Python's own variable for the target platform.
        "_PYTHON_HOST_PLATFORM": f"linux-{machine}",
    }
