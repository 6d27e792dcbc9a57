from pathlib import Path

import pytest

from nvshare.errors import NvshareError
from nvshare.lab.emulator import libraries


def test_the_folder_has_all_libraries(library_folder: Path) -> None:
    assert libraries.library_folder() == library_folder


def test_a_missing_library_is_named(library_folder: Path) -> None:
    (library_folder / libraries.NVML).unlink()
    with pytest.raises(NvshareError, match=libraries.NVML) as caught:
        libraries.library_folder()
    assert str(library_folder) in str(caught.value.why)
