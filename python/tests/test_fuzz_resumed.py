"""Random runs that are cut and resumed are the same runs in one piece."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from fuzz_resumed import Case, Valid, cases, compare, report, unended

from burstlab.simulation import resolve

FIRST, COUNT = 1, 260

#: Events that a few hundred cases meet at least once.
_MET = """losses and failures|reroutes|repairs|lost to contention|lost to failure|lost to cut
spells on a clock|lost to outage
section ops|section wlan|section demand|section batches|section traffic|section surgery
run.drain|run.bursts|run.sample|run.occupancy|run.tie_break|run.warmup
demand poisson|demand incast|demand permutation|variant linux|variant sack
contention deflection|contention segmentation|contention retransmission|contention delay-line
topology path|topology ring|topology star|topology dumbbell|topology nsfnet"""


def test_runs_that_are_cut_and_resumed_are_the_same_in_one_piece(tmp_path: Path) -> None:
    kinds: Counter[str] = Counter()
    met: Counter[str] = Counter()
    failed = []
    for seed, found in cases(range(FIRST, FIRST + COUNT), tmp_path):
        kinds[found.kind.split(":")[0]] += 1
        met.update(found.met)
        if found.kind not in ("same", "refused", "long"):
            failed.append(f"seed {seed}, cut after {found.cuts}: {found.kind}")
    print(report(kinds, met))
    assert not failed, "\n".join([*failed, f"the scenarios are in {tmp_path}"])
    assert met["losses and failures"] > COUNT // 2, report(kinds, met)
    missing = {name for name in _MET.replace("\n", "|").split("|") if not met[name]}
    assert not missing, report(kinds, met)


def test_a_seed_draws_the_same_scenario() -> None:
    assert repr(Valid(7).scenario()) == repr(Valid(7).scenario())
    assert repr(Valid(7).scenario()) != repr(Valid(8).scenario())


@pytest.mark.parametrize("share", [0.2, 0.5, 0.8])
def test_nodes_that_failures_cut_off_keep_their_detour(share: float, tmp_path: Path) -> None:
    # The first failure sends bursts from 1 to 2 over the long path; the second cuts both off.
    document = {
        "network": {"topology": "ring", "nodes": 4, "link_rate": "200 Mb/s"},
        "signalling": {"guard": "2 ms"},
        "bursts": [{"from": "1", "to": "2", "erlangs": 2.0, "length": {"mean": "20 KB"}}],
        "failures": [
            {"link": ["1", "2"], "down": "20 ms", "reroute": "0 s"},
            {"link": ["1", "4"], "down": "200 ms", "reroute": "0 s"},
        ],
        "run": {"duration": "2 s"},
    }
    case = Case(document)
    whole = Case(document)
    compare(whole, resolve(document), Valid(1), tmp_path)
    case.cuts = [int(share * whole.events)]
    compare(case, resolve(document), Valid(1), tmp_path)
    assert (case.kind, whole.kind) == ("same", "same")
    assert {"losses and failures", "lost to failure"} <= case.met


@pytest.mark.parametrize(
    "tcp",
    [
        {"rto_fixed": "10 us", "rto_backoff_past_max": False},
        {"rto_fixed": "10 us", "detector": "oracle"},
        {"rto_initial": "1 ms", "rto_backoff_past_max": False},
    ],
)
def test_a_time_out_below_the_round_trip_is_raised_and_counted(tcp: dict[str, Any]) -> None:
    met: set[str] = set()
    assert unended({"tcp": tcp}, Valid(1), met) == ""
    assert met == {"RTO raised above the round trip"}


def test_a_time_out_that_back_off_raises_stays() -> None:
    met: set[str] = set()
    assert unended({"tcp": {"rto_initial": "10 ms"}}, Valid(1), met) == ""
    assert met == set()
