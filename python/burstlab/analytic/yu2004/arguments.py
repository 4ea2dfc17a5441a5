"""Arguments of the paper, each with its unit and range."""

from __future__ import annotations

from typing import Annotated, Literal

from numpy.typing import ArrayLike

from burstlab.analytic.arguments import Argument, Relation

PAPER = "Yu, Qiao, Liu (INFOCOM 2004)"

LOSS = Argument("Probability that a burst is lost", above=0, below=1)
RTT0 = Argument("Round-trip time without assembly", "s", above=0)

Loss = Annotated[ArrayLike, LOSS]
Window = Annotated[ArrayLike, Argument("Largest window W_m", "packets", at_least=2)]
Assembly = Annotated[ArrayLike, Argument("Time of the burst assembler", "s", at_least=0)]
Rtt0 = Annotated[ArrayLike, RTT0]
Rtt = Annotated[ArrayLike, Argument("Round-trip time", "s", above=0)]
RttAssembled = Annotated[
    ArrayLike, Argument("Round-trip time, with assembly (RTT0 + T_b),", "s", above=0)
]
Rto = Annotated[ArrayLike, Argument("Retransmission time-out", "s", above=0)]
RtoOverRtt = Annotated[
    ArrayLike,
    Argument(
        "Retransmission time-out",
        "s",
        above=0,
        relation=Relation(
            ">=",
            "rtt_s",
            "a retransmission time-out lasts at least one round trip; raise rto_s or lower rtt_s",
        ),
    ),
]
Rounds = Annotated[
    Literal["inverse", "delivered"],
    Argument(
        "Rounds between two losses in (7) and (8)",
        note='"inverse": 1/p, as printed. "delivered": (1-p)/p, as in (4) to (6).',
    ),
]
SlowStart = Annotated[
    Literal["paper", "half", "full"],
    Argument(
        "How slow start from a window of 1 up to W/2 is counted",
        note=(
            '"paper": log2(W/2) rounds and W - 1 packets, as (4) and (5) have it; the two disagree '
            'by a round. "half": log2(W/2) rounds of 1, 2, ..., W/4, W/2 - 1 packets. "full": '
            "log2(W) rounds of 1, 2, ..., W/2, W - 1 packets."
        ),
    ),
]
