"""What looking costs the daemon: that it is measured at all. How much it is, is not for a test."""

from nvshare.cli.lab.bench import telemetry


def test_a_daemon_with_a_few_clients_is_looked_at_in_every_way() -> None:
    (line,) = telemetry.measure(clients=3, rounds=1)
    assert line["clients"] == 3
    assert line["nobody_percent"] > 0
    assert {"metrics_percent", "status_percent", "both_percent"} <= line.keys()
    # Each of them is in it, with some sixty lines.
    assert line["metrics_bytes"] > 3 * 60 * 50
