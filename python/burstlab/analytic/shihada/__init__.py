"""Closed forms of Shihada, Zhang and Ho, and a Monte Carlo twin to judge them.

B. Shihada, Q. Zhang, P.-H. Ho, "Performance Evaluation of TCP Vegas over Optical Burst Switched
Networks", BROADNETS 2006: the throughput of one Vegas flow over OBS, bare and where a burst that
met contention is sent again once by its ingress. A fast flow: a whole window fits into one burst.

Formulas are corrected where the print is wrong; ``as_printed=True`` gives the paper's own.
`docs/errata.md` lists both with the evidence. Every argument may be an array; arguments are
broadcast together, and scalars give numpy scalars. log is to base 2.

Limitations: slow start and congestion avoidance are taken to be over, and the window to have
reached W_0, whenever a burst is lost; contention during them counts for their time but not for
their windows; delayed round trips lower the window in congestion avoidance alone. `round_level`
has none of these.
"""

from burstlab.analytic.shihada.contention import (
    contended_share,
    contended_time,
    lowest_window,
    mean_contended_window,
    top_share,
    uncontended_share,
    window_shares,
)
from burstlab.analytic.shihada.monte_carlo import RoundLevel, round_level
from burstlab.analytic.shihada.phases import (
    avoidance_rounds,
    avoidance_segments,
    diff,
    failed_retransmissions,
    loss_limit,
    rounds_between_losses,
    slow_start_rounds,
    slow_start_segments,
    stable_rounds,
    stable_window,
    timeout_time,
)
from burstlab.analytic.shihada.throughput import PRINTED, bare_throughput, retransmission_throughput

__all__ = [
    "PRINTED",
    "RoundLevel",
    "avoidance_rounds",
    "avoidance_segments",
    "bare_throughput",
    "contended_share",
    "contended_time",
    "diff",
    "failed_retransmissions",
    "loss_limit",
    "lowest_window",
    "mean_contended_window",
    "retransmission_throughput",
    "round_level",
    "rounds_between_losses",
    "slow_start_rounds",
    "slow_start_segments",
    "stable_rounds",
    "stable_window",
    "timeout_time",
    "top_share",
    "uncontended_share",
    "window_shares",
]
