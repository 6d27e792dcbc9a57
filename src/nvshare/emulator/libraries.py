"""Where the emulated GPU's libraries are installed. Loads nothing."""

from importlib.resources import files
from pathlib import Path

from nvshare.errors import NvshareError

DRIVER = "libcuda.so.1"
NVML = "libnvidia-ml.so.1"


def library_folder() -> Path:
    """Return the folder with libcuda.so.1 and libnvidia-ml.so.1.

    Asked of importlib.resources and not derived from ``__file__``: in an editable install the
    Python files stay in the source tree while the libraries are elsewhere.
    """
    folder = Path(str(files("nvshare") / "lib" / "emulator"))
    for name in (DRIVER, NVML):
        if not (folder / name).is_file():
            raise NvshareError(
                f"{name} of the emulated GPU is not installed",
                why=f"it was looked for in {folder}",
                do="run `make build` in the source tree, or reinstall the nvshare package",
            )
    return folder
