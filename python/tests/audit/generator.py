"""Random scenarios over all parts: small, so that hundreds of them take a minute.

A scenario follows from its number alone. Times are drawn to the nanosecond, so that the end of the
warm-up coincides with no event.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import burstlab as bl

Document = dict[str, Any]

#: The kinds of scenarios, by turns over the number n.
FAMILIES = ("path", "mesh", "demand", "slots", "air", "load", "cutting", "mesh")


class Draw:
    """Draws for one scenario."""

    def __init__(self, *key: int) -> None:
        self._rng = np.random.default_rng(key)

    def chance(self, probability: float) -> bool:
        return bool(self._rng.random() < probability)

    def pick(self, *options: Any) -> Any:
        return options[int(self._rng.integers(len(options)))]

    def whole(self, low: int, high: int) -> int:
        return int(self._rng.integers(low, high + 1))

    def real(self, low: float, high: float) -> float:
        return round(float(self._rng.uniform(low, high)), 4)

    def time(self, low_s: float, high_s: float) -> str:
        """A time on a logarithmic scale."""
        log = self._rng.uniform(np.log(low_s), np.log(high_s))
        return f"{round(float(np.exp(log)) * 1e9)} ns"

    def some(self, options: list[Any], least: int = 0) -> list[Any]:
        """Some of the options in any order."""
        order = self._rng.permutation(len(options))
        return [options[i] for i in order[: self.whole(least, len(options))]]


def scenario(number: int, seed: int = 1) -> tuple[str, Document]:
    """Return the family and the text of scenario `number`, which the engine takes."""
    family = FAMILIES[number % len(FAMILIES)]
    for attempt in range(40):
        draw = Draw(seed, number, attempt)
        document = _MAKERS[family](draw)
        detours = Draw(seed, number, attempt, 4)
        if family == "slots" and detours.chance(0.4):
            document = _rerouted(draw, detours)
        paced = Draw(seed, number, attempt, 3)
        if paced.chance(0.3):
            document["access"]["ack_pacing"] = _pacing(paced)
        _differing(Draw(seed, number, attempt, 5), document)
        try:
            bl.resolve(document)
        except bl.ScenarioError:
            continue  # parts that do not go together
        return family, document
    raise AssertionError(f"nothing sound was drawn for scenario {number} of seed {seed}")


def both_ways(number: int, seed: int = 1) -> Document:
    """Return a scenario whose connections have data in both directions, or some of them."""
    families = ("path", "mesh", "path", "slots", "air")
    for attempt in range(400):
        draw = Draw(seed, number, attempt, 2)
        document = _MAKERS[families[number % len(families)]](draw)
        document.get("edge", {}).pop("spacing", None)
        flows = document["flows"]
        for place, flow in enumerate(flows):
            if place == 0 or draw.chance(0.7):
                flow["reverse"] = _reverse(draw, flow)
        try:
            bl.resolve(document)
        except bl.ScenarioError:
            continue
        return document
    raise AssertionError(f"nothing sound was drawn for scenario {number} of seed {seed}")


def _reverse(draw: Draw, flow: Document) -> Document:
    back: Document = {"start": draw.time(1e-4, 0.1)}
    if draw.chance(0.6):
        back["bytes"] = f"{draw.whole(500, 200_000)} B"
        back["reply"] = bool({"bytes", "script"} & set(flow)) and draw.chance(0.5)
    return back


def _tcp(draw: Draw, *, detectors: bool = True) -> Document:
    tcp: Document = {
        "variant": draw.pick("tahoe", "reno", "new-reno", "sack", "sack", "vegas"),
        "profile": draw.pick("rfc", "rfc", "ns2", "ns2-2003"),
        "window": draw.pick(4, 12, 24, 40, 64),
        "segment_size": f"{draw.pick(400, 1000, 1460)} B",
        "delayed_ack": draw.chance(0.5),
        "rto_min": f"{draw.pick(50, 100, 200)} ms",
        "rto_initial": "400 ms",
    }
    if detectors and draw.chance(0.3):
        tcp["detector"] = draw.pick("ble", "back", "bnak", "oracle")
    return tcp


def _access(draw: Draw) -> Document:
    access: Document = {
        "rate": f"{draw.pick(2, 5, 10)} Mb/s",
        "delay": draw.time(0.2e-3, 8e-3),
    }
    if draw.chance(0.4):
        access["queue"] = draw.whole(3, 30)
    if draw.chance(0.3):
        access["shared"] = True
    if draw.chance(0.3):
        access["receiver"] = {"rate": f"{draw.pick(2, 4, 20)} Mb/s"}
    if draw.chance(0.15):
        access["loss"] = _spells(draw)
    if draw.chance(0.15):
        access["receiver"] = {**access.get("receiver", {}), "loss": _spells(draw)}
    return access


def _pacing(draw: Draw) -> Document:
    """ACKs that edge nodes hold back."""
    found: Document = {"delay_max": draw.time(1e-3, 0.2)}
    if draw.chance(0.5):
        found |= {"window": draw.time(5e-3, 0.5), "gain": draw.real(0.3, 4.0)}
    else:
        found |= {"rule": "fixed", "interval": draw.time(1e-4, 5e-3)}
    return found


def _spells(draw: Draw) -> Document:
    """Losses in spells on a clock."""
    long, short = draw.time(0.05, 0.5), draw.time(1e-3, 30e-3)
    if draw.chance(0.3):
        chances = {"loss_good": draw.real(0.0, 0.02), "loss_bad": draw.real(0.3, 1.0)}
        return {"process": "gilbert-elliott", "mean_good": long, "mean_bad": short, **chances}
    found: Document = {"process": "outages", "mean_up": long, "mean_down": short}
    if draw.chance(0.3):
        found["spells"] = "periodic"
    return found


def _loss(draw: Draw, *, ack: bool = True) -> Document:
    def rule() -> Document:
        process = draw.pick(
            "bernoulli", "bernoulli", "every", "batch", "gilbert-elliott", "spells", "script"
        )
        found: Document = {"process": process}
        if process == "spells":
            found = _spells(draw)
        elif process == "bernoulli":
            found["probability"] = draw.real(0.003, 0.06)
        elif process == "every":
            found["n"] = draw.whole(20, 200)
        elif process == "batch":
            found |= {"n": draw.whole(30, 200), "size": draw.whole(1, 5)}
        elif process == "gilbert-elliott":
            found |= {"good_to_bad": draw.real(0.001, 0.03), "bad_to_good": draw.real(0.1, 0.9)}
        else:
            found["bursts"] = sorted({draw.whole(1, 60) for _ in range(4)})
        if draw.chance(0.3):
            found["node"] = draw.whole(0, 1)
        return found

    loss: Document = {}
    if draw.chance(0.75):
        loss["data"] = rule()
    if draw.chance(0.2):
        loss["data"] = {
            "process": "script",
            "carrying": [draw.whole(5, 40)],
            "packets": [[draw.whole(5, 60), 1], [draw.whole(5, 60), 1]],
        }
    if ack and draw.chance(0.3):
        loss["ack"] = rule()
    return loss


def _flows(draw: Draw, least: int, most: int, names: list[str]) -> list[Document]:
    flows: list[Document] = []
    for _ in range(draw.whole(least, most)):
        flow: Document = {"start": draw.time(1e-3, 0.2)}
        if names:
            flow["from"], flow["to"] = draw.some(names, 2)[:2]
        kind = draw.pick("greedy", "greedy", "bytes", "script")
        if kind == "bytes":
            flow["bytes"] = f"{draw.whole(3_000, 400_000)} B"
        elif kind == "script":
            times = sorted(draw.whole(0, 1_500) for _ in range(draw.whole(1, 4)))
            flow["script"] = [
                {"at": f"{at} ms", "bytes": f"{draw.whole(1_000, 60_000)} B"} for at in times
            ]
        if draw.chance(0.2):
            flow |= {"count": 2, "stagger": draw.time(1e-3, 0.1)}
        if draw.chance(0.3):
            flow["tcp"] = {
                "variant": draw.pick("reno", "sack", "tahoe"),
                "window": draw.whole(2, 30),
            }
        flows.append(flow)
    return flows


def _run(draw: Draw, low_s: float, high_s: float) -> Document:
    run: Document = {"duration": draw.time(low_s, high_s), "seed": draw.whole(1, 1 << 40)}
    if draw.chance(0.65):
        run["warmup"] = draw.time(0.05 * low_s, 0.6 * low_s)
    if draw.chance(0.1):
        run["bursts"] = draw.whole(20, 400)
    return run


def _traffic(draw: Draw, names: list[str], most: int) -> list[Document]:
    traffic: list[Document] = []
    for _ in range(draw.whole(1, most)):
        one: Document = {
            "pattern": draw.pick("cbr", "poisson", "pareto", "periodic"),
            "rate": f"{draw.whole(200, 2_000)} Kb/s",
            "packet_size": f"{draw.whole(100, 1_200)} B",
            "start": draw.time(1e-4, 0.1),
        }
        if one["pattern"] == "periodic":
            one |= {"on": "50 ms", "period": "300 ms"}
        if names:
            one["from"], one["to"] = draw.some(names, 2)[:2]
        elif draw.chance(0.5):
            one["side"] = draw.pick("sender", "receiver")
        traffic.append(one)
    return traffic


def _path(draw: Draw) -> Document:
    nodes = draw.whole(1, 3)
    edge: Document = {}
    kind = draw.pick("none", "timer", "timer", "size", "hybrid")
    edge["assembly"] = kind
    if kind in ("timer", "hybrid"):
        edge["timer"] = draw.time(1e-3, 30e-3)
    if kind in ("size", "hybrid"):
        edge["size"] = f"{draw.whole(2_000, 20_000)} B"
    if draw.chance(0.3):
        edge["offset"] = draw.time(1e-5, 1e-3)
    if draw.chance(0.4):
        edge["ack"] = {"assembly": "timer", "timer": draw.time(1e-3, 10e-3)}
    if draw.chance(0.2):
        edge["notices"] = "in-band"
    access = _access(draw)
    found: Document = {
        "network": {
            "core_nodes": nodes,
            "link_rate": f"{draw.pick(20, 100, 1000)} Mb/s",
            "link_delay": draw.time(0.3e-3, 10e-3),
        },
        "edge": edge,
        "access": access,
        "tcp": _tcp(draw),
        "flows": _flows(draw, 1, 3, []),
        "loss": _loss(draw),
        "run": _run(draw, 1.5, 6.0),
    }
    if draw.chance(0.3):
        found["core"] = {"forwarding": "store-and-forward"}
        if draw.chance(0.3) and kind != "none":
            edge["spacing"] = "1 us"
    if access.get("shared") and draw.chance(0.6):
        found["traffic"] = _traffic(draw, [], 2)
    return found


_SHAPES = ("line", "ring", "star", "dumbbell", "custom")


def _topology(draw: Draw, shapes: tuple[str, ...] = _SHAPES) -> tuple[Document, list[str]]:
    shape = draw.pick(*shapes)
    network: Document = {
        "topology": shape,
        "link_rate": f"{draw.pick(50, 100, 200)} Mb/s",
        "wavelengths": draw.whole(1, 3),
    }
    if shape == "custom":
        network["node"] = [
            {"name": "in", "role": "edge"},
            {"name": "by", "role": "both"},
            {"name": "core", "role": "core"},
            {"name": "out", "role": "edge"},
        ]
        pairs = [("in", "core"), ("by", "core"), ("core", "out"), ("in", "by"), ("by", "out")]
        network["link"] = [
            {"from": a, "to": b, "delay": draw.time(0.2e-3, 4e-3), "wavelengths": draw.whole(1, 3)}
            for a, b in pairs
        ]
        return network, ["in", "by", "out"]
    network["link_delay"] = draw.time(0.2e-3, 4e-3)
    if shape == "dumbbell":
        network["nodes"] = draw.whole(1, 2)
        names = [f"{side}{n + 1}" for side in ("left", "right") for n in range(network["nodes"])]
        return network, names
    network["nodes"] = draw.whole(3, 5)
    return network, [str(n + 1) for n in range(network["nodes"])]


def _edge_of_mesh(draw: Draw) -> Document:
    kind = draw.pick(
        "none", "timer", "timer", "size", "hybrid", "hybrid", "adaptive", "cwnd-classes"
    )
    edge: Document = {"assembly": kind, "port": draw.pick("fifo", "shared")}
    if kind in ("timer", "hybrid", "adaptive"):
        edge["timer"] = draw.time(2e-3, 20e-3)
    if kind in ("size", "hybrid", "adaptive"):
        edge["size"] = f"{draw.whole(3_000, 20_000)} B"
    if kind == "adaptive":
        edge |= {"timer_min": "500 us", "weight": 0.3}
    if kind == "cwnd-classes":
        edge |= {"cwnd_thresholds": [6], "class_timers": ["3 ms", "8 ms"]}
    if kind in ("size", "hybrid") and draw.chance(0.4):
        edge["at_most"] = True
    if draw.chance(0.3):
        edge["queues"] = draw.pick("class", "flow")
    if draw.chance(0.2):
        edge["burstifiers"] = 2
    if draw.chance(0.3):
        edge["min_size"] = f"{draw.whole(500, 6_000)} B"
    if draw.chance(0.3):
        edge["ack"] = {"with_data": True}
    elif draw.chance(0.5):
        edge["ack"] = {"assembly": "timer", "timer": draw.time(1e-3, 8e-3)}
    return edge


def _core(draw: Draw, steps: list[str]) -> Document:
    core: Document = {
        "scheduler": draw.pick("first-fit", "horizon", "lauc-vf", "ff-vf", "min-ev", "best-fit"),
        "conversion": draw.pick("full", "full", "none", "limited"),
        "contention": draw.some(steps),
    }
    if core["conversion"] == "limited":
        core["conversion_range"] = 1
    if "delay-line" in core["contention"]:
        core["delay_lines"] = {"delays": ["200 us", "700 us"], "channels": draw.whole(1, 2)}
        if draw.chance(0.4):
            core["delay_lines"]["passes"] = draw.whole(1, 3)
    if "deflection" in core["contention"]:
        core["deflection"] = {"hop_limit": draw.whole(1, 3)}
    if "segmentation" in core["contention"]:
        core["segmentation"] = {"trailer": draw.chance(0.5)}
    if "retransmission" in core["contention"]:
        copies: Document = {"attempts": draw.whole(1, 3)}
        if draw.chance(0.5):
            copies["buffer"] = f"{draw.whole(5, 60)} KB"
        core["retransmission"] = copies
    if draw.chance(0.3):
        core["injection"] = {
            "data": draw.real(0.0, 0.1),
            "ack": draw.real(0.0, 0.05),
            "per": draw.pick("burst", "node"),
        }
    return core


def _signalling(draw: Draw) -> Document:
    signalling: Document = {
        "protocol": draw.pick("jet", "jet", "jit", "two-way"),
        "guard": draw.time(20e-6, 300e-6),
        "processing": draw.time(5e-6, 100e-6),
        "rate": "1 Gb/s",
    }
    if draw.chance(0.4):
        signalling["processors"] = draw.whole(1, 2)
    if draw.chance(0.3):
        signalling["rate"] = f"{draw.pick(5, 20, 100)} Mb/s"
    if draw.chance(0.2):
        signalling["switching"] = "5 us"
    if signalling["protocol"] == "two-way":
        signalling |= {"requests": draw.whole(1, 4), "retry": draw.time(1e-4, 4e-3)}
    return signalling


_STEPS = ["conversion", "delay-line", "deflection", "retransmission"]


def _mesh(draw: Draw) -> Document:
    network, names = _topology(draw)
    found: Document = {
        "network": network,
        "signalling": _signalling(draw),
        "edge": _edge_of_mesh(draw),
        "core": _core(draw, _STEPS),
        "access": _access(draw),
        "tcp": _tcp(draw),
        "flows": _flows(draw, 1, 4, names),
        "loss": _loss(draw) if draw.chance(0.5) else {},
        "run": _run(draw, 0.8, 3.0),
    }
    if found["signalling"]["protocol"] == "two-way":
        kept = ("scheduler", "conversion", "conversion_range")
        found["core"] = {key: found["core"][key] for key in kept if key in found["core"]}
    if draw.chance(0.5):
        found["traffic"] = _traffic(draw, names, 2)
    if draw.chance(0.5):
        found["bursts"] = _bursts(draw)
    return found


def _differing(draw: Draw, found: Document) -> None:
    """Limit the converters of nodes, and let some nodes differ."""
    if "core" not in found or found["network"].get("topology", "path") == "path" or "ops" in found:
        return
    _converters(draw, found)
    names = sorted({flow["from"] for flow in found.get("flows", []) if "from" in flow})
    if names and draw.chance(0.3):
        found["core"]["group"] = [_group(draw, found["core"], draw.some(names, 1))]


def _group(draw: Draw, core: Document, nodes: list[str]) -> Document:
    """Let some nodes differ in conversion, and in the steps that they try."""
    own: Document = {"conversion": draw.pick("full", "none"), "scheduler": "ff-vf"}
    steps = [step for step in core.get("contention", []) if step != "delay-line"]
    if steps != core.get("contention", []) or draw.chance(0.3):
        own["contention"] = steps
    return {"nodes": nodes, "set": own}


def _converters(draw: Draw, found: Document) -> None:
    """Limit the converters of nodes that may need some."""
    network, core = found["network"], found["core"]
    fibres = [network, *network.get("link", [])]
    many = any(one.get("wavelengths", 1) > 1 for one in fibres)
    core.pop("converters", None)
    if many and core.get("conversion") != "none" and draw.chance(0.5):
        shared = draw.pick("node", "output")
        core["converters"] = {"number": draw.whole(0, 1), "shared": shared}


def _bursts(draw: Draw) -> list[Document]:
    return [
        {
            "erlangs": draw.real(0.01, 0.25),
            "per": draw.pick("pair", "node", "network"),
            "length": draw.pick(
                {"distribution": "fixed", "mean": "20 KB"},
                {"distribution": "exponential", "mean": "12 KB"},
            ),
        }
        for _ in range(draw.whole(1, 2))
    ]


def _demand(draw: Draw) -> Document:
    found = _mesh(draw)
    found["flows"] = found["flows"][:1] if draw.chance(0.3) else []
    found["tcp"] = _tcp(draw, detectors=draw.chance(0.3))
    found["demand"] = [
        {
            "label": f"d{number}",
            "flows_per_second": draw.real(5.0, 60.0),
            "per": "network",
            "size": draw.pick(
                {"distribution": "fixed", "mean": "12 KB"},
                {"distribution": "exponential", "mean": "15 KB"},
                {"distribution": "pareto", "min": "2 KB", "shape": 1.4},
            ),
        }
        for number in range(draw.whole(1, 2))
    ]
    if draw.chance(0.4):
        found["demand"][0]["stop"] = "400 ms"
    if draw.chance(0.5) and "bursts" not in found["run"]:
        found["run"]["drain"] = draw.time(0.05, 3.0)
    if draw.chance(0.6):
        found["run"]["sample"] = draw.time(5e-3, 0.1)
    if draw.chance(0.3):
        one: Document = found["demand"][0]
        del one["flows_per_second"], one["per"]
        one |= {"load": draw.real(0.02, 0.08), "load_of": draw.pick("access", "receiver", "fibre")}
        mouse = {"weight": 9.0, "distribution": "fixed", "mean": "3 KB"}
        size: Document = one["size"]
        one["size"] = {"distribution": "mixture", "parts": [mouse, size | {"weight": 1.0}]}
    return found


def _load(draw: Draw) -> Document:
    """Batches, alone or together with flows."""
    found = _mesh(draw)
    found["flows"] = found["flows"][: draw.whole(0, 2)]
    found["batches"] = [
        {
            "batches_per_second": float(draw.whole(20, 150)),
            "size": {"distribution": "exponential", "mean": f"{draw.whole(1, 6)} KB"},
            "packet_size": f"{draw.whole(400, 1_500)} B",
        }
        for _ in range(draw.whole(1, 2))
    ]
    if draw.chance(0.4):
        found["batches"][0] |= {"hurst_arrivals": 0.8, "hurst_sizes": 0.7}
    return found


def _cutting(draw: Draw) -> Document:
    """Segmentation, where bursts meet often."""
    found = _mesh(draw)
    found["signalling"]["protocol"] = draw.pick("jet", "jit")
    found["core"] = _core(draw, [*_STEPS, "segmentation"])
    if "segmentation" not in found["core"]["contention"]:
        found["core"]["contention"].append("segmentation")
    found["network"]["wavelengths"] = draw.whole(1, 2)
    found["edge"]["port"] = "shared"
    if draw.chance(0.4):
        found["batches"] = _load(draw)["batches"]
    found["bursts"] = _bursts(draw) if draw.chance(0.7) else []
    return found


def _air(draw: Draw) -> Document:
    """Wireless hosts, on a path or in a mesh."""
    found = _path(draw) if draw.chance(0.6) else _mesh(draw)
    cell: Document = {"rate": f"{draw.pick(2, 11)} Mb/s", "preamble": draw.pick("long", "short")}
    loss = draw.pick("none", "frame-error", "residual", "shadowing")
    cell["loss"] = loss
    if loss == "frame-error":
        cell |= {"probability": draw.real(0.02, 0.4), "frames": draw.pick("all", "data")}
    elif loss == "residual":
        cell["probability"] = draw.real(0.002, 0.05)
    elif loss == "shadowing":
        cell |= {"margin_db": draw.real(0.0, 6.0), "sigma_db": 4.0}
    for queue in ("base_queue", "station_queue"):
        if draw.chance(0.4):
            cell[queue] = draw.whole(2, 20)
    if draw.chance(0.4):
        cell |= {"rts_threshold": "500 B", "long_retries": draw.whole(1, 4)}
    if draw.chance(0.4):
        cell["short_retries"] = draw.whole(1, 4)
    if "topology" not in found["network"] and draw.chance(0.5):
        cell["side"] = draw.pick("sender", "receiver")
    found["access"].pop("shared", None)
    if "topology" not in found["network"]:
        found.pop("traffic", None)
    found["wlan"] = [cell]
    return found


def _slots(draw: Draw, shapes: tuple[str, ...] = _SHAPES) -> Document:
    network, names = _topology(draw, shapes)
    # Slower than what hosts and sources send, so that outputs are congested.
    network["link_rate"] = f"{draw.pick(1, 2, 5)} Mb/s"
    network["wavelengths"] = draw.whole(1, 2)
    for link in network.get("link", []):
        link.pop("wavelengths")
    ops: Document = {
        "slot_size": f"{draw.pick(400, 576, 1200)} B",
        "packing": draw.pick("one", "several"),
        "buffer": draw.pick(0, 1, 2, 4, 8),
        "order": draw.pick("random", "rotating", "fixed"),
        "acks": draw.pick("slotted", "free"),
        "smoothing": {
            "enabled": draw.chance(0.6),
            "min_rate": draw.real(0.05, 0.4),
            "unit": f"{draw.pick(5, 20)} ms",
            "units": draw.whole(1, 5),
            "refusal": draw.pick("keep", "partial"),
        },
        "congestion": {"threshold": draw.real(0.1, 0.9), "rtt_max": "100 ms"},
    }
    if draw.chance(0.3):
        ops["slot_header"] = "20 B"
    if draw.chance(0.6):
        ops["dlcc"] = {
            "acks": draw.chance(0.7),
            "filter": draw.pick("all", "first-three", "off"),
            "guard": draw.pick("copies", "copies", "known-holes"),
            "notification": draw.pick("dedicated", "piggybacked"),
        }
    tcp = _tcp(draw, detectors=False)
    tcp["variant"] = draw.pick("reno", "new-reno", "sack", "tahoe")
    if draw.chance(0.5):
        tcp["segment_size"] = "576 B"
    found: Document = {
        "network": network,
        "ops": ops,
        "access": _access(draw),
        "tcp": tcp,
        "flows": _flows(draw, 2, 6, names),
        "run": _run(draw, 1.0, 4.0),
    }
    for flow in found["flows"]:
        flow["to"] = names[-1]
        flow["from"] = draw.pick(*names[:-1])
    found["run"].pop("bursts", None)
    if draw.chance(0.6):
        found["traffic"] = _traffic(draw, names, 2)
    return found


def _rerouted(draw: Draw, detours: Draw) -> Document:
    """Slots whose UDP leaves a node where it meets others; no two routes take the same time."""
    found = _slots(draw, ("custom",))
    network = found["network"]
    network["link_rate"] = f"{detours.pick(1, 2)} Mb/s"
    network["routes_per_pair"] = detours.whole(2, 4)
    network["node"].append({"name": "far", "role": "core"})
    pairs = [("in", "core"), ("by", "core"), ("core", "out"), ("in", "far"), ("far", "out")]
    network["link"] = [
        {
            "from": a,
            "to": b,
            "delay": detours.time(*((3e-3, 9e-3) if "far" in (a, b) else (0.2e-3, 2e-3))),
        }
        for a, b in pairs
    ]
    found["traffic"] = _traffic(detours, ["in", "by", "out"], 2)
    for one in found["traffic"]:
        one |= {"from": "in", "to": "out", "rate": f"{detours.whole(600, 2_000)} Kb/s"}
    found["traffic"].append({**found["traffic"][0], "from": "by", "pattern": "poisson"})
    for name in ("on", "period"):
        found["traffic"][-1].pop(name, None)
    if detours.chance(0.6):
        found["ops"]["smoothing"] = {"enabled": False, "unit": "10 ms"}
    times = {"after": detours.time(1e-3, 0.05), "hold": detours.time(0.06, 0.5)}
    found["ops"].setdefault("dlcc", {})["reroute"] = times
    return found


def _fabric(draw: Draw) -> Document:
    """Many equal paths, patterns of connections, and fibres that fail."""
    found = _demand(draw)
    shape = draw.pick("fat-tree", "leaf-spine", "torus", "ring")
    size: Document = {
        "fat-tree": {"pods": 2},
        "leaf-spine": {"leaves": draw.whole(2, 4), "spines": draw.whole(1, 3)},
        "torus": {"dimensions": draw.pick([2, 2], [3, 2], [4])},
        "ring": {"nodes": draw.whole(3, 5)},
    }[shape]
    names: list[str] = {
        "fat-tree": ["tor1-1", "agg1-1", "core1"],
        "leaf-spine": ["leaf1", "spine1"],
        "torus": ["1", "2"] if size.get("dimensions") == [4] else ["1-1", "1-2"],
        "ring": ["1", "2"],
    }[shape]
    network = {key: found["network"][key] for key in ("link_rate", "wavelengths")}
    found["network"] = {
        **network,
        "topology": shape,
        "link_delay": draw.time(0.2e-3, 4e-3),
        **size,
        "route_choice": draw.pick("ecmp", "ecmp", "first", "round-robin"),
        "routes_per_pair": draw.whole(1, 3),
    }
    for one in (*found["flows"], *found.get("traffic", [])):
        one.pop("from", None)
        one.pop("to", None)
    for one in found["demand"]:
        pattern = draw.pick("poisson", "incast", "permutation")
        if pattern == "poisson":
            continue
        for name in ("flows_per_second", "per", "load", "load_of"):
            one.pop(name, None)
        one |= {"pattern": pattern, "every": draw.time(20e-3, 0.2)}
        if pattern == "incast":
            one["senders"] = draw.whole(1, 5)
    if draw.chance(0.7):
        found["failures"] = [_failure(draw, names) for _ in range(draw.whole(1, 3))]
    if draw.chance(0.5):
        found["run"]["occupancy"] = draw.time(5e-3, 0.1)
    return found


def _failure(draw: Draw, names: list[str]) -> Document:
    down = draw.real(0.0, 1.0)
    found: Document = {"down": f"{down:.6f} s"}
    if draw.chance(0.6):
        found["link"] = names[:2]
        if draw.chance(0.3):
            found["one_way"] = True
    else:
        found["node"] = draw.pick(*names)
    if draw.chance(0.8):
        found["up"] = f"{down + draw.real(0.01, 0.8):.6f} s"
    if draw.chance(0.7):
        found["reroute"] = draw.time(1e-3, 0.2)
    return found


_MAKERS = {
    "path": _path,
    "mesh": _mesh,
    "demand": _demand,
    "slots": _slots,
    "air": _air,
    "load": _load,
    "cutting": _cutting,
    "fabric": _fabric,
}
