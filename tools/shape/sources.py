"""The modules of a package as syntax trees: their lines, and how they import each other."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path


@dataclass(frozen=True)
class Module:
    """A module: its dotted name, its file, and its syntax tree."""

    name: str
    path: Path

    @cached_property
    def text(self) -> str:
        """What the file says."""
        return self.path.read_text(encoding="utf-8")

    @cached_property
    def tree(self) -> ast.Module:
        """The syntax tree."""
        return ast.parse(self.text)


@dataclass(frozen=True)
class Package:
    """All modules of a package, and of the packages in it."""

    name: str
    modules: dict[str, Module]

    @classmethod
    def read(cls, sources: Path, name: str) -> "Package":
        """Find the modules of a package below a folder of sources."""
        paths = sorted((sources / name.replace(".", "/")).rglob("*.py"))
        named = {_dotted(path.relative_to(sources)): path for path in paths}
        return cls(name, {one: Module(one, path) for one, path in named.items()})

    @property
    def lines(self) -> int:
        """How many lines there are."""
        return sum(len(module.text.splitlines()) for module in self.modules.values())

    @property
    def flat(self) -> list[str]:
        """The modules that are in no folder of the package."""
        names = (module.name for module in self.modules.values() if module.path.stem != "__init__")
        return [name for name in names if name.rpartition(".")[0] == self.name]

    @cached_property
    def imports(self) -> dict[str, set[str]]:
        """Which modules each one imports, wherever it does: also only for types."""
        return {name: set(self._imported(module)) for name, module in self.modules.items()}

    @property
    def largest_cycle(self) -> list[str]:
        """Return the most modules that all import each other, through others or not."""
        return max((sorted(one) for one in _circles(self.imports)), key=len, default=[])

    def _imported(self, module: Module) -> Iterator[str]:
        for node in ast.walk(module.tree):
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                names = list(self._names(module, node))
            else:
                continue
            yield from (name for name in names if name in self.modules and name != module.name)

    def _names(self, module: Module, node: ast.ImportFrom) -> Iterator[str]:
        base = node.module or ""
        if node.level:
            is_package = module.path.stem == "__init__"
            parents = module.name.split(".")
            kept = parents[: len(parents) - node.level + is_package]
            base = ".".join([*kept, *filter(None, [base])])
        for alias in node.names:
            # What is imported may be a module itself. If not, it is in the module that it is from.
            inner = f"{base}.{alias.name}"
            yield inner if inner in self.modules else base


def border(linter: str, package: str) -> set[str]:
    """Return the modules of a package that others may import, by the text of `.importlinter`."""
    return set(re.findall(rf"-> ({re.escape(package)}\.\w+)$", linter, re.MULTILINE))


def _dotted(path: Path) -> str:
    return ".".join(path.with_suffix("").parts).removesuffix(".__init__")


def _circles(graph: dict[str, set[str]]) -> Iterator[set[str]]:
    """Return groups of two and more that can all be reached from each other."""
    reached = {name: _reachable(graph, name) for name in graph}
    for name, others in reached.items():
        if name in others:
            yield {other for other in others if name in reached[other]}


def _reachable(graph: dict[str, set[str]], start: str) -> set[str]:
    seen: set[str] = set()
    rest = [*graph[start]]
    while rest:
        name = rest.pop()
        if name not in seen:
            seen.add(name)
            rest += graph[name]
    return seen
