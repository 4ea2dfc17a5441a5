"""Equations (3) to (27), held against rounds written out, sums, and the chain solved."""

from __future__ import annotations

import numpy as np

from burstlab.analytic import shihada
from burstlab.plot import Axes, Curve, CurvePanel, Dot, theme
from burstlab.reproduce.context import Context, Findings
from burstlab.statistics import Estimate


def equations(context: Context) -> Findings:
    """Evaluate each equation twice: as the closed form has it, and without the closed form."""
    findings = Findings()
    _difference(context, findings)
    _phases(context, findings)
    _time_outs(context, findings)
    _retransmission(context, findings)
    _throughputs(context, findings)
    for label, measure in findings.measures.items():
        findings.rows.append(context.row(label, measure))
    return findings


def _difference(context: Context, findings: Findings) -> None:
    """(1) to (7), (19) and (20): Diff, and where a window comes to rest."""
    plan, measures = context.plan, findings.measures
    rtt, base, alpha, beta = plan["rtt_s"], plan["base_rtt_s"], plan["alpha"], plan["beta"]
    queued = plan["in_path"] * (rtt - base) / base
    size = plan["in_path"] + queued
    measures["(3), last line, over what waits in queues"] = (
        float(shihada.diff(size, base, rtt)) / queued
    )
    measures["(3), first line, over what waits in queues"] = (
        float(shihada.diff(size, base, rtt, as_printed=True)) / queued
    )
    up = _rest(plan["from_below"], rtt, base, alpha, beta)
    down = _rest(plan["from_above"], rtt, base, alpha, beta)
    low, high = (one * rtt / (rtt - base) for one in (alpha, beta))
    measures["(6): rest from below over alpha R/(R - BaseRTT)"] = up / low
    measures["(6): rest from above over beta R/(R - BaseRTT)"] = down / high
    stable = float(shihada.stable_window(plan["from_above"], rtt, base, alpha, beta))
    measures["(7) over the rest from below"] = stable / up
    # (19), (20): a small window and a short detour.
    short = float(shihada.diff(plan["small_window"], base, plan["short_detour_s"]))
    measures["(20): Diff_D of a small window at W_max over alpha"] = short / alpha
    long = float(shihada.diff(up, base, plan["short_detour_s"]))
    measures["(20): Diff_D where (6) holds over alpha"] = long / alpha
    top = plan["window"]
    ends = [base / (1.0 - one / top) for one in (alpha, beta)]
    moved = [
        _step(top, rtt_r, base, alpha, beta) - top
        for rtt_r in np.linspace(ends[0], ends[1], plan["samples"])[1:-1]
    ]
    measures["range of RTT_r after (20): most that W_0 moves within"] = float(np.abs(moved).max())
    measures["range of RTT_r after (20): W_0 moves just above"] = float(
        _step(top, 1.001 * ends[1], base, alpha, beta) - top
    )


def _step(size: float, rtt: float, base: float, alpha: float, beta: float) -> float:
    """(4); a number that is whole up to rounding errors is made whole."""
    queued = round(size * (1.0 - base / rtt), 9)
    return size + 1 if queued < alpha else size - 1 if queued > beta else size


def _rest(size: float, rtt: float, base: float, alpha: float, beta: float) -> float:
    """Apply (4) until the window stays."""
    while (changed := _step(size, rtt, base, alpha, beta)) != size:
        size = changed
    return size


def _climb(window: int) -> tuple[list[int], list[int]]:
    """Return the windows of slow start and of congestion avoidance, round by round."""
    slow, size = [], 2
    while size < window // 2:
        slow += [size, size]
        size *= 2
    return slow, list(range(window // 2, window))


def _phases(context: Context, findings: Findings) -> None:
    """(8) to (13): segments and rounds of each phase."""
    plan, measures = context.plan, findings.measures
    gaps: dict[str, float] = {}
    printed = 0.0
    for window in plan["windows"]:
        slow, avoidance = _climb(window)
        stable = (1.0 - plan["p"]) / plan["p"] - len(slow) - len(avoidance)
        pairs = {
            "(8)": (shihada.slow_start_segments(window), sum(slow)),
            "(9)": (shihada.slow_start_rounds(window), len(slow)),
            "(10)": (shihada.avoidance_segments(window), sum(avoidance)),
            "(11)": (shihada.avoidance_rounds(window), len(avoidance)),
            "(12)": (shihada.stable_rounds(plan["p"], window), stable),
        }
        for name, (formula, brute) in pairs.items():
            gaps[name] = max(gaps.get(name, 0.0), abs(float(formula) - brute))
        as_printed = float(shihada.slow_start_segments(window, as_printed=True))
        printed = max(printed, abs(as_printed - sum(slow)))
    for name, gap in gaps.items():
        measures[f"{name}: largest gap from the rounds written out"] = gap
    measures["(8), printed sum: largest gap from the rounds written out"] = printed
    windows = plan["windows"]
    written = [float(sum(_climb(window)[0])) for window in windows]
    value, terms = (
        [float(shihada.slow_start_segments(window, as_printed=one)) for window in windows]
        for one in (False, True)
    )
    curves = [
        Curve("rounds written out", theme.SERIES[0], _dots(windows, written)),
        Curve("(8), its value", theme.SERIES[1], _dots(windows, value), "dashed"),
        Curve("(8), its sum as printed", theme.AGAIN, _dots(windows, terms), "dashed"),
    ]
    axes = Axes(
        "window W_0 (segments)",
        "segments",
        log_x=True,
        log_y=True,
        ticks=windows,
        columns=1,
        width=560,
    )
    findings.draw(context.target, [CurvePanel("", curves)], axes)


def _dots(xs: list[int], ys: list[float]) -> list[Dot]:
    return [Dot(float(x), y) for x, y in zip(xs, ys, strict=True)]


def _time_outs(context: Context, findings: Findings) -> None:
    """(14) and (15), and E[X]: sums over the number of attempts."""
    plan, measures = context.plan, findings.measures
    gaps = {"E[X]": 0.0, "(14)": 0.0, "(15)": 0.0}
    for p in plan["losses"]:
        count = np.arange(1, plan["terms"])
        chance = p ** (count - 1) * (1.0 - p)
        lasts = np.cumsum(np.minimum(2.0 ** np.minimum(count - 1, 6), 64.0))
        pairs = {
            "E[X]": (shihada.rounds_between_losses(p), np.sum((1.0 - p) ** count)),
            "(14)": (shihada.timeout_time(p, plan["rto_s"]), plan["rto_s"] * (chance @ lasts)),
            "(15)": (shihada.failed_retransmissions(p), chance @ (count - 1)),
        }
        for name, (formula, brute) in pairs.items():
            gaps[name] = max(gaps[name], abs(float(formula) / float(brute) - 1.0))
    for name, gap in gaps.items():
        measures[f"{name}: largest gap from the sum, relative"] = gap
    p = max(plan["losses"])
    flat = plan["rto_s"] / (1.0 - p)
    measures["(14) without back-off: gap from the sum, relative"] = 1.0 - flat / float(
        shihada.timeout_time(p, plan["rto_s"])
    )


def _retransmission(context: Context, findings: Findings) -> None:
    """(17), (18), (21), (22) and E[W_CG]: shares counted, rules followed, the chain solved."""
    plan, measures = context.plan, findings.measures
    pc, p, base, beta = plan["pc"], plan["p_chain"], plan["base_rtt_s"], plan["beta"]
    counted = shihada.round_level(
        pc,
        p=p,
        seed=plan["seed"],
        form="retransmission",
        duration_s=plan[context.effort]["rounds_s"],
    )
    there = (counted.bursts - counted.losses).sum()
    share = float(counted.delayed.sum() / there)
    half = 1.96 * float(np.sqrt(share * (1.0 - share) / there))
    for name, formula, seen in (
        ("(17)", shihada.contended_share(pc, p), share),
        ("(18)", shihada.uncontended_share(pc, p), 1.0 - share),
    ):
        measures[f"{name} less the share counted"] = Estimate(
            float(formula) - seen, half, int(there)
        )
    measures["p_c less the share counted"] = Estimate(pc - share, half, int(there))
    gaps = {False: 0.0, True: 0.0}
    for rtt_r in plan["rtts_r_s"]:
        brute = _rest(plan["from_above"], rtt_r, base, 0.0, beta)
        for printed in gaps:
            found = float(shihada.lowest_window(rtt_r, base, beta, as_printed=printed))
            gaps[printed] = max(gaps[printed], abs(found - brute))
    measures["(21), floor: largest gap from the window that stays"] = gaps[False]
    measures["(21), printed: largest gap from the window that stays"] = gaps[True]
    steps = plan["steps"]
    shares = _solved(
        float(shihada.contended_share(pc, p)), float(shihada.uncontended_share(pc, p)), steps
    )
    top = float(shihada.top_share(pc, steps, p))
    measures["(22), corrected, less pi_0 of the chain solved"] = top - shares[0]
    measures["(22), printed, less pi_0 of the chain solved"] = (
        float(shihada.top_share(pc, steps, p, as_printed=True)) - shares[0]
    )
    measures["balance: largest gap of pi_i from the chain solved"] = float(
        np.abs(shihada.window_shares(pc, steps, p) - shares).max()
    )
    down, up = float(shihada.contended_share(pc, p)), float(shihada.uncontended_share(pc, p))
    measures["last balance as printed: P_nc pi_(N-1) over P_sr pi_N"] = float(
        up * shares[-2] / (down * shares[-1])
    )
    measures["last balance with its indices exchanged: quotient"] = float(
        up * shares[-1] / (down * shares[-2])
    )
    window = plan["window"]
    mean = float(shares @ (window - np.arange(steps + 1)))
    for printed, name in ((False, "corrected"), (True, "first line as printed")):
        found = float(
            shihada.mean_contended_window(pc, window, window - steps, p, as_printed=printed)
        )
        measures[f"E[W_CG], {name}, less that of the chain solved"] = found - mean


def _solved(down: float, up: float, steps: int) -> np.ndarray:
    """Return the stationary shares of the chain of Figure 3, from its matrix."""
    matrix = np.zeros((steps + 1, steps + 1))
    for i in range(steps + 1):
        matrix[i, min(i + 1, steps)] += down
        matrix[i, max(i - 1, 0)] += up
    system = np.vstack([matrix.T - np.eye(steps + 1), np.ones(steps + 1)])
    return np.linalg.lstsq(system, np.append(np.zeros(steps + 1), 1.0), rcond=None)[0]


def _throughputs(context: Context, findings: Findings) -> None:
    """(16) and (23) to (27) compared with the flow simulated round by round."""
    plan, measures = context.plan, findings.measures
    window, rtt, rtt_r, rto = plan["window"], plan["base_rtt_s"], plan["rtt_r_s"], plan["rto_s"]
    shape = {"window": window, "rtt_s": rtt, "rto_s": rto, "seed": plan["seed"]}
    for p in plan["throughputs_at"]:
        bare = shihada.round_level(p, duration_s=plan[context.effort]["rounds_s"], **shape)
        value, half = bare.throughput()
        formula = float(shihada.bare_throughput(p, window, rtt, rto))
        measures[f"p = {p:g}: (16) over rounds"] = Estimate(
            formula / value, formula / value**2 * half, len(bare.segments)
        )
        again = shihada.round_level(
            2.0 * p,
            p=p,
            form="retransmission",
            rtt_r_s=rtt_r,
            duration_s=plan[context.effort]["rounds_s"],
            **shape,
        )
        value, half = again.throughput()
        for name, printed in _PRINTS.items():
            formula = float(
                shihada.retransmission_throughput(
                    2.0 * p, window, rtt, rtt_r, rto, p, as_printed=printed
                )
            )
            measures[f"p = {p:g}, p_c = {2.0 * p:g}: (27), {name}, over rounds"] = Estimate(
                formula / value, formula / value**2 * half, len(again.segments)
            )
    pc = plan["pc_figure"]
    most = window / rtt
    for name, printed in _PRINTS.items():
        rate = float(
            shihada.retransmission_throughput(pc, window, rtt, rtt_r, rto, as_printed=printed)
        )
        measures[f"p_c = {pc:g}: (27), {name} (segments/s)"] = rate
        measures[f"p_c = {pc:g}: (27), {name}, over W_max/R"] = rate / most


_PRINTS: dict[str, bool | list[str]] = {
    "corrected": False,
    "(21) as printed": ["(21)"],
    "(22) as printed": ["(22)"],
    "(25) as printed": ["(25)"],
    "all as printed": True,
}

TARGETS = {"equations": equations}
