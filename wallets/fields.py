"""Model fields for amounts."""

from decimal import Decimal
from functools import cached_property
from typing import Any

from django.core.exceptions import ValidationError
from django.db import models


class WholeNumberField(models.DecimalField):  # type: ignore[type-arg]
    """A whole number of up to 78 digits: NUMERIC(78,0) in Postgres, `int` in Python.

    78 digits hold every uint256 (EIP-20, EIP-712), so an amount on a chain always fits.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs |= {"max_digits": 78, "decimal_places": 0}
        super().__init__(*args, **kwargs)

    def deconstruct(self) -> Any:
        """Leave the fixed digits out of migrations."""
        name, path, args, kwargs = super().deconstruct()
        del kwargs["max_digits"], kwargs["decimal_places"]
        return name, path, args, kwargs

    @cached_property
    def validators(self) -> list[Any]:
        """Not the decimal's own, which reads digits off a Decimal; Postgres counts them anyway."""
        return super(models.DecimalField, self).validators

    def from_db_value(self, value: Decimal | None, *_context: Any) -> int | None:
        """Read a whole number."""
        return None if value is None else int(value)

    def to_python(self, value: Any) -> int | None:
        """Accept what is a whole number; anything else is an error, never rounded."""
        number = super().to_python(value)
        if number is not None and number != int(number):
            raise ValidationError("This is not a whole number.", code="invalid")
        return None if number is None else int(number)
