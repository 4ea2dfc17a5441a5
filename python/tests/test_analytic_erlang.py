"""Loss formulas: published values, closed forms by hand, limits, conservation."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from burstlab.analytic import MODELS
from burstlab.analytic.erlang import engset, erlang_b, erlang_b_load, reduced_load
from burstlab.analytic.erlang.link import Seen

UNKNOWN: Any = "calls"


def direct_sum(load, servers):
    """Erlang's formula as he wrote it, in exact whole numbers times a float."""
    terms = [load**n / math.factorial(n) for n in range(servers + 1)]
    return terms[-1] / math.fsum(terms)


class TestErlangB:
    def test_values_by_hand(self):
        assert erlang_b(1, 1) == pytest.approx(1 / 2)
        assert erlang_b(2, 2) == pytest.approx(2 / 5)
        assert erlang_b(2, 3) == pytest.approx(4 / 19)
        assert erlang_b(0.6, [0, 1]) == pytest.approx([1, 0.375])

    @pytest.mark.parametrize(
        ("servers", "load"),
        # The column of 1 % of the usual tables, to their last digit; the one for 15 is the example
        # of the manual of the calculator at erlang.com.
        [(1, 0.0101), (2, 0.153), (5, 1.361), (10, 4.461), (15, 8.108), (20, 12.031), (100, 84.06)],
    )
    def test_tables(self, servers, load):
        digit = 0.01 if servers == 100 else 10.0 ** -len(f"{load}".split(".")[1])
        assert erlang_b_load(0.01, servers) == pytest.approx(load, abs=0.51 * digit)
        assert erlang_b(load, servers) == pytest.approx(0.01, rel=0.01)

    @given(load=st.floats(1e-3, 60), servers=st.integers(1, 60))
    def test_the_recursion_is_the_sum(self, load, servers):
        assert erlang_b(load, servers) == pytest.approx(direct_sum(load, servers), rel=1e-12)

    def test_limits(self):
        assert erlang_b(0, [0, 1, 8]).tolist() == [1, 0, 0]
        # Little load: A^W/W!. Much load: all but W Erlang are lost.
        assert erlang_b(1e-4, 3) == pytest.approx(1e-12 / 6, rel=2e-4)
        assert 1e9 * (1 - erlang_b(1e9, 8)) == pytest.approx(8, rel=1e-6)
        # Very many wavelengths at a load of one Erlang each: sqrt(2/(pi W)).
        assert erlang_b(1e5, 100_000) == pytest.approx(math.sqrt(2 / (math.pi * 1e5)), rel=0.01)

    def test_arrays_are_broadcast(self):
        grid = erlang_b(np.array([[0.5], [2.0]]), [1, 3, 8])
        assert grid.shape == (2, 3)
        assert grid[1, 2] == erlang_b(2, 8)

    @given(blocking=st.floats(1e-9, 0.999), servers=st.integers(1, 80))
    def test_the_inverse_inverts(self, blocking, servers):
        load = erlang_b_load(blocking, servers)
        assert erlang_b(load, servers) == pytest.approx(blocking, rel=1e-9)

    @pytest.mark.parametrize(
        ("arguments", "says"),
        [
            ((-1, 8), "load = -1"),
            ((float("nan"), 8), "load = nan"),
            ((1, 2.5), "servers = 2.5 is no count"),
            ((1, -1), "servers = -1"),
            ((1, 1e9), "give a whole number from 0 to 1000000"),
        ],
    )
    def test_out_of_range(self, arguments, says):
        with pytest.raises(ValueError, match=says):
            erlang_b(*arguments)


class TestEngset:
    @given(load=st.floats(1e-3, 20), servers=st.integers(1, 20), sources=st.integers(1, 40))
    def test_the_recursion_is_the_sum(self, load, servers, sources):
        cases: list[tuple[Seen, int]] = [("time", sources), ("arrivals", sources - 1)]
        for seen, rivals in cases:
            terms = [math.comb(rivals, k) * load**k for k in range(servers + 1)]
            expected = terms[-1] / math.fsum(terms)
            found = engset(load, servers, sources, seen=seen)
            assert found == pytest.approx(expected, rel=1e-12)

    def test_limits(self):
        # No more sources than wavelengths: none is ever lost.
        assert engset(5.0, 8, [1, 7, 8]).tolist() == [0, 0, 0]
        assert engset(5.0, 8, 8, seen="time") > 0
        # Very many sources are a Poisson process.
        assert engset(4.8 / 999_999, 8, 1_000_000) == pytest.approx(erlang_b(4.8, 8), rel=1e-4)

    def test_carried_load_balances(self):
        """Bursts that get through, silences and transmissions of a source add up to its time."""
        load, servers, sources = 0.7, 3, 7
        weights = np.array([math.comb(sources, k) * load**k for k in range(servers + 1)])
        carried = float(np.arange(servers + 1) @ weights / weights.sum())
        offered = load * (sources - carried)
        assert carried == pytest.approx(offered * (1 - engset(load, servers, sources)))

    def test_out_of_range(self):
        with pytest.raises(ValueError, match=r"seen = 'calls'.*arrivals, time"):
            engset(1, 1, 1, seen=UNKNOWN)
        with pytest.raises(ValueError, match="sources = 0"):
            engset(1, 1, 0)


class TestReducedLoad:
    @pytest.mark.parametrize("thinning", ["upstream", "both"])
    def test_one_link_is_erlang(self, thinning):
        answer = reduced_load([["a"], ["a"]], [2.0, 2.8], {"a": 8}, thinning=thinning)
        expected = erlang_b(4.8, 8)
        assert answer.link_load == {"a": pytest.approx(4.8)}
        assert answer.link_blocking == {"a": pytest.approx(expected)}
        assert answer.route_blocking == pytest.approx([expected, expected])
        assert answer.blocking == pytest.approx(expected)

    def test_tandem_of_single_wavelengths_by_hand(self):
        for load in (0.01, 0.3, 1.0, 20.0):
            burst = reduced_load([["a", "b"]], [load], {"a": 1, "b": 1})
            assert burst.link_blocking["a"] == pytest.approx(load / (1 + load))
            assert burst.link_blocking["b"] == pytest.approx(load / (1 + 2 * load))
            assert burst.blocking == pytest.approx(2 * load / (1 + 2 * load))
            # Each link sees what the other lets through: A = load (1 - A/(1+A)).
            thinned = (math.sqrt(1 + 4 * load) - 1) / 2
            both = reduced_load([["a", "b"]], [load], {"a": 1, "b": 1}, thinning="both")
            assert both.link_load["a"] == pytest.approx(thinned)
            assert both.link_load["b"] == pytest.approx(thinned)

    def test_a_tree_follows_link_by_link(self):
        routes = [["a", "c"], ["b", "c"], ["c"]]
        answer = reduced_load(routes, [3.0, 1.0, 2.0], {"a": 4, "b": 2, "c": 8})
        a, b = erlang_b(3, 4), erlang_b(1, 2)
        load = 3 * (1 - a) + (1 - b) + 2
        c = erlang_b(load, 8)
        assert answer.link_load["c"] == pytest.approx(load)
        assert answer.route_blocking == pytest.approx(
            [1 - (1 - a) * (1 - c), 1 - (1 - b) * (1 - c), c]
        )

    def test_a_ring_is_one_equation(self):
        """Every link alike: A = load (1 + (1 - B) + (1 - B)^2), B = Erlang's."""
        links = range(5)
        routes = [[(n + hop) % 5 for hop in range(3)] for n in links]
        answer = reduced_load(routes, [1.5] * 5, dict.fromkeys(links, 4))
        low, high = 0.0, 1.0
        for _ in range(60):
            middle = (low + high) / 2
            through = 1 - middle
            above = erlang_b(1.5 * (1 + through + through**2), 4) > middle
            low, high = (middle, high) if above else (low, middle)
        for link in links:
            assert answer.link_blocking[link] == pytest.approx(low, rel=1e-9)

    def test_without_conversion_each_wavelength_is_a_network(self):
        routes, capacities = [["a", "b"], ["b"]], {"a": 4, "b": 4}
        bound = reduced_load(routes, [2.0, 1.0], capacities, conversion="none")
        one = reduced_load(routes, [0.5, 0.25], {"a": 1, "b": 1})
        assert bound.route_blocking == pytest.approx(one.route_blocking)
        assert bound.link_load["b"] == pytest.approx(4 * one.link_load["b"])
        assert bound.blocking > reduced_load(routes, [2.0, 1.0], capacities).blocking

    @given(
        data=st.data(),
        thinning=st.sampled_from(["upstream", "both"]),
        capacities=st.lists(st.integers(1, 16), min_size=1, max_size=6),
    )
    def test_it_is_a_fixed_point_and_conserves(self, data, thinning, capacities):
        links = range(len(capacities))
        route = st.lists(st.sampled_from(links), min_size=1, max_size=6, unique=True)
        routes = data.draw(st.lists(route, min_size=1, max_size=8))
        one = st.floats(0, 20)
        loads = data.draw(st.lists(one, min_size=len(routes), max_size=len(routes)))
        answer = reduced_load(
            routes, loads, dict(zip(links, capacities, strict=True)), thinning=thinning
        )
        for link, servers in zip(links, capacities, strict=True):
            expected = erlang_b(answer.link_load[link], servers)
            assert answer.link_blocking[link] == pytest.approx(expected, abs=1e-11)
        through = np.array(loads) * (1 - answer.route_blocking)
        if thinning == "upstream":
            # The losses of links are those of routes.
            lost = sum(answer.link_load[link] * answer.link_blocking[link] for link in links)
            assert lost == pytest.approx(sum(loads) - through.sum(), abs=1e-9)
        else:
            # A link carries just the circuits that got through everywhere.
            for link in links:
                carried = answer.link_load[link] * (1 - answer.link_blocking[link])
                mine = sum(x for x, r in zip(through, routes, strict=True) if link in r)
                assert carried == pytest.approx(mine, abs=1e-9)

    @pytest.mark.parametrize("thinning", ["upstream", "both"])
    def test_heavy_load_converges(self, thinning):
        """Plain substitution swings on a ring, and creeps where two links compete."""
        links = range(30)
        routes = [[(n + hop) % 30 for hop in range(30)] for n in links]
        answer = reduced_load(routes, [40.0] * 30, dict.fromkeys(links, 16), thinning=thinning)
        assert answer.error <= 1e-12
        assert answer.blocking > 0.9
        assert answer.iterations < 30
        two = reduced_load([["a", "b"]], [1400.0], {"a": 2, "b": 3}, thinning=thinning)
        assert two.error <= 1e-12
        assert two.iterations < 30

    def test_nothing_offered_loses_nothing(self):
        answer = reduced_load([["a"]], [0.0], {"a": 1, "unused": 2})
        assert (answer.blocking, answer.link_blocking) == (0, {"a": 0, "unused": 0})
        assert reduced_load([], [], {}).blocking == 0

    @pytest.mark.parametrize(
        ("given_", "says"),
        [
            ({"loads": [1.0, 2.0]}, "2 numbers for 1 routes"),
            ({"loads": [-1.0]}, "loads = -1"),
            ({"routes": [["a", "x"]]}, r"routes\[0\] crosses 'x', which is no link"),
            ({"routes": [["a", "b", "a"]]}, "crosses a link twice: links are taken to lose"),
            ({"routes": [[]]}, r"routes\[0\] is empty"),
            ({"capacities": {"a": 0, "b": 1}}, r"capacities\['a'\] = 0"),
            ({"thinning": "downstream"}, "thinning = 'downstream'"),
            (
                {"capacities": {"a": 2, "b": 1}, "conversion": "none"},
                "without conversion a burst keeps its wavelength",
            ),
            ({"tolerance": 0}, "tolerance = 0"),
            ({"iterations_max": 0}, "iterations_max = 0"),
        ],
    )
    def test_out_of_range(self, given_, says):
        arguments: dict[str, Any] = {
            "routes": [["a", "b"]],
            "loads": [1.0],
            "capacities": {"a": 1, "b": 1},
        }
        with pytest.raises(ValueError, match=says):
            reduced_load(**{**arguments, **given_})

    def test_too_few_steps_are_said(self):
        with pytest.raises(ArithmeticError, match="raise iterations_max"):
            reduced_load([["a", "b"]], [1.0], {"a": 1, "b": 1}, iterations_max=1)


class TestModels:
    def test_erlang_b(self):
        result = MODELS["erlang-b"].evaluate({"load": 0.6, "wavelengths": 8})
        assert result["loss"].value == pytest.approx(direct_sum(4.8, 8))
        assert result["carried"].value == pytest.approx(8 * float(result["utilisation"].value))

    def test_engset_has_the_load_it_says(self):
        result = MODELS["engset"].evaluate({"load": 0.3, "wavelengths": 8, "sources": 4})
        assert result["loss"].value == 0
        idle = float(result["load_silent"].value)
        assert 4 * idle / (1 + idle) == pytest.approx(2.4)

    def test_a_ring_of_one_hop_is_a_link(self):
        ring = MODELS["reduced-load"].evaluate({"hops": 1})
        link = MODELS["erlang-b"].evaluate()
        assert ring["route_loss"].value == pytest.approx(link["loss"].value)
        assert ring["route_loss_circuit"].value == pytest.approx(link["loss"].value)
        assert ring["route_loss_unconverted"].value == pytest.approx(link["loss_unconverted"].value)

    @pytest.mark.parametrize(
        ("model", "setting", "says"),
        [
            ("erlang-b", "load=-0.1", "load = -0.1"),
            ("erlang-b", "wavelengths=0", "wavelengths = 0"),
            ("erlang-b", "wavelengths=1.5", "wavelengths = 1.5"),
            ("erlang-b", "wavelengths=1e9", "at most 1000000"),
            ("engset", "sources=4", "a source sends one burst at a time"),
            ("reduced-load", "hops=0", "hops = 0"),
            ("reduced-load", "hops=101", "at most 100"),
        ],
    )
    def test_bad_input(self, burstlab, model, setting, says):
        answer = burstlab("model", model, "--set", setting)
        assert (answer.status, answer.out) == (2, "")
        assert says in answer.err
        assert "fix: " in answer.err
