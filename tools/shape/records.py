"""Records: classes with fields, the parts that they own, and which modules assign their fields."""

import ast
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from mypy import build
from mypy.modulefinder import BuildSource
from mypy.nodes import Expression, MypyFile
from mypy.options import Options
from mypy.traverser import NameAndMemberCollector
from mypy.types import Instance, Type, UnionType, get_proper_type

from tools.shape.sources import Module, Package


@dataclass(frozen=True)
class Record:
    """A class with its fields, the annotation of each, its methods, and what it inherits from."""

    name: str
    module: str
    bases: tuple[str, ...]
    fields: dict[str, str]
    # Without properties.
    methods: frozenset[str]
    # Its fields are assigned after it was made.
    changes: bool

    @property
    def full_name(self) -> str:
        """The name with the module."""
        return f"{self.module}.{self.name}"


def records(package: Package) -> list[Record]:
    """Return all classes of a package."""
    return [
        _record(module.name, node)
        for module in package.modules.values()
        for node in ast.walk(module.tree)
        if isinstance(node, ast.ClassDef)
    ]


def lineage(record: Record, known: list[Record]) -> list[Record]:
    """Return a class and those classes of the package that it inherits from."""
    above = [one for one in known if one.name in record.bases]
    return [record, *(one for base in above for one in lineage(base, known))]


def parts(record: Record, known: list[Record]) -> dict[str, Record]:
    """Return the fields that are records themselves and change, each with its record."""
    by_name = {one.name: one for one in known if one.changes and one.fields}
    types = {field: kind.strip("\"'") for field, kind in record.fields.items()}
    return {field: by_name[kind] for field, kind in types.items() if kind in by_name}


def writers(package: Package, names: set[str]) -> dict[str, set[str]]:
    """Return the modules that assign each attribute of these classes, as mypy sees their types.

    The names of classes are full, and so are those of attributes. What `setattr` assigns, and the
    constructor, are not seen.
    """
    options = Options()
    options.export_types = options.preserve_asts = True
    options.incremental = False
    options.follow_imports = "silent"
    options.ignore_missing_imports = options.namespace_packages = True
    options.explicit_package_bases = True
    found = [
        BuildSource(str(module.path), name, module.text) for name, module in package.modules.items()
    ]
    built = build.build(found, options)
    assigned: dict[str, set[str]] = defaultdict(set)
    for name, module in package.modules.items():
        tree = built.graph[name].tree
        if tree is not None:
            for full_name in _assigned(module, tree, built.types, names):
                assigned[full_name].add(name)
    return dict(assigned)


def _assigned(
    module: Module, tree: MypyFile, types: dict[Expression, Type], names: set[str]
) -> Iterator[str]:
    members = NameAndMemberCollector()
    tree.accept(members)
    at = {(one.line, one.column, one.name): one for one in members.member_exprs}
    for target in ast.walk(module.tree):
        if isinstance(target, ast.Attribute) and isinstance(target.ctx, ast.Store):
            seen = at.get((target.lineno, target.col_offset, target.attr))
            # What mypy holds to be unreachable has no type.
            owners = _classes(types.get(seen.expr)) if seen is not None else ()
            yield from (f"{owner}.{target.attr}" for owner in owners if owner in names)


def _classes(of: Type | None) -> Iterator[str]:
    """Return the classes that a value may have."""
    proper = get_proper_type(of)
    if isinstance(proper, Instance):
        yield proper.type.fullname
    elif isinstance(proper, UnionType):
        for one in proper.items:
            yield from _classes(one)


def _record(module: str, node: ast.ClassDef) -> Record:
    fields = {
        one.target.id: ast.unparse(one.annotation)
        for one in node.body
        if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name)
    }
    fields = {name: kind for name, kind in fields.items() if not kind.startswith("ClassVar")}
    functions = [one for one in node.body if isinstance(one, ast.FunctionDef)]
    methods = frozenset(one.name for one in functions if not _is_property(one))
    bases = tuple(ast.unparse(one).partition("[")[0] for one in node.bases)
    return Record(node.name, module, bases, fields, methods, _changes(node))


def _is_property(function: ast.FunctionDef) -> bool:
    return any(ast.unparse(one) == "property" for one in function.decorator_list)


def _changes(node: ast.ClassDef) -> bool:
    """Whether it is a dataclass that is not frozen."""
    said = [ast.unparse(one) for one in node.decorator_list]
    return any(one.startswith("dataclass") and "frozen=True" not in one for one in said)
