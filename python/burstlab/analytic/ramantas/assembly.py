"""Assembly times by window, and what a timer makes of packets and flows."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from burstlab.analytic.arguments import FloatArray, at_least, positive, whole
from burstlab.analytic.ramantas.stated import ACCESS_BPS, SEGMENT_BITS, SLACK, TIMES_S


def assembly_time(window: ArrayLike, medium: ArrayLike, fast: ArrayLike) -> FloatArray:
    """Assembly time T_BAT of a flow with this congestion window.

    Parameters
    ----------
    window
        Congestion window in segments, at least 1.
    medium
        Window B from which 5 ms are taken, at least 1; B = C leaves 5 ms out.
    fast
        Window C from which 10 ms are taken, at least B.

    Returns
    -------
    numpy.ndarray
        Seconds, one of `TIMES_S`, in the shape of the arguments broadcast together.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    References
    ----------
    Section 5, the equation of T_BAT.

    Examples
    --------
    >>> float(assembly_time(31, 32, 100)), float(assembly_time(100, 32, 100))
    (0.001, 0.01)
    """
    size, low = at_least("window", window, 1), at_least("medium", medium, 1)
    high = at_least("fast", fast, 1)
    if np.any(high < low):
        raise ValueError("fast is below medium: give thresholds with B <= C")
    slow_s, medium_s, fast_s = TIMES_S
    return np.where(size >= high, fast_s, np.where(size >= low, medium_s, slow_s))[()]


def segments_cap(
    assembly_s: ArrayLike,
    access_bps: ArrayLike = ACCESS_BPS,
    segment_bits: ArrayLike = SEGMENT_BITS,
) -> FloatArray:
    """Most segments of one flow in a burst: the first, and what its access link sends meanwhile.

    Parameters
    ----------
    assembly_s
        Assembly time in s, above 0.
    access_bps
        Rate of the access link in bit/s, above 0.
    segment_bits
        Bits of a segment on the access link, above 0.

    Returns
    -------
    numpy.ndarray
        Segments, in the shape of the arguments broadcast together.

    Raises
    ------
    ValueError
        If an argument is not above 0.

    References
    ----------
    Section 3 and Figure 2(a): "up to 13 segments" with 1 ms.

    Examples
    --------
    >>> segments_cap([0.001, 0.005, 0.01]).tolist()
    [13.0, 61.0, 121.0]
    """
    time, rate = positive("assembly_s", assembly_s), positive("access_bps", access_bps)
    size = positive("segment_bits", segment_bits)
    return (np.floor(time * rate / size * (1 + SLACK)) + 1)[()]


def burst_rate(
    packets_per_s: ArrayLike, assembly_s: ArrayLike, *, as_printed: bool = False
) -> FloatArray:
    """Bursts of a queue in a second, whose packets come as a Poisson process.

    Parameters
    ----------
    packets_per_s
        Packets that come to the queue in a second, above 0.
    assembly_s
        Assembly time in s, above 0; the timer starts with the first packet of an empty queue.
    as_printed
        One burst every assembly time, however few packets there are.

    Returns
    -------
    numpy.ndarray
        Bursts/s, in the shape of the arguments broadcast together.

    Raises
    ------
    ValueError
        If an argument is not above 0.

    References
    ----------
    Section 1: "generates periodically bursts, every T_MAX time".
    """
    rate, time = np.broadcast_arrays(
        positive("packets_per_s", packets_per_s), positive("assembly_s", assembly_s)
    )
    return (1 / (time if as_printed else time + 1 / rate))[()]


def bursts_of_flow(segments: int, cap: int) -> int:
    """Count the bursts of a file that is sent in slow start and loses nothing.

    Parameters
    ----------
    segments
        Segments of the file, at least 1.
    cap
        Most segments of it in a burst, at least 1: `segments_cap`.

    Returns
    -------
    int
        Bursts.

    Raises
    ------
    ValueError
        If an argument is no count.

    References
    ----------
    Section 3, Figure 4(a): 3.5 times as many with 1 ms for 2 MB.

    Examples
    --------
    >>> [bursts_of_flow(2000, cap) for cap in (13, 61, 121)]
    [160, 42, 26]
    """
    left, most = whole("segments", segments, 1), whole("cap", cap, 1)
    window, bursts = 1, 0
    while left > 0:
        bursts += -(-min(window, left) // most)
        left -= window
        window *= 2
    return bursts
