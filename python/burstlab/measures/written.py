"""Numbers with their 95 % interval, as tables and reports write them."""

from __future__ import annotations

import math

#: Digits of a half-width, and of a number without one.
_HALF, _ALONE = 2, 4

#: Below this numbers are written with an exponent.
_SMALL = 1e-5


def with_interval(
    mean: float, half: float | None, unit: str = "", *, least: float = -math.inf
) -> str:
    """Write a mean and its interval in one unit, such as ``278 ± 28 Mb/s``.

    An interval that would go below the least possible value is written by its ends.

    Parameters
    ----------
    mean
        In that unit.
    half
        Half the width of its 95 % interval; none where there is none.
    unit
        The text after the numbers.
    least
        The least value that the quantity can have.
    """
    behind = f" {unit}" if unit else ""
    if half is None or not math.isfinite(half):
        return number(mean) + behind
    if half == 0.0:
        return f"{number(mean)} ± 0{behind}"
    places = _places(half, _HALF)

    def written(value: float) -> str:
        if places is None:
            return f"{value:.{_ALONE if value == mean else _HALF}g}"
        return f"{value:,.{places}f}"

    if mean - half < least <= mean:
        ends = f"({written(least)} to {written(mean + half)})"
        return f"{written(mean)} {ends}{behind}"
    return f"{written(mean)} ± {written(half)}{behind}"


def number(value: float) -> str:
    """Write a number of four digits, or all of those before the point."""
    if value == int(value) if math.isfinite(value) else False:
        return f"{value:,.0f}" if abs(value) < 1e15 else f"{value:.4g}"
    places = _places(value, _ALONE)
    if places is None:
        return f"{value:.{_ALONE}g}"
    text = f"{value:,.{places}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _places(value: float, digits: int) -> int | None:
    """Return how many decimals show so many digits of a value; none where they are too many."""
    if not math.isfinite(value) or 0 < abs(value) < _SMALL:
        return None
    if value == 0:
        return 0
    return max(0, digits - 1 - math.floor(math.log10(abs(value))))
