from pathlib import Path

from nvshare.cli.lab.trial.stage import config_text
from nvshare.daemon.config import Sources
from nvshare.settings import DeviceSettings


def test_the_daemon_understands_what_it_is_told(tmp_path: Path) -> None:
    several = [DeviceSettings(), DeviceSettings(mode="serial", turn_seconds=10, reserve="1Gi")]
    file = tmp_path / "daemon.toml"
    file.write_text(config_text(several))
    config = Sources(file, {}, {}).load()
    assert [config.settings_of(index, "GPU-x") for index in (0, 1)] == several
