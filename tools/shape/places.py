"""Places of the code where an order is made, or where a concept is asked about."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from tools.shape.sources import Module, Package


@dataclass(frozen=True)
class Concept:
    """A concept: the attributes that tell it, and the modules where it is at home.

    A home ends with a dot if it is a package.
    """

    name: str
    attributes: frozenset[str]
    homes: tuple[str, ...]

    def is_home(self, module: str) -> bool:
        """Whether a module is one of the homes, or in one."""
        return any(home in (module, module + ".") or _is_in(module, home) for home in self.homes)


def _is_in(module: str, home: str) -> bool:
    return home.endswith(".") and module.startswith(home)


def asks(package: Package, concept: Concept) -> list[str]:
    """Return the modules that read an attribute of a concept away from its homes, once per read.

    What an object reads of itself is no question.
    """
    return [
        module.name
        for module in package.modules.values()
        if not concept.is_home(module.name)
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Attribute)
        and isinstance(node.ctx, ast.Load)
        and node.attr in concept.attributes
        and ast.unparse(node.value) != "self"
    ]


def builds(package: Package, effect: str, mark: str = "") -> list[str]:
    """Return the places that make an effect, as `module:line`. ``mark``: with this argument."""
    return [
        f"{module.name}:{call.lineno}"
        for module in package.modules.values()
        for call in _calls(module, effect)
        if not mark or mark in _arguments(call)
    ]


def _calls(module: Module, name: str) -> Iterator[ast.Call]:
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] == name:
            yield node


def _arguments(call: ast.Call) -> set[str]:
    return {ast.unparse(one) for one in [*call.args, *(word.value for word in call.keywords)]}


def capped_loops(package: Package) -> list[str]:
    """Return the loops that repeat something up to a number of times, as `module:line`."""
    return [
        f"{module.name}:{node.lineno}"
        for module in package.modules.values()
        for node in ast.walk(module.tree)
        if isinstance(node, ast.For)
        and isinstance(node.target, ast.Name)
        and node.target.id == "_"
        and ast.unparse(node.iter).startswith("range(")
    ]
