"""``nvshare emulate profiles``: list the GPU models that come with nvshare."""

import click
from rich.markup import escape

from nvshare.cli.json_output import show_json
from nvshare.cli.output import Column, Rows, show
from nvshare.lab.emulator.profile import Profile, known_profiles, load_known

_MIB = 1 << 20


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per profile.")
def profiles(as_json: bool) -> None:
    """List the known GPU profiles."""
    known = {name: load_known(name) for name in known_profiles()}
    if not as_json:
        show(_table(known))
        return
    for name, profile in known.items():
        show_json(
            {
                "profile": name,
                "name": profile.gpu.name,
                "compute_capability": profile.gpu.compute_capability,
                "multiprocessors": profile.gpu.multiprocessors,
                "memory": round(profile.memory.total_mib * _MIB),
                "memory_bandwidth": profile.memory.bandwidth_gb_per_s * 1e9,
                "bandwidth": profile.bus.host_to_device_gb_per_s * 1e9,
            }
        )


def _table(known: dict[str, Profile]) -> Rows:
    numbers = (("compute", 3), ("SMs", 4), ("MiB", 0), ("GB/s", 1), ("bus GB/s", 2))
    table = Rows("profile", "name", *(Column(heading, rank, "right") for heading, rank in numbers))
    for name, profile in known.items():
        table.add_row(
            name,
            escape(profile.gpu.name),
            profile.gpu.compute_capability,
            str(profile.gpu.multiprocessors),
            f"{profile.memory.total_mib:g}",
            f"{profile.memory.bandwidth_gb_per_s:g}",
            f"{profile.bus.host_to_device_gb_per_s:g}",
        )
    return table
