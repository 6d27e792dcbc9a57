"""The one error of the tables."""


class TableError(Exception):
    """A table says something that cannot be."""
