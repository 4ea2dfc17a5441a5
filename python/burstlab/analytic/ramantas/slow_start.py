"""Rounds of a flow in slow start, through one burstifier in each direction."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from numpy.typing import ArrayLike

from burstlab.analytic.arguments import Argument, FloatArray, arrays
from burstlab.analytic.declared import declared
from burstlab.analytic.ramantas.arguments import Access, AnyAssembly, Path, SegmentBits, Window
from burstlab.analytic.ramantas.stated import ACCESS_BPS, PAYLOAD_BITS, SEGMENT_BITS, SLACK


@declared("Seconds", "Not in the paper; Figure 6(a) implies 19, 32 and 42 ms with 1, 5 and 10 ms")
def round_time(assembly_s: AnyAssembly, path_s: Path) -> FloatArray:
    """Round-trip time of a flow whose data and ACKs are assembled."""
    path, assembly = arrays(path_s, assembly_s)
    return path + 2 * assembly


@declared("Rounds, not rounded")
def doublings(window: Window) -> FloatArray:
    """Return the rounds of slow start, from a window of 1, until it is this large.

    Examples
    --------
    >>> f"{doublings(500):.2f}"
    '8.97'
    """
    (size,) = arrays(window)
    return np.log2(size)


@declared("Seconds", "Section 4, Figure 6(a): 0.171, 0.290 and 0.380 s to 500 segments")
def time_to_window(window: Window, assembly_s: AnyAssembly, path_s: Path) -> FloatArray:
    """Time of slow start until the window is this large.

    Examples
    --------
    >>> [f"{t:.3f}" for t in time_to_window(500, [0.001, 0.005, 0.01], 0.017)]
    ['0.170', '0.242', '0.332']
    """
    return np.asarray(doublings(window)) * round_time(assembly_s, path_s)


@declared("Rounds", "Section 4: 6, 5 and 4 trains of segments in 0.15 s")
def rounds_within(
    seconds: Annotated[ArrayLike, Argument("The time", "s", at_least=0)],
    assembly_s: AnyAssembly,
    path_s: Path,
) -> FloatArray:
    """Count the rounds that begin within a time, the first at its start."""
    (span,) = arrays(seconds)
    return np.floor(span / round_time(assembly_s, path_s) * (1 + SLACK)) + 1


@declared("Segments, not rounded")
def full_window(
    assembly_s: AnyAssembly,
    path_s: Path,
    access_bps: Access = ACCESS_BPS,
    segment_bits: SegmentBits = SEGMENT_BITS,
) -> FloatArray:
    """Window that lasts a whole round: from there on the access link never idles."""
    access, size = arrays(access_bps, segment_bits)
    return access / size * round_time(assembly_s, path_s)


@declared(
    "bit/s of data",
    'Section 4: "92 Mbps ... when window size was 128 segments"',
    as_printed=(
        "The rate while the window is sent, over `span_s`: the only one that comes to 92 "
        "Mb/s at a window of 128 with every timer."
    ),
)
def window_rate(
    window: Window,
    round_s: Annotated[ArrayLike, Argument("Round-trip time", "s", above=0)],
    *,
    as_printed: bool = False,
    span_s: Annotated[float, Argument("That time", "s", above=0)] = 0.01,
) -> FloatArray:
    """Rate of a flow with this window, at most that of the data on its access link."""
    size, rtt = np.broadcast_arrays(window, round_s)
    time = np.full_like(rtt, span_s) if as_printed else rtt
    most = ACCESS_BPS * PAYLOAD_BITS / SEGMENT_BITS
    return np.minimum(size * PAYLOAD_BITS / time, most)
