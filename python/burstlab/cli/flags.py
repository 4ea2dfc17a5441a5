"""Flags that several commands have."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from cyclopts import Parameter

#: A flag that is either there or not.
Switch: TypeAlias = Annotated[bool, Parameter(negative="", show_default=False)]

#: ``--json``.
Json: TypeAlias = Annotated[bool, Parameter(name="--json", negative="", show_default=False)]

#: ``--set path=value``, as often as wanted.
Settings: TypeAlias = Annotated[list[str] | None, Parameter(name="--set", negative="")]

#: A list that may be given at once, with commas, or flag by flag.
Names: TypeAlias = Annotated[list[str] | None, Parameter(negative="")]
