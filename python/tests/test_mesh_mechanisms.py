"""The effect of protocols and contention steps on losses; every burst is accounted for."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

import burstlab as bl
from burstlab.statistics import mean_ci95
from burstlab.studies.metrics import value_at

UNITS = ("packets", "acks", "bursts", "ack_bursts", "background_bursts", "other")


def mesh(**tables: dict[str, Any]) -> dict[str, Any]:
    """NSFNET with TCP transfers, UDP and background bursts, at a moderate load."""
    scenario: dict[str, Any] = {
        "network": {"topology": "nsfnet", "wavelengths": 2, "link_rate": "1 Gb/s"},
        "signalling": {"guard": "200 us"},
        "access": {"rate": "100 Mb/s", "delay": "1 ms"},
        "edge": {
            "assembly": "hybrid",
            "timer": "4 ms",
            "size": "50 KB",
            "port": "shared",
            "ack": {"assembly": "timer", "timer": "2 ms"},
        },
        "tcp": {"variant": "sack", "window": 64},
        "demand": [
            {
                "flows_per_second": 15.0,
                "size": {"distribution": "exponential", "mean": "60 KB"},
            }
        ],
        "traffic": [{"from": "1", "to": "14", "pattern": "poisson", "rate": "20 Mb/s"}],
        "bursts": [{"erlangs": 0.03, "length": {"distribution": "exponential", "mean": "25 KB"}}],
        "run": {"duration": "1 s", "seed": 11, "replications": 3},
    }
    for name, table in tables.items():
        scenario[name] = {**scenario.get(name, {}), **table}
    return scenario


CASES: dict[str, dict[str, Any]] = {
    "jet": {},
    "jit": {"signalling": {"protocol": "jit"}},
    "two-way": {"signalling": {"protocol": "two-way"}},
    "two-way, impatient": {"signalling": {"protocol": "two-way", "requests": 1}},
    "no conversion": {"core": {"conversion": "none"}},
    "conversion": {"core": {"contention": ["conversion"]}},
    "delay lines": {
        "core": {
            "contention": ["delay-line"],
            "delay_lines": {"delays": ["100 us", "200 us", "400 us"], "channels": 4},
        }
    },
    "deflection": {"core": {"contention": ["deflection"], "deflection": {"hop_limit": 3}}},
    "segmentation": {"core": {"contention": ["segmentation"]}},
    "segmentation without trailers": {
        "core": {"contention": ["segmentation"], "segmentation": {"trailer": False}}
    },
    "retransmission": {
        "core": {"contention": ["retransmission"], "retransmission": {"attempts": 3}}
    },
    "retransmission, little room": {
        "core": {
            "contention": ["retransmission"],
            "retransmission": {"attempts": 3, "buffer": "100 KB"},
        }
    },
    "all": {
        "core": {
            "conversion": "limited",
            "conversion_range": 1,
            "contention": [
                "conversion",
                "delay-line",
                "deflection",
                "segmentation",
                "retransmission",
            ],
            "delay_lines": {"delays": ["100 us"]},
        }
    },
    "late headers": {"signalling": {"processors": 1, "guard": "3 us", "processing": "100 us"}},
}


@cache
def ran(case: str) -> bl.Result:
    return bl.run(mesh(**CASES[case]))


def loss(case: str) -> np.ndarray[Any, Any]:
    return np.array([network["all"]["burst_loss_ratio"] for network in ran(case).network])


def total(case: str, name: str) -> int:
    return sum(network["all"]["resolutions"][name] for network in ran(case).network)


def cause(case: str, name: str) -> int:
    found = [each for network in ran(case).network for each in network["all"]["causes"]]
    return sum(each["bursts"] for each in found if each["cause"] == name)


@pytest.mark.parametrize("case", CASES)
def test_everything_is_conserved(case):
    for one in ran(case).replications:
        counters: Any = one.summary["counters"]
        for unit in UNITS:
            fates = [counters[f"{unit}_{fate}"] for fate in ("delivered", "lost", "in_flight")]
            assert counters[f"{unit}_sent"] == sum(fates), unit
            assert counters[f"{unit}_delivered"] > 0, unit
        network = one.network
        assert network["all"]["bursts_lost"] == sum(
            cause["bursts"] for cause in network["all"]["causes"]
        )
        assert network["all"]["bursts_lost"] == sum(
            node["all"]["bursts_lost"] for node in network["nodes"]
        )
        for part in ("routes", "hops", "sizes"):
            assert network["all"]["bursts"] == sum(row["bursts"] for row in network["all"][part])
            assert network["all"]["bursts_lost"] == sum(row["lost"] for row in network["all"][part])
        # Nothing is warmed up, so that both count the whole run.
        kinds = ("bursts", "ack_bursts", "background_bursts")
        assert network["all"]["bursts_lost"] == sum(counters[f"{kind}_lost"] for kind in kinds)


def test_jit_holds_wavelengths_longer_and_loses_more():
    assert (loss("jit") > loss("jet")).all()


def test_two_way_reservations_lose_nothing_in_the_core():
    assert cause("two-way", "contention") == cause("two-way", "late-header") == 0
    assert total("two-way", "refused") > 0
    # With a single request, what is refused is given up when the ingress hears of it.
    hasty = "two-way, impatient"
    blocked, refused = cause(hasty, "blocked"), total(hasty, "refused")
    assert 0.99 * refused < blocked <= refused
    assert (loss(hasty) > loss("two-way")).all()


@pytest.mark.parametrize(
    ("case", "does"),
    [
        ("delay lines", "delayed"),
        ("deflection", "deflected"),
        ("segmentation", "segmented"),
        ("retransmission", "resent"),
    ],
)
def test_each_step_saves_bursts(case, does):
    assert total(case, does) > 100
    assert total("jet", does) == 0
    saved = mean_ci95(loss("jet") - loss(case))
    assert saved.low > 0
    assert (loss(case) < loss("jet")).all()


def test_conversion_saves_bursts():
    assert total("conversion", "converted") > 100
    assert (loss("conversion") < loss("no conversion")).all()
    # Converted late or early, to any wavelength: nearly the same.
    assert loss("conversion").mean() == pytest.approx(loss("jet").mean(), rel=0.15)


def test_segmentation_loses_fewer_packets():
    """A burst that is cut arrives with what is left of it."""
    share = {
        case: np.mean(
            [
                one.summary["counters"]["packets_lost"] / one.summary["counters"]["packets_sent"]
                for one in ran(case).replications
            ]
        )
        for case in ("jet", "segmentation")
    }
    assert total("segmentation", "packets_cut") > 0
    assert share["segmentation"] < share["jet"]


def test_copies_that_find_no_room_are_not_sent():
    assert total("retransmission", "no_copy") == 0
    assert total("retransmission, little room", "no_copy") > 0
    assert (loss("retransmission, little room") > loss("retransmission")).all()


def test_headers_that_wait_too_long_lose_their_bursts():
    assert cause("jet", "late-header") == 0
    assert cause("late headers", "late-header") > 0
    waits = [network["all"]["processor_wait_s"] for network in ran("late headers").network]
    assert min(waits) > 0


def test_segmentation_looks_for_a_wavelength_that_leaves_a_packet():
    """A burst is not given up because the least cut of all would leave none of its packets."""
    scenario = {
        "network": {"topology": "nsfnet", "wavelengths": 4, "link_rate": "1 Gb/s"},
        "core": {"contention": ["segmentation"]},
        # A header takes as long as a burst: many bursts find later ones reserved before them.
        "signalling": {"processing": "100 us", "guard": "20 us"},
        "edge": {"port": "shared", "assembly": "size", "size": "12500 B"},
        "batches": [
            {"batches_per_second": 1500, "size": {"mean": "12500 B"}, "packet_size": "1250 B"}
        ],
        "run": {"duration": "500 ms", "warmup": "50 ms", "seed": 1},
    }
    (network,) = bl.run(scenario).network
    # 440 of 120,000 bursts, five standard deviations; of those given up too early 200 more.
    assert network["all"]["burst_loss_ratio"] == pytest.approx(0.0036, abs=5 * 0.0036 / 440**0.5)
    # Given up are those that were cut to nothing before, or find no such wavelength.
    refused = next(
        each["bursts"] for each in network["all"]["causes"] if each["cause"] == "contention"
    )
    assert refused < 0.4 * network["all"]["bursts_lost"]


def test_a_route_on_which_every_burst_is_lost_has_no_delay():
    """Nor does it take the mean over routes towards 0."""
    length = {"distribution": "fixed", "mean": "50 KB"}
    scenario = {
        "network": {"topology": "nsfnet"},
        "bursts": [{"from": "1", "to": to, "erlangs": 0.3, "length": length} for to in ("2", "3")],
        "failures": [{"link": ["1", "3"], "down": "0 s"}],
        "run": {"duration": "20 ms"},
    }
    result = bl.run(scenario)
    (network,) = result.network
    there, dark = network["background"]["routes"]
    assert (there["lost"], dark["loss_ratio"]) == (0, 1.0)
    assert dark["mean_delay_s"] is None and there["mean_delay_s"] is not None
    path = "network.background.routes.mean.mean_delay_s"
    assert value_at(result.replications[0].summary, path) == there["mean_delay_s"]
