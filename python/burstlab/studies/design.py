"""Designs: which points of its parameters a study runs."""

from __future__ import annotations

import itertools
import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any, TypeAlias

from burstlab import _core
from burstlab.errors import PlanError
from burstlab.studies.fields import Fields, flat

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: The settings of a point: values by the dotted path of a field.
Point: TypeAlias = dict[str, Any]

#: More than can be held, or waited for.
POINTS_MAX = 1_000_000

#: Ends of the names of columns, by the base unit of their values.
_ENDS = {"s": "_s", "B": "_bytes", "b/s": "_bps"}

_UNIT = re.compile(r"^[\s\d.+_-]+(?:[eE]-?\d+)?\s*")


def grid(table: Mapping[str, Any], path: str) -> list[Point]:
    """Return the product of lists of values, the last of which varies fastest."""
    lists = {name: _values(values, f"{path}.{name}") for name, values in table.items()}
    count = math.prod(map(len, lists.values()))
    if count > POINTS_MAX:
        raise PlanError(path, f"{count} points", f"more than {POINTS_MAX}", "use fewer values")
    return [dict(zip(lists, values, strict=True)) for values in itertools.product(*lists.values())]


def zipped(table: Mapping[str, Any], path: str) -> list[Point]:
    """Return the first values of all lists, then the second ones, and so on."""
    lists = {name: _values(values, f"{path}.{name}", twice=True) for name, values in table.items()}
    lengths = {name: len(values) for name, values in lists.items()}
    if len(set(lengths.values())) > 1:
        found = ", ".join(f"{name} has {length}" for name, length in lengths.items())
        raise PlanError(path, "", f"the lists differ in length: {found}", "make them equally long")
    return [dict(zip(lists, values, strict=True)) for values in zip(*lists.values(), strict=True)]


def _values(values: Any, path: str, *, twice: bool = False) -> list[Any]:
    if not isinstance(values, list):
        raise PlanError(path, values, "not a list of values", f"write [{_shown(values)}, ...]")
    if not values:
        raise PlanError(path, "[]", "an empty list makes no point", "name at least one value")
    texts = [json.dumps(value, sort_keys=True) for value in values]
    if not twice and len(set(texts)) < len(texts):
        again = next(text for text in texts if texts.count(text) > 1)
        raise PlanError(path, again, "is there twice", "name each value once")
    return values


@dataclass(frozen=True)
class Range:
    """Values between two ends.

    Attributes
    ----------
    low, high
        The ends, in the unit.
    unit
        Unit of the values, empty for plain numbers.
    log
        Whether equal ratios, in place of equal differences, are equally likely.
    whole
        Whether only whole numbers (of the unit) are meant.
    """

    low: float
    high: float
    unit: str
    log: bool
    whole: bool

    @classmethod
    def read(cls, given: Any, path: str) -> Range:
        """Read ``{ from, to, scale, integer }``."""
        fields = Fields(given, path)
        low, high = fields.needed("from", (int, float, str)), fields.needed("to", (int, float, str))
        log = fields.choice("scale", ("linear", "log")) == "log"
        written_whole = isinstance(low, int) and isinstance(high, int)
        whole = fields.take("integer", bool, written_whole)
        fields.done()
        unit, (a, b) = _in_one_unit(low, high, path)
        if not a < b:
            raise PlanError(f"{path}.to", high, f"not above from = {low}", "exchange the two")
        if log and a <= 0.0:
            fix = "start above zero, or use a linear scale"
            raise PlanError(f"{path}.from", low, "a log scale has no zero", fix)
        if whole and not (a.is_integer() and b.is_integer()):
            fix = "use whole numbers, or leave out integer"
            raise PlanError(f"{path}.from", low, "integer needs ends that are whole", fix)
        return cls(a, b, unit, log, whole)

    def at(self, share: float) -> Any:
        """Return the value that this share of all draws, 0 to 1, falls below."""
        high = self.high + 1.0 if self.whole else self.high
        if self.log:
            found = self.low * (high / self.low) ** share
        else:
            found = self.low + share * (high - self.low)
        found = math.floor(found) if self.whole else float(f"{found:.6g}")
        found = min(max(found, self.low), self.high)
        number = int(found) if self.whole else found
        # A number before a unit has no exponent.
        return f"{Decimal(repr(number)):f} {self.unit}" if self.unit else number


@dataclass(frozen=True)
class Choice:
    """Some values, equally likely."""

    values: Sequence[Any]

    def at(self, share: float) -> Any:
        """Return the value that this share of all draws, 0 to 1, falls below."""
        return self.values[min(int(share * len(self.values)), len(self.values) - 1)]


def _in_one_unit(low: Any, high: Any, path: str) -> tuple[str, tuple[float, float]]:
    if isinstance(low, str) != isinstance(high, str):
        fix = "write both ends with a unit, or both without"
        raise PlanError(f"{path}.to", high, f"does not go with from = {low!r}", fix)
    if not isinstance(low, str):
        return "", (float(low), float(high))
    ends: list[tuple[float, str]] = []
    for name, text in (("from", low), ("to", high)):
        found = _core.quantity(text)
        if found is None:
            fix = 'write a number, or a time, size or rate with its unit, such as "5 ms"'
            raise PlanError(f"{path}.{name}", text, "not a quantity", fix)
        ends.append(found)
    (a, kind), (b, other) = ends
    if kind != other:
        raise PlanError(f"{path}.to", high, f"not of the kind of from = {low!r}", "use one unit")
    unit = _UNIT.sub("", low.strip())
    one = _core.quantity(f"1 {unit}")
    assert one is not None, unit
    return unit, (float(f"{a / one[0]:.12g}"), float(f"{b / one[0]:.12g}"))


def drawn(table: Mapping[str, Any], path: str, seed: int, *, latin: bool) -> list[Point]:
    """Draw points: ``points`` of them, from ``ranges``, by ``seed``.

    In a Latin hypercube each parameter has exactly one point in each of ``points`` equally likely
    parts of its range; else each point is drawn on its own.
    """
    fields = Fields(table, path)
    count = fields.whole("points", least=1, most=POINTS_MAX)
    own = fields.whole("seed", least=0, most=2**63 - 1, default=seed)
    ranges = fields.table("ranges")
    fields.done()
    if not ranges:
        raise PlanError(f"{path}.ranges", "", "no range is given", "name at least one parameter")
    axes = {name: _axis(given, f"{path}.ranges.{name}") for name, given in _ranges(ranges, path)}
    shares = _shares(count, len(axes), own, latin=latin)
    return [
        {name: axis.at(float(share)) for (name, axis), share in zip(axes.items(), row, strict=True)}
        for row in shares
    ]


def _ranges(table: Mapping[str, Any], path: str) -> Iterator[tuple[str, Any]]:
    def is_range(value: Any) -> bool:
        return not isinstance(value, Mapping) or "from" in value or "to" in value

    return iter(flat(table, f"{path}.ranges", is_range).items())


def _axis(given: Any, path: str) -> Range | Choice:
    if isinstance(given, list):
        return Choice(_values(given, path))
    if not isinstance(given, Mapping):
        fix = 'write { from = "1 ms", to = "20 ms" }, or a list of values'
        raise PlanError(path, given, "not a range", fix)
    return Range.read(given, path)


def _shares(count: int, axes: int, seed: int, *, latin: bool) -> NDArray[Any]:
    import numpy as np

    generator = np.random.default_rng(seed)
    if not latin:
        return generator.random((count, axes))
    # After McKay, Beckman and Conover (Technometrics 21, 1979): on each axis, one point a stratum.
    (own,) = generator.spawn(1)
    offsets = own.random((count, axes))
    strata = np.stack([own.permutation(count) for _ in range(axes)], axis=1)
    return (strata + 1 - offsets) / count


def crossed(designs: Mapping[str, Sequence[Point]]) -> list[Point]:
    """Return every point of each design with every point of the others."""
    count = math.prod(map(len, designs.values()))
    if count > POINTS_MAX:
        raise PlanError("", f"{count} points", f"more than {POINTS_MAX}", "use fewer points")
    owners: dict[str, str] = {}
    for design, points in designs.items():
        for name in dict.fromkeys(name for point in points for name in point):
            if name in owners:
                problem = f"{owners[name]} varies it too"
                raise PlanError(f"{design}.{name}", "", problem, "keep one of the two")
            owners[name] = design
    return [
        {name: value for part in parts for name, value in part.items()}
        for parts in itertools.product(*designs.values())
    ]


def columns(points: Sequence[Point]) -> dict[str, list[Any]]:
    """Return the settings of points as columns: one value per point, None where it has none.

    Times, sizes and rates are numbers in their base unit, which the name of the column ends with:
    ``edge.timer_s``, ``_bytes``, ``_bps``. Values other than numbers and text are written as JSON.
    """
    names = dict.fromkeys(name for point in points for name in point)
    found: dict[str, list[Any]] = {}
    for name in names:
        end, values = _column([point.get(name) for point in points])
        found[name + end] = values
    return found


def _column(values: list[Any]) -> tuple[str, list[Any]]:
    given = [value for value in values if value is not None]
    kinds = {type(value) for value in given}
    if kinds == {str}:
        quantities = {text: _core.quantity(text) for text in set(given)}
        units = {found[1] if found else "" for found in quantities.values()}
        if len(units) == 1 and "" not in units:
            numbers = {text: found[0] for text, found in quantities.items() if found}
            return _ENDS[units.pop()], [None if v is None else numbers[v] for v in values]
        return "", values
    if kinds in ({int}, {bool}):
        return "", values
    if kinds <= {int, float}:
        return "", [None if value is None else float(value) for value in values]
    return "", [None if value is None else _text(value) for value in values]


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _shown(value: Any) -> str:
    return json.dumps(value) if isinstance(value, (str, int, float, bool)) else "..."
