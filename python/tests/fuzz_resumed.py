"""Random runs that are cut and resumed from their checkpoints, against the same runs in one piece.

The scenarios have values in their usual range, so that most are valid, and most have failures,
contention and losses. Each is cut at random events, its checkpoint is written to a file, and it
goes on in a world that is made anew. The whole summary and all tables must be the same bytes. No
connection may be dead at the end: data wait, nothing is under way, and no timer is set. A finite
transfer with the same parameters of TCP ends within some time-outs once losses stop. What a seed
draws is the same everywhere. `test_fuzz_resumed.py` runs a few hundred, `make fuzz` as many as it
is told:

    python python/tests/fuzz_resumed.py --cases 20000 --seed 1
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import tomli_w
from fuzz_scenarios import DEAD, SCHEMA, Draw, corrected

from burstlab import _core, classes
from burstlab.errors import EngineError, InputError, ScenarioError
from burstlab.running.checkpoints import Checkpoints, Keeper
from burstlab.simulation import replicate, resolve

#: A run lasts for so many looks of the engine at its monitor, of 2^14 events each at most.
_LOOKS = 6

#: Corrections of a scenario before it is given up.
_CORRECTIONS = 60

#: How often an entry of a network of bursts is there; of paths, and of slots.
_MESH = {
    "flows": 0.7,
    "demand": 0.5,
    "traffic": 0.35,
    "bursts": 0.85,
    "batches": 0.3,
    "wlan": 0.1,
    "edge": 0.8,
    "signalling": 0.4,
    "core": 0.9,
    "tcp": 0.6,
    "loss": 0.2,
    "access": 0.7,
    "surgery": 0.15,
}
_PATH = {
    "flows": 0.8,
    "traffic": 0.3,
    "wlan": 0.3,
    "edge": 0.9,
    "tcp": 0.8,
    "loss": 0.9,
    "access": 0.8,
    "surgery": 0.2,
}
_SLOTS = {
    "flows": 0.9,
    "demand": 0.5,
    "traffic": 0.6,
    "ops": 1.0,
    "tcp": 0.5,
    "access": 0.7,
    "surgery": 0.15,
}

#: A transfer ends within so many time-outs, of so many seconds each at most, once losses stop.
_TIMEOUTS, _TIMEOUT_S = 90, 120

#: The longest round trip of these transfers: 100 KB in the queue of a link of 1 Mb/s, and delays.
_ROUND_TRIP_S = 1.0

#: Counters of a run whose transfers may have a longer time-out than was drawn.
_RAISED = "RTO raised above the round trip"

#: Steps of contention that a network of bursts may have.
_STEPS = ["conversion", "delay-line", "deflection", "segmentation", "retransmission"]

#: The fields that refuse late headers, and values that are wide enough for most.
_GUARD, _WIDE = "signalling.guard", "20 ms"

#: Fields that a run has now and then.
_RUN = {
    "warmup": ["10 ms", "100 ms"],
    "drain": ["100 ms", "2 s"],
    "sample": ["7 ms", "50 ms"],
    "occupancy": ["1 ms", "30 ms"],
    "tie_break": ["random"],
    "bursts": [50, 400, 3000],
}

#: Fields of runs that have no checkpoints, names of files, and what most other values contradict.
_NOT_KEPT = {"window_law_class", "detector_class", "stack", "congestion_control", "file"} | {
    "rto_max",
    "segment_size",
    "syn_size",
}

#: Outcomes that are faults.
_WRONG = ("differs", "ended", "dead", "unended")

#: Values of these fields in a run that has none.
_NO_RUN = (None, "0 s", "fixed")


class Valid(Draw):
    """Draws a scenario that most likely is valid, and in which much happens.

    Parameters
    ----------
    seed
        The seed of all draws.
    """

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.wild = self.random.choice([0.0, 0.0, 0.02, 0.1])

    def scenario(self) -> dict[str, Any]:
        """Return a scenario, as nested dictionaries."""
        pick = self.random
        kind = pick.choices(["mesh", "path", "slots"], [0.8, 0.12, 0.08])[0]
        chances = {"mesh": _MESH, "path": _PATH, "slots": _SLOTS}[kind]
        found: dict[str, Any] = {"network": {"topology": "path"} if kind == "path" else self._net()}
        for name, chance in chances.items():
            if pick.random() < chance:
                share = {"tcp": 0.1, "ops": 0.2, "core": 0.15}.get(name, 0.25)
                found[name] = self._value(SCHEMA["properties"][name], share, name)
        for entry in found.get("bursts", []):
            entry["erlangs"] = pick.choice([0.5, 1.0, 2.0])
            entry["length"] = {"mean": pick.choice(["5 KB", "20 KB", "100 KB"])}
        if "core" in found:
            steps = pick.sample(_STEPS, pick.choice([0, 1, 1, 2, 3]))
            found["core"] |= {"contention": steps}
            # Where fibres have one wavelength, converters are refused.
            found["core"].pop("converters", None)
            many = found["network"].get("wavelengths", 1) > 1
            if many and found["core"].get("conversion") != "none" and pick.random() < 0.6:
                shared = pick.choice(["node", "output"])
                found["core"]["converters"] = {"number": pick.choice([0, 1, 2]), "shared": shared}
            found["core"].pop("group", None)
            if kind == "mesh" and pick.random() < 0.3:
                own = pick.choice([{"conversion": "none"}, {"scheduler": "ff-vf"}])
                found["core"]["group"] = [{"first": pick.choice([1, 2]), "set": own}]
            if "delay-line" in steps:
                found["core"]["delay_lines"] = {"delays": ["200 us", "1 ms"], "passes": 2}
                # Where no route is long enough, the bound is refused.
                long = found["network"]["topology"] in ("nsfnet", "martinez", "dumbbell")
                if long and pick.random() < 0.5:
                    found["core"]["delay_lines"]["passes_on_path"] = 2
        if kind == "mesh":
            # Headers that are late are refused.
            found["signalling"] = found.get("signalling", {}) | {
                "guard": pick.choice(["1 ms", "2 ms", "5 ms"]),
                "header_size": "100 B",
            }
            found["signalling"].pop("rate", None)
        for entry in found.get("surgery", []):
            entry["burst"] = pick.choice([1, 5, 30, 200])
        found["run"] = {"duration": pick.choice(["100 ms", "500 ms", "1 s", "3 s"])}
        found["run"] |= {
            name: pick.choice(values) for name, values in _RUN.items() if pick.random() < 0.15
        }
        if kind != "slots" and pick.random() < 0.2:
            direction = pick.choice(["data", "ack"])
            found["loss"] = {**found.get("loss", {}), direction: self._spells()}
        if pick.random() < 0.2:
            found["access"] = {**found.get("access", {}), "loss": self._spells()}
        return _plain(found)

    def _spells(self) -> dict[str, Any]:
        """Return losses in spells on a clock."""
        pick = self.random
        long, short = pick.choice(["20 ms", "200 ms"]), pick.choice(["1 ms", "15 ms"])
        if pick.random() < 0.4:
            return {"process": "gilbert-elliott", "mean_good": long, "mean_bad": short}
        spells = pick.choice(["exponential", "periodic"])
        return {"process": "outages", "mean_up": long, "mean_down": short, "spells": spells}

    def _net(self) -> dict[str, Any]:
        pick = self.random
        topology = pick.choice(["ring", "ring", "line", "star", "dumbbell", "nsfnet", "martinez"])
        found: dict[str, Any] = {
            "topology": topology,
            "link_rate": pick.choice(["20 Mb/s", "50 Mb/s", "200 Mb/s"]),
            "wavelengths": pick.choice([1, 1, 2]),
        }
        if topology in ("ring", "line", "star", "dumbbell"):
            found["nodes"] = pick.choice([3, 4, 5])
        if pick.random() < 0.3:
            found["routes_per_pair"] = pick.choice([2, 3])
            found["route_choice"] = pick.choice(["random", "round-robin", "ecmp", "best"])
        if pick.random() < 0.3:
            found["link_delay"] = pick.choice(["100 us", "1 ms", "5 ms"])
        return found

    def failures(self, links: list[tuple[str, str]], lasts_ms: float) -> list[dict[str, Any]]:
        """Return failures of links and nodes in so long a run.

        They overlap, cut nodes off, and come back.
        """
        pick = self.random
        nodes = sorted({node for link in links for node in link})

        def ms(most: float) -> float:
            return lasts_ms * pick.uniform(0.0, most)

        found = []
        for _ in range(pick.choice([1, 2, 2, 3, 4, 6])):
            place: dict[str, Any] = {"link": list(pick.choice(links))}
            if pick.random() < 0.15:
                place = {"node": pick.choice(nodes)}
            elif pick.random() < 0.2:
                place["one_way"] = True
            down = ms(0.8)
            entry = {**place, "down": f"{down:.6f} ms"}
            if pick.random() < 0.6:
                entry["up"] = f"{down + 0.001 + ms(0.4):.6f} ms"
            if pick.random() < 0.8:
                entry["reroute"] = pick.choice(["0 s", f"{ms(0.2):.6f} ms"])
            found.append(entry)
        return found


def _plain(value: Any) -> Any:
    """Return a scenario without classes, stacks and files, of which no run has checkpoints."""
    if isinstance(value, list):
        return [_plain(one) for one in value]
    if not isinstance(value, dict):
        return value
    kept = {name: one for name, one in value.items() if name not in _NOT_KEPT and one != "python"}
    return {name: _plain(one) for name, one in kept.items()}


def _mended(document: dict[str, Any]) -> dict[str, Any] | None:
    """Return a scenario resolved, once it is corrected; None where it cannot be."""
    for _ in range(_CORRECTIONS):
        try:
            return resolve(document)
        except ScenarioError as error:
            if error.path == _GUARD and document.get("signalling", {}).get("guard") != _WIDE:
                document.setdefault("signalling", {})["guard"] = _WIDE
            elif not corrected(document, error) and not _cut_down(document, error.path):
                return None
    return None


def _cut_down(document: dict[str, Any], path: str) -> bool:
    """Take away the innermost table or entry around a field; return whether there is one."""
    steps = [step for step in re.split(r"[.\[\]]+", path) if step]
    for depth in range(len(steps) - 1, 0, -1):
        here: Any = document
        try:
            for step in steps[: depth - 1]:
                here = here[int(step) if isinstance(here, list) else step]
            last = steps[depth - 1]
            del here[int(last) if isinstance(here, list) else last]
        except (KeyError, IndexError, TypeError, ValueError):
            continue
        return True
    return False


def _links(resolved: dict[str, Any]) -> list[tuple[str, str]]:
    shape = json.loads(_core.shape(json.dumps(resolved)))
    links = shape.get("network", {}).get("links", [])
    return [(link["from"], link["to"]) for link in links]


class _Cutting(Keeper):
    """Cuts the run at its first checkpoint, which it keeps."""

    def __init__(self, path: Path, monitor: _core.Monitor, looks: int) -> None:
        super().__init__(path)
        self._monitor = monitor
        self.looks = looks

    def keep(self, data: bytes) -> None:
        """Keep a checkpoint, and end the run unless it may go on for some looks."""
        super().keep(data)
        self.looks -= 1
        if self.looks <= 0:
            self._monitor.cancel()
        self._monitor.keep()


class _Cuts(Checkpoints):
    """Checkpoints of a run that goes on from them, and is cut after so many looks."""

    def __init__(self, directory: Path, monitor: _core.Monitor, looks: int) -> None:
        super().__init__(directory, resume=True)
        self._cutting = (monitor, looks)

    def keeper(self, number: int) -> Keeper:
        """Return who keeps the run, and cuts it."""
        return _Cutting(self.directory / f"replication-{number}.ckpt", *self._cutting)


def _piece(text: str, where: Path, events: int | None, looks: int) -> tuple[Any, float]:
    """Run on from the checkpoint in a directory; return what it leaves, and how far it is."""
    monitor = _core.Monitor(None, None, events)
    monitor.keep()
    with _Cuts(where, monitor, looks) as kept:
        found, _ = replicate(text, 1, 0, monitor, [], None, kept)
    return found, monitor.progress()


def _bytes(found: Any) -> dict[str, bytes]:
    """Return all that a run leaves, as bytes by name."""
    left = {"summary": json.dumps(found.summary, sort_keys=True).encode()}
    for name, table in found.tables.items():
        for column in table.columns:
            values = table[column]
            words = repr(values.tolist()).encode()
            left[f"{name}.{column}"] = words if values.dtype.hasobject else values.tobytes()
    return left


@dataclass
class Case:
    """A scenario, where it is cut, and what came of it.

    Attributes
    ----------
    document
        The scenario.
    cuts
        Events after which it is cut.
    events
        Events of the run in one piece.
    kind
        ``"same"``, ``"refused"``, ``"long"``; or what is wrong.
    met
        The events that it met.
    """

    document: dict[str, Any]
    cuts: list[int] = field(default_factory=list)
    events: int = 0
    kind: str = "refused"
    met: set[str] = field(default_factory=set)


def case(seed: int, where: Path) -> Case:
    """Draw a scenario, run it whole and in pieces, and compare."""
    draw = Valid(seed)
    found = Case(draw.scenario())
    resolved = _mended(found.document)
    if resolved is None or classes.used(resolved):
        return found
    resolved = _short(found.document, where)
    if resolved is None:
        found.kind = "long"
        return found
    links = _links(resolved)
    if links and "ops" not in found.document and draw.random.random() < 0.95:
        lasts_ms = 1e3 * _core.seconds(resolved["run"]["duration"])
        found.document["failures"] = draw.failures(links, lasts_ms)
    resolved = _mended(found.document)
    if resolved is None:
        return found
    compare(found, resolved, draw, where)
    return found


def _short(document: dict[str, Any], where: Path) -> dict[str, Any] | None:
    """Shorten a scenario until it runs to its end in a few looks; None where that cannot be."""
    for _ in range(5):
        resolved = _mended(document)
        if resolved is None:
            return None
        _forget(where)
        found, progress = _piece(json.dumps(resolved), where, None, _LOOKS)
        if not found.summary["interrupted"]:
            return resolved
        lasts_s = _core.seconds(resolved["run"]["duration"]) * max(progress, 0.02) * 0.8
        document.setdefault("run", {})["duration"] = f"{lasts_s:.9f} s"
    return None


def _forget(where: Path) -> None:
    for file in where.glob("*.ckpt"):
        file.unlink()


def compare(found: Case, resolved: dict[str, Any], draw: Draw, where: Path) -> None:
    """Run a scenario whole and in pieces, and note how that went."""
    text = json.dumps(resolved)
    whole, _ = replicate(text, 1, 0, _core.Monitor(None), [])
    found.events = max(1, whole.summary["counters"]["events"])
    count = draw.random.choice([1, 1, 2, 3, 5])
    drawn = sorted(draw.random.randrange(0, found.events) for _ in range(count))
    found.cuts = found.cuts or drawn
    found.met = _met(dict(whole.summary), resolved)
    _forget(where)
    for before, cut in pairwise([0, *found.cuts]):
        if cut > before:
            _piece(text, where, cut - before, 1)
    monitor = _core.Monitor(None)
    with Checkpoints(where, resume=True) as kept:
        last, _ = replicate(text, 1, 0, monitor, [], None, kept)
    one, other = _bytes(whole), _bytes(last)
    differ = sorted(name for name in {*one, *other} if one.get(name) != other.get(name))
    found.kind = f"differs: {', '.join(differ)}" if differ else "same"
    if any(DEAD in warning for warning in whole.summary["warnings"]):
        found.kind = "dead: a connection"
    elif not differ and (open_s := unended(found.document, draw, found.met)):
        found.kind = f"unended: {open_s}"


def unended(document: dict[str, Any], draw: Draw, met: set[str]) -> str:
    """Return what is wrong with a transfer whose losses stop, with the same parameters of TCP.

    Each lost burst is worth one time-out at most. Some bursts are lost at first, then none: the
    transfer has to end.

    A time-out that stays below the round trip repeats each segment for ever, and the queue grows
    without bound. Such a time-out is raised, and `met` counts the run.
    """
    pick = draw.random

    def some() -> dict[str, Any]:
        return {"process": "script", "bursts": sorted(pick.sample(range(1, 41), pick.randrange(9)))}

    timed = {"assembly": "timer", "timer": "3 ms"}
    one: dict[str, Any] = {
        "network": {"topology": "path"},
        "tcp": {**document.get("tcp", {})},
        "edge": pick.choice([{"assembly": "none"}, timed]),
        "flows": [{"bytes": pick.choice(["1 B", "3 KB", "14480 B", "100 KB"])}],
        "loss": {"data": some(), "ack": some()},
        "run": {"duration": f"{_TIMEOUTS * _TIMEOUT_S} s"},
    }
    if _mended(one) is not None and (short := _below_round_trip(one.get("tcp", {}))):
        one["tcp"] |= {name: pick.choice(["1 s", "3 s"]) for name in short}
        met.add(_RAISED)
    resolved = _mended(one)
    if resolved is None or not resolved.get("flows") or classes.used(resolved):
        return ""
    ran, _ = replicate(json.dumps(resolved), 1, 0, _core.Monitor(None), [])
    flows = ran.summary["flows"]
    return "" if all(flow["completed_s"] is not None for flow in flows) else tomli_w.dumps(one)


def _below_round_trip(tcp: dict[str, Any]) -> list[str]:
    """Return which time-outs may stay below the round trip, however often they end.

    A fixed one never adapts, and back-off ends with an ACK; a detector may excuse each time-out.
    """
    stays = tcp.get("rto_backoff_past_max") is False or "detector" in tcp
    names = ["rto_fixed", "rto_initial"] if stays else ["rto_fixed"]
    given = {name: _core.seconds(tcp.get(name, "0 s")) for name in names}
    return [name for name, value in given.items() if 0.0 < value < _ROUND_TRIP_S]


def _met(summary: dict[str, Any], resolved: dict[str, Any]) -> set[str]:
    """Return what a run had, by name."""
    network = resolved["network"]["topology"]
    met = {f"topology {network}", *(f"section {name}" for name, one in resolved.items() if one)}
    counters = summary["counters"]
    if any(value for name, value in counters.items() if name.endswith("_lost")):
        met.add("losses")
    rules = [*resolved.get("loss", {}).values(), resolved["access"].get("loss") or {}]
    if any("mean_down" in rule or "mean_bad" in rule for rule in rules):
        met.add("spells on a clock")
    if resolved.get("failures"):
        met.add("failures")
        met |= {"losses and failures"} if "losses" in met else set()
        met |= {"reroutes"} if any(one.get("reroute") for one in resolved["failures"]) else set()
        met |= {"repairs"} if any(one.get("up") for one in resolved["failures"]) else set()
    met |= {f"contention {step}" for step in resolved.get("core", {}).get("contention") or []}
    met |= {f"run.{name}" for name in _RUN if resolved["run"].get(name) not in _NO_RUN}
    causes = summary.get("network", {}).get("all", {}).get("causes", [])
    met |= {f"lost to {one['cause']}" for one in causes if one["bursts"]}
    for entry in [resolved, *(resolved.get("flows") or []), *resolved.get("demand", [])]:
        tcp = entry.get("tcp", {})
        met |= {
            f"{name} {tcp[name]}" for name in ("variant", "detector", "window_law") if tcp.get(name)
        }
    met |= {f"demand {one.get('pattern', 'poisson')}" for one in resolved.get("demand", [])}
    return met


def cases(seeds: range, where: Path) -> Iterator[tuple[int, Case]]:
    """Run the cases of some seeds; those that differ are kept as ``failed-SEED.toml``."""
    kept = where / "kept"
    kept.mkdir(parents=True, exist_ok=True)
    for seed in seeds:
        try:
            found = case(seed, kept)
        except (InputError, EngineError) as error:
            found = Case(Valid(seed).scenario(), kind=f"ended: {error}")
        if found.kind not in ("same", "refused", "long"):
            head = f"# seed {seed}, cut after {found.cuts}: {found.kind}".replace("\n", " ")
            text = f"{head}\n{tomli_w.dumps(found.document)}"
            (where / f"failed-{seed}.toml").write_text(text, encoding="utf-8")
        yield seed, found


def report(kinds: Counter[str], met: Counter[str]) -> str:
    """Return what was run, and what was met in it, as text."""
    lines = [", ".join(f"{kind}: {count}" for kind, count in sorted(kinds.items()))]
    lines += [f"{count:7} {name}" for name, count in sorted(met.items())]
    return "\n".join(lines)


def main() -> None:
    """Run as many scenarios as are asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1, help="of the first")
    parser.add_argument("--out", default=None, help="where scenarios that differ are kept")
    given = parser.parse_args()
    where = Path(given.out or tempfile.mkdtemp(prefix="burstlab-resumed-"))
    print(f"{given.cases} runs cut from seed {given.seed}; those that differ are kept in {where}")
    kinds: Counter[str] = Counter()
    met: Counter[str] = Counter()
    for seed, found in cases(range(given.seed, given.seed + given.cases), where):
        kinds[found.kind.split(":")[0]] += 1
        met.update(found.met)
        if found.kind.startswith(_WRONG):
            print(f"seed {seed}: {found.kind}", flush=True)
        if sum(kinds.values()) % 1000 == 0:
            print(report(kinds, Counter()), flush=True)
    print(report(kinds, met))
    sys.exit(os.EX_SOFTWARE if any(kind in kinds for kind in _WRONG) else 0)


if __name__ == "__main__":
    main()
