import json
import re
from pathlib import Path
from typing import Any

import pytest

from nvshare.daemon.config import Config, Sources, find_file
from nvshare.errors import BadInputError
from nvshare.settings import DeviceSettings
from nvshare.telemetry.ceilings import Ceiling


def load(path: Path, text: str = "", environ: dict[str, str] | None = None, **flags: Any) -> Config:
    file = path / "config.toml"
    file.write_text(text)
    return Sources(file, environ or {}, flags).load()


def test_nothing_at_all_is_a_configuration() -> None:
    assert Sources(None, {}, {}).load() == Config()


def test_each_source_goes_over_the_former(tmp_path: Path) -> None:
    text = 'log = "debug"\nlog_format = "json"\nsocket_dir = "/a"\n[gpu]\nmode = "serial"\n'
    environ = {"NVSHARE_LOG": "warn", "NVSHARE_SOCKET_DIR": "/b", "NVSHARE_TURN": "12"}
    config = load(tmp_path, text, environ, socket_dir="/c", gpu={"reserve": "1Gi"})
    assert (config.log_format, config.log, config.socket_dir) == ("json", "warn", "/c")
    assert (config.gpu.mode, config.gpu.turn_seconds, config.gpu.reserve) == ("serial", 12, 1 << 30)


def test_a_gpu_has_its_own_settings_by_index_and_by_uuid(tmp_path: Path) -> None:
    text = """
        [gpu]
        idle_park = 5
        [gpus.1]
        mode = "serial"
        [gpus.GPU-abc]
        mode = "off"
    """
    config = load(tmp_path, text, {"NVSHARE_MODE": "concurrent"})
    assert config.settings_of(0, "GPU-x").mode == "concurrent"
    assert config.settings_of(1, "GPU-y").mode == "serial"
    assert config.settings_of(1, "GPU-abc").mode == "off"
    assert config.settings_of(2, "GPU-abc").idle_park == 5


def test_an_empty_variable_is_not_set(tmp_path: Path) -> None:
    assert load(tmp_path, 'log = "debug"', {"NVSHARE_LOG": ""}).log == "debug"


@pytest.mark.parametrize(
    ("text", "environ", "complaint"),
    [
        ("colour = 1", {}, "config.toml: colour: there is no such field"),
        ("settle = 2", {}, "config.toml: settle is called reconnect_seconds now"),
        ('[gpu]\nmode = "up"', {}, "config.toml: gpu.mode: must be 'auto'"),
        ("[gpu]\nturn_min = 5", {}, "config.toml: gpu: turn_min is not a setting any more: turns"),
        ("[gpus.0]\nturn_min = 5", {}, "gpus.0.turn_min is not a setting any more: turns"),
        ('[gpus.0]\nmode = "up"', {}, "gpus.0.mode: must be 'auto'"),
        ('[gpu]\nallocation = "mixed"', {}, "config.toml: gpu.allocation: must be 'managed'"),
        ('host_memory = "4GB"', {}, 'config.toml: host_memory: "4GB" is not an amount of memory'),
        ("max_clients = 0", {}, "config.toml: max_clients: must be greater than 0"),
        ("socket_mode = 432", {}, 'config.toml: socket_mode: must be text such as "0660"'),
        ('socket_mode = "rw"', {}, 'socket_mode: "rw" is not a file mode'),
        ('socket_group = "nosuch"', {}, 'socket_group: there is no group "nosuch"'),
        ('metrics_address = "9464"', {}, 'metrics_address: "9464" is not an address such as'),
        ("", {"NVSHARE_MODE": "up"}, "environment: gpu.mode: must be 'auto'"),
        ("", {"NVSHARE_RESERVE": "4GB"}, 'environment: gpu.reserve: "4GB" is not an amount'),
    ],
)
def test_an_error_names_source_and_field(
    tmp_path: Path, text: str, environ: dict[str, str], complaint: str
) -> None:
    with pytest.raises(BadInputError) as caught:
        load(tmp_path, text, environ)
    assert complaint in caught.value.what


def test_metrics_are_on_no_port_unless_somebody_names_one(tmp_path: Path) -> None:
    assert load(tmp_path).metrics_address == ""
    assert load(tmp_path, 'metrics_address = "[::1]:9464"').metrics_address == "[::1]:9464"
    assert load(tmp_path, 'metrics_address = ":1"', metrics_address="").metrics_address == ""


def test_the_cluster_is_off_unless_somebody_names_the_node(tmp_path: Path) -> None:
    assert load(tmp_path, "", {}).cluster.node == ""
    assert load(tmp_path, "", {"NVSHARE_NODE_NAME": "worker-1"}).cluster.node == "worker-1"
    assert load(tmp_path, "[cluster]\nhami = true", {}).cluster.hami


CEILINGS = """
[cluster.ceiling]
memory_limit = "8Gi"
priority = "normal"
[cluster.ceilings.research]
memory_limit = "none"
"""


def test_ceilings_are_of_the_node_and_of_namespaces(tmp_path: Path) -> None:
    ceilings = load(tmp_path, CEILINGS, {}).cluster.all_ceilings()
    assert ceilings.of("other") == Ceiling(memory_limit=8 << 30, priority="normal")
    assert ceilings.of("research") == Ceiling(priority="normal")


def test_a_slip_of_the_pen_in_a_ceiling_is_found(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match=r"cluster\.ceilings\.research\.memory"):
        load(tmp_path, '[cluster.ceilings.research]\nmemory = "8Gi"', {})


def test_a_file_that_is_no_toml(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="is not TOML"):
        load(tmp_path, "mode =")


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="cannot be read"):
        Sources(tmp_path / "none", {}, {}).load()


def test_where_the_file_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.getuid", lambda: 1000)
    home = {"XDG_CONFIG_HOME": str(tmp_path)}
    assert find_file(None, home) is None
    usual = tmp_path / "nvshare" / "config.toml"
    usual.parent.mkdir()
    usual.touch()
    assert find_file(None, home) == usual
    assert find_file(None, {**home, "NVSHARE_CONFIG": "/x"}) == Path("/x")
    assert find_file("/y", {"NVSHARE_CONFIG": "/x"}) == Path("/y")


def test_the_manual_has_every_field() -> None:
    manual = (Path(__file__).parents[3] / "docs" / "daemon.md").read_text(encoding="utf-8")
    fields = {*Config.model_fields, *DeviceSettings.model_fields} - {"gpu", "gpus", "lab"}
    rows = [line.split("|")[1] for line in manual.splitlines() if line.startswith("| `")]
    assert fields <= {name for row in rows for name in re.findall(r"`(\w+)`", row)}


def test_every_value_can_be_read_back() -> None:
    shown = json.loads(Config().model_dump_json())
    assert set(shown) == set(Config.model_fields)


@pytest.mark.parametrize(
    ("variable", "field"),
    [
        ("NVSHARE_RESERVE", "gpu.reserve"),
        ("NVSHARE_TURN", "gpu.turn_seconds"),
        ("NVSHARE_SOCKET_MODE", "socket_mode"),
        ("NVSHARE_SOCKET_GROUP", "socket_group"),
    ],
)
def test_bytes_that_are_no_text_are_an_error_for_a_person(variable: str, field: str) -> None:
    # Python represents bytes of the environment that are not UTF-8 like this.
    with pytest.raises(BadInputError, match=f"environment: {field}: ") as caught:
        Sources(None, {variable: "4\udcffGi"}, {}).load()
    assert caught.value.what.isprintable()
