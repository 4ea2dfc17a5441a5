"""Closed forms of Lu and Hunter: TCP over slotted optical packets, with and without DLCC.

Z. Lu, D. K. Hunter, "Dual-Layer Congestion Control for Transmission Control Protocol Carried by
Optical Packet Switching With User Data Protocol Background Traffic", Journal of Optical
Communications and Networking 2009: what is lost in the core, and waits at the edge, when the rate
of UDP changes and TCP fills the rest of a link. One flow or flows in step, or many out of step.

UDP goes from a to b, both uniform over [0, c], c = C R, and independent. Formulas are corrected
where the print is wrong; ``as_printed=True`` gives the paper's own. `docs/errata.md` lists both
with the evidence. Rates are in bit/s, times in s, sizes in bits, windows in segments. Losses and
queues are in optical packets, of one segment each. Every argument may be an array; arguments are
broadcast together, and scalars give numpy scalars.

Limitations: a change finds TCP in congestion avoidance with its whole window in use, at a uniform
phase. The next change comes when its losses are over. The core has no buffers. The edge router
slows down by exactly the excess. Out of step, flows halve at their usual rate, however many packets
are lost.
"""

from burstlab.analytic.lu_hunter.arguments import PACKET_BITS
from burstlab.analytic.lu_hunter.congestion import (
    congestion_probability,
    mean_congestion_probability,
    product_probability,
    rise_probability,
)
from burstlab.analytic.lu_hunter.edge_rate import cut, settled_excess, smoothed_rate
from burstlab.analytic.lu_hunter.in_step import (
    edge_buffer,
    excess,
    loss_rate,
    mean_excess,
    mean_loss,
)
from burstlab.analytic.lu_hunter.out_of_step import (
    congestion_time,
    crowd_congestion_time,
    crowd_controlled_loss,
    crowd_edge_buffer,
    crowd_loss,
    crowd_loss_rate,
    halvings,
    loss_of_rise,
    mean_rise,
)
from burstlab.analytic.lu_hunter.path import Delays, buffering, delays, exposure
from burstlab.analytic.lu_hunter.saw import free_capacity, peak_cwnd_bits, peak_window, window_at

__all__ = [
    "PACKET_BITS",
    "Delays",
    "buffering",
    "congestion_probability",
    "congestion_time",
    "crowd_congestion_time",
    "crowd_controlled_loss",
    "crowd_edge_buffer",
    "crowd_loss",
    "crowd_loss_rate",
    "cut",
    "delays",
    "edge_buffer",
    "excess",
    "exposure",
    "free_capacity",
    "halvings",
    "loss_of_rise",
    "loss_rate",
    "mean_congestion_probability",
    "mean_excess",
    "mean_loss",
    "mean_rise",
    "peak_cwnd_bits",
    "peak_window",
    "product_probability",
    "rise_probability",
    "settled_excess",
    "smoothed_rate",
    "window_at",
]
