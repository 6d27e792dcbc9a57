"""``nvshare bench``: measurements, one per file, printed with what they were taken on."""

from nvshare.cli.bench import launch
from nvshare.cli.bench.group import bench

bench.add_command(launch.launch)

__all__ = ["bench"]
