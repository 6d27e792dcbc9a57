import pytest

from nvshare.probe.probes.machine import short_bus_id


@pytest.mark.parametrize("text", ["0000:3B:00.0", "00000000:3B:00.0", "0000:3b:00.0"])
def test_pci_addresses_are_written_in_one_way(text: str) -> None:
    assert short_bus_id(text) == "0000:3b:00.0"
