"""Traces of runs in which nothing was sent: empty tables with their columns."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pages import about, data

import burstlab as bl
from burstlab.page import viewer
from burstlab.tables import TRACES, WITH

_LINE = {"topology": "line", "nodes": 3, "link_rate": "1 Gb/s"}
_RARE: list[dict[str, Any]] = [
    {"flows_per_second": 1e-3, "size": {"distribution": "fixed", "mean": "10 KB"}}
]
_RUN = {"duration": "10 ms"}

#: A mesh, one of background bursts, a path, slots; no packet and no burst is sent in any.
QUIET: dict[str, dict[str, Any]] = {
    "mesh": {"network": _LINE, "demand": _RARE, "run": _RUN},
    "others": {
        "network": _LINE,
        "bursts": [{"erlangs": 0.0, "length": {"distribution": "fixed", "mean": "1 KB"}}],
        "run": _RUN,
    },
    "path": {"flows": [{"start": "5 s"}], "run": _RUN},
    "slots": {"network": _LINE, "ops": {}, "demand": _RARE, "run": _RUN},
}

#: Tables that come with each trace. A path has no wavelengths, and slots are no bursts.
EXTRA = {
    "packets": ("packets_sack",),
    "bursts": ("bursts_hops", "bursts_steps"),
    "cwnd": (),
    "ledger": ("ledger_losses",),
}


def _loud(name: str) -> dict[str, Any]:
    """The same network with something to trace, whose tables have the same columns."""
    scenario = {**QUIET[name], "run": {"duration": "50 ms"}}
    if name == "others":
        length = QUIET[name]["bursts"][0]["length"]
        return {**scenario, "bursts": [{"erlangs": 0.3, "length": length}]}
    if name == "path":
        return {**scenario, "flows": [{}]}
    return {**scenario, "demand": [{**_RARE[0], "flows_per_second": 400}]}


@pytest.mark.parametrize("trace", TRACES)
@pytest.mark.parametrize("name", QUIET)
def test_a_trace_of_nothing_is_an_empty_table_with_its_columns(
    tmp_path: Path, name: str, trace: str
):
    scenario = QUIET[name]
    held = bl.run(scenario, trace=(trace,))
    stored = bl.run(scenario, trace=(trace,), out=tmp_path / "quiet")
    with_rows = bl.run(_loud(name), trace=(trace,))
    tables = [trace, *EXTRA[trace]]
    if name in ("path", "slots") and trace == "bursts":
        tables = [trace]
    for result in (held, stored, bl.read(tmp_path / "quiet")):
        assert {table for table in result.recorded if table in (*TRACES, *WITH)} == set(tables)
        for table in tables:
            assert len(result.table(table)) == 0
            assert result.table(table).columns == with_rows.table(table).columns
            assert result.table(table).to_pylist() == []


def test_replications_of_which_one_sends_nothing_have_the_same_tables(tmp_path):
    scenario: dict[str, Any] = {
        **QUIET["mesh"],
        "demand": [{**_RARE[0], "flows_per_second": 60}],
        "run": {"duration": "20 ms", "seed": 3, "replications": 4},
    }
    result = bl.run(scenario, trace=("bursts",), out=tmp_path / "out", jobs=1)
    rows = [len(result.bursts.where(replication=number)) for number in range(4)]
    assert min(rows) == 0 < max(rows), rows
    steps = result.table("bursts_steps")["replication"]
    assert set(steps.tolist()) == {number for number in range(4) if rows[number]}


@pytest.mark.parametrize("name", ["mesh", "others"])
def test_the_page_of_a_mesh_in_which_no_burst_was_sent_is_drawn(tmp_path, name):
    bl.run(QUIET[name], trace=("bursts", "packets"), out=tmp_path / "out")
    page = viewer(tmp_path / "out")
    assert len(about(page)["network"]["fibres"]) == 4
    shown, found = data(page, "bursts", **{"from": 0, "to": 0.01})
    assert shown["every"] == 1
    assert all(len(column) == 0 for column in found.values())
    page.close()


def test_a_figure_of_no_burst_says_what_is_missing(tmp_path):
    result = bl.run(QUIET["mesh"], trace=("bursts",), out=tmp_path / "out")
    with pytest.raises(bl.InputError, match="no burst crossed a fibre\n  fix: make a longer run"):
        result.plot.occupancy()
