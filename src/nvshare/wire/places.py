"""Where programs look for the daemon. Apart from the frames, which take long to import.

Generated from protocol/frames.toml by ``python -m protocol.generate``: do not edit.
"""

SOCKET_NAME = "nvshare.sock"
MACHINE_FOLDER = "/run/nvshare"
