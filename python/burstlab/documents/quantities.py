"""Quantities of a resolved scenario as numbers, as the engine reads them."""

from __future__ import annotations

from burstlab import _core


def whole(text: str) -> int:
    """Read a rate in b/s, or a size in bytes: both are whole numbers."""
    found = _core.quantity(text)
    if found is None:
        raise ValueError(f"{text!r} is neither a rate nor a size")
    return int(found[0])


def number(value: float | str) -> float:
    """Read whatever has a size: a number, a time (in ms), a rate (in b/s) or a size (in bytes)."""
    if not isinstance(value, str):
        return float(value)
    found = _core.quantity(value)
    # A value that is no quantity gets the error of a time.
    size, unit = found if found is not None else (_core.seconds(value), "s")
    return size * 1e3 if unit == "s" else size
