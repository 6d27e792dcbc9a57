"""``nvshare emulate profiles``: list the GPU models that come with nvshare."""

import click
from rich.console import Console
from rich.table import Table

from nvshare.emulator.profile import known_profiles, load_known


@click.command()
def profiles() -> None:
    """List the known GPU profiles."""
    table = Table(box=None)
    for heading in ("profile", "name"):
        table.add_column(heading)
    for heading in ("compute", "SMs", "MiB", "GB/s", "bus GB/s"):
        table.add_column(heading, justify="right")
    for name in known_profiles():
        profile = load_known(name)
        table.add_row(
            name,
            profile.gpu.name,
            profile.gpu.compute_capability,
            str(profile.gpu.multiprocessors),
            f"{profile.memory.total_mib:g}",
            f"{profile.memory.bandwidth_gb_per_s:g}",
            f"{profile.bus.host_to_device_gb_per_s:g}",
        )
    Console().print(table)
