"""The image, built by the Dockerfile from the wheel in dist/, and tried.

No registry of images is asked: the base that the Dockerfile names is made of Debian's packages, and
kept. buildah builds it without a daemon. Needs root.
"""

import json
import os
import re
import tempfile
from pathlib import Path

from tools.cache import folder, kept
from tools.release.tree import ROOT, Command, ReleaseError, need, run, version

DOCKERFILE = ROOT / "deploy" / "docker" / "Dockerfile"
_SUITE = "bookworm"
_LABELS = "org.opencontainers.image."
# The certificates that this machine trusts; pip has a list of its own.
_CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")
_PIP = f"[global]\ncert = {_CERTIFICATES}\n"
# The daemon on an emulated GPU, asked over its socket as the chart's probe does.
_TRY = """
nvshare emulate --gpus t4 --speed 100 --data off -- sh -c '
    nvshare daemon --socket-dir=/tmp/run & daemon=$!
    for attempt in $(seq 100); do test -S /tmp/run/nvshare.sock && break; sleep 0.1; done
    NVSHARE_SOCKET_DIR=/tmp/run nvshare status --json
    kill $daemon && wait $daemon
'
"""


def try_image() -> None:
    """Build the image, look at its labels, and run the daemon in it."""
    if os.getuid() != 0:
        raise ReleaseError("only root can make the base of the image")
    need("debootstrap", "debootstrap")
    base = kept(folder() / f"debian-{_SUITE}", _make_base)
    revision = run(["git", "rev-parse", "HEAD"]).strip()
    with tempfile.TemporaryDirectory(prefix="nvshare-release-") as name:
        scratch = Path(name)
        buildah = _buildah(scratch)
        _import(buildah, base, base_of(DOCKERFILE.read_text()))
        run([*buildah, "build", *_arguments(revision, scratch), f"--tag=nvshare:{version()}", ROOT])
        found = json.loads(run([*buildah, "inspect", "--type=image", f"nvshare:{version()}"]))
        if wrong := wrong_labels(found["OCIv1"]["config"]["Labels"], revision):
            raise ReleaseError(f"the labels of the image are wrong: {wrong}")
        container = run([*buildah, "from", "--pull-never", f"nvshare:{version()}"]).strip()
        inside: Command = [*buildah, "run", "--isolation=chroot", container, "--"]
        told = run([*inside, "nvshare", "--version"])
        if version() not in told:
            raise ReleaseError(f"the image calls itself {told.strip()}, and not {version()}")
        status = run([*inside, "sh", "-c", _TRY])
        if '"Tesla T4"' not in status:
            raise ReleaseError(f"the daemon in the image does not have the GPU:\n{status}")
        print(f"nvshare:{version()} was built, and its daemon ran as {run([*inside, 'id', '-u'])}")


def base_of(dockerfile: str) -> str:
    """Return the one image that a Dockerfile begins with."""
    names = set(re.findall(r"^FROM (\S+)", dockerfile, re.MULTILINE))
    if len(names) != 1:
        raise ReleaseError(f"the Dockerfile is to have one base, and has {sorted(names)}")
    return names.pop()


def wrong_labels(labels: dict[str, str], revision: str) -> dict[str, str | None]:
    """Return the labels that do not say what was built."""
    wanted = {"title": "nvshare", "version": version(), "revision": revision}
    wanted["licenses"] = "Apache-2.0"
    found = {name: labels.get(f"{_LABELS}{name}") for name in wanted}
    return {name: value for name, value in found.items() if value != wanted[name]}


def _make_base(target: Path) -> None:
    run(["debootstrap", "--variant=minbase", _SUITE, target])
    for archive in (target / "var/cache/apt/archives").glob("*.deb"):
        archive.unlink()


def _buildah(scratch: Path) -> Command:
    """Return the command, with images of its own. Its folders need no kernel that can overlay."""
    places = (f"--root={scratch / 'root'}", f"--runroot={scratch / 'run'}")
    return [need("buildah", "buildah"), *places, "--storage-driver=vfs"]


def _import(buildah: Command, root: Path, name: str) -> None:
    """Make an image of a root folder, under the full name that buildah looks up."""
    container = run([*buildah, "from", "scratch"]).strip()
    run([*buildah, "add", "--quiet", container, root, "/"])
    run([*buildah, "commit", "--quiet", container, f"docker.io/library/{name}"])
    run([*buildah, "rm", container])


def _arguments(revision: str, scratch: Path) -> Command:
    created = run(["git", "log", "-1", "--format=%cI"]).strip()
    arguments: Command = ["--pull-never", f"--file={DOCKERFILE}", "--isolation=chroot"]
    arguments += [f"--build-arg=REVISION={revision}", f"--build-arg=CREATED={created}"]
    if _CERTIFICATES.exists():
        settings = scratch / "pip.conf"
        settings.write_text(_PIP)
        arguments.append(f"--volume={settings}:/etc/pip.conf:ro")
        arguments.append(f"--volume={_CERTIFICATES}:{_CERTIFICATES}:ro")
    return arguments
