"""Numbers as the tables of the command line write them."""

from __future__ import annotations

from collections.abc import Callable, Sequence


def rate(bits_per_second: float) -> str:
    """Write a rate with a unit that suits its size."""
    for unit, size in (("Gb/s", 1e9), ("Mb/s", 1e6), ("kb/s", 1e3)):
        if abs(bits_per_second) >= size:
            return f"{bits_per_second / size:.4g} {unit}"
    return f"{bits_per_second:.4g} b/s"


def seconds(time_s: float) -> str:
    """Write a time with a unit that suits its size."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6), ("ns", 1e-9)):
        if abs(time_s) >= size:
            return f"{time_s / size:.4g} {unit}"
    return "0 s" if time_s == 0 else f"{time_s * 1e12:.3g} ps"


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
    from burstlab.statistics import mean_ci95

    if len(set(values)) == 1:
        return write(values[0])
    estimate = mean_ci95(values)
    return f"{write(estimate.mean)} ± {write(estimate.ci95 or 0.0)}"
