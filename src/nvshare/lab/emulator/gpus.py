"""Reading a list of GPUs as users write it: ``2xt4,1xa100-40g`` or ``2x./my.toml``."""

import re
from dataclasses import dataclass
from pathlib import Path

from nvshare.errors import BadInputError
from nvshare.lab.emulator.profile import Profile, known_profiles, load_file, load_known

# As many as the native side has room for in the state of a node (model/profile.h).
MAX_GPUS = 15

_COUNTED = re.compile(r"([0-9]+)x(.+)", re.ASCII)


@dataclass(frozen=True)
class Item:
    """One part of a list: a count and a profile. The profile is a name or a path."""

    count: int
    profile: str

    @property
    def is_path(self) -> bool:
        """Whether the profile is the user's own file. Known profiles have no slash or suffix."""
        return "/" in self.profile or self.profile.endswith(".toml")

    def __str__(self) -> str:
        return f"{self.count}x{self.profile}"


def parse_items(text: str) -> list[Item]:
    """Split a list into its items, without reading any profile."""
    items = [_parse_item(part.strip(), text) for part in text.split(",")]
    total = sum(item.count for item in items)
    if total > MAX_GPUS:
        raise BadInputError(
            f"{total} GPUs are too many for one node",
            why=f'"{text}" adds up to {total}; a node has at most {MAX_GPUS}',
            do="ask for fewer GPUs, or start several nodes",
        )
    return items


def parse_gpus(text: str) -> list[Profile]:
    """Return one profile per GPU, in the order of the list."""
    profiles: list[Profile] = []
    for item in parse_items(text):
        profiles += [_load(item)] * item.count
    return profiles


def _parse_item(part: str, text: str) -> Item:
    match = _COUNTED.fullmatch(part)
    count, profile = match.groups() if match else ("1", part)
    if not profile:
        raise _bad_list(text, "an item of the list is empty")
    # Python refuses to read numbers of thousands of digits, so the length is checked first.
    if len(count) > 9:
        raise _bad_list(text, f'"{count[:9]}…" is too large a number of GPUs')
    if int(count) == 0:
        raise _bad_list(text, f'"{part}" asks for zero GPUs')
    return Item(int(count), profile)


def _load(item: Item) -> Profile:
    if item.is_path:
        return load_file(Path(item.profile).expanduser())
    known = known_profiles()
    if item.profile not in known:
        raise BadInputError(
            f'there is no GPU profile called "{item.profile}"',
            why=f"the known profiles are {', '.join(known)}",
            do="choose one of them, or give the path of a profile file, such as ./my.toml",
        )
    return load_known(item.profile)


def _bad_list(text: str, why: str) -> BadInputError:
    return BadInputError(
        f'"{text}" is not a list of GPUs',
        why=why,
        do="write it like t4, 2xt4, 2xt4,1xa100-40g or 2x./my.toml",
    )
