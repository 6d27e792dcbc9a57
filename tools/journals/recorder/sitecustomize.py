"""Has every Python below this one write down what its cores are told, and what they order.

Python imports a module of this name by itself, if its folder is on the path. It waits for the core
to be imported, and wraps it. It knows nothing of the core but events, effects and ``handle``.
"""

import importlib.abc
import importlib.util
import json
import os
import sys
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from functools import wraps
from importlib.machinery import ModuleSpec
from io import TextIOBase
from itertools import count
from pathlib import Path
from types import ModuleType
from typing import Any

FOLDER = "NVSHARE_JOURNALS"
CORE = "nvshare.core.core"


def as_json(value: Any) -> Any:
    """Return a value in the form that a journal has. Fields with their default are left out."""
    if is_dataclass(value) and not isinstance(value, type):
        told = {field.name: (getattr(value, field.name), default(field)) for field in fields(value)}
        return {name: as_json(one) for name, (one, usual) in told.items() if one != usual}
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, tuple | list):
        return [as_json(item) for item in value]
    if isinstance(value, dict):
        return {as_json(key): as_json(item) for key, item in value.items()}
    return value


def default(field: Any) -> Any:
    """Return a field's default value."""
    return field.default if field.default_factory is MISSING else field.default_factory()


def tagged(fact: Any) -> dict[str, Any]:
    """Return an event or an effect with its name."""
    return {"type": type(fact).__name__, **as_json(fact)}


def record(module: ModuleType, folder: Path) -> None:
    """Wrap the class of the cores."""
    core, numbers = module.Core, count()
    begin, handle = core.__init__, core.handle
    # A process that forks goes on in a file of its own.
    files: dict[int, TextIOBase] = {}

    def file() -> TextIOBase:
        process = os.getpid()
        if process not in files:
            path = folder / f"{process}-{len(list(folder.iterdir()))}.journals"
            files[process] = path.open("w", encoding="utf-8", buffering=1)
        return files[process]

    @wraps(begin)
    def begin_recorded(self: Any, snapshot: Any = None, **options: Any) -> None:
        # A state has another form in other versions. A replay is told its events only.
        self.journals_number = None if snapshot and snapshot.devices else next(numbers)
        begin(self, snapshot, **options)

    @wraps(handle)
    def handle_recorded(self: Any, event: Any) -> Any:
        effects = handle(self, event)
        if self.journals_number is not None:
            entry = {"event": tagged(event), "effects": [tagged(effect) for effect in effects]}
            file().write(f"{self.journals_number}\t{json.dumps(entry)}\n")
        return effects

    core.__init__, core.handle = begin_recorded, handle_recorded


class Watch(importlib.abc.MetaPathFinder):
    """Finds the core as others would, and wraps it when it has been loaded."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def find_spec(self, name: str, *_: object) -> ModuleSpec | None:
        """Find the core, once."""
        if name != CORE:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is None or spec.loader is None:
            return None
        load = spec.loader.exec_module

        def load_and_record(module: ModuleType) -> None:
            load(module)
            record(module, self._folder)

        spec.loader.exec_module = load_and_record  # type: ignore[method-assign]
        return spec


if folder := os.environ.get(FOLDER):
    sys.meta_path.insert(0, Watch(Path(folder)))
