"""The one error of the tables."""


class TableError(Exception):
    """A table is invalid."""
