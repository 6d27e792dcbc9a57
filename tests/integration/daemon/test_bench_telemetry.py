"""The benchmark of telemetry runs and gives figures. The figures themselves are not tested."""

from nvshare.cli.lab.bench import telemetry


def test_a_daemon_with_a_few_clients_is_looked_at_in_every_way() -> None:
    (line,) = telemetry.measure(clients=3, rounds=1)
    assert line["clients"] == 3
    assert line["idle_percent"] > 0
    assert {"metrics_percent", "status_percent", "both_percent"} <= line.keys()
    # Each client is in it, with some sixty lines.
    assert line["metrics_bytes"] > 3 * 60 * 50
