from pathlib import Path

import pytest

from nvshare.daemon.host import spare_memory
from nvshare.emulator.conf import Settings, write_conf
from nvshare.emulator.profile import load_known

GIB = 1 << 30


def test_four_fifths_of_what_the_kernel_says_is_available(tmp_path: Path) -> None:
    meminfo = tmp_path / "meminfo"
    meminfo.write_text("MemTotal:  9000 kB\nMemAvailable:    5000 kB\nCached:  1000 kB\n")
    assert spare_memory({}, meminfo) == 4000 * 1024
    meminfo.write_text("MemTotal:  9000 kB\n")
    with pytest.raises(ValueError, match="MemAvailable"):
        spare_memory({}, meminfo)


def test_this_machine_has_some() -> None:
    assert spare_memory({}) > 0


def test_the_host_of_emulated_gpus_is_emulated(tmp_path: Path) -> None:
    conf = write_conf("lab", Settings(host_bytes=10 * GIB), [load_known("t4")])
    (tmp_path / "node.conf").write_text(conf)
    assert spare_memory({"NVSHARE_EMULATOR_NODE": str(tmp_path)}) == 8 * GIB
