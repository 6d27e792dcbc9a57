"""The Helm chart as an archive, linted and rendered, with its manifests."""

import shutil

from tools.binaries import KUBERNETES, helm
from tools.manifests import CHART, TARGET, manifests
from tools.release.tree import DIST, ReleaseError, run, version


def package_chart() -> None:
    """Check the chart, and pack it. The manifests come with it, for people without Helm."""
    program = helm()
    run([program, "lint", "--strict", f"--kube-version={KUBERNETES}", CHART])
    for name, text in manifests().items():
        if (TARGET / name).read_text() != text:
            raise ReleaseError(f"{name} differs from the rendered chart: run `make manifests`")
        shutil.copy(TARGET / name, DIST / f"{name.removesuffix('.yaml')}-{version()}.yaml")
    run([program, "package", CHART, f"--destination={DIST}"])
