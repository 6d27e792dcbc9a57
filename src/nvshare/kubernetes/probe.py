"""Whether a daemon or a device plugin is healthy, by its socket: for the probes of kubelet.

    python -m nvshare.kubernetes.probe /run/nvshare-control/control.sock

Imports almost nothing: it is started every few seconds on every node.
"""

import socket
import sys

_PATIENCE = 5.0
_REQUEST = b"GET /v1/health HTTP/1.0\r\nHost: localhost\r\n\r\n"


def is_well(path: str) -> bool:
    """Whether the process that listens there answers that it is healthy."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as sock:
        sock.settimeout(_PATIENCE)
        sock.connect(path)
        sock.sendall(_REQUEST)
        status = sock.recv(64).split(b" ")
    return len(status) > 1 and status[1] == b"200"


def main() -> int:
    """Ask; exit with 1 if it is not healthy."""
    (path,) = sys.argv[1:]
    try:
        if is_well(path):
            return 0
        print(f"{path} answers, but reports a problem", file=sys.stderr)
    except OSError as error:
        print(f"{path} does not answer: {error}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
