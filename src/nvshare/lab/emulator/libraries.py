"""The installed libraries of the emulated GPU: their paths. Loads nothing."""

from importlib.resources import files
from pathlib import Path

from nvshare.errors import NvshareError

DRIVER = "libcuda.so.1"
NVML = "libnvidia-ml.so.1"
# The CUDA runtime in its two major versions. A program asks for one of them, if for any.
RUNTIMES = ("libcudart.so.12", "libcudart.so.13")


def library_folder() -> Path:
    """Return the folder with the emulated driver, NVML and CUDA runtimes.

    From importlib.resources and not from ``__file__``: in an editable install the Python files
    stay in the source tree while the libraries are elsewhere.
    """
    folder = Path(str(files("nvshare") / "lib" / "emulator"))
    for name in (DRIVER, NVML, *RUNTIMES):
        if not (folder / name).is_file():
            raise NvshareError(
                f"{name} of the emulated GPU is not installed",
                why=f"it was looked for in {folder}",
                do="run `make build` in the source tree, or reinstall the nvshare package",
            )
    return folder
