"""Reports the daemon's state to the service manager: the datagram protocol of sd_notify(3)."""

import os
import socket
import time


def notify(*lines: str) -> bool:
    """Send assignments such as ``READY=1``; False if no service manager listens."""
    address = os.environ.get("NOTIFY_SOCKET")
    if not address:
        return False
    if address.startswith("@"):
        address = "\0" + address[1:]
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as sock:
        try:
            sock.sendto("\n".join(lines).encode(), address)
        except OSError:
            # The service manager is gone.
            return False
    return True


def ready(status: str) -> None:
    """Report that start-up or a reload is complete."""
    notify("READY=1", f"STATUS={status}")


def reloading() -> None:
    """Report that a reload has begun. The manager compares the time with that of its request."""
    notify("RELOADING=1", f"MONOTONIC_USEC={time.monotonic_ns() // 1000}")


def stopping() -> None:
    """Report that the daemon is stopping."""
    notify("STOPPING=1")
