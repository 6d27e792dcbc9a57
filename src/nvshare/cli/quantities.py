"""An amount of memory as an option."""

from typing import Any

import click

from nvshare.errors import BadInputError
from nvshare.quantity import parse_quantity


class Quantity(click.ParamType[int]):
    """An amount of memory, such as 4Gi."""

    name = "quantity"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Read it; a default may be a number already."""
        if isinstance(value, int):
            return value
        try:
            return parse_quantity(value)
        except BadInputError as error:
            self.fail(f"{error.in_a_line}.", param, ctx)
