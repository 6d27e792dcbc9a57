"""nvshare lets several programs share the GPUs of a machine, unchanged."""

from importlib.metadata import version

__version__ = version("nvshare")
