"""Carries out the steps of a release, one after the other, and says how long each took."""

import argparse
import shutil
import sys
import time
from collections.abc import Callable

from tools.release.changelog import write_notes
from tools.release.chart import package_chart
from tools.release.checksums import write_sums
from tools.release.debian11 import try_on_debian11
from tools.release.foreign import try_foreign_wheel
from tools.release.installs import try_wheel
from tools.release.tree import DIST, ReleaseError, run, tool
from tools.release.versions import check_versions
from tools.release.wheels import make_sdist, make_wheels


def _empty() -> None:
    shutil.rmtree(DIST, ignore_errors=True)
    DIST.mkdir()


def _check_metadata() -> None:
    run([tool("twine"), "check", "--strict", *DIST.glob("*.whl"), *DIST.glob("nvshare-*.tar.gz")])


# In this order. Files in dist/ when the sums are made are what is released.
STEPS: dict[str, Callable[[], object]] = {
    "versions": check_versions,
    "empty": _empty,
    "sdist": make_sdist,
    "wheels": make_wheels,
    "twine": _check_metadata,
    "install": try_wheel,
    "foreign": try_foreign_wheel,
    "chart": package_chart,
    "changes": write_notes,
    "sums": write_sums,
}
# Run only if named: they need root.
MORE: dict[str, Callable[[], object]] = {"debian11": try_on_debian11}


def main() -> int:
    """Run the steps that are named, or all of STEPS."""
    parser = argparse.ArgumentParser(prog="python -m tools.release", description=__doc__)
    known = STEPS | MORE
    parser.add_argument("steps", nargs="*", metavar="STEP", help=", ".join(known))
    wanted = parser.parse_args().steps or list(STEPS)
    unknown = [step for step in wanted if step not in known]
    if unknown:
        parser.error(f"there is no step {unknown[0]!r}; there are: {', '.join(known)}")
    for step in wanted:
        began = time.monotonic()
        try:
            known[step]()
        except ReleaseError as error:
            print(f"{step}: {error}", file=sys.stderr)
            return 1
        print(f"{step:10} {time.monotonic() - began:6.1f} s", flush=True)
    for path in sorted(DIST.iterdir()):
        print(f"{path.stat().st_size:10,}  {path.relative_to(DIST.parent)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
