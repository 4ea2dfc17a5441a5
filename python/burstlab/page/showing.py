"""The answers of the page about one replication of a result."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from burstlab import _core
from burstlab.errors import InputError
from burstlab.page.columns import document, pack
from burstlab.page.flow import thinned
from burstlab.page.network import Network, network
from burstlab.page.serving import Answer, BadRequest, Body
from burstlab.page.slices import Slices, Tables
from burstlab.page.slots import SlotSlices
from burstlab.page.sparing import Sparing
from burstlab.printable import shown
from burstlab.results import TRACES, Result

#: Which of the runs a page has is meant, as the page asks.
RUN = "run"

#: Flows that can be chosen; of more, those with most time-outs.
FLOWS = 1000

#: Segments of a flow that are drawn one by one.
SEGMENTS = 40_000


class Shown:
    """The answers of the page about one replication of a result.

    Parameters
    ----------
    result
        The result.
    index
        Which of its replications, from 0.
    where
        Its directory.
    number
        The number that its tables have for it.
    places
        Latitude and longitude of nodes by name.
    title
        Its title.
    record
        The command that records all that the page could show.
    note
        A further remark about the run.

    Raises
    ------
    InputError
        If a table that is drawn was not recorded.
    """

    def __init__(
        self,
        result: Result,
        index: int,
        where: Path,
        *,
        number: int,
        places: Mapping[str, tuple[float, float]],
        title: str,
        record: str,
        note: str = "",
    ) -> None:
        self._result, self._index = result, index
        self._title, self._record, self._note = title, record, note
        self._network = network(result, index, places)
        self._tables = Tables(result.stored, number)
        for name in self._network.needs:
            if not self._tables.has(name):
                raise InputError(f"{where}: the table {name} was not recorded\n  fix: {record}")
        self._end_s = float(result.replications[index].summary["simulated_s"])
        kind = SlotSlices if self._network.slots else Slices
        self._slices = kind(self._tables, self._network, self._end_s)
        self._sparing = Sparing(
            result, number, self._tables, self._slices.flow, path=self._network.path
        )

    @property
    def result(self) -> Result:
        """The run."""
        return self._result

    @property
    def slices(self) -> Slices | SlotSlices:
        """The picture of a stretch of time."""
        return self._slices

    @property
    def sparing(self) -> Sparing:
        """The run without the loss of a burst."""
        return self._sparing

    @property
    def network(self) -> Network:
        """Nodes and fibres."""
        return self._network

    @property
    def tables(self) -> Tables:
        """The recorded tables."""
        return self._tables

    @property
    def end_s(self) -> float:
        """How long the run was."""
        return self._end_s

    def about(self) -> dict[str, Any]:
        """Return the first answer: the facts about the run."""
        delays_s = self._slices.delays_s
        return {
            "title": shown(self._title),
            "end_s": self._end_s,
            "version": self._result.version,
            "seed": self._result.seed,
            "fingerprint": self._result.replications[self._index].summary["fingerprint"],
            "network": self._network.to_json(delays_s),
            "speed": _speed(delays_s),
            "flows": _flows(self._result, self._index, self._tables),
            "missing": [name for name in TRACES if not self._tables.has(name)],
            "record": self._record,
            "study": None,
            "note": self._note,
        }

    def bursts(self, query: Mapping[str, str]) -> Body:
        """Return the bursts of a stretch of time."""
        return pack(*self._slices.bursts(_number(query, "from"), _number(query, "to")))

    def flow(self, query: Mapping[str, str]) -> Body:
        """Return a flow."""
        columns, every = thinned(self._slices.flow(int(_number(query, "flow"))), SEGMENTS)
        return pack(columns, {"every": every})

    def losses(self, _query: Mapping[str, str]) -> Body:
        """Return when and where bursts died."""
        return pack(*self._slices.losses())


def watched(choose: Callable[[Mapping[str, str]], Shown]) -> dict[str, Answer]:
    """Return the answers of the page about a run that it shows.

    Parameters
    ----------
    choose
        Answers the run that a query means.
    """
    return {
        "data/about": lambda query: document(choose(query).about()),
        "data/bursts": lambda query: choose(query).bursts(query),
        "data/flow": lambda query: choose(query).flow(query),
        "data/losses": lambda query: choose(query).losses(query),
        "data/what-if": lambda query: choose(query).sparing.about(query),
        "data/what-if-flow": lambda query: choose(query).sparing.flow(query),
    }


def page_about(kind: str, **parts: Any) -> Answer:
    """Return the parts of a page, before any run is read.

    Parameters
    ----------
    kind
        ``view``, ``play`` or ``demo``.
    **parts
        Further parts: ``runs`` to choose from, ``steps`` of a tour, ``presets`` to play with.
    """
    found = {
        "kind": kind,
        "version": _core.__version__,
        "play": kind != "view",
        "runs": [],
        "steps": 0,
        "presets": [],
        **parts,
    }
    return lambda _query: document(found)


def _flows(result: Result, replication: int, tables: Tables) -> list[dict[str, Any]]:
    """List the flows with those first that have most time-outs."""
    found: list[dict[str, Any]] = [
        {
            "id": flow["id"],
            "label": shown(flow["label"]),
            "timeouts": flow["timeouts"],
            "false": flow["false_timeouts"],
            "again": flow["retransmissions"],
        }
        for flow in result.replications[replication].summary["flows"]
    ]
    if tables.has("connections"):
        names = ("id", "from", "to", "timeouts", "false_timeouts", "retransmissions")
        rows = tables.rows("connections", names)
        found += [
            {
                "id": int(rows["id"][row]),
                "label": f"{rows['from'][row]} to {rows['to'][row]}",
                "timeouts": int(rows["timeouts"][row]),
                "false": int(rows["false_timeouts"][row]),
                "again": int(rows["retransmissions"][row]),
            }
            for row in range(len(rows["id"]))
        ]
    found.sort(key=lambda flow: (-flow["timeouts"], -flow["again"], flow["id"]))
    return found[:FLOWS]


def _speed(delays_s: list[float]) -> float:
    """Return how much simulated time passes in a second, so that a fibre takes about one."""
    middle = sorted(delays_s)[len(delays_s) // 2]
    steps = [1e-5, 3e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 0.1, 0.3, 1.0]
    return min(steps, key=lambda step: abs(math.log(step / max(middle, 1e-9))))


def _number(query: Mapping[str, str], name: str) -> float:
    try:
        found = float(query[name])
    except (KeyError, ValueError):
        raise BadRequest(f"{name} is a number") from None
    if not math.isfinite(found) or abs(found) > 1e9:
        raise BadRequest(f"{name} is out of range")
    return found
