"""Round-level Monte Carlo of a fast flow: the twin that judges the closed forms.

A fast flow sends every round as one burst, so a round is delivered whole or lost whole, and a flow
is three numbers: cwnd, ssthresh and the back-off. Nothing here shares code with the closed forms.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from burstlab.analytic.arguments import Argument, FloatArray, arrays, choice
from burstlab.analytic.declared import declared
from burstlab.analytic.yu2004.arguments import PAPER, Assembly, Loss, Rto, Rtt0, Window

Variant = Literal["reno", "ble", "bnak"]
Losses = Annotated[
    Literal["random", "even", "batch"],
    Argument(
        "Which bursts are lost",
        note=(
            '"random": each by itself. "even": one in every `period`. "batch": four back to back '
            "in every four times `period`. The last two begin at a random place in the period."
        ),
    ),
]

VARIANTS: tuple[Variant, ...] = get_args(Variant)

BATCH = 4
"""Losses back to back in a batch (V.B.1)."""
BACKOFF_MAX = 64.0
"""Largest factor on the RTO, as in ns-2."""
SSTHRESH_MIN = 2.0
"""RFC 5681, equation (4), in packets."""
GUARD = 3.0
"""Below this window BTCP takes a time-out as a true one (V.B, Fig. 6 and Table V)."""
NORMAL_975 = 1.959963984540054
"""Quantile of the normal distribution for 95 % intervals."""


@dataclass(frozen=True)
class RoundLevel:
    """Counts of a run; V variants, R replications, and the shape S of the parameters."""

    variants: tuple[Variant, ...]
    """Names along the first axis."""
    delivered: FloatArray
    """Packets delivered, shape ``(V, R, *S)``."""
    elapsed_s: FloatArray
    """Simulated time in s, shape ``(V, R, *S)``."""
    losses: FloatArray
    """Bursts lost, shape ``(V, R, *S)``."""
    true_timeouts: FloatArray
    """Losses answered with slow start, shape ``(V, R, *S)``."""

    @property
    def throughput_pps(self) -> FloatArray:
        """Packets delivered per second, shape ``(V, R, *S)``."""
        return self.delivered / self.elapsed_s

    def gain(self, variant: Variant, over: Variant = "reno") -> tuple[FloatArray, FloatArray]:
        """Throughput of one variant over another's under the same losses.

        Parameters
        ----------
        variant, over
            Names out of `variants`.

        Returns
        -------
        mean, half_width : numpy.ndarray
            Ratio of the total throughputs and half its 95 % interval, each of shape S. The
            interval is by the delta method over replications; NaN with a single one.

        Raises
        ------
        ValueError
            If a variant was not run.
        """
        choice("variant", variant, self.variants)
        choice("over", over, self.variants)
        rates = self.throughput_pps
        above, below = (rates[self.variants.index(name)] for name in (variant, over))
        ratio = above.mean(axis=0) / below.mean(axis=0)
        count = above.shape[0]
        if count < 2:
            return ratio, np.full_like(ratio, np.nan)
        deviation = (above - ratio * below).std(axis=0, ddof=1) / below.mean(axis=0)
        return ratio, NORMAL_975 * deviation / np.sqrt(count)


@declared(
    "The counts; the same seed and arguments give the same counts",
    f"{PAPER}, IV and V; RTO and W_m are inferred, the paper does not give them",
    assembly_s="The default is that of Table III.",
    rto_s="It is constant; inferred from Table IV.",
    period="By default 1/p.",
    rounds="Take many more than 1/p.",
    seed="Seed, or a generator to draw from.",
    variants="Which flows to simulate.",
)
def round_level(
    p: Loss,
    window: Window = 10,
    *,
    seed: int | np.random.Generator,
    losses: Losses = "random",
    variants: tuple[Variant, ...] = VARIANTS,
    assembly_s: Assembly = 0.04,
    rtt0_s: Rtt0 = 0.1,
    rto_s: Rto = 0.36,
    period: Annotated[ArrayLike, Argument("Bursts for each loss", at_least=1)] | None = None,
    guard: Annotated[
        float,
        Argument(
            "Window below which BTCP takes a loss for a true time-out",
            "packets",
            at_least=0,
            note=(
                "The default is that of V.B and Fig. 6. 0 never does, and a window below one "
                "packet still sends one."
            ),
        ),
    ] = GUARD,
    rounds: Annotated[int, Argument("Rounds that are counted in a replication", at_least=1)] = 4000,
    warmup_rounds: Annotated[
        int,
        Argument(
            "Rounds before those, not counted",
            at_least=0,
            note=(
                "With W_m far above 1/p the first slow start reaches windows that are never seen "
                "again: warm up."
            ),
        ),
    ] = 0,
    replications: Annotated[int, Argument("Independent flows", at_least=1)] = 100,
) -> RoundLevel:
    """Simulate fast flows round by round.

    A round sends min(floor(cwnd), W_m) packets in one burst. A delivered round takes
    RTT = rtt0_s + assembly_s, resets the back-off, and its ACKs open cwnd one by one: by 1 below
    ssthresh, else by 1/cwnd, up to W_m. At a loss with W = min(cwnd, W_m):

    - reno waits RTO times the back-off, which doubles, and sets ssthresh = max(W/2, 2), cwnd = 1;
    - ble (and BACK, which is equal without access losses) waits the RTO and continues with
      cwnd = W/2, ssthresh = max(W/2, 2) and no back-off; if W < guard it does what reno does;
    - bnak waits one RTT instead of the RTO and goes on like ble, with the same guard.

    Every flow begins with cwnd = 1, ssthresh = W_m. There is no serialisation time, no delayed ACK
    and no loss of ACKs. All variants and all parameters meet the same random numbers.

    Examples
    --------
    >>> run = round_level(0.1, 10, seed=1, rounds=500, replications=20)
    >>> ratio, half_width = run.gain("bnak")
    """
    for name in variants:
        choice("variants", name, VARIANTS)
    loss, assembly, rtt0 = arrays(p, assembly_s, rtt0_s)
    spacing = 1 / loss if period is None else period
    loss, spacing, limit, rtt, rto = np.broadcast_arrays(
        loss, spacing, window, rtt0 + assembly, rto_s
    )
    draw = _LossProcess(losses, loss, spacing, replications, np.random.default_rng(seed))
    flows = _Flows(variants, guard, replications, limit, rtt, rto)
    for index in range(warmup_rounds + rounds):
        if index == warmup_rounds:
            flows.forget()
        flows.step(draw.lost(index))
    return RoundLevel(
        tuple(variants), flows.delivered, flows.elapsed, flows.losses, flows.true_timeouts
    )


class _LossProcess:
    """Which of the bursts with one ordinal are lost, shape (R, *S)."""

    def __init__(
        self,
        kind: Losses,
        p: FloatArray,
        period: FloatArray,
        replications: int,
        generator: np.random.Generator,
    ) -> None:
        self._p = p
        self._replications = replications
        self._generator = generator
        self._length = 0 if kind == "random" else 1 if kind == "even" else BATCH
        self._cycle = period * self._length
        self._phase = self._column() * self._cycle if self._length else self._cycle

    def lost(self, index: int) -> NDArray[np.bool_]:
        if not self._length:
            return self._column() < self._p
        return (index + self._phase) % self._cycle < self._length

    def _column(self) -> FloatArray:
        """One number for each replication, the same for every parameter."""
        return self._generator.random(self._replications).reshape((-1,) + (1,) * self._p.ndim)


class _Flows:
    """The state of all flows, shape (V, R, *S)."""

    def __init__(
        self,
        variants: tuple[Variant, ...],
        guard: float,
        replications: int,
        limit: FloatArray,
        rtt: FloatArray,
        rto: FloatArray,
    ) -> None:
        shape = (len(variants), replications, *limit.shape)
        names = np.array(variants).reshape((-1,) + (1,) * (len(shape) - 1))
        # A window no smaller than this is halved; reno halves none.
        self._floor = np.where(names == "reno", np.inf, guard)
        self._limit, self._rtt, self._rto = limit, rtt, rto
        self._wait = np.where(names == "bnak", rtt, rto)
        self._cwnd = np.ones(shape)
        self._ssthresh = np.broadcast_to(limit, shape).copy()
        self._backoff = np.ones(shape)
        self.forget()

    def forget(self) -> None:
        """Begin to count."""
        shape = self._cwnd.shape
        self.delivered = np.zeros(shape)
        self.elapsed = np.zeros(shape)
        self.losses = np.zeros(shape)
        self.true_timeouts = np.zeros(shape)

    def step(self, lost: NDArray[np.bool_]) -> None:
        """Send one round of every flow; `lost` has the shape (R, *S)."""
        window = self._cwnd
        lost = np.broadcast_to(lost, window.shape)
        false = lost & (window >= self._floor)
        true = lost & ~false
        packets = np.maximum(np.floor(window), 1)
        self.delivered += np.where(lost, 0, packets)
        self.losses += lost
        self.true_timeouts += true
        waiting = np.where(false, self._wait, self._rto * self._backoff)
        self.elapsed += np.where(lost, waiting, self._rtt)
        doubled = np.minimum(2 * self._backoff, BACKOFF_MAX)
        self._backoff = np.where(true, doubled, 1.0)
        grown = self._opened(np.where(lost, 0, packets))
        half = np.maximum(window / 2, SSTHRESH_MIN)
        self._ssthresh = np.where(lost, half, self._ssthresh)
        self._cwnd = np.where(lost, np.where(false, np.maximum(window / 2, 1), 1), grown)

    def _opened(self, acks: FloatArray) -> FloatArray:
        """Open the windows by this many ACKs each, one ACK after another."""
        cwnd = self._cwnd
        for arrived in range(int(acks.max())):
            step = np.where(cwnd < self._ssthresh, 1.0, 1 / cwnd)
            cwnd = np.minimum(cwnd + np.where(arrived < acks, step, 0), self._limit)
        return cwnd
