"""Numbers as the tables of the command line write them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

_RATES = (("Gb/s", 1e9), ("Mb/s", 1e6), ("kb/s", 1e3), ("b/s", 1.0))
_TIMES = (("s", 1.0), ("ms", 1e-3), ("us", 1e-6), ("ns", 1e-9), ("ps", 1e-12))


def rate(bits_per_second: float) -> str:
    """Write a rate with a unit that suits its size."""
    unit, size = _suited(bits_per_second, _RATES)
    return f"{bits_per_second / size:.4g} {unit}"


def seconds(time_s: float) -> str:
    """Write a time with a unit that suits its size."""
    unit, size = _suited(time_s, _TIMES)
    return "0 s" if time_s == 0 else f"{time_s / size:.{3 if unit == 'ps' else 4}g} {unit}"


def _suited(value: float, units: Sequence[tuple[str, float]]) -> tuple[str, float]:
    return next((one for one in units if abs(value) >= one[1]), units[-1])


def share(part: float) -> str:
    """Write a part of one as a percentage of three digits."""
    return f"{100 * part:.3g} %"


def count(mean: float) -> str:
    """Write a count, or a mean of counts."""
    if abs(mean) >= 100 or mean == int(mean):
        return f"{mean:,.0f}"
    return f"{mean:.3g}"


def measure(values: Sequence[float], write: Callable[[float], str]) -> str:
    """Write one value, or the mean of several with its 95 % interval, if they differ.

    Parameters
    ----------
    values
        One for each replication, at least one.
    write
        How a single number is written.
    """
    if len(set(values)) == 1:
        return write(values[0])
    from burstlab.statistics import mean_ci95

    estimate = mean_ci95(values)
    return spread(estimate.mean, estimate.ci95, write, positive=min(values) >= 0.0)


def of_metric(name: str) -> Callable[[float], str] | None:
    """Return how a metric is written by the unit at the end of its name, if it has one."""
    return rate if name.endswith("_bps") else seconds if name.endswith("_s") else None


def spread(
    mean: float, half: float | None, write: Callable[[float], str] | None, *, positive: bool
) -> str:
    """Write a mean with its 95 % interval, both in one unit.

    Parameters
    ----------
    mean, half
        The mean, and half the width of the interval.
    write
        How a single number is written.
    positive
        Whether the quantity is never below 0, so that no interval is.
    """
    from burstlab.measures.written import with_interval

    least = 0.0 if positive else float("-inf")
    unit, size = "", 1.0
    if write is not None and write in _UNITS:
        unit, size = _suited(mean or half or 0.0, _UNITS[write])
    return with_interval(mean / size, None if half is None else half / size, unit, least=least)


#: Units that are written after numbers.
_UNITS: dict[Callable[[float], str], Sequence[tuple[str, float]]] = {
    rate: _RATES,
    seconds: _TIMES,
    share: (("%", 0.01),),
}
