"""nvshare lets several programs share the GPUs of a machine, unchanged."""

__version__: str


def __getattr__(name: str) -> str:
    """Look the version up on demand: `nvshare run` starts a fifth sooner without it."""
    if name != "__version__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib.metadata import version

    globals()[name] = found = version("nvshare")
    return found
