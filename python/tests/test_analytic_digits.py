"""Closed forms against arithmetic of many digits, over all of the range that they say they have.

The formulas here are written from the papers and the standards, not from the code, and need no
care: 400 digits are kept, so that at least 60 are right where 300 cancel. A form is right if it is
within 1e-9 of that, or as near as its arguments are known: each moved by its last bit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import mpmath
import numpy as np
import pytest

from burstlab.analytic import cubic, erlang, lu_hunter, padhye, ramantas, shihada, wlan, yu2004

#: Its functions are made as it is imported, so that their types are not known.
mp: Any = mpmath.mp
mpf: Any = mpmath.mpf

#: Largest relative error.
WITHIN = 1e-9
#: How many last bits of each argument a result may be off, where that is more.
BITS = 64
DIGITS = 400
#: Numbers that are smaller have fewer digits, or are 0.
LEAST = 1e-300
DRAWS = 40


@pytest.fixture(autouse=True)
def digits():
    with mp.workdps(DIGITS):
        yield


class Draw:
    """Arguments over their ranges, of all sizes alike."""

    def __init__(self, seed: int) -> None:
        self._random = np.random.default_rng([seed, 44])

    def one_of(self, *values: Any) -> Any:
        return values[int(self._random.integers(len(values)))]

    def size(self, least: float = 1e-30, most: float = 1e30) -> float:
        low, high = math.log10(least), math.log10(most)
        return float(10 ** self._random.uniform(low, high))

    def part(self, least: float = 1e-300) -> float:
        """Between 0 and 1: as near to either as a number can be."""
        kind = self._random.integers(3)
        if kind == 0:
            return self.size(least, 0.5)
        if kind == 1:
            return 1.0 - self.size(2**-52, 0.5)
        return float(self._random.uniform(0.001, 0.999))

    def above(self, least: float, most: float = 1e12) -> float:
        """At least this, and often hardly more."""
        kind = self._random.integers(3)
        if kind == 0:
            return least * (1 + self.size(2**-51, 1.0))
        return float(least) if kind == 1 else self.size(max(least, 1e-30), most)

    def whole(self, least: int, most: int) -> int:
        return round(self.size(max(least, 1), most))


def near(found: float, exact: Callable[..., Any], given: Sequence[float]) -> None:
    """Hold a number against the exact one of the same arguments."""
    right = exact(*map(mpf, given))
    if math.isinf(found):
        assert abs(right) > 1e308, (given, found, mp.nstr(right, 20))
        return
    assert not math.isnan(found), (given, mp.nstr(right, 20))
    if abs(right) < LEAST:
        assert abs(found) < 2 * LEAST, (given, found)
        return
    wrong = abs(mpf(found) - right)
    if wrong <= WITHIN * abs(right):
        return
    known = mpf(0)
    for place, value in enumerate(given):
        moved = [mpf(one) for one in given]
        moved[place] = mpf(value) * (1 + mpf(2) ** -52)
        known += abs(exact(*moved) - right)
    assert wrong <= BITS * known, (given, found, mp.nstr(right, 20))


Case = tuple[Callable[..., Any], Callable[..., Any], Callable[[Draw], Sequence[float]]]


def backoff(p: Any) -> Any:
    return 1 + p + 2 * p**2 + 4 * p**3 + 8 * p**4 + 16 * p**5 + 32 * p**6


def free_window(p: Any, b: Any) -> Any:
    c = (2 + b) / (3 * b)
    return c + mp.sqrt(8 * (1 - p) / (3 * b * p) + c**2)


def timeouts(p: Any, w: Any) -> Any:
    if w <= 3:
        return mpf(1)
    q = 1 - p
    return min(1, (1 - q**3) * (1 + q**3 * (1 - q ** (w - 3))) / (1 - q**w))


def pftk(p: Any, rtt: Any, rto: Any, most: Any, b: Any) -> Any:
    free = free_window(p, b)
    w = min(free, most)
    q = timeouts(p, max(w, 1))
    rounds = b / 2 * free + 1 if free < most else b / 8 * most + (1 - p) / (p * most) + 2
    sent = (1 - p) / p + w + q / (1 - p)
    return sent / (rtt * rounds + q * rto * backoff(p) / (1 - p))


def pftk_short(p: Any, rtt: Any, rto: Any, most: Any, b: Any) -> Any:
    out = rto * min(1, 3 * mp.sqrt(3 * b * p / 8)) * p * (1 + 32 * p**2)
    return min(most / rtt, 1 / (rtt * mp.sqrt(2 * b * p / 3) + out))


def pareto(a: Any, low: Any, high: Any) -> Any:
    if a == 1:
        return low * mp.log(high / low) / (1 - low / high)
    return a * low**a / (1 - (low / high) ** a) * (low ** (1 - a) - high ** (1 - a)) / (a - 1)


def pareto_arguments(d: Draw) -> list[float]:
    low = d.size(1e-6, 1e6)
    return [d.size(1e-12, 1e3), low, low * (1 + d.size(1e-12, 1e12))]


def without_service(e: Any, tries: int, short: int) -> Any:
    """A packet is given up after so many refusals in a row, or data frames."""
    refused = (1 - (1 - e) ** 2) ** short
    on = (1 - refused) * e
    return refused * sum(on**n for n in range(tries)) + on**tries


def service(e: Any) -> Any:
    """802.11b at 11 Mb/s with 1500 bytes: DIFS 50, SIFS 10, slots of 20, ACK of 304 us."""
    fails = 1 - (1 - e) ** 2
    frame = 192 + -(-8 * (1500 + 28) // 11)
    stages = (mpf(32 * 2 ** min(n, 5) - 1) / 2 * 20 for n in range(7))
    return sum(fails**n * (50 + slots + frame + 10 + 304) for n, slots in enumerate(stages))


def bianchi_tau(p: Any, window: int, stages: int) -> Any:
    if p == mpf("0.5"):
        return mpf(2) / (1 + window + mpf(stages) * window / 2)
    top = 2 * (1 - 2 * p)
    return top / ((1 - 2 * p) * (window + 1) + p * window * (1 - (2 * p) ** stages))


def geometric(r: Any, n: int) -> Any:
    return sum(r**i for i in range(n + 1))


def ratio_of(pc: Any, p: Any) -> Any:
    return ((pc - p) / (1 - p)) / ((1 - pc) / (1 - p))


def mean_chain(pc: Any, top: Any, low: Any) -> Any:
    r, n = ratio_of(pc, pc**2), int(mp.floor(top - low)) if top > low else 0
    return sum((top - i) * r**i for i in range(n + 1)) / geometric(r, n)


def climb(w: Any) -> Any:
    return 2 * (mp.log(w, 2) - 2) + w / 2


def vegas_bare(p: Any, w: Any, rtt: Any, rto: Any) -> Any:
    stable = max((1 - p) / p - climb(w), 0)
    segments = w - 4 + 3 * w**2 / 8 - w / 4 + w * stable + p / (1 - p)
    return segments / ((1 - p) / p * rtt + rto * backoff(p) / (1 - p))


def vegas_again(pc: Any, w: Any, rtt: Any, later: Any, rto: Any) -> Any:
    p = pc**2
    low = max(mp.floor(5 * later / (later - rtt)), 2)
    stable = (1 - p) / p - climb(w)
    segments = w - 4 + 3 * w**2 / 8 - w / 4 + mean_chain(pc, w, low) * stable + p / (1 - p)
    round_ = (1 - pc) / (1 - p) * rtt + (pc - p) / (1 - p) * later
    return segments / (climb(w) * rtt + stable * round_ + rto * backoff(p) / (1 - p))


def yu_half(p: Any, less: int = 0) -> Any:
    """Solve x + log2(x) = (1-p)/p, less a round, by Newton."""
    rounds = (1 - p) / p - less
    x = max(rounds - mp.log(max(rounds, 1), 2), mpf(1) / 2)
    for _ in range(30):
        x -= (x + mp.log(x, 2) - rounds) / (1 + 1 / (x * mp.log(2)))
    return x


def yu_tcp_limited(p: Any, w: Any) -> Any:
    return w / p - w**2 / 8 + w - 1 - w * mp.log(w / 2, 2)


def yu_btcp_limited(p: Any, w: Any) -> Any:
    return w / p - w**2 / 8


def yu_ratio(p: Any) -> Any:
    w = 2 * yu_half(p)
    return 3 * (1 - p) ** 2 / (2 * p**2) / (3 * w**2 / 8 + w - 1)


def lu_delays(rtt: Any, ratio: Any, share: Any) -> list[Any]:
    front, back = rtt / 2 * share, rtt / 2 * (1 - share)
    t0, t3 = front / (1 + ratio), back / (1 + ratio)
    return [t0, ratio * t0, ratio * t3, t3]


def lu_mean_congestion(capacity: Any, share: Any) -> Any:
    c, rest = capacity * share, capacity * (1 - share)
    whole = (capacity**2 - rest**2) / 2 - 2 * rest * c + rest**2 * mp.log(capacity / rest)
    return whole / c**2


def lu_mean_excess(capacity: Any, share: Any) -> Any:
    c, rest = capacity * share, capacity * (1 - share)
    whole = (capacity**3 - rest**3) / 3 - 3 * rest * (capacity**2 - rest**2) / 2
    return (whole + 3 * rest**2 * c - rest**3 * mp.log(capacity / rest)) / (3 * c**2)


def lu_time_of_rise(rise: Any, a: Any, c: Any, rtt: Any, n: Any, size: Any) -> Any:
    """2T + (K - 1) M_N T/N, with K = 2N d/(C - a) of at least 1 and M_N = 2T (C - a)/(N P)."""
    most = rtt * (c - a) / (n * size)
    return rtt + max(2 * n * rise / (c - a) - 1, 0) * most * (rtt / 2) / n


def udp(d: Draw) -> list[float]:
    """A rate of UDP, the capacity, and the share of it that UDP may take."""
    capacity, share = d.size(1e3, 1e15), min(d.part(1e-200) / 2, 0.5)
    return [capacity * share * d.one_of(0.0, d.size(1e-9, 0.999)), capacity, share]


def capacity(d: Draw) -> list[float]:
    return [d.size(1e3, 1e15), min(d.size(1e-60, 0.5), 0.5)]


def erlang_b(load: Any, servers: Any) -> Any:
    n = int(servers)
    terms = [load**k / mp.factorial(k) for k in range(n + 1)]
    return terms[-1] / sum(terms)


def engset(load: Any, servers: Any, sources: Any) -> Any:
    n, rivals = int(servers), int(sources) - 1
    if n > rivals:
        return mpf(0)
    terms = [mp.binomial(rivals, k) * load**k for k in range(n + 1)]
    return terms[-1] / sum(terms)


def converters(load: Any, wavelengths: Any, pool: Any, cause: str) -> Any:
    """The balance of all states, with one replaced by the sum of all, as a linear system."""
    w, r = int(wavelengths), int(pool)
    states = [(k, c) for k in range(w + 1) for c in range(min(k, r) + 1)]
    place = {state: n for n, state in enumerate(states)}
    system = mp.zeros(len(states))
    for k, c in states:
        for there, rate in (
            ((k + 1, c), load * (w - k) / w), ((k + 1, c + 1), load * k / w if k < w else 0),
            ((k - 1, c), mpf(k - c)), ((k - 1, c - 1), mpf(c)),
        ):  # fmt: skip
            if there in place and rate:
                system[place[there], place[k, c]] += rate
                system[place[k, c], place[k, c]] -= rate
    for n in range(len(states)):
        system[0, n] = 1
    right = mp.zeros(len(states), 1)
    right[0] = 1
    shares = mp.lu_solve(system, right)
    if cause == "contention":
        return sum(shares[n] for (k, _), n in place.items() if k == w)
    return sum(shares[n] * k / w for (k, c), n in place.items() if k < w and c == r)


def pools(d: Draw) -> list[float]:
    w = d.whole(1, 8)
    return [d.size(1e-12, 1e6), w, min(w, d.whole(0, 8))]


def window_max(d: Draw) -> float:
    """A window of Vegas that is reached at some loss."""
    return d.above(4, 1e9)


def vegas(d: Draw) -> list[float]:
    w = window_max(d)
    p = float(shihada.loss_limit(w)) * d.one_of(0.5, d.size(1e-290, 0.99))
    return [p, w, d.size(), d.size()]


def vegas_twice(d: Draw) -> list[float]:
    w = d.above(4, 300)
    pc = math.sqrt(float(shihada.loss_limit(w)) * d.one_of(0.5, d.size(1e-300, 0.99)))
    rtt = d.size(1e-6, 1e3)
    # W_0' is away from a step.
    below = d.one_of(2.5, 3.5, 7.5, 40.5)
    return [pc, w, rtt, rtt * below / (below - 5 if below > 5 else 0.9 * below), d.size()]


CASES: dict[str, Case] = {
    "cubic.mean_window": (
        cubic.mean_window,
        lambda p, rtt, c, beta: (
            (c * (3 + beta) / (4 * (1 - beta))) ** (mpf(1) / 4) * (rtt / p) ** (mpf(3) / 4)
        ),
        lambda d: [d.part(), d.size(), d.size(), d.part()],
    ),
    "cubic.mean_rate": (
        cubic.mean_rate,
        lambda p, rtt, c, beta: (
            (c * (3 + beta) / (4 * (1 - beta)) / rtt / p**3) ** (mpf(1) / 4)
        ),
        lambda d: [d.part(), d.size(), d.size(), d.part()],
    ),
    "padhye.backoff_factor": (padhye.backoff_factor, backoff, lambda d: [d.part()]),
    "padhye.unlimited_window": (
        padhye.unlimited_window, free_window, lambda d: [d.part(), d.above(1)],
    ),
    "padhye.timeout_share": (
        padhye.timeout_share, timeouts, lambda d: [d.part(), d.one_of(d.above(1), d.above(3))],
    ),
    "padhye.send_rate": (
        padhye.send_rate, pftk,
        lambda d: [d.part(), d.size(), d.size(), d.above(1), d.above(1, 1e3)],
    ),
    "padhye.send_rate_approximate": (
        padhye.send_rate_approximate, pftk_short,
        lambda d: [d.part(), d.size(), d.size(), d.above(1), d.above(1, 1e3)],
    ),
    "padhye.mathis": (
        padhye.mathis,
        lambda p, rtt, b: mp.sqrt(3 / (2 * b)) / (rtt * mp.sqrt(p)),
        lambda d: [d.part(), d.size(), d.above(1)],
    ),
    "erlang.erlang_b": (
        erlang.erlang_b, erlang_b, lambda d: [d.size(1e-300, 1e300), d.whole(1, 300)],
    ),
    "erlang.erlang_b, near": (
        erlang.erlang_b, erlang_b, lambda d: [d.size(0.1, 1e4), d.whole(1, 500)],
    ),
    "erlang.engset": (
        erlang.engset, engset,
        lambda d: [d.size(1e-300, 1e307), d.whole(1, 100), d.whole(1, 400)],
    ),
    "erlang.converter_pool, contention": (
        lambda a, w, r: erlang.converter_pool(a, w, r).contention,
        lambda a, w, r: converters(a, w, r, "contention"),
        pools,
    ),
    "erlang.converter_pool, no converter": (
        lambda a, w, r: erlang.converter_pool(a, w, r).no_converter,
        lambda a, w, r: converters(a, w, r, "no converter"),
        pools,
    ),
    "ramantas.round_time": (
        ramantas.round_time, lambda t, path: path + 2 * t, lambda d: [d.size(), d.size()],
    ),
    "ramantas.doublings": (ramantas.doublings, lambda w: mp.log(w, 2), lambda d: [d.above(1)]),
    "ramantas.time_to_window": (
        ramantas.time_to_window,
        lambda w, t, path: mp.log(w, 2) * (path + 2 * t),
        lambda d: [d.above(1), d.size(), d.size()],
    ),
    "ramantas.full_window": (
        ramantas.full_window,
        lambda t, path, rate, size: rate / size * (path + 2 * t),
        lambda d: [d.size(), d.size(), d.size(), d.size()],
    ),
    "ramantas.window_rate": (
        ramantas.window_rate,
        lambda w, rtt: min(w * 8000 / rtt, mpf(10) ** 8 * 8000 / 8320),
        lambda d: [d.above(1), d.size()],
    ),
    "ramantas.burst_rate": (
        ramantas.burst_rate, lambda rate, t: 1 / (t + 1 / rate), lambda d: [d.size(), d.size()],
    ),
    "ramantas.active_sources": (
        ramantas.active_sources, lambda rate, t: rate * t, lambda d: [d.size(), d.size()],
    ),
    "ramantas.completion_time": (
        ramantas.completion_time, lambda n, rate: n / rate, lambda d: [d.size(), d.size()],
    ),
    "ramantas.file_mean": (ramantas.file_mean, pareto, pareto_arguments),
    "wlan.failed_try": (wlan.failed_try, lambda e: 1 - (1 - e) ** 2, lambda d: [d.part()]),
    "wlan.residual_loss": (
        wlan.residual_loss, lambda e, n: e ** int(n), lambda d: [d.part(), d.whole(1, 1000)],
    ),
    "wlan.frame_error": (
        wlan.frame_error, lambda q, n: q ** (1 / n), lambda d: [d.part(), d.whole(1, 1000)],
    ),
    "wlan.residual_loss_rts": (
        wlan.residual_loss_rts,
        lambda e, long, short: without_service(e, int(long), int(short)),
        lambda d: [d.part(), d.whole(1, 30), d.whole(1, 30)],
    ),
    "wlan.service_time": (wlan.service_time, service, lambda d: [d.part()]),
    "wlan.transmission_probability": (
        wlan.transmission_probability,
        lambda p, window, stages: bianchi_tau(p, int(window), int(stages)),
        lambda d: [d.part(), d.whole(1, 1_000_000), d.whole(1, 300)],
    ),
    "shihada.contended_share": (
        shihada.contended_share, lambda pc: (pc - pc**2) / (1 - pc**2), lambda d: [d.part()],
    ),
    "shihada.uncontended_share": (
        shihada.uncontended_share, lambda pc: (1 - pc) / (1 - pc**2), lambda d: [d.part()],
    ),
    "shihada.top_share": (
        shihada.top_share,
        lambda pc, n: 1 / geometric(pc, int(n)),
        lambda d: [d.part(), d.whole(1, 300)],
    ),
    "shihada.top_share with p": (
        lambda pc, n, p: shihada.top_share(pc, n, p),
        lambda pc, n, p: 1 / geometric(ratio_of(pc, p), int(n)),
        lambda d: [pc := d.part(1e-150), d.whole(1, 60), pc * d.part(1e-150)],
    ),
    "shihada.mean_contended_window": (
        shihada.mean_contended_window, mean_chain,
        lambda d: [d.part(), 4.0 + d.whole(1, 300), d.one_of(2.0, 3.0, 17.0, 400.0)],
    ),
    "shihada.diff": (
        shihada.diff,
        lambda w, base, rtt: (w / base - w / rtt) * base,
        lambda d: [d.size(), base := d.size(1e-9, 1e9), base * d.above(1)],
    ),
    "shihada.slow_start_rounds": (
        shihada.slow_start_rounds, lambda w: 2 * (mp.log(w, 2) - 2), lambda d: [window_max(d)],
    ),
    "shihada.loss_limit": (
        shihada.loss_limit, lambda w: 1 / (1 + climb(w)), lambda d: [window_max(d)],
    ),
    "shihada.timeout_time": (
        shihada.timeout_time,
        lambda p, rto: rto * backoff(p) / (1 - p),
        lambda d: [d.part(), d.size()],
    ),
    "shihada.stable_rounds": (
        shihada.stable_rounds,
        lambda p, w: max((1 - p) / p - climb(w), 0),
        lambda d: vegas(d)[:2],
    ),
    "shihada.bare_throughput": (shihada.bare_throughput, vegas_bare, vegas),
    "shihada.retransmission_throughput": (
        shihada.retransmission_throughput, vegas_again, vegas_twice,
    ),
    "yu2004.packets_to_window": (
        yu2004.packets_to_window, lambda w: 3 * w**2 / 8 + w - 1, lambda d: [d.above(2)],
    ),
    "yu2004.rounds_between_losses": (
        yu2004.rounds_between_losses, lambda p: (1 - p) / p, lambda d: [d.part()],
    ),
    "yu2004.mean_window_tcp": (
        yu2004.mean_window_tcp, lambda p: 2 * yu_half(p), lambda d: [d.size(1e-300, 0.4999)],
    ),
    "yu2004.mean_window_ratio": (
        yu2004.mean_window_ratio,
        lambda p: (1 - p) / p / yu_half(p),
        lambda d: [d.size(1e-300, 0.4999)],
    ),
    "yu2004.unlimited_packets_tcp": (
        yu2004.unlimited_packets_tcp,
        lambda p: 3 * (2 * yu_half(p)) ** 2 / 8 + 2 * yu_half(p) - 1,
        lambda d: [d.size(1e-150, 0.4999)],
    ),
    "yu2004.unlimited_packets_btcp": (
        yu2004.unlimited_packets_btcp,
        lambda p: 3 * (1 - p) ** 2 / (2 * p**2),
        lambda d: [d.size(1e-150, 0.4999)],
    ),
    "yu2004.limited_packets_tcp": (
        yu2004.limited_packets_tcp, yu_tcp_limited,
        lambda d: [d.size(1e-290, 1) / (w := d.above(2)) / 2, w],
    ),
    "yu2004.limited_packets_btcp": (
        yu2004.limited_packets_btcp, yu_btcp_limited,
        lambda d: [d.size(1e-290, 1) / (w := d.above(2)) / 2, w],
    ),
    "yu2004.limited_gain": (
        yu2004.limited_gain,
        lambda p, w: yu_btcp_limited(p, w) / yu_tcp_limited(p, w),
        lambda d: [d.size(1e-290, 1) / (w := d.above(2)) / 2, w],
    ),
    "yu2004.gain_ble": (
        lambda p: yu2004.gain_ble(p, 1e300 if p > 1e-290 else 1e305),
        yu_ratio,
        lambda d: [d.size(1e-290, 0.4999)],
    ),
    "yu2004.timeout_period_tcp": (
        yu2004.timeout_period_tcp,
        lambda p, rtt, rto: (1 - p) / p * rtt + rto,
        lambda d: [d.part(1e-270), d.size(), d.size()],
    ),
    "yu2004.timeout_period_bnak": (
        yu2004.timeout_period_bnak, lambda p, rtt: rtt / p, lambda d: [d.part(1e-270), d.size()],
    ),
    "yu2004.bnak_time_factor": (
        yu2004.bnak_time_factor,
        lambda p, rtt, rto: ((1 - p) / p * rtt + rto) / (rtt / p),
        lambda d: [d.part(), rtt := d.size(), rtt * d.above(1)],
    ),
    "yu2004.rto_from_gains": (
        yu2004.rto_from_gains,
        lambda bnak, ble, p, rtt: rtt * (1 + (bnak / ble - 1) / p),
        lambda d: [ble := d.size(1e-3, 1e3), ble / d.above(1, 1e3), d.part(1e-200), d.size()],
    ),
    "yu2004.gain_batch": (
        yu2004.gain_batch,
        lambda r, b, t, rto, rtt, n: r * (t * rto + n * rtt) / (b * rto + n * rtt),
        lambda d: [d.size() for _ in range(6)],
    ),
    **{
        f"lu_hunter.delays, T_{n}": (
            lambda *given, n=n: lu_hunter.delays(*given)[n],
            lambda *given, n=n: lu_delays(*given)[n],
            lambda d: [d.size(), d.size(1e-300, 1e200), d.part(1e-60)],
        )
        for n in range(4)
    },
    "lu_hunter.peak_window": (
        lu_hunter.peak_window,
        lambda a, c, rtt, n, size: rtt * (c - a) / (n * size),
        lambda d: [(c := d.size()) * d.part(), c, d.size(), d.above(1), d.size()],
    ),
    "lu_hunter.rise_probability": (
        lu_hunter.rise_probability, lambda a, c, r: (c * r - a) / (c * r), udp,
    ),
    "lu_hunter.congestion_probability": (
        lu_hunter.congestion_probability,
        lambda a, c, r: (c * r - a) ** 2 / (c * r * (c - a)),
        udp,
    ),
    "lu_hunter.excess": (
        lu_hunter.excess, lambda a, c, r: (c * r - a) ** 3 / (3 * c * r * (c - a)), udp,
    ),
    "lu_hunter.mean_rise": (
        lu_hunter.mean_rise, lambda a, c, r: (c * r - a) ** 2 / (2 * c * r), udp,
    ),
    "lu_hunter.mean_congestion_probability": (
        lu_hunter.mean_congestion_probability, lu_mean_congestion, capacity,
    ),
    "lu_hunter.mean_excess": (lu_hunter.mean_excess, lu_mean_excess, capacity),
    "lu_hunter.mean_loss": (
        lu_hunter.mean_loss,
        lambda c, r, rtt: lu_mean_excess(c, r) * rtt / 16000,
        lambda d: [*capacity(d), d.size()],
    ),
    "lu_hunter.loss_rate": (
        lu_hunter.loss_rate, lambda c, r: lu_mean_excess(c, r) / c, capacity,
    ),
    "lu_hunter.halvings": (
        lu_hunter.halvings,
        lambda rise, a, c, n: 2 * n * rise / (c - a),
        lambda d: [d.size(), (c := d.size()) * d.part(), c, d.above(2)],
    ),
    "lu_hunter.crowd_controlled_loss": (
        lu_hunter.crowd_controlled_loss,
        lambda c, r, rtt: c * r / 6 * 2 * lu_delays(rtt, mpf(1) / 2, mpf(1) / 2)[1] / 16000,
        lambda d: [*capacity(d), d.size()],
    ),
    "lu_hunter.smoothed_rate": (
        lu_hunter.smoothed_rate,
        lambda rate, came, left, tau, nu: nu * rate + (1 - nu) * (came + left / tau),
        lambda d: [d.size(), d.size(), d.size(), d.size(), d.part()],
    ),
    "lu_hunter.product_probability": (
        lu_hunter.product_probability,
        lambda a, c, r: (c * r - a) / (c * r) * (c * r - a) ** 2 / (c * r * (c - a)),
        udp,
    ),
    "lu_hunter.exposure": (
        lambda rtt, ratio, near: lu_hunter.exposure(rtt, control=True, core_ratio=ratio, near=near),
        lambda *given: 2 * lu_delays(*given)[1],
        lambda d: [d.size(), d.size(1e-200, 1e200), d.part(1e-60)],
    ),
    "lu_hunter.buffering": (
        lambda rtt, ratio, near: lu_hunter.buffering(
            rtt, ops_acks=False, core_ratio=ratio, near=near
        ),
        lambda rtt, ratio, near: rtt - 2 * lu_delays(rtt, ratio, near)[1],
        lambda d: [d.size(), d.size(1e-200, 1e6), d.part(1e-60)],
    ),
    "lu_hunter.edge_buffer": (
        lu_hunter.edge_buffer,
        lambda c, r, rtt: (
            lu_mean_excess(c, r) * 2 * lu_delays(rtt, mpf(1) / 2, mpf(1) / 2)[0] / 16000
        ),
        lambda d: [*capacity(d), d.size()],
    ),
    "lu_hunter.crowd_edge_buffer": (
        lu_hunter.crowd_edge_buffer,
        lambda c, r, rtt: c * r / 6 * 2 * lu_delays(rtt, mpf(1) / 2, mpf(1) / 2)[0] / 16000,
        lambda d: [*capacity(d), d.size()],
    ),
    "lu_hunter.free_capacity": (
        lu_hunter.free_capacity,
        lambda w, c, rtt, n, size: c - n * w * size / rtt,
        lambda d: [d.size(), d.size(), d.size(), d.above(1), d.size()],
    ),
    "lu_hunter.peak_cwnd_bits": (
        lu_hunter.peak_cwnd_bits,
        lambda a, c, rtt, n, size, head: rtt * (c - a) / (n * size) * (size - head),
        lambda d: [
            (c := d.size()) * d.part(), c, d.size(), d.above(1), (p := d.size()), p * d.part(),
        ],
    ),
    "lu_hunter.congestion_time": (
        lu_hunter.congestion_time, lu_time_of_rise,
        lambda d: [
            (c := d.size(1e9, 1e15)) * d.size(1e-12, 1), c * d.size(1e-12, 0.9), c,
            d.size(0.1, 10), d.above(2, 100), 16000.0,
        ],
    ),
    "lu_hunter.loss_of_rise": (
        lu_hunter.loss_of_rise,
        lambda rise, a, c, rtt, n, size: (
            rise * (rtt + lu_time_of_rise(rise, a, c, rtt, n, size)) / 2 / size
        ),
        lambda d: [
            (c := d.size(1e9, 1e15)) * d.size(1e-12, 1), c * d.size(1e-12, 0.9), c,
            d.size(0.1, 10), d.above(2, 100), 16000.0,
        ],
    ),
    "lu_hunter.settled_excess": (lu_hunter.settled_excess, lambda e: e / 2, lambda d: [d.size()]),
    "lu_hunter.cut": (
        lambda *rates: lu_hunter.cut(list(rates))[-1],
        lambda *rates: sum(rates) / len(rates),
        lambda d: [d.size() for _ in range(5)],
    ),
    "shihada.contended_time": (
        shihada.contended_time,
        lambda pc, w, rtt, later: (
            ((1 - pc**2) / pc**2 - climb(w))
            * ((1 - pc) * rtt + (pc - pc**2) * later) / (1 - pc**2)
        ),
        lambda d: [d.part(1e-150), window_max(d), d.size(), d.size()],
    ),
    "shihada.stable_window": (
        shihada.stable_window,
        lambda most, rtt, base: min(mpf(7) / 2 * rtt / (rtt - base), most),
        lambda d: [d.above(4), (base := d.size(1e-9, 1e9)) * (1 + d.size(1e-12, 1e3)), base],
    ),
    "shihada.slow_start_segments": (
        shihada.slow_start_segments, lambda w: w - 4, lambda d: [d.above(4)],
    ),
    "shihada.avoidance_segments": (
        shihada.avoidance_segments, lambda w: 3 * w**2 / 8 - w / 4, lambda d: [d.above(4)],
    ),
    "shihada.avoidance_rounds": (
        shihada.avoidance_rounds, lambda w: w / 2, lambda d: [d.above(4)],
    ),
    "shihada.rounds_between_losses": (
        shihada.rounds_between_losses, lambda p: (1 - p) / p, lambda d: [d.part()],
    ),
    "shihada.failed_retransmissions": (
        shihada.failed_retransmissions, lambda p: p / (1 - p), lambda d: [d.part()],
    ),
    **{
        f"shihada.window_shares, {place}": (
            lambda pc, p, n, place=place: shihada.window_shares(pc, int(n), p)[place],
            lambda pc, p, n, place=place: (
                ratio_of(pc, p) ** (int(n) * (place == -1)) / geometric(ratio_of(pc, p), int(n))
            ),
            lambda d: [pc := d.part(1e-150), pc * d.part(1e-150), d.whole(1, 300)],
        )
        for place in (0, -1)
    },
    "yu2004.mean_window_btcp": (
        yu2004.mean_window_btcp, lambda p: 2 * (1 - p) / p, lambda d: [d.size(1e-300, 0.4999)],
    ),
    "yu2004.gain_bnak": (
        lambda p, rtt, rto: yu2004.gain_bnak(p, 1e305, rtt, rto),
        lambda p, rtt, rto: yu_ratio(p) * ((1 - p) / p * rtt + rto) / (rtt / p),
        lambda d: [d.size(1e-290, 0.4999), rtt := d.size(), rtt * d.above(1)],
    ),
    "wlan.exchange_time": (
        wlan.exchange_time,
        lambda size: 50 + mpf(31) / 2 * 20 + 192 + mp.ceil(8 * (size + 28) / 11) + 10 + 304,
        lambda d: [d.whole(1, 100_000)],
    ),
    "wlan.tcp_goodput": (
        wlan.tcp_goodput,
        lambda size: (
            8 * size
            / (2 * (50 + 310 + 192 + 10 + 304)
               + mp.ceil(8 * (size + 68) / 11) + mp.ceil(mpf(8 * 68) / 11))
        ),
        lambda d: [d.whole(1, 100_000)],
    ),
}  # fmt: skip

#: Names that are no number of a formula, or that tests elsewhere hold against many digits.
ELSEWHERE = {
    "erlang.erlang_b_load", "erlang.reduced_load", "ramantas.file_shape", "ramantas.lost_bursts",
    "wlan.bianchi", "wlan.saturation", "lu_hunter.crowd_loss", "lu_hunter.crowd_congestion_time",
    "lu_hunter.crowd_loss_rate", "shihada.lowest_window", "ramantas.segments_cap",
    "ramantas.rounds_within", "ramantas.bursts_of_flow", "lu_hunter.window_at",
    # Words, a table of three numbers, curves of the others, and simulations.
    "yu2004.flow_class", "yu2004.window_regime", "ramantas.assembly_time", "yu2004.fig5a",
    "yu2004.fig5b", "yu2004.round_level", "yu2004.simulate", "shihada.round_level",
}  # fmt: skip


def test_every_closed_form_is_here():
    known = {name.partition(",")[0].partition(" ")[0] for name in CASES} | ELSEWHERE
    modules = (erlang, lu_hunter, padhye, ramantas, shihada, wlan, yu2004)
    for module in modules:
        short = module.__name__.rpartition(".")[2]
        for name in getattr(module, "__all__", None) or vars(module):
            form = getattr(module, name)
            if hasattr(form, "__wrapped__") and name != "compute":
                assert f"{short}.{name}" in known, f"{short}.{name}"


@pytest.mark.parametrize("seed", range(DRAWS))
def test_counts_are_whole_and_right(seed):
    """Of what is rounded: within a few last bits of a whole number it may be either."""
    d = Draw(seed)

    def check(found: float, exact: Any, up: int = 0) -> None:
        below = int(mp.floor(exact))
        slack = exact * mpf(10) ** -11 + mpf(10) ** -8
        either = {below + up} | {int(mp.floor(exact + side)) + up for side in (slack, -slack)}
        assert int(found) in either and float(found).is_integer()

    time, rate, size = d.size(1e-6, 1e3), d.size(1, 1e9), d.size(1, 1e5)
    check(float(ramantas.segments_cap(time, rate, size)), mpf(time) * rate / size, 1)
    span, path = d.size(1e-6, 1e4), d.size(1e-3, 1e3)
    check(float(ramantas.rounds_within(span, time, path)), span / (mpf(path) + 2 * mpf(time)), 1)
    base, later = d.size(1e-6, 1e3), 1 + d.size(1e-6, 0.3)
    lowest = 5 * mpf(base * later) / (mpf(base * later) - mpf(base))
    check(float(shihada.lowest_window(base * later, base)), max(lowest, mpf(2)))
    segments, cap = d.whole(1, 10**9), d.whole(1, 10**5)
    left, window, bursts = segments, 1, 0
    while left > 0:
        bursts += math.ceil(mpf(min(window, left)) / cap)
        left, window = left - window, 2 * window
    assert ramantas.bursts_of_flow(segments, cap) == bursts
    peak, rtt = d.above(2, 1e6), d.size(1e-3, 1)
    start, rounds = peak * (0.5 + d.size(1e-9, 0.5)), d.size(1e-3, 1e3)
    low = mpf(peak) / 2
    exact = low + mp.fmod(rounds - (mpf(peak) - mpf(start)) + 10**9 * low, low)
    found = float(lu_hunter.window_at(rounds * rtt, start, peak, rtt))
    off = abs(found - float(exact))
    assert min(off, abs(off - peak / 2)) < 1e-9 * (rounds + peak)


@pytest.mark.parametrize("name", CASES)
def test_a_closed_form_has_nine_digits_over_all_its_range(name):
    form, exact, draw = CASES[name]
    for seed in range(DRAWS):
        given = list(draw(Draw(seed)))
        counts = [int(value) if type(value) is int else value for value in given]
        with np.errstate(over="ignore", under="ignore"):
            found = float(form(*counts))
        near(found, exact, given)


def test_far_arguments_that_lost_all_digits():
    """Each of these was wrong by more than a tenth, or not a number."""
    assert ramantas.lost_bursts(2000, 0.5, 0.8) == 1019
    assert float(erlang.erlang_b_load(1e-80, 1)) == pytest.approx(1e-80, rel=1e-12)
    assert float(wlan.failed_try(1e-17)) == pytest.approx(2e-17, rel=1e-12)
    assert float(wlan.failed_try(1e-12)) == pytest.approx(2e-12, rel=1e-11)
    assert float(shihada.contended_share(1 - 2**-52)) == pytest.approx(0.5, rel=1e-12)
    assert float(lu_hunter.delays(1.0, 1e-20).t1_s) == pytest.approx(2.5e-21, rel=1e-12)
    assert float(cubic.mean_window(1e-300, 1e30)) == pytest.approx(
        (0.4 * 3.7 / 1.2) ** 0.25 * 1e30**0.75 * 1e225, rel=1e-12
    )
    # Just above the smallest, the shape is large.
    assert ramantas.file_shape(40.01, 40, 1e4) == pytest.approx(4001, rel=1e-6)


@pytest.mark.parametrize("share", [1e-300, 1e-12, 0.2, 0.5, 0.8, 1 - 1e-12])
@pytest.mark.parametrize("loss", [1e-200, 1e-6, 0.02, 0.5, 0.999, 1 - 1e-15])
@pytest.mark.parametrize("bursts", [1, 7, 400, 3000])
def test_lost_bursts_are_those_of_the_binomial_distribution(bursts, loss, share):
    p, below = mpf(loss), mpf(0)
    chance, lost = (1 - p) ** bursts, 0
    for lost in range(bursts + 1):
        below += chance
        if below >= mpf(share):
            break
        chance *= p / (1 - p) * (bursts - lost) / (lost + 1)
    assert ramantas.lost_bursts(bursts, loss, share) == lost


def test_lost_bursts_of_very_many():
    assert ramantas.lost_bursts(10**9, 0.5, 0.5) == 5 * 10**8
    sigma = math.sqrt(10**9 * 0.25)
    assert abs(ramantas.lost_bursts(10**9, 0.5, 0.8) - (5e8 + 0.8416212335729143 * sigma)) < 2


@pytest.mark.parametrize("seed", range(DRAWS))
def test_the_load_of_a_loss_is_the_inverse(seed):
    """By Newton's method in the digits that are kept, from the answer on."""
    d = Draw(seed)
    blocking, servers = d.part(), d.whole(1, 60)
    found = float(erlang.erlang_b_load(blocking, servers))

    def exact(target: Any) -> Any:
        load = mpf(found)
        for _ in range(12):
            lost = erlang_b(load, servers)
            step = mp.log(lost / target) / (mpf(servers) / load - 1 + lost)
            load -= max(min(step, load / 2), -load)
        assert abs(erlang_b(load, servers) / target - 1) < mpf(10) ** -50
        return load

    near(found, exact, [blocking])


@pytest.mark.parametrize("seed", range(DRAWS))
def test_a_file_shape_has_the_mean(seed):
    d = Draw(seed)
    low = d.size(1e-3, 1e3)
    high = low * (1 + d.size(1e-6, 1e9))
    flat = float((mpf(high) - low) / mp.log(mpf(high) / low))
    mean = low + (flat - low) * d.one_of(d.size(1e-6, 0.99), 0.5, 0.9)
    shape = ramantas.file_shape(mean, low, high)
    assert shape > 0
    # As near as the mean is known.
    assert abs(pareto(mpf(shape), mpf(low), mpf(high)) / mean - 1) < 1e-13
    assert math.isnan(ramantas.file_shape(flat * (1 + 1e-9), low, high))
    assert ramantas.file_shape(mean, low, math.inf) == pytest.approx(mean / (mean - low))


@pytest.mark.parametrize("window", [1, 2, 32, 1024, 1_000_000])
@pytest.mark.parametrize("stations", [2, 3, 50, 2000])
def test_the_fixed_point_of_a_cell(stations, window):
    tau, p = wlan.bianchi(stations, window, 5)
    with mp.workdps(60):
        low, high = mpf(0), mpf(1)
        for _ in range(200):
            middle = (low + high) / 2
            met = 1 - (1 - bianchi_tau(middle, window, 5)) ** (stations - 1)
            low, high = (middle, high) if met > middle else (low, middle)
        exact = bianchi_tau(low, window, 5)
        assert p == pytest.approx(float(low), rel=WITHIN)
        assert tau == pytest.approx(float(exact), rel=WITHIN)
        # With basic access at 11 Mb/s, 1500 bytes and EIFS after a collision.
        silent, alone = (1 - exact) ** stations, stations * exact * (1 - exact) ** (stations - 1)
        busy = silent * 20 + alone * (1304 + 10 + 304 + 50)
        busy += (1 - silent - alone) * (1304 + 10 + 304 + 50)
        found = wlan.saturation(stations, window=window, stages=5).throughput_mbps
        assert found == pytest.approx(float(alone * 8 * 1500 / busy), rel=WITHIN, abs=1e-290)


@pytest.mark.parametrize("load", [1e-12, 1e-6, 1e-2, 0.7, 30.0])
def test_losses_of_a_route_have_all_digits(load):
    """Two links, of which the second has what the first lets through."""
    found = erlang.reduced_load([("a", "b")], [load], {"a": 3, "b": 4})
    first = erlang_b(mpf(load), 3)
    second = erlang_b(mpf(load) * (1 - first), 4)
    exact = 1 - (1 - first) * (1 - second)
    # The losses of links are as exact as `tolerance` says.
    assert float(found.route_blocking[0]) == pytest.approx(float(exact), rel=1e-9, abs=3e-12)
    assert found.blocking == pytest.approx(float(exact), rel=1e-9, abs=3e-12)
    if load <= 1e-6:
        assert found.blocking == pytest.approx(float(exact), rel=1e-9)


@pytest.mark.parametrize("seed", range(12))
def test_losses_of_a_crowd_are_the_mean_over_all_changes(seed):
    """All of a rise for a round trip, then half of it until the last flow has halved."""
    d = Draw(seed)
    capacity_bps, share, rtt, flows = d.size(1e9, 1e11), d.size(0.01, 0.5), 0.06, d.whole(2, 900)
    found = float(lu_hunter.crowd_loss(capacity_bps, share, rtt, flows))
    lasts = float(lu_hunter.crowd_congestion_time(capacity_bps, share, rtt, flows))
    with mp.workdps(30):
        c = mpf(capacity_bps) * mpf(share)

        def later(a: Any, power: int) -> Any:
            """Over b: the time after the first round trip, times the rise to a power."""
            one = (capacity_bps - a) / (2 * flows)
            if c - a <= one:
                return mpf(0)
            pace = mpf(rtt) ** 2 * (capacity_bps - a) / (2 * mpf(flows) ** 2 * 16000)
            top = c - a
            whole = (top ** (power + 2) - one ** (power + 2)) / (power + 2) / one
            return (whole - (top ** (power + 1) - one ** (power + 1)) / (power + 1)) * pace / c

        until = max((2 * flows * c - capacity_bps) / (2 * flows - 1), mpf(0))
        losses = mp.quad(lambda a: later(a, 1), [0, until]) / c if until else mpf(0)
        times = mp.quad(lambda a: later(a, 0), [0, until]) / c if until else mpf(0)
        assert found == pytest.approx(float((c / 6 * mpf(rtt) + losses / 2) / 16000), rel=WITHIN)
        assert lasts == pytest.approx(float(mpf(rtt) + 2 * times), rel=WITHIN)
        lengths: dict[Any, Any] = {"round trip": rtt, "congestion": (mpf(rtt) + 2 * times) / 2}
        for per, time in lengths.items():
            rate = (c / 6 * mpf(rtt) + losses / 2) / (time * mpf(capacity_bps))
            shown = lu_hunter.crowd_loss_rate(capacity_bps, share, rtt, flows, per=per)
            assert float(shown) == pytest.approx(float(rate), rel=WITHIN)
