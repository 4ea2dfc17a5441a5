"""Every number of a run is computed a second time from its traces, on random scenarios.

The scenarios are small and over all parts: path, mesh, demands, slots, wireless cells, batches,
background bursts, segmentation. ``BURSTLAB_AUDIT=N`` looks at so many; ``BURSTLAB_AUDIT_SEED``
draws others. The recomputation, in ``audit/``, reads JSON and Parquet and shares no code with
what it judges.
"""

from __future__ import annotations

import math
import os
import traceback
from pathlib import Path

import pytest
from audit import (
    air,
    bounds,
    checks,
    counters,
    demand,
    exempt,
    flows,
    ledger,
    network,
    pacing,
    slots,
)
from audit.checks import Audit
from audit.generator import Document, both_ways, scenario
from audit.result import Run

import burstlab as bl

COUNT = int(os.environ.get("BURSTLAB_AUDIT", "300"))
SEED = int(os.environ.get("BURSTLAB_AUDIT_SEED", "1"))
PARTS = (bounds, counters, flows, ledger, network, demand, slots, air, pacing)
TRACE = ("packets", "bursts", "cwnd", "ledger")


def audited(document: Document, where: Path) -> Audit:
    """Run a scenario and compute its numbers again."""
    result = bl.run(document, trace=TRACE, out=where)
    run = Run(where, result.scenario)
    audit = Audit(run.summary)
    for part in PARTS:
        try:
            part.check(run, audit)
        except Exception:
            audit.problems.append(f"{part.__name__}: {traceback.format_exc(limit=-2)}")
    return audit


@pytest.mark.slow
def test_every_number_is_what_the_traces_say(tmp_path):
    problems, seen, done, rerouted = [], set(), set(), 0
    for number in range(COUNT):
        audit = audited(scenario(number, SEED)[1], tmp_path / str(number))
        rerouted += audit.document.get("ops", {}).get("rerouted", 0)
        seen |= audit.paths()
        done |= audit.done
        problems += [f"scenario {number} of seed {SEED}: {problem}" for problem in audit.problems]
    assert not problems, "\n".join([f"{len(problems)} problems", *problems[:40]])
    if COUNT >= 100:
        assert rerouted > 100
        assert seen - done == set(exempt.BOUNDED), "computed again, or bounded for a reason"


@pytest.mark.slow
def test_every_number_of_connections_in_both_directions(tmp_path):
    problems, carried = [], 0
    for number in range(COUNT // 4):
        where = tmp_path / str(number)
        audit = audited(both_ways(number, SEED), where)
        carried += (where / "packets_acks.parquet").exists()
        problems += [f"scenario {number} of seed {SEED}: {problem}" for problem in audit.problems]
    assert not problems, "\n".join([f"{len(problems)} problems", *problems[:40]])
    assert carried > COUNT // 5, "segments carry ACKs"


def dropping(document: Document, number: int) -> Document:
    """Let the queues of a scenario drop packets that they would mark, were these ECN-capable."""
    rule: Document = {"above": f"{1 + number % 4} KB", "not_ect": "drop"}
    if number % 3 == 0:
        rule = {"rule": "red", "least": "1 KB", "most": "6 KB", "chance": 0.2, "weight": 0.1}
        rule["not_ect"] = "drop"
    access = document["access"]
    if number % 2 == 0:
        access["marking"] = rule
    else:
        access["receiver"] = {**access.get("receiver", {}), "marking": rule}
    edge = document.get("edge", {})
    if "ops" in document:
        document["ops"]["marking"] = rule
    elif "topology" in document["network"] and edge.get("port", "fifo") == "fifo":
        document["edge"] = {**edge, "marking": rule}
    return document


@pytest.mark.slow
def test_every_number_where_queues_drop_in_place_of_marks(tmp_path):
    problems, drops = [], 0
    for number in range(max(COUNT // 10, 10)):
        document = dropping(scenario(number, SEED)[1], number)
        if not document.get("flows") and not document.get("demand"):
            continue
        where = tmp_path / str(number)
        audit = audited(document, where)
        drops += Run(where, bl.resolve(document)).summary["counters"]["packets_not_ect"]
        problems += [f"scenario {number} of seed {SEED}: {problem}" for problem in audit.problems]
    assert not problems, "\n".join([f"{len(problems)} problems", *problems[:40]])
    assert drops > 100


@pytest.mark.parametrize("name", sorted(exempt.BOUNDED))
def test_what_is_bounded_alone_says_why(name):
    assert len(exempt.BOUNDED[name]) > 10


def test_an_audit_sees_a_number_that_is_wrong():
    audit = Audit({"a": [{"x": 1.0}], "b": 2})
    audit.equal("a[0].x", 1.0 + 1e-12)
    audit.equal("b", 2)
    assert not audit.problems
    assert audit.done == audit.paths() == {"a[].x", "b"}
    audit.equal("a[0].x", 1.001)
    audit.equal("b", 3)
    audit.within("b", 3, 4)
    audit.claim(False, "no")
    assert len(audit.problems) == 4


def test_percentiles_of_what_is_censored():
    took = [(1.0, 9.0), (None, 3.0), (2.0, 9.0), (4.0, 9.0)]
    assert demand.quantile(took, 500) == 2.0
    assert demand.quantile(took, 750) is None, "it is 4, or what is censored"
    assert checks.same(3, 3.0) and not checks.same(3, 3.0000001)
    assert math.isnan(float("nan")) and not checks.same(None, 0)
