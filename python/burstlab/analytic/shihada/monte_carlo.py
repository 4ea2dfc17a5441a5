"""Monte Carlo twin of the closed forms: Vegas, round by round, and nothing assumed about phases.

A round sends one burst of a whole window. It arrives, after one round trip; or it meets contention
and is sent again, which takes longer; or it is lost, and a time-out follows. Many independent flows
advance together as arrays.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from burstlab.analytic.arguments import Argument, FloatArray, Relation
from burstlab.analytic.declared import declared
from burstlab.analytic.shihada.arguments import (
    ALPHA,
    BASE_RTT,
    BETA,
    CONTENTION,
    DELAYED_RTT,
    LOSS,
    PAPER,
    RTO,
    RTT_OVER_BASE,
    WINDOW_MAX,
)

BACKOFF_MAX = 64
"""The time-out doubles up to this factor."""

Form = Annotated[
    str,
    Argument(
        "The effect of contention",
        words=("bare", "retransmission"),
        note='"bare": it loses the burst. "retransmission": the burst is sent again once.',
    ),
]
DELAYED_OVER_RTT = Argument(
    DELAYED_RTT.meaning,
    DELAYED_RTT.unit,
    above=0,
    relation=Relation(">=", "rtt_s", "to send a burst again takes time"),
)

INTERVAL = 1.96
"""Standard errors in half of a 95 % interval."""


@dataclass(frozen=True)
class RoundLevel:
    """Counts of a run, one number for each flow."""

    segments: FloatArray
    """Segments that arrived."""
    in_vain: FloatArray
    """Retransmissions after a time-out that were lost."""
    seconds: FloatArray
    """Simulated time."""
    bursts: NDArray[np.int64]
    """Bursts sent by the sender; one that the ingress sends again counts once."""
    losses: NDArray[np.int64]
    """Bursts lost for good, each a time-out."""
    delayed: NDArray[np.int64]
    """Bursts that arrived after they had been sent again."""

    @property
    def loss(self) -> float:
        """Share of bursts that were lost."""
        return float(self.losses.sum() / self.bursts.sum())

    def throughput(self, *, goodput: bool = False) -> tuple[float, float]:
        """Segments/s and half of its 95 % interval, from the spread of the flows.

        Parameters
        ----------
        goodput
            Leave out the segments sent in vain.

        Returns
        -------
        tuple of float
            Mean over all the time simulated, and half the width of the interval.
        """
        segments = self.segments if goodput else self.segments + self.in_vain
        mean = segments.sum() / self.seconds.sum()
        rest = segments - mean * self.seconds
        count = len(rest)
        error = np.sqrt(np.sum(rest**2) * count / (count - 1)) / self.seconds.sum()
        return float(mean), float(INTERVAL * error)


@declared(
    "The counts. The same arguments give the same numbers",
    f"{PAPER}; the rules of Vegas after Brakmo and Peterson 1995",
    seed="Seed of the random numbers.",
    p='With "retransmission" alone; at most pc, and by default pc².',
    base_rtt_s="By default `rtt_s`.",
)
def round_level(
    pc: Annotated[float, CONTENTION],
    *,
    seed: int,
    form: Form = "bare",
    p: Annotated[float, LOSS] | None = None,
    window: Annotated[float, WINDOW_MAX] = 128,
    rtt_s: Annotated[float, RTT_OVER_BASE] = 0.1,
    rtt_r_s: Annotated[float, DELAYED_OVER_RTT] = 0.11,
    rto_s: Annotated[float, RTO] = 0.2,
    base_rtt_s: Annotated[float, BASE_RTT] | None = None,
    alpha: Annotated[float, ALPHA] = 2,
    beta: Annotated[float, BETA] = 5,
    gamma: Annotated[
        float, Argument("Diff beyond which slow start ends", "segments", at_least=0)
    ] = 1,
    duration_s: Annotated[
        float, Argument("Simulated time of all flows together, about,", "s", above=0)
    ] = 1e6,
    flows: Annotated[int, Argument("Independent flows", at_least=2)] = 1000,
    warmup_rounds: Annotated[
        int,
        Argument(
            "Rounds of each flow that are not counted",
            at_least=0,
            note="They start at the largest window.",
        ),
    ] = 500,
) -> RoundLevel:
    """Simulate Vegas over OBS round by round."""
    lost = pc
    if form == "retransmission":
        lost = pc**2 if p is None else p
        if lost > pc:
            raise ValueError(f"p = {lost:g} is above pc = {pc:g}: give p <= pc")
    base = rtt_s if base_rtt_s is None else base_rtt_s
    vegas = _Vegas(flows, window, alpha, beta, gamma, rto_s)
    rounds = max(1, round(duration_s / (flows * rtt_s)))
    generator = np.random.Generator(np.random.PCG64(seed))
    for _ in range(warmup_rounds):
        vegas.round(generator.random(flows), lost, pc, rtt_s, rtt_r_s, base)
    vegas.forget()
    for _ in range(rounds):
        vegas.round(generator.random(flows), lost, pc, rtt_s, rtt_r_s, base)
    return RoundLevel(
        vegas.segments,
        vegas.in_vain,
        vegas.seconds,
        np.full(flows, rounds, dtype=np.int64),
        vegas.losses,
        vegas.delayed,
    )


class _Vegas:
    """The state of many flows."""

    def __init__(
        self, flows: int, limit: float, alpha: float, beta: float, gamma: float, rto: float
    ) -> None:
        self.limit, self.alpha, self.beta, self.gamma, self.rto = limit, alpha, beta, gamma, rto
        self.window = np.full(flows, limit)
        self.threshold = np.full(flows, 2.0)
        self.grows = np.zeros(flows, dtype=bool)
        self.backoff = np.ones(flows)
        self.forget()

    def forget(self) -> None:
        """Begins to count anew."""
        flows = len(self.window)
        self.segments, self.in_vain, self.seconds = np.zeros((3, flows))
        self.losses, self.delayed = np.zeros((2, flows), dtype=np.int64)

    def round(
        self,
        draw: FloatArray,
        lost: float,
        contention: float,
        plain: float,
        delayed: float,
        base: float,
    ) -> None:
        """One burst of each flow, whose fate is that of `draw` in [0, 1)."""
        gone = draw < lost
        again = ~gone & (draw < contention)
        there = ~gone
        self.segments += np.where(there, self.window, 0)
        self.in_vain += gone & (self.backoff > 1)
        self.seconds += np.where(gone, self.rto * self.backoff, np.where(again, delayed, plain))
        self.losses += gone
        self.delayed += again
        queued = self.window * (1 - base / np.where(again, delayed, plain))
        slow = self.window < self.threshold
        grown = np.where(slow, self._slow_start(queued), self._avoidance(queued))
        # In slow start the size changes after every second round.
        self.grows = np.where(there & slow, ~self.grows, False)
        half = np.maximum(2, np.floor(self.window / 2))
        # A retransmission that is lost too is no news of the window.
        first = gone & (self.backoff == 1)
        self.threshold = np.where(first, half, self.threshold)
        ended = there & slow & (grown < self.window)
        self.threshold = np.where(ended, 2, self.threshold)
        self.window = np.where(gone, 2, grown)
        self.backoff = np.where(gone, np.minimum(2 * self.backoff, BACKOFF_MAX), 1)

    def _slow_start(self, queued: FloatArray) -> FloatArray:
        """Windows after a round below the threshold."""
        doubled = np.minimum(2 * self.window, self.threshold)
        less = np.maximum(2, self.window - self.window / 8)
        return np.where(self.grows, np.where(queued > self.gamma, less, doubled), self.window)

    def _avoidance(self, queued: FloatArray) -> FloatArray:
        """Windows after a round at or above the threshold."""
        up, down = queued < self.alpha, queued > self.beta
        grown = np.where(up, self.window + 1, np.where(down, self.window - 1, self.window))
        return np.clip(grown, 2, self.limit)
