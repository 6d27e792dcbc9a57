"""What is recorded: commands that tell cores many different histories."""

SIMULATED = "import sys; from nvshare.cli.main import main; sys.exit(main())"
SCENARIOS = """
from nvshare.cli.lab.trial.play import on_simulator
from nvshare.lab.sim.catalog import known_scenarios, load_known
for name in known_scenarios():
    if name != "cluster-day":
        on_simulator(load_known(name), name)
"""
TESTED = ("-m", "pytest", "-q", "-p", "no:cacheprovider")

# The arguments of the checkout's own Python, by name. What needs real processes comes last.
COURSES: dict[str, tuple[str, ...]] = {
    "scenarios": ("-c", SCENARIOS),
    "shares": ("-c", SIMULATED, "bench", "shares", "--on", "simulator", "--seconds", "20"),
    "latency": ("-c", SIMULATED, "bench", "latency", "--on", "simulator", "--seconds", "120"),
    "mixes": ("-c", SIMULATED, "bench", "latency", "--mixes", "10", "--jobs", "1"),
    "replay": (*TESTED, "tests/replay"),
    "property": (*TESTED, "tests/property"),
    "core": (*TESTED, "tests/unit/core", "tests/unit/lab/sim"),
    "sharing": (*TESTED, "tests/integration/sharing"),
    "chaos": ("-m", "tests.chaos.run", "--minutes", "2", "--small", "--seed", "2901"),
}
