"""``nvshare demo``: four jobs that do not fit, with nvshare and without, side by side. No GPU."""

from nvshare.cli.lab.demo.command import demo

__all__ = ["demo"]
