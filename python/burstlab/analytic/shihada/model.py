"""Entry of the paper in the list of models: every equation at one point, corrected and printed."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from burstlab.analytic.declared import declared
from burstlab.analytic.registry import Model, Parameter, Quantity, number
from burstlab.analytic.shihada import contention, phases, throughput
from burstlab.analytic.shihada.arguments import WINDOW

PARAMETERS = (
    Parameter("pc", "", 1e-3, "probability that a burst meets contention, 0 < pc < 1"),
    Parameter(
        "p", "", 0, "probability that it is lost with retransmission, 0 < p <= pc; 0: pc squared"
    ),
    Parameter("window", "segments", 128, "largest window W_max, at least 4 (not in the paper)"),
    Parameter("rtt", "s", 0.1, "round-trip time R, at least base_rtt (V: 100 ms on average)"),
    Parameter("rtt_r", "s", 0.11, "the same if a burst is sent again, above base_rtt (V: 110 ms)"),
    Parameter("base_rtt", "s", 0.1, "shortest round-trip time, above 0 (source routing: rtt)"),
    Parameter("rto", "s", 0.2, "first time-out, at least rtt (2 sRTT without variance)"),
    Parameter("alpha", "segments", 2, "Vegas grows below this Diff; above 0, at most beta (V)"),
    Parameter("beta", "segments", 5, "Vegas shrinks above this Diff; above 0 (V)"),
)


@declared(
    "Results by name, in the order of the paper. With `p` given those of the bare network are NaN "
    "where they do not hold at `pc`",
    settings="A value for each of `PARAMETERS`.",
)
def compute(settings: Mapping[str, float]) -> dict[str, Quantity]:
    """Evaluate every equation at one point."""
    _order(settings)
    given = settings["p"] != 0
    pc = settings["pc"]
    loss = settings["p"] if given else pc**2
    contention.contended_share(pc, loss)
    WINDOW.check("window", settings["window"])
    stable = float(
        phases.stable_window(
            settings["window"],
            settings["rtt"],
            settings["base_rtt"],
            settings["alpha"],
            settings["beta"],
        )
    )
    WINDOW.check("W_0 of (7)", stable)
    most = float(phases.loss_limit(stable))
    if pc > most and not given:
        raise ValueError(
            f"pc = {pc:g} leaves the bare network a negative stable phase, for the model assumes "
            f"that W_0 = {stable:g} is reached before each loss: give pc <= {most:.4g}, or p too, "
            "for the network with retransmission alone"
        )
    return {
        **_phases(settings, stable, pc if pc <= most else math.nan),
        **_contention(settings, stable, pc, loss),
    }


MODEL = Model(
    name="shihada",
    reference=(
        "B. Shihada, Q. Zhang, P.-H. Ho, Performance Evaluation of TCP Vegas over Optical Burst "
        "Switched Networks, BROADNETS 2006"
    ),
    description="Throughput of a fast Vegas flow over OBS, bare and with burst retransmission",
    parameters=PARAMETERS,
    compute=compute,
)


def _order(settings: Mapping[str, float]) -> None:
    """Refuses what contradicts, in the names of the model."""
    base, rtt, delayed = settings["base_rtt"], settings["rtt"], settings["rtt_r"]
    if rtt < base:
        raise ValueError(
            f"rtt = {rtt:g} is below base_rtt = {base:g}: the base is the shortest of all"
        )
    if delayed < rtt or delayed <= base:
        raise ValueError(
            f"rtt_r = {delayed:g} is not above rtt = {rtt:g}: to send a burst again takes time"
        )
    if settings["rto"] < rtt:
        raise ValueError(
            f"rto = {settings['rto']:g} is below rtt = {rtt:g}: "
            "a retransmission time-out lasts at least one round trip"
        )


def _phases(settings: Mapping[str, float], window: float, p: float) -> dict[str, Quantity]:
    held = not math.isnan(p)
    rtt, rto = settings["rtt"], settings["rto"]
    first = phases.slow_start_segments(window)
    return {
        "stable_window": number(window, "segments", "(7)", "W_0"),
        "diff": number(
            phases.diff(window, settings["base_rtt"], rtt),
            "segments",
            "(1) to (3), (19)",
            "Diff at W_0; printed is in segments/s",
            phases.diff(window, settings["base_rtt"], rtt, as_printed=True),
        ),
        "slow_start_segments": number(
            first,
            "segments",
            "(8)",
            "E[Y_AB]; printed is the sum",
            phases.slow_start_segments(window, as_printed=True),
        ),
        "slow_start_rounds": number(
            phases.slow_start_rounds(window), "rounds", "(9)", "A to B, over R"
        ),
        "avoidance_segments": number(
            phases.avoidance_segments(window), "segments", "(10)", "E[Y_BC]"
        ),
        "avoidance_rounds": number(phases.avoidance_rounds(window), "rounds", "(11)", "B to C"),
        "loss_limit": number(
            phases.loss_limit(window), "", "(12)", "largest loss probability of the model"
        ),
        "rounds_between_losses": number(
            phases.rounds_between_losses(p) if held else math.nan,
            "rounds",
            "text before (12)",
            "E[X] of the bare network",
        ),
        "stable_rounds": number(
            phases.stable_rounds(p, window) if held else math.nan,
            "rounds",
            "(12), (13)",
            "C to D, bare network",
        ),
        "timeout_time": number(
            phases.timeout_time(p, rto) if held else math.nan,
            "s",
            "(5), (14)",
            "a sequence of time-outs, bare network",
        ),
        "failed_retransmissions": number(
            phases.failed_retransmissions(p) if held else math.nan,
            "segments",
            "(15)",
            "E[H], bare network",
        ),
        "bare_throughput": number(
            throughput.bare_throughput(p, window, rtt, rto) if held else math.nan,
            "segments/s",
            "(16)",
            "B_1, without retransmission",
        ),
    }


def _contention(
    settings: Mapping[str, float], window: float, pc: float, loss: float
) -> dict[str, Quantity]:
    rtt, delayed, base = settings["rtt"], settings["rtt_r"], settings["base_rtt"]
    beta = settings["beta"]
    lowest = float(contention.lowest_window(delayed, base, beta))
    steps = max(0, math.floor(window - lowest + 1e-9))
    path = (pc, window, rtt, delayed)
    shape: dict[str, Any] = {"base_rtt_s": base, "beta": beta}
    return {
        "contended_share": number(contention.contended_share(pc, loss), "", "(17)", "P_sr"),
        "uncontended_share": number(contention.uncontended_share(pc, loss), "", "(18)", "P_nc"),
        "contended_diff": number(
            phases.diff(window, base, delayed), "segments", "(19), (20)", "Diff_C at W_0"
        ),
        "lowest_window": number(
            lowest,
            "segments",
            "(21)",
            "W_0', which delay lowers no further",
            contention.lowest_window(delayed, base, beta, as_printed=True),
        ),
        "top_share": number(
            contention.top_share(pc, steps, loss),
            "",
            "(22)",
            "pi_0, share of rounds at W_0; printed is its inverse",
            contention.top_share(pc, steps, loss, as_printed=True),
        ),
        "mean_contended_window": number(
            contention.mean_contended_window(pc, window, lowest, loss),
            "segments",
            "text after (22)",
            "E[W_CG]",
            contention.mean_contended_window(pc, window, lowest, loss, as_printed=True),
        ),
        "contended_time": number(
            contention.contended_time(*path, loss),
            "s",
            "(25)",
            "A_CG; printed has the rounds of A to C too",
            contention.contended_time(*path, loss, as_printed=True),
        ),
        "retransmission_throughput": number(
            throughput.retransmission_throughput(*path, settings["rto"], loss, **shape),
            "segments/s",
            "(23) to (27)",
            "B_2, a burst is sent again once; printed is with (21), (22) and (25)",
            throughput.retransmission_throughput(
                *path, settings["rto"], loss, **shape, as_printed=True
            ),
        ),
    }
