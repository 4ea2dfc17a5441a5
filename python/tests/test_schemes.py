"""Schemes that tell one lost burst from congestion: against slow twins, and with mechanisms off."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import burstlab as bl

JUDGING = Path(__file__).parent / "laws" / "judging.py"
SAIMD = Path(__file__).parents[2] / "examples" / "laws" / "saimd.py"

#: Every burst holds a window, and some are lost.
FAST: dict[str, Any] = {
    "access": {"rate": "1 Gb/s", "delay": "1 ms"},
    "edge": {"assembly": "timer", "timer": "5 ms"},
    "loss": {"data": {"process": "bernoulli", "probability": 0.02}},
    "tcp": {"profile": "ns2", "window": 40},
    "run": {"duration": "30 s"},
}
#: A burst holds a part of the window, and queues at the access link make round trips longer.
SLOW: dict[str, Any] = {**FAST, "access": {"rate": "5 Mb/s"}}


def having(scenario: dict[str, Any], **tcp: Any) -> dict[str, Any]:
    return {**scenario, "tcp": {**scenario["tcp"], **tcp}}


def flows(scenario: dict[str, Any]) -> list[Any]:
    return [one.summary["flows"] for one in bl.run(scenario).replications]


def saimd_in_python(**options: Any) -> dict[str, Any]:
    named = {"file": str(SAIMD), "class": "Saimd", "options": options}
    return {"window_law": "python", "window_law_class": named, "detector": "law"}


@pytest.mark.parametrize("scenario", [FAST, SLOW], ids=["fast", "slow"])
@pytest.mark.parametrize("variant", ["reno", "new-reno", "sack"])
def test_saimd_is_the_python_class(scenario, variant):
    ours = having(scenario, variant=variant, window_law="saimd", detector="law")
    twin = flows(having(scenario, variant=variant, **saimd_in_python()))
    assert flows(ours) == twin
    assert flows(having(ours, detector="none")) != twin, "it judges"
    assert flows(having(ours, window_law="aimd", detector="none")) != twin, "it cuts by confidence"


def test_fields_of_saimd_are_arguments_of_the_class():
    # The mean of four is exact in floating point too.
    given = {"short": 4, "long": 40, "sure": 0.4}
    ours = having(SLOW, window_law="saimd", detector="law")
    fields = {f"saimd_{name}": value for name, value in given.items()}
    assert flows(having(ours, **fields)) == flows(having(SLOW, **saimd_in_python(**given)))
    assert flows(having(ours, **fields)) != flows(ours)


#: Bursts are lost in contention, and a short queue of the access link drops packets.
CONGESTED: dict[str, Any] = {**FAST, "access": {"rate": "5 Mb/s", "queue": 10}}


#: Bursts are lost now and then, and many within short spells.
MIXED: dict[str, Any] = {
    **FAST,
    "loss": {
        "data": {
            "process": "gilbert-elliott",
            "good_to_bad": 0.01,
            "bad_to_good": 0.2,
            "loss_good": 0.005,
            "loss_bad": 0.5,
        }
    },
}


@pytest.mark.parametrize("scenario", [FAST, SLOW, CONGESTED], ids=["fast", "slow", "congested"])
@pytest.mark.parametrize("variant", ["reno", "sack"])
def test_bcl_is_the_python_class(scenario, variant):
    ours = having(scenario, variant=variant, window_law="bcl", detector="law", bcl_alpha=2.0)
    named = {"file": str(JUDGING), "class": "Bcl", "options": {"alpha": 2.0}}
    twin = {"window_law": "python", "window_law_class": named, "class_notices": "naks"}
    wanted = flows(having(scenario, variant=variant, detector="law", **twin))
    assert flows(ours) == wanted
    assert flows(having(ours, bcl_beta=0.5, bcl_alpha=1.0)) != wanted, "it has steps of its own"


def test_bcl_with_one_pair_of_steps_and_whole_bursts_is_bnak():
    # Each burst holds a window: a burst NAK is of all that is missing, and repairs at once.
    same = {"window_law": "bcl", "detector": "law", "bcl_alpha": 1.0, "bcl_beta": 0.5}
    bnak = flows(having(FAST, detector="bnak"))
    assert flows(having(FAST, **same)) == bnak
    assert flows(having(FAST, **same | {"bcl_beta": 0.9})) != bnak


@pytest.mark.parametrize("variant", ["reno", "sack"])
@pytest.mark.parametrize("loss", ["contention", "spells"])
def test_em_is_the_python_class(variant, loss):
    scenario = having(MIXED if loss == "spells" else SLOW, variant=variant)
    named = {"file": str(JUDGING), "class": "Em"}
    twin = {"detector": "python", "detector_class": named, "class_notices": "all"}
    wanted = flows(having(scenario, **twin, back_mode="ingress"))
    ours = having(scenario, detector="em")
    assert flows(ours) == wanted
    assert flows(having(ours, em_sure=0.0)) != wanted or loss == "contention"
    assert flows(having(ours, detector="none")) != wanted


def test_em_calls_losses_in_spells_congestion():
    # The network drops most bursts for some time: few bursts are between such failures.
    [[em]], [[bnak]] = flows(having(MIXED, detector="em")), flows(having(MIXED, detector="bnak"))
    assert 0 < em["early_repairs"] < bnak["early_repairs"]


#: A burst that meets contention is sent again by its ingress, some 20 ms later.
RETRANSMITTED: dict[str, Any] = {
    "network": {"topology": "line", "nodes": 3, "link_length_km": 2000},
    "core": {"injection": {"data": 0.01}, "contention": ["retransmission"]},
    "edge": {"assembly": "timer", "timer": "5 ms"},
    "access": {"rate": "100 Mb/s", "delay": "5 ms"},
    "flows": [{}],
    "tcp": {"variant": "vegas", "window": 128},
    "run": {"duration": "60 s"},
}
SIX_OF_TEN = {"vegas_threshold": 6, "vegas_recent": 10, "vegas_margin": 0.05}
#: No run has so many round trips.
NEVER = {"vegas_threshold": 100_000, "vegas_recent": 100_000}


def test_threshold_vegas_of_one_round_is_vegas():
    one = {"vegas_threshold": 1, "vegas_recent": 1, "vegas_margin": 0.0}
    for scenario in (RETRANSMITTED, having(SLOW, variant="vegas")):
        assert flows(having(scenario, **one)) == flows(scenario)


def test_vegas_never_sees_a_queue_below_the_threshold():
    blind = {"vegas_alpha": 1_000_000, "vegas_beta": 1_000_000, "vegas_gamma": 1_000_000}
    assert flows(having(RETRANSMITTED, **NEVER)) == flows(having(RETRANSMITTED, **blind))


def test_the_threshold_distinguishes_bursts_that_are_sent_again_from_queues():
    def goodput(scenario: dict[str, Any]) -> float:
        return flows(scenario)[0][0]["goodput_bps"]

    # A few rounds are longer: Vegas takes them for a queue.
    assert goodput(having(RETRANSMITTED, **SIX_OF_TEN)) > 1.1 * goodput(RETRANSMITTED)
    # A queue makes all rounds longer: as Vegas, it does not fill the queue until it overflows.
    queue = {**SLOW, "loss": {}, "tcp": {"variant": "vegas", "window": 128}}
    queue["access"] = {**SLOW["access"], "delay": "1 ms", "queue": 60}
    queue["run"] = {"duration": "60 s", "warmup": "20 s"}
    lost = [flows(having(queue, **one))[0][0]["packets_lost"] for one in ({}, SIX_OF_TEN, NEVER)]
    assert lost[:2] == [0, 0] and lost[2] > 0


@pytest.mark.parametrize(
    ("tcp", "says", "fix"),
    [
        ({"saimd_short": 9, "saimd_long": 8}, "more than saimd_long = 8", "raise saimd_long"),
        ({"saimd_long": 0}, "tcp.saimd_long = 0", "write a number from 1 to 100000"),
        ({"saimd_sure": 1.5}, "tcp.saimd_sure = 1.5", "write a number such as 0.7"),
        ({"bcl_beta": 1.1}, "tcp.bcl_beta = 1.1", "write the part of the window"),
        ({"bcl_alpha": 0}, "tcp.bcl_alpha = 0", "write a number such as 1"),
        ({"window_law": "bcl"}, "burst NAKs as the detector of its own", 'detector = "law"'),
        ({"window_law": "saimd", "variant": "vegas"}, "decides on its window itself", "variant"),
        ({"window_law": "saimd", "profile": "linux"}, "has no such law", 'write "cubic"'),
        ({"detector": "law"}, 'only "saimd", "bcl" and a class', 'window_law = "saimd"'),
        ({"em_recent": 3}, "tcp.em_recent = 3", "write a number from 4 to 10000"),
        ({"em_sure": 2.0}, "tcp.em_sure = 2", "write a probability such as 0.5"),
        ({"vegas_threshold": 11}, "more than vegas_recent = 10", "raise vegas_recent"),
        ({"vegas_threshold": 0}, "tcp.vegas_threshold = 0", "from 1 to 100000"),
        ({"vegas_margin": -1.0}, "tcp.vegas_margin = -1", "such as 0.05"),
    ],
)
def test_bad_values_are_refused_with_field_and_fix(tcp, says, fix):
    with pytest.raises(bl.ScenarioError) as stated:
        bl.resolve({"tcp": tcp})
    message = str(stated.value)
    assert says in message and fix in message.partition("\n  fix: ")[2]


@pytest.mark.parametrize(
    ("scenario", "fix"),
    [
        ({"edge": {"assembly": "none"}}, 'edge.assembly = "timer"'),
        ({"network": {"topology": "star", "nodes": 4, "wavelengths": 1}, "ops": {}}, "another law"),
    ],
)
def test_bcl_where_no_node_sends_notices_is_refused(scenario, fix):
    with pytest.raises(bl.ScenarioError, match=r"tcp\.window_law = \"?bcl") as stated:
        bl.resolve({**scenario, "tcp": {"window_law": "bcl", "detector": "law"}})
    assert fix in str(stated.value)


@pytest.mark.parametrize(
    "tcp",
    [
        {"saimd_short": 4},
        {"window_law": "saimd", "saimd_sure": 0.5},
        {"bcl_beta": 0.9},
        {"em_recent": 20},
        {"variant": "vegas", "vegas_recent": 20},
        {"vegas_threshold": 5},
        {"variant": "reno", "ncr": "careful"},
        {"profile": "ns2", "ncr": "careful"},
        {"window_law": "saimd", "detector": "law", "class_notices": "naks"},
    ],
)
def test_a_field_without_effect_is_named(tcp):
    found = bl.run({"tcp": tcp, "run": {"duration": "1 s"}}).warnings
    assert any(f"tcp.{list(tcp)[-1]} = " in line and "has no effect" in line for line in found)


#: A burst holds a part of the window, and some are sent again and come late.
REORDERED: dict[str, Any] = {
    **RETRANSMITTED,
    "tcp": {"variant": "sack", "window": 128},
    "access": {"rate": "20 Mb/s", "delay": "5 ms"},
}


@pytest.mark.parametrize("ncr", ["careful", "aggressive"])
def test_patience_leaves_reordered_segments_alone(ncr):
    [[hasty]], [[patient]] = flows(REORDERED), flows(having(REORDERED, ncr=ncr))
    assert hasty["spurious_retransmissions"] > 100
    assert patient["spurious_retransmissions"] < 0.1 * hasty["spurious_retransmissions"]
    assert patient["goodput_bps"] > 1.5 * hasty["goodput_bps"]
    assert flows(having(REORDERED, ncr="off")) == flows(REORDERED)


def test_em_has_burst_acks_of_the_ingress_alone():
    scenario = having(FAST, detector="em", back_mode="ingress")
    [warning] = bl.run(scenario).warnings
    assert warning.startswith('tcp.back_mode = "ingress" has no effect')


def test_compare_lets_a_scheme_judge_its_losses():
    laws = bl.compare(["sack", "saimd", "bcl"], FAST, replications=2)
    ratios = {row["law"]: row["ratio"] for row in laws.estimates() if row["measure"] == "goodput"}
    assert ratios["saimd"] > 1 and ratios["bcl"] > 1
