"""Arithmetic of Ramantas et al.: assembly times by window, caps, doublings and Little's law.

K. Ramantas, K. Vlachos, Ó. González de Dios, C. Raffaelli, "TCP Traffic Analysis for Timer-Based
Burstifiers in OBS Networks", ONDM 2007, LNCS 4534. The paper has one equation, the assembly time
by window; the rest is what its numbers follow from. Where text or print contradict that,
``as_printed=True`` gives the paper's own; `docs/errata.md` lists both with the evidence. Every
argument may be an array, except where one number is asked for; arguments are broadcast together.

Limitations: flows that lose nothing and stay in slow start; an access link that sends without a
gap; a round lasts the propagation there and back, and one assembly time in each direction.
"""

from burstlab.analytic.ramantas.assembly import (
    assembly_time,
    burst_rate,
    bursts_of_flow,
    segments_cap,
)
from burstlab.analytic.ramantas.slow_start import (
    doublings,
    full_window,
    round_time,
    rounds_within,
    time_to_window,
    window_rate,
)
from burstlab.analytic.ramantas.sources import (
    active_sources,
    completion_time,
    file_mean,
    file_shape,
    lost_bursts,
)
from burstlab.analytic.ramantas.stated import ACCESS_BPS, NODES, PAYLOAD_BITS, SEGMENT_BITS, TIMES_S

__all__ = [
    "ACCESS_BPS",
    "NODES",
    "PAYLOAD_BITS",
    "SEGMENT_BITS",
    "TIMES_S",
    "active_sources",
    "assembly_time",
    "burst_rate",
    "bursts_of_flow",
    "completion_time",
    "doublings",
    "file_mean",
    "file_shape",
    "full_window",
    "lost_bursts",
    "round_time",
    "rounds_within",
    "segments_cap",
    "time_to_window",
    "window_rate",
]
