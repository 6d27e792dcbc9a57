"""Parses foreign JSON and TOML into trees. Knows no fields.

Any flaw of a text is the same error, including nesting too deep for Python's own parsers, which
raise RecursionError.
"""

import json
import sys
from typing import Any

from nvshare.errors import BadInputError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


class ParseError(ValueError):
    """The text is not valid."""


def parse_toml(text: str) -> dict[str, Any]:
    """Return the tables of a TOML text."""
    try:
        return tomllib.loads(text)
    except RecursionError as error:
        raise ParseError("it is nested too deeply") from error
    except ValueError as error:
        raise ParseError(str(error)) from error


def parse_json(data: "bytes | str") -> Any:
    """Return the value of a JSON text."""
    try:
        return json.loads(data)
    except RecursionError as error:
        raise ParseError("it is nested too deeply") from error
    except ValueError as error:
        raise ParseError(str(error)) from error


def parse_body(data: bytes) -> dict[str, Any]:
    """Return the JSON object in the body of a request; otherwise raise an error for users."""
    try:
        body = parse_json(data)
    except ParseError as error:
        raise BadInputError("the body is not JSON", why=str(error)) from error
    if not isinstance(body, dict):
        raise BadInputError("the body is not a JSON object")
    return body
