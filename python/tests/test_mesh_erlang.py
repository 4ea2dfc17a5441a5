"""Losses of the mesh against closed forms: Erlang B on one link, an exact chain on two."""

from __future__ import annotations

import math
import re
import zlib
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy import stats

import burstlab as bl
from burstlab.analytic.erlang import erlang_b, reduced_load
from burstlab.statistics import Estimate, mean_ci95, t_quantile
from burstlab.summaries import Cause

WAVELENGTHS = (1, 4, 8, 32)
LOADS = (0.2, 0.4, 0.6, 0.8, 0.9)
LENGTHS = ("exponential", "fixed")
REPLICATIONS = 20
#: Bursts of a replication, after the warm-up.
BURSTS = 25_000
#: A burst of 125 kB takes 100 us at 10 Gb/s.
HOLD_S = 1e-4
#: Fewer expected losses than these leave no t interval worth the name.
FEW = 40
#: A loss counts when it happens, a delivery when the burst lands: on long fibres the first
#: deliveries would be missing.
SHORT = {"link_delay": "1 us"}


def length(distribution: str = "exponential") -> dict[str, str]:
    return {"distribution": distribution, "mean": "125 KB"}


def times(erlangs: float, seed: object, bursts: int = BURSTS) -> dict[str, Any]:
    """Long enough for ``bursts`` bursts of a load in Erlang, after a twentieth to warm up.

    Points have seeds of their own: with common random numbers their errors would be alike.
    """
    second = bursts / erlangs * HOLD_S
    return {
        "duration": f"{1.05 * second:.9f} s",
        "warmup": f"{0.05 * second:.9f} s",
        "seed": zlib.crc32(repr(seed).encode()),
        "replications": REPLICATIONS,
    }


def one_link(wavelengths: int, load: float, distribution: str) -> dict[str, Any]:
    erlangs = load * wavelengths
    return {
        "network": {**SHORT, "topology": "line", "nodes": 2, "wavelengths": wavelengths},
        "edge": {"port": "shared"},
        "bursts": [{"from": "1", "to": "2", "erlangs": erlangs, "length": length(distribution)}],
        "run": times(erlangs, (wavelengths, load, distribution)),
    }


def fan_in(wavelengths: int, sources: int = 8) -> dict[str, Any]:
    """Ingress nodes with ample fibres of different lengths to a hub, and one fibre on."""
    names = [f"in{n}" for n in range(sources)]
    ample = [
        {"from": name, "to": "hub", "length_km": 0.5 + 0.37 * n, "wavelengths": 300}
        for n, name in enumerate(names)
    ]
    return {
        "topology": "custom",
        "node": [
            *({"name": name, "role": "edge"} for name in names),
            {"name": "hub", "role": "core"},
            {"name": "out", "role": "edge"},
        ],
        "link": [*ample, {"from": "hub", "to": "out", "length_km": 1.0}],
        "wavelengths": wavelengths,
    }


def ratios(result: bl.Result, route: tuple[str, str] | None = None) -> list[float]:
    """Return the burst loss ratio of each replication, of all bursts or of a route."""
    if route is None:
        return [network["all"]["burst_loss_ratio"] for network in result.network]
    rows = [
        {(row["from"], row["to"]): row["loss_ratio"] for row in network["all"]["routes"]}
        for network in result.network
    ]
    return [row[route] for row in rows]


@cache
def measured(point: tuple[int, float, str]) -> tuple[Estimate, int, int]:
    """Return the loss ratio of one link, the runs with a loss, and the bursts that ended."""
    result = bl.run(one_link(*point))
    hit = sum(network["all"]["bursts_lost"] > 0 for network in result.network)
    ended = sum(network["all"]["bursts"] for network in result.network)
    assert all(cause["cause"] == "contention" for cause in causes(result))
    return mean_ci95(ratios(result)), hit, ended


def causes(result: bl.Result) -> list[Cause]:
    return [
        cause for network in result.network for cause in network["all"]["causes"] if cause["bursts"]
    ]


def errors(estimate: Estimate, truth: float) -> float:
    """Return by how many standard errors an estimate misses."""
    assert estimate.ci95
    return (estimate.mean - truth) * t_quantile(estimate.n - 1) / estimate.ci95


def hold_jointly(scores: list[float], degrees: int = REPLICATIONS - 1) -> None:
    """Test many t scores at once: of 100 intervals of 95 %, some five miss the truth.

    No score is beyond Bonferroni's bound of a family-wise 1 %, not too many are beyond the bound
    of their own interval, and together they lean to neither side.
    """
    count = len(scores)
    sizes = np.abs(scores)
    bound = t_quantile(degrees, 1 - 0.005 / count)
    assert sizes.max() < bound, f"{sizes.max():.2f} > {bound:.2f} in {np.round(scores, 2)}"
    missed = int((sizes > t_quantile(degrees)).sum())
    assert missed <= stats.binom.ppf(0.995, count, 0.05), np.round(scores, 2)
    lean = float(np.sum(scores) / np.sqrt(count * degrees / (degrees - 2)))
    assert abs(lean) < stats.norm.ppf(0.995), np.round(scores, 2)


@pytest.mark.slow
@pytest.mark.parametrize("distribution", LENGTHS)
def test_one_link_loses_what_erlang_says(distribution):
    scores: list[float] = []
    for wavelengths, load in product(WAVELENGTHS, LOADS):
        estimate, hit, ended = measured((wavelengths, load, distribution))
        truth = float(erlang_b(load * wavelengths, wavelengths))
        assert ended == pytest.approx(REPLICATIONS * BURSTS, rel=0.01)
        if truth * ended < FEW:
            # Losses come in clumps, so that runs with a loss are counted and not losses.
            assert hit <= stats.poisson.ppf(0.999, truth * ended)
        else:
            scores.append(errors(estimate, truth))
    assert len(scores) >= 14
    hold_jointly(scores)


@pytest.mark.slow
def test_lengths_count_by_their_mean_alone():
    scores: list[float] = []
    for wavelengths, load in product(WAVELENGTHS, LOADS):
        point = [measured((wavelengths, load, distribution))[0] for distribution in LENGTHS]
        if all(one.mean * BURSTS * REPLICATIONS >= FEW for one in point):
            width = math.hypot(*(one.ci95 or 0.0 for one in point))
            gap = point[0].mean - point[1].mean
            scores.append(gap * t_quantile(REPLICATIONS - 1) / width)
    hold_jointly(scores, 2 * (REPLICATIONS - 1))


def rows_of_the_table() -> list[str]:
    """Return the rows of the table in docs/models/mesh.md."""
    rows: list[str] = []
    for wavelengths, load in product(WAVELENGTHS, LOADS):
        truth = float(erlang_b(load * wavelengths, wavelengths))
        cells = [str(wavelengths), f"{load:g}", f"{truth:.4g}"]
        for distribution in LENGTHS:
            estimate, hit, _ = measured((wavelengths, load, distribution))
            cells.append(f"{estimate.mean:.4g} ± {estimate.ci95:.2g}" if hit else "0")
        rows.append(f"| {' | '.join(cells)} |")
    return rows


@pytest.mark.slow
def test_the_table_of_the_page_is_what_is_measured(root):
    page = (root / "docs/models/mesh.md").read_text()
    table = re.search(r"\| W \| load .*?\n\|[-|]+\n(.*?)\n\n", page, re.DOTALL)
    rows = rows_of_the_table()
    assert table, "\n".join(rows)
    assert table[1].splitlines() == rows, "the table should be:\n" + "\n".join(rows)


@pytest.mark.slow
def test_many_ingress_nodes_lose_at_the_link_they_share():
    scores: list[float] = []
    for wavelengths, load, distribution in product(WAVELENGTHS, (0.5, 0.9), LENGTHS):
        erlangs = load * wavelengths
        shares = [{"from": f"in{n}", "to": "out", "erlangs": erlangs / 8} for n in range(8)]
        result = bl.run(
            {
                "network": fan_in(wavelengths),
                "edge": {"port": "shared"},
                "bursts": [{**share, "length": length(distribution)} for share in shares],
                "run": times(erlangs, ("shared", wavelengths, load, distribution)),
            }
        )
        truth = float(erlang_b(erlangs, wavelengths))
        scores.append(errors(mean_ci95(ratios(result)), truth))
        for network in result.network:
            (shared,) = [link for link in network["links"] if link["to"] == "out"]
            assert network["all"]["resolutions"]["contentions"] == shared["all"]["contended"]
    hold_jointly(scores)


def two_classes(scheduler: str, wavelengths: int, extra: str) -> bl.Result:
    """Two classes of bursts, each from an ingress of its own, meet on one link."""
    erlangs = 0.6 * wavelengths
    bursts = [
        {"from": f"in{n}", "to": "out", "class": n, "erlangs": erlangs / 2, "length": length()}
        for n in range(2)
    ]
    return bl.run(
        {
            "network": fan_in(wavelengths, 2),
            "edge": {"port": "shared", "class_offsets": ["0 s", extra]},
            "core": {"scheduler": scheduler},
            "bursts": bursts,
            "run": times(erlangs, wavelengths, 10_000),
        }
    )


def without_conversion(wavelengths: int, first: str, sources: int = 16) -> Estimate:
    """Return the loss where bursts keep the wavelength of their ingress, 0.4 Erlang on each."""
    network = fan_in(wavelengths, sources)
    for link in network["link"]:
        link.pop("wavelengths", None)
    erlangs = 0.4 * wavelengths
    scenario = {
        "network": network,
        "core": {"conversion": "none"},
        "edge": {"port": "shared", "wavelength": first},
        "signalling": {"processing": "0 s", "guard": "20 us"},
        "bursts": [{"to": "out", "erlangs": erlangs / sources, "length": length()}],
        "run": times(erlangs, (wavelengths, first), 10_000),
    }
    # One pair for each ingress: all of them are edge nodes, and the hub is none.
    return mean_ci95(ratios(bl.run(scenario)))


def test_random_wavelengths_are_the_networks_that_reduced_load_takes_them_for():
    alone, four, eight = (without_conversion(count, "random") for count in (1, 4, 8))
    for several in (four, eight):
        assert several.mean == pytest.approx(
            alone.mean, abs=sum(one.ci95 or 0 for one in (alone, several))
        )
    routes = [(f"in{n}", "out") for n in range(16)]
    capacities = {link: 4 for route in routes for link in route}
    formula = reduced_load(routes, [0.1] * 16, capacities, conversion="none")
    # Bursts of one ingress do not meet at the hub (streamline effect): 4 % below, no more.
    assert 0.94 * formula.blocking < four.mean < formula.blocking
    # An ingress that takes what is free loses less there; all of them prefer the same at the hub.
    assert without_conversion(8, "free").mean > 1.3 * formula.blocking


def test_with_one_wavelength_and_equal_offsets_all_schedulers_do_the_same():
    schedulers = ("first-fit", "horizon", "lauc-vf", "ff-vf", "min-ev", "best-fit")
    found = {name: two_classes(name, 1, "0 s") for name in schedulers}
    assert len({result.fingerprint for result in found.values()}) == 1
    assert ratios(found["horizon"]) == ratios(found["lauc-vf"])


def test_voids_are_of_use_where_offsets_differ():
    horizon, filling = (two_classes(name, 1, "300 us") for name in ("horizon", "lauc-vf"))
    gain = np.subtract(ratios(horizon), ratios(filling))
    assert gain.min() > 0.05
    # Without void filling the long offset blocks the link for the others.
    assert mean_ci95(ratios(horizon)).low > mean_ci95(ratios(filling)).high


def test_a_long_extra_offset_isolates_a_class():
    """Bursts that reserve ahead of all others meet only their like (Yoo and Qiao 1999)."""
    scores: list[float] = []
    for wavelengths in (1, 4):
        # No exponential length of the run reaches 30 times its mean.
        result = two_classes("lauc-vf", wavelengths, "3 ms")
        favoured, others = (ratios(result, (f"in{n}", "out")) for n in (1, 0))
        truth = float(erlang_b(0.3 * wavelengths, wavelengths))
        scores.append(errors(mean_ci95(favoured), truth))
        assert mean_ci95(others).low > 1.5 * truth
    hold_jointly(scores)


def tandem(wavelengths: int, transit: float, local: float) -> tuple[float, float]:
    """Losses of bursts over two links and of bursts over the second alone, exactly.

    A Markov chain of exponential lengths: the bursts of the first link that were accepted by the
    second, those that were not and go on in the first, and the local ones on the second. The
    propagation delay between the two only shifts time.
    """
    full = range(wavelengths + 1)
    states = [
        (through, void, own)
        for through, void, own in product(full, full, full)
        if through + void <= wavelengths and through + own <= wavelengths
    ]
    place = {state: number for number, state in enumerate(states)}
    rates = np.zeros((len(states), len(states)))
    for (through, void, own), here in place.items():
        first, second = through + void < wavelengths, through + own < wavelengths
        if first:
            accepted = (through + 1, void, own) if second else (through, void + 1, own)
            rates[here, place[accepted]] += transit
        if second:
            rates[here, place[through, void, own + 1]] += local
        for count, after in (
            (through, (through - 1, void, own)),
            (void, (through, void - 1, own)),
            (own, (through, void, own - 1)),
        ):
            if count:
                rates[here, place[after]] += count
    balance = rates - np.diag(rates.sum(1))
    system = np.vstack([balance.T, np.ones(len(states))])
    share = np.linalg.lstsq(system, np.append(np.zeros(len(states)), 1.0), rcond=None)[0]
    busy = [
        (through + void == wavelengths, through + own == wavelengths)
        for through, void, own in states
    ]
    return (
        float(sum(p for p, (one, two) in zip(share, busy, strict=True) if one or two)),
        float(sum(p for p, (_, two) in zip(share, busy, strict=True) if two)),
    )


def test_the_chain_of_a_tandem_is_erlang_where_it_has_to_be():
    for wavelengths in (1, 3):
        assert tandem(wavelengths, 1e-9, 0.7)[1] == pytest.approx(erlang_b(0.7, wavelengths))
        assert tandem(wavelengths, 0.7, 1e-9)[0] == pytest.approx(erlang_b(0.7, wavelengths))
    # Bursts of one fibre of one wavelength never meet each other on the next fibre.
    assert tandem(1, 0.1, 0.1)[0] == pytest.approx(1 - (1 - 0.1 / 1.1) / 1.1, rel=0.02)


@pytest.mark.slow
def test_two_links_in_a_row_lose_what_the_exact_chain_says():
    """Bursts of one fibre do not collide on the next (streamline effect)."""
    scores: dict[str, list[float]] = {"1": [], "2": []}
    for wavelengths, transit, local in product((1, 2, 4, 8), (0.3, 0.6), (0.1, 0.3)):
        loads = (transit * wavelengths, local * wavelengths)
        result = bl.run(
            {
                "network": {**SHORT, "topology": "line", "nodes": 3, "wavelengths": wavelengths},
                "edge": {"port": "shared"},
                # Offsets by hops: what is left of them at a node is the same for all but for the
                # 51 ns of a header, so that bursts reserve in the order in which they arrive.
                "bursts": [
                    {"from": "1", "to": "3", "erlangs": loads[0], "length": length()},
                    {"from": "2", "to": "3", "erlangs": loads[1], "length": length()},
                ],
                "run": times(sum(loads), ("tandem", wavelengths, *loads)),
            }
        )
        truths = tandem(wavelengths, *loads)
        for route, truth in zip((("1", "3"), ("2", "3")), truths, strict=True):
            if truth * BURSTS * REPLICATIONS / 4 > FEW:
                scores[route[0]].append(errors(mean_ci95(ratios(result, route)), truth))
    for of_route in scores.values():
        assert len(of_route) > 12
        hold_jointly(of_route)
