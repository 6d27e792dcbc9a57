"""Pydantic's errors in words for users. Knows no particular model."""

from pydantic import ValidationError
from pydantic_core import ErrorDetails


def plain(text: str) -> str:
    """Return a text that can be printed, for the message of a validator.

    A value may contain bytes that are no text, as surrogates; pydantic refuses to repeat them.
    """
    return text.encode("utf-8", "replace").decode()


def describe(error: ValidationError) -> list[str]:
    """Return one line for each field that is wrong: its name and what is wrong with it."""
    return [_describe(detail) for detail in error.errors()]


def _describe(detail: ErrorDetails) -> str:
    field = ".".join(str(part) for part in detail["loc"] if not _is_variant(part))
    match detail["type"]:
        case "missing":
            problem = "is missing"
        case "extra_forbidden":
            problem = "there is no such field"
        case "value_error":
            problem = str(detail["ctx"]["error"])
        case _:
            problem = detail["msg"].replace("Input should", "must", 1)
    return f"{field}: {problem}" if field else problem


def _is_variant(part: "int | str") -> bool:
    """Whether this part of a place names a type of a union, which no user has written."""
    return isinstance(part, str) and ("[" in part or part.startswith(("function-", "constrained-")))
