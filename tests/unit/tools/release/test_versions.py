from pathlib import Path

import pytest

from tools.release import versions
from tools.release.tree import ROOT, ReleaseError, version


def test_every_place_says_the_version_of_pyproject_toml() -> None:
    versions.check_versions()


@pytest.mark.parametrize("name", versions.PLACES)
def test_another_version_in_one_place_is_noticed(name: str, tmp_path: Path) -> None:
    for place in versions.PLACES:
        copy = tmp_path / place
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text((ROOT / place).read_text())
    changed = (tmp_path / name).read_text().replace(version(), "9.9.9")
    (tmp_path / name).write_text(changed)
    with pytest.raises(ReleaseError, match=rf"but {name} says 9\.9\.9$"):
        versions.check_versions(tmp_path)
