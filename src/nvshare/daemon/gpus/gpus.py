"""The GPUs that this daemon shares, and their settings. Asks no driver; see survey.py."""

from collections.abc import Collection

from nvshare.daemon.gpus.survey import Gpu
from nvshare.settings import DeviceSettings


class Gpus:
    """The shared GPUs, in the order in which they were added."""

    def __init__(self) -> None:
        self._by_uuid: dict[str, Gpu] = {}
        self._by_key: dict[bytes, Gpu] = {}
        # By UUID.
        self.settings: dict[str, DeviceSettings] = {}

    def add(self, gpu: Gpu, settings: DeviceSettings) -> None:
        """Add a GPU."""
        self._by_uuid[gpu.uuid] = self._by_key[gpu.key] = gpu
        self.settings[gpu.uuid] = settings

    def all(self) -> Collection[Gpu]:
        """All shared GPUs."""
        return self._by_uuid.values()

    def __contains__(self, uuid: str) -> bool:
        return uuid in self._by_uuid

    def of_key(self, key: bytes) -> Gpu | None:
        """Return the GPU whose UUID is in a frame."""
        return self._by_key.get(key)

    def find(self, name: str) -> list[Gpu]:
        """Return the GPUs that a name means: an index, a UUID, the beginning of one, or "all"."""
        return [
            gpu
            for gpu in self.all()
            if name in ("all", str(gpu.index)) or (len(name) >= 8 and gpu.uuid.startswith(name))
        ]
