import re
from pathlib import Path

import pytest

from nvshare.lab.emulator.conf import Settings, format_speed, gpu_uuid, read_conf, write_conf
from nvshare.lab.emulator.gpus import MAX_GPUS
from nvshare.lab.emulator.profile import load_known

T4_CONF = """\
nvshare-emulator-node 1
name=lab
speed=100
data=off
host_bytes=68719476736
[gpu]
name=Tesla T4
uuid=GPU-3fdf7dcb-0228-504c-af0a-a3aa103251fa
pci_bus=1
compute_major=7
compute_minor=5
multiprocessors=40
cores_per_multiprocessor=64
clock_khz=1590000
memory_clock_khz=5001000
memory_bus_bits=256
l2_bytes=4194304
shared_per_block_optin=65536
shared_per_multiprocessor=65536
threads_per_multiprocessor=1024
blocks_per_multiprocessor=16
copy_engines=3
memory_bytes=16106127360
usable_bytes=15638134784
context_bytes=314572800
bandwidth=243000000000
h2d_bandwidth=12000000000
d2h_bandwidth=12000000000
peer_bandwidth=12000000000
duplex_permille=1800
pageable_bandwidth=6000000000
fault_bandwidth=717000000
fault_evict_bandwidth=1340000000
populate_bandwidth=7700000000
host_page_ns=60000
host_map_ns=60000
host_unmap_ns=15000
service_ns=1000
evict_ns=5000
handles_supported=1
handle_create_ns=190000
handle_create_block_ns=3000
handle_map_ns=1500
handle_access_ns=33000
handle_access_block_ns=3000
handle_unmap_ns=22000
handle_unmap_block_ns=4000
handle_release_ns=19000
handle_release_block_ns=4000
handle_reserve_ns=19000
host_register_ns=10000
host_lock_block_ns=820000
host_unlock_block_ns=39000
slice_ns=2000000
switch_ns=214000
kernel_floor_ns=2000
launch_ns=5000
context_create_ns=80000000
queue_depth=1024
pcie_generation=3
pcie_width=16
power_idle_mw=10000
power_limit_mw=70000
temperature_idle_c=35
temperature_busy_c=70
"""


def test_the_format_is_pinned() -> None:
    settings = Settings(speed=100, data="off", host_bytes=64 << 30)
    assert write_conf("lab", settings, [load_known("t4")]) == T4_CONF


def test_the_native_reader_knows_the_same_keys_and_limits() -> None:
    model = Path(__file__).parents[4] / "lab" / "emulator" / "model"
    numbers = re.findall(r"^ *NUMBER\((\w+)\)", (model / "profile.c").read_text(), re.MULTILINE)
    gpu = read_conf(T4_CONF).gpus[0]
    assert {*numbers, "name", "uuid"} == gpu.keys()
    header = (model / "profile.h").read_text()
    assert f"MAX_GPUS = {MAX_GPUS} " in header
    assert header.count("char name[64];") == 2


def test_what_is_written_is_read_back() -> None:
    profiles = [load_known("t4"), load_known("a100-40g")]
    conf = read_conf(write_conf("lab", Settings(), profiles))
    assert conf.node == {
        "name": "lab",
        "speed": "1",
        "data": "on",
        "host_bytes": str(256 << 30),
    }
    assert [gpu["name"] for gpu in conf.gpus] == ["Tesla T4", "NVIDIA A100-SXM4-40GB"]
    assert [gpu["pci_bus"] for gpu in conf.gpus] == ["1", "2"]
    assert conf.gpus[0].keys() == conf.gpus[1].keys()


def test_uuids_are_stable_and_differ() -> None:
    assert gpu_uuid("lab", 0) == gpu_uuid("lab", 0)
    assert len({gpu_uuid(node, index) for node in ("lab", "lab2") for index in (0, 1)}) == 4


@pytest.mark.parametrize(
    ("speed", "text"),
    [(1.0, "1"), (100.0, "100"), (0.5, "0.5"), (1e6, "1000000"), (0.001, "0.001")],
)
def test_a_speed_has_no_exponent(speed: float, text: str) -> None:
    assert format_speed(speed) == text


@pytest.mark.parametrize("text", ["", "something else\n", "nvshare-emulator-node 2\nname=x\n"])
def test_another_format_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="starts with"):
        read_conf(text)


def test_a_line_without_a_value_is_refused() -> None:
    with pytest.raises(ValueError, match="key=value"):
        read_conf("nvshare-emulator-node 1\nname\n")
