"""``nvshare bench``: measurements, one per file, printed with the machine they were taken on."""

from nvshare.cli.lab.bench import (
    busy,
    gangs,
    handover,
    latency,
    launch,
    overhead,
    restart,
    scenario,
    scenarios,
    shares,
    simulator,
    swap,
    telemetry,
)
from nvshare.cli.lab.bench.group import bench

bench.add_command(latency.latency)
bench.add_command(launch.launch)
bench.add_command(overhead.overhead)
bench.add_command(handover.handover)
bench.add_command(gangs.gangs)
bench.add_command(restart.restart)
bench.add_command(scenario.scenario)
bench.add_command(scenarios.scenarios)
bench.add_command(shares.shares)
bench.add_command(simulator.simulator)
bench.add_command(swap.swap)
bench.add_command(busy.busy)
bench.add_command(telemetry.telemetry)

__all__ = ["bench"]
