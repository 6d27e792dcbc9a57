import asyncio
from pathlib import Path

import pytest

from nvshare.kubernetes.folder import FolderWatch


def test_what_appears_and_what_goes_is_noticed(tmp_path: Path) -> None:
    async def play() -> None:
        watch = FolderWatch(tmp_path)
        try:
            (tmp_path / "a").touch()
            await asyncio.wait_for(watch.wait(), 10)
            (tmp_path / "a").unlink()
            await asyncio.wait_for(watch.wait(), 10)
            with pytest.raises(asyncio.TimeoutError):
                await asyncio.wait_for(watch.wait(), 0.01)
        finally:
            watch.close()

    asyncio.run(play())


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    async def play() -> None:
        with pytest.raises(FileNotFoundError):
            FolderWatch(tmp_path / "absent")

    asyncio.run(play())
