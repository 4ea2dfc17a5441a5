"""Keys of tables: what names a row, and what joins two tables, with several replications."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import burstlab as bl
from burstlab.tables import KEYS, STORED

ROOT = Path(__file__).parents[2]

PATH: dict[str, Any] = {
    "edge": {"assembly": "timer", "timer": "5 ms"},
    "tcp": {"variant": "sack", "window": 30},
    "loss": {
        "data": {"process": "bernoulli", "probability": 0.05},
        "ack": {"process": "bernoulli", "probability": 0.05},
    },
    "flows": [{"count": 2}],
    "run": {"duration": "5 s"},
}
BOTH = {**PATH, "flows": [{"bytes": "300 KB", "reverse": {"bytes": "300 KB"}}]}
MESH: dict[str, Any] = {
    "network": {"topology": "ring", "nodes": 4, "wavelengths": 1, "link_rate": "20 Mb/s"},
    "signalling": {"guard": "1 ms"},
    "edge": {"assembly": "timer", "timer": "2 ms"},
    "core": {"contention": ["retransmission"]},
    "flows": [{"from": "1", "to": "3", "count": 2}],
    "demand": [{"flows_per_second": 10, "size": {"distribution": "fixed", "mean": "30 KB"}}],
    "bursts": [{"erlangs": 0.2, "per": "node", "length": {"mean": "10 KB"}}],
    "run": {"duration": "2 s", "sample": "100 ms", "occupancy": "100 ms"},
}
TRACES = ("packets", "bursts", "cwnd", "ledger")


@pytest.fixture(scope="module")
def results() -> list[bl.Result]:
    return [bl.run(one, replications=2, trace=TRACES) for one in (PATH, BOTH, MESH)]


def test_a_key_names_one_row_and_no_part_of_it_does(results):
    met: Counter[str] = Counter()
    for result in results:
        for name, key in KEYS.items():
            if name not in result.recorded:
                continue
            table = result.table(name)
            rows = list(zip(*(table.column(one).to_pylist() for one in key), strict=True))
            assert len(set(rows)) == len(rows), name
            met[name] += len(rows) > 0
            # Without the replication rows of two replications are taken for one.
            met[f"{name} without"] += len({row[1:] for row in rows}) < len(rows)
    # Hosts of other kinds alone have datagrams: tests of captures read their tables.
    assert all(met[name] for name in KEYS if not name.startswith("datagrams")), met
    assert all(met[f"{name} without"] for name in ("flows", "bursts", "ledger", "connections"))


def test_the_pages_name_the_keys():
    commands, metrics = (
        (ROOT / f"docs/reference/{name}.md").read_text() for name in ("cli", "metrics")
    )
    for name, key in KEYS.items():
        named = ", ".join(f"`{column}`" for column in key)
        (line,) = re.findall(rf"^\| `{name}` \| (.*) \|.*\|$", commands, re.M)[-1:]
        assert line.startswith(named), name
        section = metrics.split(f"\n### `{name}`\n")[1].split("\n##")[0]
        assert f"Key: {named}" in " ".join(section.split()), name
    listed = re.findall(
        r"^\| (`\w+`(?:, `\w+`)*) \| .* \|.*\|$", commands.split("its key")[1], re.M
    )
    shown = {name for cell in listed for name in re.findall(r"\w+", cell)}
    assert shown >= set(STORED)


def test_the_ledger_joins_its_losses_as_counting_by_hand_does(results):
    for result in results:
        events = {(row["replication"], row["event"]): row for row in result.ledger.to_pylist()}
        expected = [
            {**loss, **_of_event(events[loss["replication"], loss["event"]], loss)}
            for loss in result.ledger_losses.to_pylist()
        ]
        found = result.ledger.with_losses()
        assert found.to_pylist() == expected
        # By the event alone each loss is joined to one event of each replication.
        wrong = [row["event"] for row in result.ledger.to_pylist()]
        assert sum(wrong.count(row["event"]) for row in expected) > len(expected)
        for kind in ("timeout", "fast-retransmit"):
            some = result.ledger.where(kind=kind)
            mine = [row for row in expected if row["kind"] == kind]
            assert some.with_losses().to_pylist() == mine
            assert len(mine) == some["lost_packets"].sum()


def _of_event(event: dict[str, Any], loss: dict[str, Any]) -> dict[str, Any]:
    return {
        f"event_{name}" if name in loss else name: value
        for name, value in event.items()
        if name not in ("replication", "event", "flow")
    }


def test_a_stored_result_and_pandas_join_alike(results, tmp_path):
    result = results[0]
    stored = bl.read(result.write(tmp_path / "run"))
    assert stored.ledger.with_losses().equals(result.ledger.with_losses())
    pandas = result.ledger_losses.to_pandas().merge(
        result.ledger.to_pandas(), on=["replication", "event"]
    )
    assert len(pandas) == len(result.ledger.with_losses())
    calm = bl.run({**PATH, "loss": {}}, trace="ledger", replications=2)
    if "ledger_losses" in calm.recorded:
        assert len(calm.ledger.with_losses()) == 0


def texts() -> list[tuple[str, str]]:
    """Return what shows users how to work with tables: pages, examples, docstrings, the page."""
    found: list[tuple[str, str]] = []
    folders = {"docs": ("md",), "python/burstlab": ("py", "js", "j2"), "examples": ("py",)}
    for folder, kinds in folders.items():
        for kind in kinds:
            for path in sorted((ROOT / folder).rglob(f"*.{kind}")):
                if "vendor" not in path.parts:
                    found.append((str(path.relative_to(ROOT)), path.read_text(encoding="utf-8")))
    return [*found, ("README.md", (ROOT / "README.md").read_text(encoding="utf-8"))]


def test_no_example_joins_without_the_replication():
    """Of pandas, polars and SQL; joins of texts, paths and threads are none."""
    joins = re.compile(
        r"\.(?:merge|join)\([^()]*?\bon=\s*(?P<on>\[[^\]]*\]|\S+?)[,)]"
        r"|\bjoin\s+\w+\s+(?:using\s*\((?P<using>[^)]*)\)|on\b(?P<by>[^\"']*))",
        re.I,
    )
    seen = 0
    for name, text in texts():
        for found in joins.finditer(text):
            seen += 1
            by = found["on"] or found["using"] or found["by"]
            assert "replication" in by or "run" in by, (name, found[0])
    assert seen >= 2
