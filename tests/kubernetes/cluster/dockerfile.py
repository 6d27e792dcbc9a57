"""Builds the image of a Dockerfile without Docker, as far as ours needs it.

The instructions are carried out one by one in a root folder; the base image is Debian's packages.
Unknown instructions are errors, so that every step of the Dockerfile has been tried.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from string import Template

from tools.cache import kept_last

from .rootfs import copy, debian


@dataclass
class Stage:
    """One FROM and what follows."""

    name: str
    instructions: list[tuple[str, str]] = field(default_factory=list)


@dataclass
class Built:
    """A root folder, and how programs are to be started in it."""

    root: Path
    environment: dict[str, str] = field(default_factory=dict)
    user: str = ""
    command: list[str] = field(default_factory=list)
    # Build arguments with their defaults: none are given.
    arguments: dict[str, str] = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)


def parse(text: str) -> list[Stage]:
    """Read a Dockerfile."""
    stages: list[Stage] = []
    for line in text.replace("\\\n", "").splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        word, _, rest = line.partition(" ")
        if word == "FROM":
            match = re.fullmatch(r"debian:12\.\d+-slim(?: AS (\w+))?", rest)
            if match is None:
                raise ValueError(f"there is no base image for: {line}")
            stages.append(Stage(match[1] or str(len(stages))))
        else:
            stages[-1].instructions.append((word, rest))
    return stages


def build(dockerfile: Path, context: Path, scratch: Path) -> Built:
    """Carry out a Dockerfile; return its last stage."""
    done: dict[str, Built] = {}
    for stage in parse(dockerfile.read_text()):
        done[stage.name] = last = Built(scratch / stage.name)
        rest = _begin(stage, last)
        for word, text in rest:
            carry_out(word, text, last, context, done)
    return last


def _begin(stage: Stage, built: Built) -> list[tuple[str, str]]:
    """Take the steps before the first COPY from the cache: they are the same every time."""
    steps: list[str] = []
    rest = list(stage.instructions)
    while rest and rest[0][0] == "RUN":
        steps.append(rest.pop(0)[1])

    def make(root: Path) -> None:
        copy(debian(), root)
        for step in steps:
            _run(step, Built(root))

    copy(kept_last(f"stage-{stage.name}", steps, make), built.root)
    return rest


def carry_out(word: str, text: str, built: Built, context: Path, done: dict[str, Built]) -> None:
    """Carry out one instruction."""
    match word:
        case "RUN":
            _run(text, built)
        case "COPY":
            _copy(text, built, context, done)
        case "ENV":
            name, _, value = text.partition("=")
            built.environment[name] = value
        case "ARG":
            name, _, value = text.partition("=")
            built.arguments[name] = value
        case "LABEL":
            (pair,) = shlex.split(text)
            name, _, value = pair.partition("=")
            built.labels[name] = Template(value).substitute(built.arguments)
        case "USER":
            built.user = text
        case "CMD":
            built.command = json.loads(text)
        case _:
            raise ValueError(f"this instruction is not supported here: {word} {text}")


def _copy(text: str, built: Built, context: Path, done: dict[str, Built]) -> None:
    *options, source, target = text.split()
    place = built.root / target.lstrip("/")
    if options:
        (option,) = options
        copy(done[option.removeprefix("--from=")].root / source.lstrip("/"), place)
        return
    for found in context.glob(source):
        shutil.copy(found, place)


# Files of this machine that a step needs for downloads: names, and certificates.
_BORROWED = {
    "/etc/resolv.conf": "etc/resolv.conf",
    "/etc/ssl/certs/ca-certificates.crt": "run/certificates.crt",
}


def _run(text: str, built: Built) -> None:
    """Run a command in a root folder. Its mounts are its own, and go when it ends."""
    script = ["set -e", "mount -t proc proc $ROOT/proc"]
    for source, name in _BORROWED.items():
        (built.root / name).touch()
        # Writes of the step must not get out.
        script.append(f"mount --bind {source} $ROOT/{name}")
        script.append(f"mount -o remount,bind,ro $ROOT/{name}")
    script.append('exec chroot $ROOT /bin/sh -c "$STEP"')
    environment = {
        "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        "DEBIAN_FRONTEND": "noninteractive",
        "PIP_CERT": "/run/certificates.crt",
        **{k: v for k, v in os.environ.items() if k.lower().endswith("_proxy")},
        **built.environment,
        "ROOT": str(built.root),
        "STEP": text,
    }
    done = subprocess.run(
        ["/usr/bin/unshare", "--mount", "/bin/sh", "-c", "; ".join(script)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=900,
    )
    (built.root / "run/certificates.crt").unlink()
    if done.returncode != 0:
        raise RuntimeError(f"RUN {text}\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
