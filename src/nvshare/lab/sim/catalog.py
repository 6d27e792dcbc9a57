"""The scenarios that come with nvshare: files, and a few that code generates."""

from collections.abc import Callable
from importlib.resources import files
from pathlib import Path

from nvshare.errors import BadInputError
from nvshare.lab.sim.cluster import cluster_day
from nvshare.lab.sim.scenario import Scenario, load_file, parse_scenario

# Made anew for each seed.
GENERATED: dict[str, Callable[[int], Scenario]] = {"cluster-day": cluster_day}


def known_scenarios() -> list[str]:
    """Return the names of all scenarios that need no path, sorted."""
    folder = files("nvshare.lab.sim") / "scenarios"
    found = [e.name.removesuffix(".toml") for e in folder.iterdir() if e.name.endswith(".toml")]
    return sorted([*found, *GENERATED])


def load_known(name: str, seed: int = 0) -> Scenario:
    """Load a scenario that comes with nvshare; the name must be one of known_scenarios()."""
    if name in GENERATED:
        return GENERATED[name](seed)
    resource = files("nvshare.lab.sim") / "scenarios" / f"{name}.toml"
    return parse_scenario(resource.read_text(encoding="utf-8"), source=f"{name}.toml")


def find(text: str, seed: int = 0) -> Scenario:
    """Load a scenario by name, or from a file of the user's own."""
    if "/" in text or text.endswith(".toml"):
        return load_file(Path(text).expanduser())
    known = {name.lower(): name for name in known_scenarios()}
    if text.lower() not in known:
        raise BadInputError(
            f'there is no scenario called "{text}"',
            why=f"the known scenarios are {', '.join(known.values())}",
            do="choose one of them, or give the path of a scenario file, such as ./my.toml",
        )
    return load_known(known[text.lower()], seed)
