"""The guided tour: six steps, each a state of the page and a text with the numbers of its run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.resources import as_file, files
from typing import Any

from burstlab.loading import to_document
from burstlab.page.columns import document
from burstlab.page.scenes import Scene, Scenes, settled
from burstlab.page.serving import BadRequest, Body
from burstlab.page.showing import Shown

GROUP = "The tour"


@dataclass(frozen=True)
class Stop:
    """A scenario of the tour.

    Attributes
    ----------
    key
        In addresses.
    label
        Its description.
    file
        In ``scenarios``.
    set
        Fields with other values than there.
    """

    key: str
    label: str
    file: str
    set: Mapping[str, Any]

    @property
    def scene(self) -> Scene:
        """The scene that the page shows."""
        with as_file(files("burstlab.page").joinpath("scenarios", self.file)) as path:
            return Scene(self.label, settled(to_document(path), self.set, ()))

    def to_json(self) -> dict[str, Any]:
        """Return the entry for the list of the page."""
        return {"key": self.key, "label": self.label, "group": GROUP}


_STOPS = (
    Stop("one-burst", "Reno loses one burst", "one_burst.toml", {}),
    Stop("burst-tcp", "Burst TCP loses the same burst", "one_burst.toml", {"tcp.detector": "bnak"}),
    Stop("nsfnet", "Short transfers over NSFNET", "nsfnet.toml", {}),
)
SCENES = {stop.key: stop for stop in _STOPS}

#: How far along the fibre before the node where it dies a burst is shown first.
_ALONG = 0.4


class Tour:
    """Returns the steps.

    Parameters
    ----------
    scenes
        Where the runs come from.
    """

    def __init__(self, scenes: Scenes) -> None:
        self._scenes = scenes

    def answer(self, query: Mapping[str, str]) -> Body:
        """Return one step: its title, its text, and the state of the page."""
        number = query.get("number", "")
        if not number.isdecimal() or not 1 <= int(number) <= STEPS:
            raise BadRequest(f"number is 1 to {STEPS}")
        # A file has neither presets nor all controls.
        recorded = int(number) == STEPS and query.get("file") == "1"
        step = _recorded if recorded else _STEPS[int(number) - 1]
        return document({"number": int(number), **step(self._scenes)})


def _path(shown: Shown) -> dict[str, Any]:
    """Return what happened to the flow of a path that lost one burst, in numbers."""
    burst = next(row for row in shown.result.bursts.where(fate="lost").to_pylist())
    sent = shown.result.packets.where(kind="data").to_pylist()
    inside = [row["seq"] for row in sent if row["burst"] == burst["burst"]]
    again = [
        row["sent_ps"] for row in sent if row["transmission"] > 1 and row["seq"] == min(inside)
    ]
    return {
        "burst": burst["burst"],
        "packets": burst["packets"],
        "node": shown.network.nodes[burst["node"]],
        "lost_s": burst["lost_ps"] * 1e-12,
        "again_s": again[0] * 1e-12,
        "flow": shown.result.replications[0].summary["flows"][0],
    }


def _state(shown: Shown, run: str, at_s: float, **more: Any) -> dict[str, Any]:
    """Return the state in which a burst is on its last fibre, shortly before it dies."""
    delays_s = shown.slices.delays_s
    ahead_s = (1.0 - _ALONG) * sorted(delays_s)[len(delays_s) // 2]
    return {"tab": "watch", "run": run, "time": at_s - ahead_s, **more}


def _see(scenes: Scenes) -> dict[str, Any]:
    shown = scenes.of("one-burst")
    found = _path(shown)
    text = [
        "A sender, a receiver, and between them three fibres. Packets wait at the [[ingress]] "
        f"until they leave together as one [[burst]]: here {found['packets']} of them.",
        f"Blue bursts carry data, green ones [[ACK]]s. The red one is about to die: {found['node']}"
        " has no free wavelength, and light cannot wait. Press Play.",
    ]
    return {
        "title": "A burst is about to die",
        "text": text,
        "look": "network-panel",
        "state": _state(shown, "one-burst", found["lost_s"]),
    }


def _why(scenes: Scenes) -> dict[str, Any]:
    shown = scenes.of("one-burst")
    found = _path(shown)
    out = shown.result.ledger.where(kind="timeout").to_pylist()[0]
    begin_s, end_s = found["lost_s"] - 0.45, found["lost_s"] + 0.25
    text = [
        f"Each bar is a [[window]]. Of the {out['in_flight']:.0f} [[segment]]s that were "
        f"outstanding {out['lost_packets']} travelled in burst {found['burst']}, and died with it.",
        "Had a segment behind it arrived, the receiver would have asked again with "
        "[[duplicate ACK]]s. None did: the sender hears nothing at all, and waits.",
    ]
    return {
        "title": "Why the whole window dies",
        "text": text,
        "look": "sequence-panel",
        "state": _state(shown, "one-burst", found["lost_s"], **{"from": begin_s, "to": end_s}),
    }


def _false(scenes: Scenes) -> dict[str, Any]:
    shown = scenes.of("one-burst")
    found = _path(shown)
    out = shown.result.ledger.where(kind="timeout").to_pylist()[0]
    out_s = out["t_ps"] * 1e-12
    text = [
        f"{out_s - found['lost_s']:.2f} s after the loss the [[retransmission timer]] ends. "
        f"[[cwnd]] falls from {out['cwnd']:.0f} to 1, as if the network were jammed.",
        f"Behind it are {out['lost_packets']} lost packets, and {out['lost_bursts']} lost burst. "
        "One burst that finds its wavelength taken is no sign of congestion: this is a "
        f"[[{out['truth']} time-out]].",
    ]
    return {
        "title": "The false time-out",
        "text": text,
        "look": "window-panel",
        "state": _state(
            shown, "one-burst", out_s,
            **{"from": found["lost_s"] - 0.6, "to": out_s + 1.6},
        ),
    }  # fmt: skip


def _burst_tcp(scenes: Scenes) -> dict[str, Any]:
    plain, shown = _path(scenes.of("one-burst")), scenes.of("burst-tcp")
    found = _path(shown)
    flow, before = found["flow"], plain["flow"]
    more = flow["segments_delivered"] - before["segments_delivered"]
    text = [
        "The same burst dies. With [[burst NAK]]s, one of the detectors of [[Burst TCP]], "
        f"{found['node']} reports to the sender which segments it had. They are retransmitted "
        f"{(found['again_s'] - found['lost_s']) * 1e3:.0f} ms after the loss, from half the "
        f"window, and there are {flow['timeouts']} time-outs in place of {before['timeouts']}.",
        f"In {shown.end_s:g} s that makes {flow['segments_delivered']:,} segments that arrive, "
        f"against {before['segments_delivered']:,} of Reno: {more:,} more, for one burst.",
    ]
    begin_s = found["lost_s"] - 0.6
    return {
        "title": "What Burst TCP does",
        "text": text,
        "look": "sequence-panel",
        "state": _state(
            shown, "burst-tcp", found["lost_s"],
            **{"from": begin_s, "to": begin_s + 3.2},
        ),
    }  # fmt: skip


def _nsfnet(scenes: Scenes) -> dict[str, Any]:
    shown = scenes.of("nsfnet")
    outs = shown.result.ledger.where(kind="timeout").to_pylist()
    false = [row for row in outs if row["truth"] == "false"]
    row = max(false, key=lambda one: one["lost_packets"])
    transfer = next(one for one in shown.result.connections.where(id=row["flow"]).to_pylist())
    counters = shown.result.counters
    lost = counters["bursts_lost"] + counters["ack_bursts_lost"]
    sent = counters["bursts_sent"] + counters["ack_bursts_sent"]
    waves = shown.network.fibres[0].wavelengths
    text = [
        f"{len(shown.network.nodes)} nodes, {len(shown.result.connections):,} short transfers, "
        f"{waves} [[wavelength]]{'' if waves == 1 else 's'} a fibre. No loss is prescribed here: "
        f"bursts meet, and {lost} of {sent:,} find no wavelength free.",
        f"This transfer, from {transfer['from']} to {transfer['to']}, loses {row['lost_packets']} "
        f"packets in one burst at node {shown.network.nodes[row['node'] - 1]}. Its time-out, "
        f"{(row['t_ps'] - row['lost_ps']) * 1e-12:.2f} s later, is one of {len(false)} false ones "
        f"among the {len(outs)} of this run.",
    ]
    return {
        "title": "The same over NSFNET",
        "text": text,
        "look": "network-panel",
        "state": _state(shown, "nsfnet", row["lost_ps"] * 1e-12, flow=row["flow"]),
    }


def _yours(_scenes: Scenes) -> dict[str, Any]:
    text = [
        "Move a slider. Plain TCP and [[Burst TCP]] then run again in twenty pairs, and both runs "
        "of a pair lose the same bursts. The bars have their [[interval]]s, and the first pair is "
        "drawn below.",
        "Try a slow access link: a window is then spread over many bursts, and most losses no "
        "longer silence the sender. Or take a scenario of a paper, above the sliders.",
    ]
    return {"title": "Your turn", "text": text, "look": "control-panel", "state": {"tab": "play"}}


def _recorded(_scenes: Scenes) -> dict[str, Any]:
    text = [
        "Move a slider. This file has twenty pairs of runs of plain TCP and [[Burst TCP]] for each "
        "position, and both runs of a pair lose the same bursts. The bars have their "
        "[[interval]]s, and the first pair is drawn below.",
        "Try a short [[assembly time]]: a window is then spread over several bursts, and most "
        "losses no longer silence the sender.",
    ]
    return {"title": "Your turn", "text": text, "look": "control-panel", "state": {"tab": "play"}}


_STEPS: tuple[Callable[[Scenes], dict[str, Any]], ...] = (
    _see, _why, _false, _burst_tcp, _nsfnet, _yours,
)  # fmt: skip

#: How many steps there are.
STEPS = len(_STEPS)
