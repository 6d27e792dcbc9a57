"""A property that does not hold."""


class Violation(Exception):  # noqa: N818  (it is what was looked for)
    """A property does not hold. The text says which, for a person."""
