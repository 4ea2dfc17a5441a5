"""Flags that several commands have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, TypeAlias

from cyclopts import Parameter, Token


def _whole(_type: object, tokens: Sequence[Token]) -> int:
    """Read a whole number; 1.5 is none, and is not rounded to one."""
    text = tokens[0].value
    try:
        return int(text)
    except ValueError:
        raise ValueError(f"{text!r} is not a whole number") from None


#: A whole number or nothing.
Whole: TypeAlias = Annotated[int | None, Parameter(converter=_whole)]

#: A flag that is either there or not.
Switch: TypeAlias = Annotated[bool, Parameter(negative="", show_default=False)]

#: ``--json``.
Json: TypeAlias = Annotated[bool, Parameter(name="--json", negative="", show_default=False)]

#: ``--set path=value``, as often as wanted.
Settings: TypeAlias = Annotated[list[str] | None, Parameter(name="--set", negative="")]

#: A list that may be given at once, with commas, or flag by flag.
Names: TypeAlias = Annotated[list[str] | None, Parameter(negative="")]
