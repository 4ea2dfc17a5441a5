"""Random slotted networks, slot by slot, against a replay of what came to their edges."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from slots_replay import Network, Packet

import burstlab as bl

PS = {"s": 10**12, "ms": 10**9, "us": 10**6, "ns": 10**3}


def ps(text: str) -> int:
    """Return a time in picoseconds."""
    number, unit = text.split()
    return round(float(number) * PS[unit])


def drawn(seed: int) -> dict[str, Any]:
    """Return a scenario over a random tree."""
    draw = np.random.default_rng(seed)

    def one_of(values: Sequence[Any]) -> Any:
        return values[int(draw.integers(len(values)))]

    count = one_of(range(3, 7))
    names = [f"n{number}" for number in range(count)]
    links = [
        {
            "from": one_of(names[:number]),
            "to": names[number],
            "delay": f"{one_of(range(1, 3001))} us",
            "wavelengths": one_of([1, 1, 2, 3]),
        }
        for number in range(1, count)
    ]
    links = [links[place] for place in draw.permutation(len(links))]
    unsmoothed = [name for name in names if draw.random() < 0.6]
    ops: dict[str, Any] = {
        "slot_size": f"{one_of([300, 576, 701])} B",
        "slot_header": f"{one_of([0, 8])} B",
        "packing": one_of(["one", "several"]),
        "buffer": one_of([0, 1, 3, 10]),
        "order": one_of(["random", "rotating", "fixed"]),
        "acks": one_of(["slotted", "free"]),
        "unsmoothed": unsmoothed,
        "smoothing": {
            "unit": f"{one_of([7.1003, 13.3007])} ms",
            "units": one_of([1, 4, 9]),
            "weight": one_of([0.0, 0.8]),
            "refusal": one_of(["keep", "partial"]),
            "phase": one_of(["drawn", "common"]),
        },
        "congestion": {
            "threshold": one_of([0.5, 0.9]),
            "rtt_max": one_of(["20 ms", "200 ms"]),
        },
    }
    if draw.random() < 0.5:
        ops["smoothing"]["min_rate"] = one_of([0.01, 0.1])

    def ends() -> dict[str, str]:
        begin, to = (names[place] for place in draw.permutation(count)[:2])
        return {"from": begin, "to": to}

    return {
        "network": {
            "topology": "custom",
            "link_rate": "20 Mb/s",
            "node": [{"name": name} for name in names],
            "link": links,
        },
        "access": {"rate": "100 Mb/s", "delay": "2 ms"},
        "ops": ops,
        "tcp": {"variant": "reno", "segment_size": "576 B", "window": 60},
        "flows": [{**ends(), "start": f"{draw.random() * 100:.6f} ms"} for _ in range(3)],
        "traffic": [
            {
                **ends(),
                "pattern": one_of(["poisson", "periodic"]),
                "rate": f"{one_of([2, 5, 9])} Mb/s",
                "packet_size": f"{one_of([200, 576, 1400])} B",
                "start": f"{draw.random() * 100:.6f} ms",
            }
            for _ in range(8)
        ],
        "run": {"duration": "1500 ms", "seed": seed},
    }


def network(resolved: dict[str, Any], slot_ps: int) -> Network:
    """Return the replay's network of a resolved scenario."""
    names = [node["name"] for node in resolved["network"]["node"]]
    fibres = []
    for link in resolved["network"]["link"]:
        ends = names.index(link["from"]), names.index(link["to"])
        slots = max(1, -(-ps(link["delay"]) // slot_ps))
        fibres += [(*pair, slots, link["wavelengths"]) for pair in (ends, ends[::-1])]
    ops, smoothing = resolved["ops"], resolved["ops"]["smoothing"]
    size, header = (int(ops[name].split()[0]) for name in ("slot_size", "slot_header"))
    rules = {
        **{name: smoothing[name] for name in ("units", "weight", "refusal", "phase", "min_rate")},
        "unit": ps(smoothing["unit"]),
        "unsmoothed": ops.get("unsmoothed", []),
        "payload": size - header,
        "packing": ops["packing"],
        "buffer": ops["buffer"],
        "order": ops["order"],
        "threshold": ops["congestion"]["threshold"],
        "window": 2 * ps(ops["congestion"]["rtt_max"]) // slot_ps,
    }
    return Network(names, fibres, rules, slot_ps, resolved["run"]["seed"])


def came(result: bl.Result, resolved: dict[str, Any], names: list[str]) -> list[tuple[int, Packet]]:
    """Return each packet that came to an edge, with its row, in order."""
    table = result.packets
    of_kind = {
        "data": [(flow["from"], flow["to"]) for flow in resolved["flows"]],
        "udp": [(source["from"], source["to"]) for source in resolved["traffic"]],
    }
    of_kind["ack"] = [(to, begin) for begin, to in of_kind["data"]]
    free = resolved["ops"]["acks"] == "free"
    columns = (table[name] for name in ("kind", "flow", "ingress_ps", "size_bytes"))
    found = []
    for row, (kind, flow, ingress, size) in enumerate(zip(*columns, strict=True)):
        if np.isnan(ingress) or (free and kind == "ack"):
            continue
        begin, to = of_kind[kind][int(flow)]
        packet = Packet(int(ingress), int(size), (names.index(begin), names.index(to)))
        found.append((int(ingress), kind != "udp", kind == "ack", int(flow), row, packet))
    return [(row, packet) for *_, row, packet in sorted(found, key=lambda one: one[:5])]


@pytest.mark.parametrize("seed", range(12))
def test_every_slot_is_that_of_the_replay(seed):
    scenario = drawn(seed)
    resolved = bl.resolve(scenario)
    result = bl.run(scenario, trace=("packets",))
    ops: dict[str, Any] = dict(result.ops[0])
    table = result.packets
    slot_ps = round(ops["slot_s"] * 1e12)
    replay = network(resolved, slot_ps)
    packets = came(result, resolved, replay.names)
    assert len(packets) > 500
    replay.run([packet for _, packet in packets], ps(resolved["run"]["duration"]))

    whole = {name: table[name] for name in ("departed_ps", "egress_ps", "burst", "fate", "cause")}
    for row, packet in packets:
        seen = {name: column[row] for name, column in whole.items()}
        left = None if np.isnan(seen["departed_ps"]) else int(seen["departed_ps"])
        assert left == (None if packet.slot is None else packet.slot * slot_ps), (row, packet)
        if left is not None:
            assert int(seen["burst"]) == packet.number, (row, packet)
        out = None if np.isnan(seen["egress_ps"]) else int(seen["egress_ps"])
        assert out == packet.out, (row, packet)
        assert (seen["cause"] == "slot-dropped") == (packet.lost is not None), (row, packet)

    assert ops["slots_sent"] == replay.numbered
    for number, port in enumerate(ops["ports"]):
        for cause in ("contention", "congestion"):
            assert port[f"dropped_{cause}"] == replay.causes[number, cause], (port, cause)
    for edge in ops["edges"]:
        buffer = replay.buffers[replay.names.index(edge["from"]), replay.names.index(edge["to"])]
        numbers = (buffer.sent, buffer.requests, buffer.refused)
        assert (edge["slots"], edge["requests"], edge["refused"]) == numbers
