"""Rounds of a flow in slow start, through a burstifier each way."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from burstlab.analytic.arguments import FloatArray, at_least, positive
from burstlab.analytic.ramantas.stated import ACCESS_BPS, PAYLOAD_BITS, SEGMENT_BITS, SLACK


def round_time(assembly_s: ArrayLike, path_s: ArrayLike) -> FloatArray:
    """Round-trip time of a flow whose data and ACKs are assembled.

    Parameters
    ----------
    assembly_s
        Assembly time in s, at least 0, waited for in each direction.
    path_s
        Time there and back without assembly in s, above 0.

    Returns
    -------
    numpy.ndarray
        Seconds, in the shape of the arguments broadcast together.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    References
    ----------
    Not in the paper; Figure 6(a) implies 19, 32 and 42 ms with 1, 5 and 10 ms.
    """
    return (positive("path_s", path_s) + 2 * at_least("assembly_s", assembly_s, 0))[()]


def doublings(window: ArrayLike) -> FloatArray:
    """Answer the rounds of slow start, from a window of 1, until it is this large.

    Parameters
    ----------
    window
        Segments, at least 1.

    Returns
    -------
    numpy.ndarray
        Rounds, not rounded, in the shape of `window`.

    Raises
    ------
    ValueError
        If it is below 1.

    Examples
    --------
    >>> f"{doublings(500):.2f}"
    '8.97'
    """
    return np.log2(at_least("window", window, 1))[()]


def time_to_window(window: ArrayLike, assembly_s: ArrayLike, path_s: ArrayLike) -> FloatArray:
    """Time of slow start until the window is this large.

    Parameters
    ----------
    window
        Segments, at least 1.
    assembly_s, path_s
        As of `round_time`.

    Returns
    -------
    numpy.ndarray
        Seconds, in the shape of the arguments broadcast together.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    References
    ----------
    Section 4, Figure 6(a): 0.171, 0.290 and 0.380 s to 500 segments.

    Examples
    --------
    >>> [f"{t:.3f}" for t in time_to_window(500, [0.001, 0.005, 0.01], 0.017)]
    ['0.170', '0.242', '0.332']
    """
    return (np.asarray(doublings(window)) * round_time(assembly_s, path_s))[()]


def rounds_within(seconds: ArrayLike, assembly_s: ArrayLike, path_s: ArrayLike) -> FloatArray:
    """Count the rounds that begin within a time, the first at its start.

    Parameters
    ----------
    seconds
        The time in s, at least 0.
    assembly_s, path_s
        As of `round_time`.

    Returns
    -------
    numpy.ndarray
        Rounds, in the shape of the arguments broadcast together.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    References
    ----------
    Section 4: 6, 5 and 4 trains of segments in 0.15 s.
    """
    span = at_least("seconds", seconds, 0)
    return (np.floor(span / round_time(assembly_s, path_s) * (1 + SLACK)) + 1)[()]


def full_window(
    assembly_s: ArrayLike,
    path_s: ArrayLike,
    access_bps: ArrayLike = ACCESS_BPS,
    segment_bits: ArrayLike = SEGMENT_BITS,
) -> FloatArray:
    """Window that lasts a whole round: from there on the access link never idles.

    Parameters
    ----------
    assembly_s, path_s
        As of `round_time`.
    access_bps, segment_bits
        As of `segments_cap`.

    Returns
    -------
    numpy.ndarray
        Segments, not rounded, in the shape of the arguments broadcast together.

    Raises
    ------
    ValueError
        If an argument is out of its range.
    """
    rate = positive("access_bps", access_bps) / positive("segment_bits", segment_bits)
    return (rate * round_time(assembly_s, path_s))[()]


def window_rate(
    window: ArrayLike, round_s: ArrayLike, *, as_printed: bool = False, span_s: float = 0.01
) -> FloatArray:
    """Rate of a flow with this window, at most that of the data on its access link.

    Parameters
    ----------
    window
        Segments, at least 1.
    round_s
        Round-trip time in s, above 0.
    as_printed
        The rate while the window is sent, over `span_s`: the only one that comes to 92 Mb/s at a
        window of 128 with every timer.
    span_s
        That time in s, above 0.

    Returns
    -------
    numpy.ndarray
        bit/s of data, in the shape of the arguments broadcast together.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    References
    ----------
    Section 4: "92 Mbps ... when window size was 128 segments".
    """
    size, rtt = np.broadcast_arrays(at_least("window", window, 1), positive("round_s", round_s))
    time = np.full_like(rtt, positive("span_s", span_s)) if as_printed else rtt
    most = ACCESS_BPS * PAYLOAD_BITS / SEGMENT_BITS
    return np.minimum(size * PAYLOAD_BITS / time, most)[()]
