"""Assembly times by window, and what a timer makes of packets and flows."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from numpy.typing import ArrayLike

from burstlab.analytic.arguments import Argument, FloatArray, Relation, arrays
from burstlab.analytic.declared import declared
from burstlab.analytic.ramantas.arguments import Access, Assembly, SegmentBits, Window
from burstlab.analytic.ramantas.stated import ACCESS_BPS, SEGMENT_BITS, SLACK, TIMES_S


@declared("Seconds, one of `TIMES_S`", "Section 5, the equation of T_BAT")
def assembly_time(
    window: Window,
    medium: Annotated[
        ArrayLike,
        Argument("Window B from which 5 ms are taken", at_least=1, note="B = C leaves 5 ms out."),
    ],
    fast: Annotated[
        ArrayLike,
        Argument(
            "Window C from which 10 ms are taken",
            at_least=1,
            relation=Relation(">=", "medium", "give thresholds with B <= C"),
        ),
    ],
) -> FloatArray:
    """Assembly time T_BAT of a flow with this congestion window.

    Examples
    --------
    >>> float(assembly_time(31, 32, 100)), float(assembly_time(100, 32, 100))
    (0.001, 0.01)
    """
    size, low, high = arrays(window, medium, fast)
    slow_s, medium_s, fast_s = TIMES_S
    return np.where(size >= high, fast_s, np.where(size >= low, medium_s, slow_s))


@declared("Segments", 'Section 3 and Figure 2(a): "up to 13 segments" with 1 ms')
def segments_cap(
    assembly_s: Assembly, access_bps: Access = ACCESS_BPS, segment_bits: SegmentBits = SEGMENT_BITS
) -> FloatArray:
    """Most segments of one flow in a burst: the first, and what its access link sends meanwhile.

    Examples
    --------
    >>> segments_cap([0.001, 0.005, 0.01]).tolist()
    [13.0, 61.0, 121.0]
    """
    time, rate, size = arrays(assembly_s, access_bps, segment_bits)
    return np.floor(time * rate / size * (1 + SLACK)) + 1


@declared(
    "Bursts/s",
    'Section 1: "generates periodically bursts, every T_MAX time"',
    assembly_s="The timer starts with the first packet of an empty queue.",
    as_printed="One burst every assembly time, however few packets there are.",
)
def burst_rate(
    packets_per_s: Annotated[
        ArrayLike, Argument("Packets that come to the queue in a second", above=0)
    ],
    assembly_s: Assembly,
    *,
    as_printed: bool = False,
) -> FloatArray:
    """Bursts of a queue in a second, whose packets come as a Poisson process."""
    rate, time = np.broadcast_arrays(packets_per_s, assembly_s)
    return 1 / (time if as_printed else time + 1 / rate)


@declared("Bursts", "Section 3, Figure 4(a): 3.5 times as many with 1 ms for 2 MB")
def bursts_of_flow(
    segments: Annotated[int, Argument("Segments of the file", at_least=1)],
    cap: Annotated[
        int, Argument("Most segments of it in a burst", at_least=1, note="See `segments_cap`.")
    ],
) -> int:
    """Count the bursts of a file that is sent in slow start and loses nothing.

    Examples
    --------
    >>> [bursts_of_flow(2000, cap) for cap in (13, 61, 121)]
    [160, 42, 26]
    """
    left, window, bursts = segments, 1, 0
    while left > 0:
        bursts += -(-min(window, left) // cap)
        left -= window
        window *= 2
    return bursts
