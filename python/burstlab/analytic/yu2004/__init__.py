"""Closed forms of Yu, Qiao and Liu, and a Monte Carlo twin to judge them.

X. Yu, C. Qiao, Y. Liu, "TCP Implementations and False Time Out Detection in OBS Networks",
INFOCOM 2004: BTCP, which takes the time-out after the loss of one burst for a false one, against
TCP without such a detection. A fast flow, whose windows each fit into one burst.

Formulas are corrected where the paper has a misprint; ``as_printed=True`` gives the paper's own.
`docs/errata.md` lists both with the evidence. Every argument may be an array; arguments are
broadcast together, and scalars give numpy scalars.

Limitations: losses are evenly spaced, except in `unlimited_packets_btcp` on request and in
`round_level`; no flow loses two bursts in a row, so TCP's exponential back-off is left out and the
gain underestimated; serialisation and queueing time are left out.
"""

from burstlab.analytic.yu2004.gains import (
    Fig5a,
    Fig5b,
    bnak_time_factor,
    fig5a,
    fig5b,
    gain_batch,
    gain_ble,
    gain_bnak,
    limited_gain,
    rto_from_gains,
    timeout_period_bnak,
    timeout_period_tcp,
)
from burstlab.analytic.yu2004.monte_carlo import RoundLevel, round_level
from burstlab.analytic.yu2004.packets import (
    limited_packets_btcp,
    limited_packets_tcp,
    packets_to_window,
    unlimited_packets_btcp,
    unlimited_packets_tcp,
)
from burstlab.analytic.yu2004.windows import (
    flow_class,
    mean_window_btcp,
    mean_window_ratio,
    mean_window_tcp,
    rounds_between_losses,
    window_regime,
)

__all__ = [
    "Fig5a",
    "Fig5b",
    "RoundLevel",
    "bnak_time_factor",
    "fig5a",
    "fig5b",
    "flow_class",
    "gain_batch",
    "gain_ble",
    "gain_bnak",
    "limited_gain",
    "limited_packets_btcp",
    "limited_packets_tcp",
    "mean_window_btcp",
    "mean_window_ratio",
    "mean_window_tcp",
    "packets_to_window",
    "round_level",
    "rounds_between_losses",
    "rto_from_gains",
    "timeout_period_bnak",
    "timeout_period_tcp",
    "unlimited_packets_btcp",
    "unlimited_packets_tcp",
    "window_regime",
]
