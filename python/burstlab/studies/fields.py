"""The fields of a plan, read one by one; each error has its fix."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from burstlab.errors import PlanError, unknown

_NAMES = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "a text",
    list: "a list",
    dict: "a table",
}


class Fields:
    """A table of a plan.

    Parameters
    ----------
    table
        Its content.
    path
        Where it is, empty for the plan itself.
    """

    def __init__(self, table: Any, path: str) -> None:
        if not isinstance(table, Mapping):
            raise PlanError(path, table, "not a table", "write its fields, name = value")
        self._left = {str(name): value for name, value in table.items()}
        self._known: list[str] = []
        self._path = path

    def at(self, name: str) -> str:
        """Return the path of a field."""
        return f"{self._path}.{name}" if self._path else name

    def has(self, *names: str) -> list[str]:
        """Return which of these fields are there and not yet taken."""
        return [name for name in names if name in self._left]

    def take(self, name: str, kinds: type | tuple[type, ...], default: Any = None) -> Any:
        """Take a field that may be left out."""
        self._known.append(name)
        if name not in self._left:
            return default
        value = self._left.pop(name)
        wanted = kinds if isinstance(kinds, tuple) else (kinds,)
        if not isinstance(value, wanted) or (isinstance(value, bool) and bool not in wanted):
            words = " or ".join(dict.fromkeys(_NAMES[kind] for kind in wanted))
            raise PlanError(self.at(name), value, f"not {words}", f"write {words}")
        return value

    def needed(self, name: str, kinds: type | tuple[type, ...]) -> Any:
        """Take a field that has to be there."""
        value = self.take(name, kinds)
        if value is None:
            raise PlanError(self.at(name), "", "is missing", f"add {name} = ...")
        return value

    def choice(self, name: str, known: Iterable[str]) -> str:
        """Take one of some names, the first by default."""
        names = list(known)
        value = self.take(name, str, names[0])
        if value not in names:
            problem, _, fix = str(unknown(name, value, names)).partition("\n  fix: ")
            raise PlanError(self.at(name), value, problem, fix)
        return value

    def whole(self, name: str, *, least: int, most: int, default: int | None = None) -> int:
        """Take a whole number between bounds."""
        value = self.needed(name, int) if default is None else self.take(name, int, default)
        if not least <= value <= most:
            raise PlanError(self.at(name), value, "out of range", f"use {least} to {most}")
        return value

    def table(self, name: str) -> Mapping[str, Any]:
        """Take a table, empty by default."""
        return self.take(name, dict, {})

    def done(self) -> None:
        """Refuse fields that were not read."""
        for name, value in self._left.items():
            problem, _, fix = str(unknown("field", name, self._known)).partition("\n  fix: ")
            raise PlanError(self.at(name), value, problem, fix)


def flat(
    table: Mapping[str, Any], path: str, is_value: Callable[[Any], bool] | None = None
) -> dict[str, Any]:
    """Return the values of nested tables by their dotted paths.

    Parameters
    ----------
    table
        ``{"tcp": {"window": 40}}`` and ``{"tcp.window": 40}`` are the same.
    path
        Where it is.
    is_value
        Whether something is a value, rather than a table within; by default all but tables.
    """
    if not isinstance(table, Mapping):
        raise PlanError(path, table, "not a table", "write its fields, path = value")
    found: dict[str, Any] = {}
    for name, value in table.items():
        if isinstance(value, Mapping) and not (is_value and is_value(value)):
            inner = flat(value, f"{path}.{name}", is_value)
        else:
            if value is None:
                fix = "write one, or leave the field out"
                raise PlanError(f"{path}.{name}", "", "has no value", fix)
            inner = {"": value}
        for end, item in inner.items():
            whole = f"{name}.{end}" if end else str(name)
            if whole in found:
                raise PlanError(f"{path}.{whole}", item, "is there twice", "keep one of the two")
            found[whole] = item
    return found
