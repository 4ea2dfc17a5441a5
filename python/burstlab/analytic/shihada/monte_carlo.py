"""Monte Carlo twin of the closed forms: Vegas, round by round, and nothing assumed about phases.

A round sends one burst of a whole window. It arrives, after one round trip; or it meets contention
and is sent again, which takes longer; or it is lost, and a time-out follows. Many independent flows
advance together as arrays.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from burstlab.analytic.arguments import (
    FloatArray,
    at_least,
    choice,
    positive,
    probability,
    whole,
)
from burstlab.analytic.shihada.phases import thresholds, window_of

BACKOFF_MAX = 64
"""The time-out doubles up to this factor."""

FORMS: tuple[str, ...] = ("bare", "retransmission")

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


def round_level(
    pc: float,
    *,
    seed: int,
    form: str = "bare",
    p: float | None = None,
    window: float = 128,
    rtt_s: float = 0.1,
    rtt_r_s: float = 0.11,
    rto_s: float = 0.2,
    base_rtt_s: float | None = None,
    alpha: float = 2,
    beta: float = 5,
    gamma: float = 1,
    duration_s: float = 1e6,
    flows: int = 1000,
    warmup_rounds: int = 500,
) -> RoundLevel:
    """Simulate Vegas over OBS round by round.

    Parameters
    ----------
    pc
        Probability that a burst meets contention, 0 < pc < 1.
    seed
        Seed of the random numbers.
    form
        "bare": contention loses the burst. "retransmission": it is sent again once.
    p
        Probability that a burst is lost with "retransmission", 0 < p <= pc; by default pc².
    window
        Largest window W_max in segments, at least 4.
    rtt_s
        Round-trip time R in s, at least `base_rtt_s`.
    rtt_r_s
        Round-trip time RTT_r in s of a burst that is sent again, at least `rtt_s`.
    rto_s
        First time-out in s, above 0; it doubles up to 64 times that.
    base_rtt_s
        Shortest round-trip time in s, above 0; by default `rtt_s`.
    alpha, beta
        Thresholds of Vegas in segments, above 0 and `alpha` at most `beta`.
    gamma
        Diff beyond which slow start ends, in segments, at least 0.
    duration_s
        Simulated time of all flows together in s, about; above 0.
    flows
        Independent flows, at least 2.
    warmup_rounds
        Rounds of each flow that are not counted, at least 0. They start at the largest window.

    Returns
    -------
    RoundLevel
        What was counted. The same arguments give the same numbers.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    References
    ----------
    Shihada, Zhang, Ho (BROADNETS 2006); the rules of Vegas after Brakmo and Peterson 1995.
    """
    choice("form", form, FORMS)
    count, warmup = whole("flows", flows, 2), whole("warmup_rounds", warmup_rounds, 0)
    contention = float(probability("pc", pc))
    lost = contention
    if form == "retransmission":
        lost = contention**2 if p is None else float(probability("p", p))
        if lost > contention:
            raise ValueError(f"p = {lost:g} is above pc = {contention:g}: give p <= pc")
    base = float(positive("base_rtt_s", rtt_s if base_rtt_s is None else base_rtt_s))
    plain = float(at_least("rtt_s", rtt_s, base))
    delayed = float(at_least("rtt_r_s", rtt_r_s, plain))
    low, high = thresholds(alpha, beta)
    vegas = _Vegas(
        count,
        float(window_of("window", window)),
        float(low),
        float(high),
        float(at_least("gamma", gamma, 0)),
        float(positive("rto_s", rto_s)),
    )
    rounds = max(1, round(float(positive("duration_s", duration_s)) / (count * plain)))
    generator = np.random.Generator(np.random.PCG64(seed))
    for _ in range(warmup):
        vegas.round(generator.random(count), lost, contention, plain, delayed, base)
    vegas.forget()
    for _ in range(rounds):
        vegas.round(generator.random(count), lost, contention, plain, delayed, base)
    return RoundLevel(
        vegas.segments,
        vegas.in_vain,
        vegas.seconds,
        np.full(count, rounds, dtype=np.int64),
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
