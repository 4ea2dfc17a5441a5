"""Mechanisms of one node against small Markov chains that are exact."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Hashable
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from scipy.sparse.linalg import spsolve

import burstlab as bl
from burstlab.analytic.erlang import converter_pool, erlang_b
from burstlab.statistics import mean_ci95, t_quantile

REPLICATIONS = 16
#: A burst of 125 kB takes 100 us at 10 Gb/s: the unit of time of the chains.
HOLD_S = 1e-4
LENGTH = {"distribution": "exponential", "mean": "125 KB"}
#: No t score of a right model is beyond it but once in 10,000 tests.
BOUND = t_quantile(REPLICATIONS - 1, 1 - 0.5e-4)

State = Hashable
Chain = Callable[[Any], list[tuple[float, Any]]]


def stationary(first: State, moves: Chain) -> dict[Any, float]:
    """Return the share of time in each state that can be reached, by a sparse linear system."""
    place: dict[Any, int] = {first: 0}
    rows: list[int] = []
    columns: list[int] = []
    rates: list[float] = []
    todo = [first]
    while todo:
        here = todo.pop()
        for rate, there in moves(here):
            if there not in place:
                place[there] = len(place)
                todo.append(there)
            rows += [place[there], place[here]]
            columns += [place[here], place[here]]
            rates += [rate, -rate]
    size = len(place)
    # One balance follows from the others; in its stead the shares sum to one.
    kept = [(r, c, v) for r, c, v in zip(rows, columns, rates, strict=True) if r]
    r, c, v = (list(part) for part in zip(*kept, strict=True))
    system = csr_matrix((v + [1.0] * size, (r + [0] * size, c + list(range(size)))))
    share: Any = spsolve(system.tocsc(), np.eye(1, size)[0])
    return {state: float(share[number]) for state, number in place.items()}


def erlang(load: float, servers: int) -> float:
    """Return Erlang's loss from its chain, the plainest of all."""

    def moves(busy: int) -> list[tuple[float, Any]]:
        up = [(load, busy + 1)] if busy < servers else []
        return [*up, (float(busy), busy - 1)] if busy else up

    return stationary(0, moves)[servers]


def run_time(seed: object, seconds: float) -> dict[str, Any]:
    return {
        "duration": f"{1.05 * seconds:.9f} s",
        "warmup": f"{0.05 * seconds:.9f} s",
        "seed": zlib.crc32(repr(seed).encode()),
        "replications": REPLICATIONS,
    }


def score(values: list[float], truth: float) -> float:
    """Return by how many standard errors the mean misses."""
    estimate = mean_ci95(values)
    assert estimate.ci95
    return (estimate.mean - truth) * t_quantile(estimate.n - 1) / estimate.ci95


def holds(values: list[float], truth: float, **wrong: float):
    """Hold an estimate against the right model; each wrong one has to fail the same test."""
    assert abs(score(values, truth)) < BOUND, (np.mean(values), truth)
    for name, value in wrong.items():
        assert abs(score(values, value)) > BOUND, (name, np.mean(values), truth, value)


def of_route(result: bl.Result, start: str) -> list[float]:
    rows = [row for network in result.network for row in network["all"]["routes"]]
    return [row["loss_ratio"] for row in rows if (row["from"], row["to"]) == (start, "out")]


# Limited conversion: bursts that come on a stated wavelength.


def groups(sources: tuple[int, ...], reach: int, load: float) -> list[float]:
    """Return the loss of the sources of each wavelength of arrival, under first fit.

    A source has one wavelength, on which it sends at a rate `load` while it is silent, and on which
    a burst goes on when the node has dropped it. A state is who holds each wavelength out, and how
    many sources of each wavelength send in vain.
    """

    wavelengths = len(sources)

    def moves(state: Any) -> list[tuple[float, Any]]:
        held, vain = state
        found: list[tuple[float, Any]] = []
        for group in range(wavelengths):
            silent = sources[group] - held.count(group) - vain[group]
            near = [out for out in range(wavelengths) if abs(out - group) <= reach]
            free = [out for out in near if held[out] is None]
            if silent and free:
                found.append((silent * load, (changed(held, free[0], group), vain)))
            elif silent:
                found.append((silent * load, (held, changed(vain, group, vain[group] + 1))))
            if vain[group]:
                less = changed(vain, group, vain[group] - 1)
                found.append((float(vain[group]), (held, less)))
        busy = [out for out in range(wavelengths) if held[out] is not None]
        found += [(1.0, (changed(held, out, None), vain)) for out in busy]
        return found

    empty = (None,) * wavelengths, (0,) * wavelengths
    lost = [0.0] * wavelengths
    for (held, vain), share in stationary(empty, moves).items():
        for group in range(wavelengths):
            silent = sources[group] - held.count(group) - vain[group]
            near = [out for out in range(wavelengths) if abs(out - group) <= reach]
            blocked = all(held[out] is not None for out in near)
            # Of the bursts of a source, those are lost that meet its own, or a full node.
            lost[group] += share * (1 - (0 if blocked else silent / sources[group]))
    return lost


def changed(values: tuple[Any, ...], place: int, value: object) -> tuple[Any, ...]:
    return (*values[:place], value, *values[place + 1 :])


def comb(sources: tuple[int, ...], reach: int, load: float) -> dict[str, Any]:
    """A node at which bursts come on stated wavelengths.

    Ingress `i<w>-<n>` has one fibre with w + 1 wavelengths. A packet in a burst that is padded to
    ten seconds on each of the lowest w of them, which first fit takes before all else, leaves the
    one with index w.
    """
    names = [(f"i{w}-{n}", w) for w, many in enumerate(sources) for n in range(many)]
    fibre = {"delay": "10 us"}
    block = {"to": "sink", "packet_size": "1250 B", "rate": "1 Kb/s", "phase": "0 s"}
    return {
        "network": {
            "topology": "custom",
            "link_rate": "100 Mb/s",
            "wavelengths": len(sources),
            "node": [
                *({"name": name, "role": "edge"} for name, _ in names),
                {"name": "hub", "role": "core"},
                {"name": "out", "role": "edge"},
                {"name": "sink", "role": "edge"},
            ],
            "link": [
                *({"from": name, "to": "hub", "wavelengths": w + 1, **fibre} for name, w in names),
                {"from": "hub", "to": "out", **fibre},
                {"from": "hub", "to": "sink", **fibre},
            ],
        },
        "edge": {"port": "shared", "assembly": "none", "min_size": "125 MB"},
        "signalling": {"header_size": "1 B", "processing": "1 us", "guard": "10 us"},
        "core": {"scheduler": "first-fit", "conversion": "limited", "conversion_range": reach},
        "flows": [],
        "traffic": [{"from": name, "count": w, **block} for name, w in names if w],
        "bursts": [
            {
                "from": name,
                "to": "out",
                "erlangs": load,
                "start": "1 ms",
                "length": {"distribution": "exponential", "mean": "1250 B"},
            }
            for name, _ in names
        ],
    }


def full_conversion(sources: int, servers: int, load: float) -> float:
    """Return the loss where any wavelength will do: only counts matter."""

    def moves(state: Any) -> list[tuple[float, Any]]:
        held, vain = state
        silent = sources - held - vain
        sent = (held + 1, vain) if held < servers else (held, vain + 1)
        found = [(silent * load, sent), (float(held), (held - 1, vain))]
        return [one for one in [*found, (float(vain), (held, vain - 1))] if one[0]]

    shares = stationary((0, 0), moves)
    got = [s * (sources - h - v) for (h, v), s in shares.items() if h < servers]
    return 1 - sum(got) / sources


@pytest.mark.parametrize("reach", [0, 1])
def test_limited_conversion_loses_what_the_chain_says(reach):
    sources, load = (2, 1, 1, 2), 0.8
    scenario = comb(sources, reach, load)
    scenario["run"] = run_time(("limited", reach), 4000 * HOLD_S)
    result = bl.run(scenario)
    right = groups(sources, reach, load)
    for group, many in enumerate(sources):
        each = [of_route(result, f"i{group}-{number}") for number in range(many)]
        holds(list(np.mean(each, axis=0)), right[group])
    every = [of_route(result, f"i{w}-{n}") for w, many in enumerate(sources) for n in range(many)]
    other = groups(sources, 1 - reach, load)
    wrong = {
        "other_reach": float(np.average(other, weights=sources)),
        "full_conversion": full_conversion(sum(sources), len(sources), load),
    }
    truth = float(np.average(right, weights=sources))
    holds(list(np.mean(every, axis=0)), truth, **wrong)


# Few converters: bursts that set out on any wavelength.


def pool_of_output(number: int, load: float, wavelengths: int) -> dict[str, Any]:
    scenario: dict[str, Any] = {
        "network": {
            "topology": "line", "nodes": 2, "wavelengths": wavelengths, "link_delay": "1 us",
        },
        "edge": {"port": "shared", "wavelength": "random"},
        "core": {"converters": {"number": number, "shared": "output"}},
        "bursts": [{"from": "1", "to": "2", "erlangs": load, "length": LENGTH}],
        "run": run_time(("converters", number), 4000 * HOLD_S),
    }  # fmt: skip
    return scenario


def lost_to(result: bl.Result, cause: str) -> list[float]:
    """Return the share of bursts that a cause took, by replication."""
    found: list[float] = []
    for network in result.network:
        bursts = network["all"]
        counts = {one["cause"]: one["bursts"] for one in bursts["causes"]}
        found.append(counts[cause] / bursts["bursts"])
    return found


@pytest.mark.parametrize("number", range(5))
def test_an_output_with_few_converters_loses_what_the_chain_says(number):
    load, wavelengths = 2.4, 4
    result = bl.run(pool_of_output(number, load, wavelengths))
    right = converter_pool(load, wavelengths, number)
    wrong = {
        f"{other} converters": converter_pool(load, wavelengths, other)
        for other in range(5)
        if other != number
    }
    for cause, name in (("contention", "contention"), ("no-converter", "no_converter")):
        if number == wavelengths and name == "no_converter":
            assert not any(lost_to(result, cause)), "a wavelength needs one converter at most"
            continue
        # With few converters, one more or less hardly moves how often all wavelengths are taken.
        others = {what: float(getattr(one, name)) for what, one in wrong.items()}
        holds(lost_to(result, cause), float(getattr(right, name)), **others)


def test_a_converter_for_each_wavelength_is_full_conversion_and_none_is_no_conversion():
    load, wavelengths = 2.4, 4
    full = converter_pool(load, wavelengths, wavelengths)
    assert float(full.contention) == pytest.approx(float(erlang_b(load, wavelengths)))
    none = converter_pool(load, wavelengths, 0)
    alone = float(erlang_b(load / wavelengths, 1))
    assert float(none.contention + none.no_converter) == pytest.approx(alone)
    scenario = pool_of_output(0, load, wavelengths)
    without = bl.run(scenario)
    scenario["core"] = {"conversion": "none"}
    same = bl.run(scenario)
    for ours, others in zip(without.network, same.network, strict=True):
        assert ours["all"]["routes"] == others["all"]["routes"], "the same bursts are lost"
        assert ours["links"][0]["wavelengths"] == others["links"][0]["wavelengths"]


def test_nodes_and_outputs_share_converters():
    """Two outputs of a node, each with half of the load, and a pool for both or for each."""
    load, wavelengths = 2.4, 4
    losses: dict[str, list[float]] = {}
    for shared, number in (("output", 1), ("node", 2)):
        scenario = pool_of_output(number, load, wavelengths)
        scenario["network"]["nodes"] = 3
        scenario["core"]["converters"]["shared"] = shared
        scenario["bursts"] = [
            {"from": "2", "to": to, "erlangs": load, "length": LENGTH} for to in ("1", "3")
        ]
        losses[shared] = lost_to(bl.run(scenario), "no-converter")
    holds(losses["output"], float(converter_pool(load, wavelengths, 1).no_converter))
    assert max(losses["node"]) < min(losses["output"]), "two that share two lose less"


# No conversion: what the choice at the ingress does to the next node.


def two_ingresses(load: float, rule: str) -> float:
    """Return the loss where two ingresses of two wavelengths meet at a fibre of two.

    A wavelength of an ingress is idle (0), carries a burst that the node passed on (1), or one that
    it dropped (2). Under "latest" the one that became idle last is taken, so that a state also says
    for each ingress which that would be.
    """
    chances = {
        "lowest": lambda free, _: [(1.0, free[0])],
        "latest": lambda free, last: [(1.0, last if last in free else free[0])],
        "random": lambda free, _: [(1 / len(free), one) for one in free],
    }[rule]

    def moves(state: Any) -> list[tuple[float, Any]]:
        busy, last = state
        found: list[tuple[float, Any]] = []
        for ingress in range(2):
            free = [one for one in range(2) if not busy[ingress][one]]
            for chance, one in chances(free, last[ingress]) if free else []:
                taken = busy[1 - ingress][one] == 1
                now = changed(busy[ingress], one, 2 if taken else 1)
                found.append((load * chance, (changed(busy, ingress, now), last)))
            for one in range(2):
                if busy[ingress][one]:
                    now = changed(busy[ingress], one, 0)
                    idle = changed(last, ingress, one) if rule == "latest" else last
                    found.append((1.0, (changed(busy, ingress, now), idle)))
        return found

    lost = 0.0
    for (busy, last), share in stationary((((0, 0), (0, 0)), (0, 0)), moves).items():
        free = [one for one in range(2) if not busy[0][one]]
        passed = [(p, one) for p, one in (chances(free, last[0]) if free else [])]
        lost += share * (1 - sum(chance for chance, one in passed if busy[1][one] != 1))
    return lost


@pytest.mark.parametrize(
    ("scheduler", "rule"),
    [
        ("first-fit", "lowest"),
        ("ff-vf", "lowest"),
        ("min-ev", "lowest"),
        ("horizon", "latest"),
        ("lauc-vf", "latest"),
        ("best-fit", "latest"),
    ],
)
def test_without_conversion_the_choice_at_the_ingress_counts(scheduler, rule):
    """Where nothing is reserved ahead, three schedulers take the lowest, three the last used."""
    load = 0.6
    node = [{"name": name, "role": "edge"} for name in ("a", "b", "out")]
    result = bl.run(
        {
            "network": {
                "topology": "custom",
                "wavelengths": 2,
                "node": [*node, {"name": "hub", "role": "core"}],
                "link": [
                    {"from": "hub", "to": name, "delay": "1 us"} for name in ("a", "b", "out")
                ],
            },
            "edge": {"port": "shared"},
            "core": {"scheduler": scheduler, "conversion": "none"},
            "bursts": [
                {"from": name, "to": "out", "erlangs": load, "length": LENGTH} for name in "ab"
            ],
            "run": run_time(("none", scheduler), 6000 * HOLD_S / load),
        }
    )
    values = list(np.mean([of_route(result, "a"), of_route(result, "b")], axis=0))
    rules = {name: two_ingresses(load, name) for name in ("lowest", "latest", "random")}
    right = rules.pop(rule)
    holds(values, right, **rules)


# Offsets: what an isolated class leaves to the other.


def second_class(high: float, low: float, most: int = 80) -> float:
    """Return the loss of bursts with no extra offset on one wavelength, with void filling.

    Those with an extra offset longer than any burst are alone with their like: busy for a mean of
    1, idle for one of 1 / `high`. A void is known when a burst of the second class comes, and must
    be longer than it. It is exponential; of a void that was too short for k bursts more is known:
    each adds 1 to the rate at which it ends. A burst that fits leaves a rest of the same law.
    """

    def moves(state: Any) -> list[tuple[float, Any]]:
        what, short = state
        if what == "first":
            return [(1.0, ("void", 0))]
        ends = high + short
        if what == "second":
            # It is shorter than the void that it has been given.
            return [(1 + ends, ("void", short))]
        fits = 1 / (1 + ends)
        again = [(low * (1 - fits), ("void", short + 1))] if short < most else []
        return [(ends, ("first", 0)), (low * fits, ("second", short)), *again]

    shares = stationary(("void", 0), moves)
    got = [share / (1 + high + state[1]) for state, share in shares.items() if state[0] == "void"]
    return 1 - sum(got)


@pytest.mark.parametrize("scheduler", ["lauc-vf", "ff-vf", "min-ev", "best-fit"])
def test_an_isolated_class_leaves_its_voids_to_the_other(scheduler):
    high, low = 0.4, 0.3
    node = [{"name": name, "role": "edge"} for name in ("a", "b", "out")]
    ample = [
        {"from": name, "to": "hub", "delay": "1 us", "wavelengths": 100} for name in ("a", "b")
    ]
    loads = {"a": (0, low), "b": (1, high)}
    result = bl.run(
        {
            "network": {
                "topology": "custom",
                "wavelengths": 1,
                "node": [*node, {"name": "hub", "role": "core"}],
                "link": [*ample, {"from": "hub", "to": "out", "delay": "1 us"}],
            },
            "edge": {"port": "shared", "class_offsets": ["0 s", "3 ms"]},
            "core": {"scheduler": scheduler},
            "bursts": [
                {"from": name, "to": "out", "class": group, "erlangs": load, "length": LENGTH}
                for name, (group, load) in loads.items()
            ],
            "run": run_time(("classes", scheduler), 20_000 * HOLD_S),
        }
    )
    both = erlang(high + low, 1)
    holds(of_route(result, "b"), erlang(high, 1), without_classes=both)
    truth = second_class(high, low)
    conserved = ((high + low) * both - high * erlang(high, 1)) / low
    holds(of_route(result, "a"), truth, without_classes=both, conservation_law=conserved)


# Delay lines: longer than the run, so that what comes out meets only its like.


def delayed(seed: object, wavelengths: int, load: float, **lines: Any) -> list[float]:
    result = bl.run(
        {
            "network": {
                "topology": "line",
                "nodes": 2,
                "wavelengths": wavelengths,
                "link_delay": "1 us",
            },
            "edge": {"port": "shared"},
            "core": {"contention": ["delay-line"], "delay_lines": lines},
            "bursts": [{"from": "1", "to": "2", "erlangs": load, "length": LENGTH}],
            "run": run_time(seed, 5000 * HOLD_S),
        }
    )
    offered = [network["links"][0]["all"]["offered"] for network in result.network]
    return [
        network["all"]["bursts_lost"] / asked
        for network, asked in zip(result.network, offered, strict=True)
    ]


@pytest.mark.parametrize(
    ("lines", "more"),
    [
        ({"delays": ["30 s"], "channels": 4}, 2),
        ({"delays": ["30 s"], "channels": 1}, 1),
        ({"delays": ["30 s", "60 s"], "channels": 1}, 2),
        ({"delays": ["30 s", "60 s"], "channels": 4}, 4),
        ({"delays": ["30 s"], "channels": 4, "passes": 2}, 4),
        ({"delays": ["30 s"], "channels": 3, "passes": 2}, 3),
        ({"delays": ["30 s"], "channels": 4, "passes": 3}, 4),
    ],
)
def test_a_long_delay_line_is_a_second_group_of_servers(lines, more):
    """A line behind which the fibre is empty lends its channels, as far as the fibre has room.

    Whoever finds the wavelengths taken goes to those of a later time, as to a second group in an
    overflow system; a burst holds both the entry of its line and the wavelength behind it for its
    own length, so that all of them together lose what Erlang says.
    """
    wavelengths, load = 2, 4.0
    values = delayed((lines, more), wavelengths, load, **lines)
    holds(
        values,
        erlang(load, wavelengths + more),
        one_fewer=erlang(load, wavelengths + more - 1),
        one_more=erlang(load, wavelengths + more + 1),
    )


# Again: refused reservations and copies that come back when all others are through.


@pytest.mark.parametrize("method", ["two-way", "retransmission"])
@pytest.mark.parametrize("tries", [1, 2, 3])
def test_what_comes_again_later_has_the_fibre_to_itself(method, tries):
    """All that was refused comes again in the same order, and meets its like alone.

    Refused bursts are no Poisson stream: they come in clumps. The bursts of each try overflow to
    the next, so that all wavelengths of all tries together lose what Erlang says, and not what
    follows from tries that are independent of each other.
    """
    wavelengths, load, second = 2, 2.0, 0.5
    later = f"{int(second * 1100)} ms"
    change: dict[str, Any] = {
        "two-way": {"signalling": {"protocol": "two-way", "requests": tries, "retry": later}},
        "retransmission": {
            "core": {
                "contention": ["retransmission"],
                "retransmission": {"attempts": tries - 1, "wait": later},
            }
            if tries > 1
            else {}
        },
    }[method]
    source = {"from": "1", "to": "2", "erlangs": load, "length": LENGTH}
    result = bl.run(
        {
            "network": {
                "topology": "line",
                "nodes": 2,
                "wavelengths": wavelengths,
                "link_delay": "1 us",
            },
            "edge": {"port": "shared"},
            "bursts": [{**source, "stop": f"{int(second * 1000)} ms"}],
            "run": {
                "duration": f"{int(second * 1000 * (tries + 1))} ms",
                "seed": zlib.crc32(repr((method, tries)).encode()),
                "replications": REPLICATIONS,
            },
            **change,
        }
    )
    values = [network["all"]["burst_loss_ratio"] for network in result.network]
    once = erlang(load, wavelengths)
    others = {"one_try_more": erlang(load, wavelengths * (tries + 1))}
    if tries > 1:
        others["one_try_fewer"] = erlang(load, wavelengths * (tries - 1))
        others["independent"] = once**tries
    holds(values, erlang(load, wavelengths * tries), **others)


def test_the_chains_are_right_where_the_answer_is_known():
    assert erlang(0.5, 1) == pytest.approx(1 / 3)
    assert erlang(2.0, 2) == pytest.approx(0.4)
    # One source of each wavelength, and no conversion: only its own bursts compete with it.
    assert groups((1, 1, 1), 0, 0.5) == pytest.approx([1 / 3] * 3)
    for reach in (2, 3):
        assert groups((1, 2, 1), reach, 0.7) == pytest.approx([full_conversion(4, 3, 0.7)] * 3)
    # Sources without number, of a small load each, are a Poisson stream (Erlang).
    assert groups((100,), 0, 0.8 / 100)[0] == pytest.approx(erlang(0.8, 1), rel=0.01)
    # A class that hardly sends takes the voids as they are: idle, and longer than a burst.
    assert second_class(0.5, 1e-9) == pytest.approx(1 - (1 / 1.5) ** 2)
    for rule in ("lowest", "latest", "random"):
        assert two_ingresses(1e-6, rule) == pytest.approx(0, abs=1e-5)
