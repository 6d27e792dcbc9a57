"""Installs the wheel and the source distribution on Debian 11 as a user would, and tests them.

The wheel finds no compiler there, the source distribution GCC 10, and both glibc 2.31. The roots
are made once from Debian's packages, and cached. Debian 11 has Python 3.9, which is too old: that
of Debian 12 is compiled there, from Debian's sources.
"""

import os
import platform
import shutil
from pathlib import Path

from tools.cache import folder, kept
from tools.release.chroot import inside, scratch
from tools.release.tree import Command, ReleaseError, need, run, version
from tools.release.wheels import sdist, wheel

_DEMO = ("nvshare", "demo", "--iterations=1000")
# The libraries that Python needs: HTTPS and archives for pip, ctypes for NVML.
_LIBRARIES = ("libssl1.1", "zlib1g", "libffi7")
_COMPILER = ("gcc", "libc6-dev", "make", "libssl-dev", "zlib1g-dev", "libffi-dev")
_PYTHON = "python3.11"
_PREFIX = "opt/python"
# In the root: a folder that is mounted for each trial, so that nothing of a trial stays.
_TMP = "/tmp"  # noqa: S108
_VENV = f"{_TMP}/venv"
_WHOLE, _PLAIN = "with-compiler", "without-compiler"
# Where distributions keep the certificates that this machine trusts; pip has its own list.
_CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")


def try_on_debian11() -> None:
    """Install the files of dist/ in a root of Debian 11, and run the demo there."""
    for path in (wheel(platform.machine()), sdist()):
        if not path.exists():
            raise ReleaseError(f"there is no {path}: run `make release` first")
    if os.getuid() != 0:
        raise ReleaseError("only root can create a root folder of Debian, and run programs in it")
    need("debootstrap", "debootstrap")
    roots = kept(folder() / f"debian-11-{_PYTHON}", _make_roots)
    _try(roots / _PLAIN, wheel(platform.machine()))
    _try(roots / _WHOLE, sdist())


def _try(root: Path, package: Path) -> None:
    with scratch() as tmp:
        shutil.copy(package, tmp)
        environ = {"PATH": f"{_VENV}/bin:/usr/bin:/bin", "HOME": _TMP}
        if _CERTIFICATES.exists():
            shutil.copy(_CERTIFICATES, tmp)
            environ["PIP_CERT"] = f"{_TMP}/{_CERTIFICATES.name}"
        inside(root, (f"/{_PREFIX}/bin/python3", "-m", "venv", _VENV), tmp, environ)
        inside(root, ("pip", "install", "--quiet", f"{_TMP}/{package.name}"), tmp, environ)
        told = inside(root, ("nvshare", "--version"), tmp, environ)
        if version() not in told:
            raise ReleaseError(
                f"{package.name} reports version {told.strip()} instead of {version()}"
            )
        inside(root, _DEMO, tmp, environ)
    print(f"{package.name}: `{' '.join(_DEMO)}` ran on Debian 11, {root.name.replace('-', ' ')}")


def _make_roots(target: Path) -> None:
    """Make a root that can compile, with a Python compiled in it, and one that cannot."""
    target.mkdir()
    plain, whole = target / _PLAIN, target / _WHOLE
    strap: Command = ["debootstrap", "--variant=minbase", f"--include={','.join(_LIBRARIES)}"]
    run([*strap, "bullseye", plain])
    run(["cp", "--archive", plain, whole])
    _compile_python(whole)
    shutil.copytree(whole / _PREFIX, plain / _PREFIX, symlinks=True)


def _compile_python(root: Path) -> None:
    sources = root / "etc/apt/sources.list"
    sources.write_text(with_sources_of("bookworm", sources.read_text()))
    with scratch() as tmp:
        install = ("apt-get", "install", "--yes", "--no-install-recommends", *_COMPILER)
        inside(root, ("apt-get", "update"), tmp)
        inside(root, install, tmp)
        fetch = f"cd {_TMP} && apt-get source --download-only {_PYTHON}"
        inside(root, ("sh", "-c", fetch), tmp)
        (archive,) = tmp.glob(f"{_PYTHON}_*.orig.tar.*")
        source = tmp / "source"
        source.mkdir()
        run(["tar", "--extract", f"--file={archive}", f"--directory={source}", "--strip=1"])
        build = (
            f"cd {_TMP}/source && ./configure --prefix=/{_PREFIX} && "
            f"make -j{os.cpu_count()} && make install"
        )
        inside(root, ("sh", "-c", build), tmp)


def with_sources_of(suite: str, sources: str) -> str:
    """Return a list of sources to which the source packages of another suite are added."""
    _, mirror, *_ = sources.split()
    return f"{sources.rstrip()}\ndeb-src {mirror} {suite} main\n"
