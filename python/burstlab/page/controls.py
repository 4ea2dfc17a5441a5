"""The controls of ``burstlab play``: each with its steps and its first value."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from burstlab import _core
from burstlab.documents.parameters import tcp_of
from burstlab.errors import InputError, ScenarioError, unknown
from burstlab.loading import Document, set_at

#: Stands for the value of the scenario, if a control has no value for it.
AS_GIVEN = "as given"

#: A loss at which there is something to see.
_LOSS = 0.03

#: Packets that a run may send while a reader waits: it takes some seconds then.
_PACKETS_MOST = 1e6

_TIMES = ("0.5 ms", "1 ms", "2 ms", "5 ms", "10 ms", "20 ms", "50 ms")


@dataclass(frozen=True)
class Control:
    """A slider or a choice.

    Attributes
    ----------
    name
        In queries.
    label
        On the page.
    path
        The field of the scenario.
    values
        Its steps.
    value
        Its first value.
    choice
        Whether it is a choice of words.
    help
        Its meaning, in a sentence.
    """

    name: str
    label: str
    path: str
    values: Sequence[Any]
    value: Any
    help: str
    choice: bool = False

    def to_json(self) -> dict[str, Any]:
        """Return the fields of the control as a dictionary for JSON."""
        return {
            "name": self.name,
            "label": self.label,
            "values": list(self.values),
            "value": self.value,
            "help": self.help,
            "choice": self.choice,
        }


CONTROLS = (
    Control(
        "timer",
        "Assembly time",
        "edge.timer",
        ("0.1 ms", "0.2 ms", *_TIMES, "100 ms"),
        "5 ms",
        "How long the edge node waits for packets before it sends the burst.",
    ),
    Control(
        "loss",
        "Burst loss",
        "loss.data.probability",
        (0.0, 0.0001, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.03, 0.05, 0.1),
        _LOSS,
        "Probability that the core loses a burst, with all its packets.",
    ),
    Control(
        "window",
        "Window",
        "tcp.window",
        (4, 8, 16, 20, 32, 64, 128, 256),
        20,
        "Most segments outstanding: the receiver's window.",
    ),
    Control(
        "delay",
        "Fibre delay",
        "network.link_delay",
        ("0.1 ms", "0.2 ms", *_TIMES),
        "10 ms",
        "Propagation delay of each fibre, in each direction.",
    ),
    Control(
        "access",
        "Access rate",
        "access.rate",
        ("1 Mb/s", "2 Mb/s", "5 Mb/s", "10 Mb/s", "20 Mb/s", "50 Mb/s", "100 Mb/s"),
        "100 Mb/s",
        "Rate of the access links: fast ones put a whole window into one burst.",
    ),
    Control(
        "variant",
        "Variant",
        "tcp.variant",
        ("reno", "new-reno", "sack"),
        "reno",
        "TCP on both sides.",
        choice=True,
    ),
    Control(
        "detector",
        "Detector",
        "tcp.detector",
        ("ble", "back", "bnak", "oracle"),
        "bnak",
        "How Burst TCP recognises a false time-out: burst length estimation, burst ACKs, "
        "burst NAKs, or an oracle as the bound.",
        choice=True,
    ),
    Control(
        "duration",
        "Simulated",
        "run.duration",
        ("5 s", "10 s", "20 s", "60 s"),
        "10 s",
        "How long the run is.",
        choice=True,
    ),
    Control(
        "seed",
        "Seed",
        "run.seed",
        tuple(range(1, 21)),
        1,
        "Which bursts are lost: the same ones on both sides.",
    ),
)

#: The scenario that is played if none is given: that of docs/tutorial.md, with losses. A window
#: leaves in one burst, so each lost burst is a false time-out of plain TCP.
START: Document = {
    "network": {"core_nodes": 2, "link_delay": "10 ms"},
    "access": {"rate": "100 Mb/s", "delay": "10 ms"},
    "edge": {"assembly": "timer", "timer": "5 ms", "ack": {"assembly": "none"}},
    "tcp": {"variant": "reno", "window": 20, "delayed_ack": False, "detector": "bnak"},
    "loss": {"data": {"process": "bernoulli", "probability": 0.03}},
    "run": {"duration": "10 s", "seed": 1},
}


def controls(resolved: Mapping[str, Any]) -> tuple[list[Control], str]:
    """Set the controls to what a scenario says; and return what is to be said of that.

    Parameters
    ----------
    resolved
        A scenario with its defaults filled in; of a path.
    """
    found = [_set(control, _value(resolved, control.path)) for control in CONTROLS]
    if resolved["edge"]["assembly"] == "none":
        # Without an assembler no edge node reports bursts; only the sender's estimation is left.
        found = [
            replace(control, value="ble")
            if control.name == "detector" and control.value == "bnak"
            else control
            for control in found
        ]
    if resolved["loss"]["data"]["process"] != "none":
        return found, ""
    # Where nothing is lost both sides do the same, and there is nothing to see.
    place = next(n for n, control in enumerate(found) if control.path == "loss.data.probability")
    lossless = found[place]
    found[place] = replace(lossless, value=CONTROLS[place].value)
    begun = f"{lossless.label} stands at {_LOSS * 100:g} % to begin with."
    return found, f"loses no burst by itself; {begun}"


def applied(document: Mapping[str, Any], wanted: Mapping[str, Any]) -> Document:
    """Change a scenario as the controls stand.

    Parameters
    ----------
    document
        The scenario; left alone.
    wanted
        Values by name of the control.
    """
    changed: Document = json.loads(json.dumps(document))
    for control in CONTROLS:
        value = wanted.get(control.name, AS_GIVEN)
        if value == AS_GIVEN:
            continue
        if control.name == "loss":
            changed.setdefault("loss", {})["data"] = {"process": "bernoulli"}
        if control.name == "timer" and changed.get("edge", {}).get("assembly") not in _TIMED:
            changed["edge"] = {"assembly": "timer", "ack": changed.get("edge", {}).get("ack", {})}
        if control.name == "delay":
            changed.get("network", {}).pop("link_delays", None)
            changed.get("network", {}).pop("link_length_km", None)
        set_at(changed, control.path, value)
        table, _, field = control.path.partition(".")
        if table == "tcp":
            # A flow's own word would come before that of all flows.
            for flow in changed.get("flows", []):
                flow.get("tcp", {}).pop(field, None)
        if control.name == "detector" and value not in _LISTENS:
            # Notices without a listener are refused.
            for field in ("notices", "notice_size"):
                changed.get("edge", {}).pop(field, None)
    return changed


#: Detectors that listen to notices of edge nodes.
_LISTENS = ("back", "bnak", "em")


_TIMED = ("timer", "hybrid")


def read(query: Mapping[str, str]) -> dict[str, Any]:
    """Read the values of controls from a query; the engine judges them.

    Parameters
    ----------
    query
        Text by name; names that are no control are refused.
    """
    known = {control.name: control for control in CONTROLS}
    found: dict[str, Any] = {}
    for name, text in query.items():
        if name not in known:
            raise unknown("control", name, known)
        numeric = all(isinstance(value, (int, float)) for value in known[name].values)
        found[name] = _numeric(name, text) if numeric and text != AS_GIVEN else text
    return found


def refuse_long(wanted: Mapping[str, Any], found: Sequence[Control]) -> None:
    """Refuse a duration that no step of the control has: the page answers while somebody waits.

    Parameters
    ----------
    wanted
        Values by name of the control.
    found
        The controls, of which the duration has that of the scenario among its steps.
    """
    duration = next(one for one in found if one.name == "duration")
    most = max(duration.values, key=_size)
    value = wanted.get(duration.name, AS_GIVEN)
    if value != AS_GIVEN and _size(value) > _size(most):
        problem = f"the page simulates {most} at most"
        fix = f"write {most} or less, or burstlab run, which simulates any duration"
        raise ScenarioError(duration.path, value, problem, fix)


def refuse_costly(resolved: Mapping[str, Any], begun: Mapping[str, Any]) -> None:
    """Refuse a run with far more packets than a reader would wait for.

    Parameters
    ----------
    resolved
        The scenario to run, with its defaults filled in.
    begun
        The first scenario of the page, which is always run.
    """
    most = max(_PACKETS_MOST, _packets(begun))
    count = _packets(resolved)
    if count > most:
        rate = resolved["access"]["rate"]
        problem = f"up to {count:.2g} packets would be sent, and the page simulates {most:.2g}"
        fix = "write a slower rate, a smaller window, a longer delay or a shorter duration, or run"
        raise ScenarioError("access.rate", rate, problem, f"{fix} it with burstlab run")


def _packets(resolved: Mapping[str, Any]) -> float:
    """Return how many packets flows may send: at the rate of their links, and a window a trip."""
    network, access = resolved["network"], resolved["access"]
    if "link_length_km" in network:
        each_s = network["link_length_km"] * _size(network["delay_per_km"])
    else:
        each_s = _size(network.get("link_delay", "0 s"))
    fibres_s = [*map(_size, network.get("link_delays") or ())]
    fibres_s = fibres_s or [each_s] * (network["core_nodes"] + 1)
    far = {**access, **access.get("receiver", {})}
    trip_s = 2 * (_size(access["delay"]) + _size(far["delay"]) + sum(fibres_s))
    total = 0.0
    for flow in resolved["flows"]:
        tcp = tcp_of(resolved, flow)
        rate = _size(access["rate"]) / 8 / _size(tcp["segment_size"])
        if trip_s > 0 and "stack" not in flow and "window" in tcp:
            rate = min(rate, tcp["window"] / trip_s)
        total += rate * flow["count"]
    return total * _size(resolved["run"]["duration"])


def _numeric(name: str, text: str) -> int | float:
    try:
        value = float(text)
    except ValueError:
        raise InputError(
            f"{name} = {text!r}: a number is needed\n  fix: write one, such as 0.5"
        ) from None
    return int(value) if value.is_integer() and name != "loss" else value


def _value(resolved: Mapping[str, Any], path: str) -> Any:
    here: Any = resolved
    if path.startswith("tcp.") and resolved.get("flows"):
        here = {"tcp": tcp_of(resolved, resolved["flows"][0])}
    for step in path.split("."):
        here = here.get(step) if isinstance(here, Mapping) else None
    return here


def _set(control: Control, value: Any) -> Control:
    if control.name == "detector" and value in (None, "none"):
        return control
    if value is None:
        return replace(control, values=(AS_GIVEN, *control.values), value=AS_GIVEN)
    alike = [one for one in control.values if one == value or _size(one) == _size(value)]
    if alike:
        return replace(control, value=alike[0])
    # Between its neighbours in size, where it has one.
    values = [*control.values, value]
    if not control.choice or control.name == "duration":
        values.sort(key=_size)
    return replace(control, values=values, value=value)


def _size(value: Any) -> float:
    """Return a number, or a quantity in its base unit; any other value equals nothing."""
    if isinstance(value, (int, float)):
        return float(value)
    found = _core.quantity(str(value))
    return found[0] if found is not None else math.nan
