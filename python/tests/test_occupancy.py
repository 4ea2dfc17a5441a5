"""Queues, ports and wavelengths over time, against the traces of the same run."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np
import pytest

import burstlab as bl
from burstlab.errors import InputError, ScenarioError
from burstlab.plot import occupied_chart, occupied_rows

#: No whole number of anything else, so that nothing happens as it is looked at.
EVERY_PS = 300_000_000 + 7_001


def scenario(**more: Any) -> dict[str, Any]:
    run = {"duration": "20 ms", "occupancy": f"{EVERY_PS} ps", **more.pop("run", {})}
    return {
        "network": {"topology": "ring", "nodes": 4, "link_delay": "200 us", "wavelengths": 3},
        "access": {"rate": "1 Gb/s", "delay": "10 us"},
        "edge": {"assembly": "timer", "timer": "500 us", "port": "fifo"},
        "flows": [{"from": "1", "to": "3", "count": 3}, {"from": "2", "to": "3"}],
        "bursts": [{"erlangs": 0.6, "length": {"distribution": "exponential", "mean": "200 KB"}}],
        **more,
        "run": run,
    }


@pytest.mark.parametrize("assembly", ["timer", "hybrid"])
def test_what_waits_is_what_the_traces_say(assembly: str):
    edge = {"assembly": assembly, "timer": "500 us", "port": "fifo"}
    if assembly == "hybrid":
        edge["size"] = "30 KB"
    result = bl.run(scenario(edge=edge), trace=("packets", "bursts"))
    names = [node["name"] for node in result.network[0]["nodes"]]
    closed = {row["burst"]: row["closed_ps"] for row in result.bursts.to_pylist()}
    looks = sorted({row["t_ps"] for row in result.ports.to_pylist()})
    assert looks == [EVERY_PS * n for n in range(1, len(looks) + 1)]
    assert len(looks) == 20 * 10**9 // EVERY_PS
    spans: dict[tuple[str, str], list[tuple[int, int]]] = defaultdict(list)
    ends = {row["burst"]: (row["from"], row["to"]) for row in result.bursts.to_pylist()}
    for packet in result.packets.to_pylist():
        burst, entered = packet["burst"], packet["ingress_ps"]
        if entered is None or burst is None or burst not in ends:
            continue
        pair = tuple(names[end - 1] for end in ends[burst])
        spans[pair].append((entered, closed[burst]))
    found = {
        (row["t_ps"], row["from"], row["to"]): row["packets"] for row in result.queues.to_pylist()
    }
    for pair, times in spans.items():
        entered, left = (np.array(column) for column in zip(*times, strict=True))
        # Those of the last look may be in a burst that is never closed.
        for look in looks[:-3]:
            waits = int(((entered < look) & (left > look)).sum())
            assert found.get((look, *pair), 0) == waits, (look, pair)
    assert sum(found.values()) > 100


def test_wavelengths_add_up_to_their_use():
    result = bl.run(scenario(run={"warmup": "5 ms"}), trace="bursts")
    sums: dict[tuple[str, str], float] = defaultdict(float)
    last = max(row["t_ps"] for row in result.wavelengths.to_pylist())
    rows = result.table("bursts_hops").to_pylist()
    names = [node["name"] for node in result.network[0]["nodes"]]
    for row in result.wavelengths.to_pylist():
        assert 0 <= row["reserved_ps"] <= EVERY_PS
        sums[row["from"], row["to"]] += row["reserved_ps"]
    held: dict[tuple[str, str], float] = defaultdict(float)
    for row in rows:
        if row["wavelength"] is not None:
            pair = names[row["from"] - 1], names[row["to"] - 1]
            held[pair] += max(0, min(row["end_ps"], last) - row["reserved_ps"])
    assert set(held) <= set(sums)
    for pair, whole in held.items():
        assert sums[pair] == pytest.approx(whole, rel=1e-9)


def test_ports_are_what_the_bursts_say():
    result = bl.run(scenario(), trace="bursts")
    names = [node["name"] for node in result.network[0]["nodes"]]
    first: dict[int, tuple[str, str]] = {}
    held: dict[tuple[str, str], list[tuple[int, int]]] = defaultdict(list)
    for row in result.table("bursts_hops").to_pylist():
        pair = names[row["from"] - 1], names[row["to"] - 1]
        if row["hop"] == 0:
            first[row["burst"]] = pair
        if row["wavelength"] is not None:
            held[pair].append((row["reserved_ps"], row["end_ps"]))
    waits: dict[tuple[str, str], list[tuple[int, int]]] = defaultdict(list)
    for row in result.bursts.to_pylist():
        if row["burst"] in first and row["departed_ps"] is not None:
            until = row["lost_ps"] if row["lost_ps"] is not None else row["departed_ps"]
            until = min(until, row["departed_ps"])
            waits[first[row["burst"]]].append((row["closed_ps"], until))
    most = 0
    for row in result.ports.to_pylist():
        look, pair = row["t_ps"], (row["from"], row["to"])
        assert row["bursts"] == sum(a <= look < b for a, b in waits[pair])
        # A reservation for later is made before: what covers the instant counts.
        assert row["reserved"] == sum(a <= look < b for a, b in held[pair])
        most = max(most, row["bursts"])
    assert most > 3, "nothing ever waited"


def test_looking_changes_nothing_else():
    plain = scenario()
    del plain["run"]["occupancy"]
    seen = bl.run(scenario()).replications[0].summary
    blind = bl.run(plain).replications[0].summary
    assert seen["fingerprint"] == blind["fingerprint"]
    assert seen["flows"] == blind["flows"]
    assert seen.get("network") == blind.get("network") is not None


def test_a_figure_shows_the_fullest(tmp_path, burstlab):
    out = tmp_path / "out"
    result = bl.run(scenario(run={"duration": "200 ms"}), out=out)
    rows = occupied_rows(result)
    panels = {row["panel"] for row in rows}
    assert panels == {"reserved share", "bursts at the ingress", "KB in assembly"}
    shares = [row["value"] for row in rows if row["panel"] == "reserved share"]
    assert min(shares) >= 0 and max(shares) <= 1
    lines = {(row["panel"], row["line"]) for row in rows}
    assert all(sum(panel == one for one, _ in lines) <= 4 for panel in panels)
    assert occupied_chart(result).to_dict()["vconcat"]
    answer = burstlab("plot", out, "load", "--end", "100 ms")
    assert answer.status == 0 and (out / "load.svg").stat().st_size > 10_000


def test_what_has_none_says_how(tmp_path):
    plain = scenario()
    del plain["run"]["occupancy"]
    result = bl.run(plain)
    with pytest.raises(InputError, match=r"run\.occupancy"):
        occupied_rows(result)
    with pytest.raises(InputError, match=r"run\.occupancy"):
        _ = result.ports
    for change, path in [
        ({"occupancy": "0 s"}, "run.occupancy"),
        ({"occupancy": "1 ps"}, "run.occupancy"),
    ]:
        with pytest.raises(ScenarioError) as refused:
            bl.resolve(scenario(run=change))
        assert refused.value.path == path
    with pytest.raises(ScenarioError) as refused:
        bl.resolve({"run": {"occupancy": "1 ms"}})
    assert refused.value.path == "run.occupancy"
