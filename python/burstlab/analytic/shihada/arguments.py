"""Arguments of the paper, each with its range and the assumption of the model that needs it."""

from __future__ import annotations

from typing import Annotated

from numpy.typing import ArrayLike

from burstlab.analytic.arguments import Argument, Relation

PAPER = "Shihada, Zhang, Ho (BROADNETS 2006)"

CONTENTION = Argument("Probability that a burst meets contention", above=0, below=1)
LOSS = Argument("Probability that a burst is lost", above=0, below=1)
LOSS_AFTER_CONTENTION = Argument(
    "Probability that a burst is lost",
    above=0,
    below=1,
    relation=Relation("<=", "pc", "a burst is assumed to be lost only after it met contention"),
    note="By default pc², both attempts being independent.",
)
WINDOW = Argument(
    "Window W_0",
    "segments",
    at_least=4,
    because=(
        "the model assumes a slow start that begins with 2 segments and ends at half the window"
    ),
)
WINDOW_MAX = Argument("Largest window W_max", WINDOW.unit, at_least=4, because=WINDOW.because)
RTT = Argument("Round-trip time R", "s", above=0)
RTT_OVER_BASE = Argument(
    RTT.meaning,
    RTT.unit,
    above=0,
    relation=Relation(">=", "base_rtt_s", "the base is the shortest of all round-trip times"),
)
DELAYED_RTT = Argument("Round-trip time RTT_r, when the burst is sent again,", "s", above=0)
RTO = Argument("First time-out", "s", above=0, note="It doubles up to 64 times that.")
BASE_RTT = Argument("Shortest round-trip time", "s", above=0)
ALPHA = Argument(
    "Lower threshold of Vegas",
    "segments",
    above=0,
    relation=Relation("<=", "beta", "Vegas grows below alpha and shrinks above beta"),
)
BETA = Argument("Upper threshold of Vegas", "segments", above=0)

Contention = Annotated[ArrayLike, CONTENTION]
Loss = Annotated[ArrayLike, LOSS]
LossAfterContention = Annotated[ArrayLike, LOSS_AFTER_CONTENTION]
Window = Annotated[ArrayLike, WINDOW]
WindowMax = Annotated[ArrayLike, WINDOW_MAX]
Rtt = Annotated[ArrayLike, RTT]
RttOverBase = Annotated[ArrayLike, RTT_OVER_BASE]
DelayedRtt = Annotated[ArrayLike, DELAYED_RTT]
DelayedRttOverBase = Annotated[
    ArrayLike,
    Argument(
        DELAYED_RTT.meaning,
        DELAYED_RTT.unit,
        above=0,
        relation=Relation(">", "base_rtt_s", "to send a burst again is assumed to take time"),
    ),
]
Rto = Annotated[ArrayLike, RTO]
BaseRtt = Annotated[ArrayLike, BASE_RTT]
Alpha = Annotated[ArrayLike, ALPHA]
Beta = Annotated[ArrayLike, BETA]
