"""``burstlab view``: a recorded result as a page."""

from __future__ import annotations

import math
import os
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from burstlab import _core
from burstlab.errors import InputError
from burstlab.page.columns import document, pack
from burstlab.page.flow import thinned
from burstlab.page.network import network
from burstlab.page.serving import BadRequest, Body, Page
from burstlab.page.slices import Slices, Tables
from burstlab.results import TRACES, Result, read

#: Flows that can be chosen; of more, those with most time-outs.
FLOWS = 1000

#: Segments of a flow that are drawn one by one.
SEGMENTS = 40_000

_SCRIPTS = ("js/bursts.js", "js/gantt.js", "js/network.js", "js/transport.js", "js/view.js")


def viewer(
    directory: str | os.PathLike[str],
    *,
    replication: int = 0,
    map_file: str | os.PathLike[str] | None = None,
) -> Page:
    """Make the page of a result.

    Parameters
    ----------
    directory
        What ``burstlab run --out`` wrote.
    replication
        Which repetition to show, from 0.
    map_file
        A topology with latitudes and longitudes, to place the nodes that it names.

    Raises
    ------
    InputError
        If it is no result, one of another version, or one without bursts.
    """
    from burstlab.topology import positions

    where = Path(directory)
    result = _readable(where, replication)
    places = positions(map_file) if map_file is not None else {}
    drawn = network(result, replication, places)
    number = int(result.replications[replication].summary.get("replication", replication))
    tables = Tables(where, number)
    needed = ["bursts"] if drawn.path else ["bursts", "bursts_hops"]
    lacking = [name for name in needed if not tables.has(name)]
    if lacking:
        raise InputError(
            f"{where}: the table {lacking[0]} was not recorded\n  fix: {recording(where)}"
        )
    end_s = float(result.replications[replication].summary["simulated_s"])
    slices = Slices(tables, drawn, end_s)
    about = {
        "title": where.resolve().name,
        "end_s": end_s,
        "version": result.version,
        "seed": result.seed,
        "fingerprint": result.fingerprint,
        "network": drawn.to_json(slices.delays_s),
        "speed": _speed(slices.delays_s),
        "flows": _flows(result, replication, tables),
        "missing": [name for name in TRACES if not tables.has(name)],
        "record": recording(where),
    }

    def bursts(query: Mapping[str, str]) -> Body:
        return pack(*slices.bursts(_number(query, "from"), _number(query, "to")))

    def flow(query: Mapping[str, str]) -> Body:
        columns, every = thinned(slices.flow(int(_number(query, "flow"))), SEGMENTS)
        return pack(columns, {"every": every})

    return Page(
        title=f"the page of {where}",
        start="view.html",
        scripts=_SCRIPTS,
        data={
            "data/about": lambda _query: document(about),
            "data/bursts": bursts,
            "data/flow": flow,
            "data/losses": lambda _query: pack(slices.losses()),
        },
    )


def recording(where: Path) -> str:
    """Answer the command that records what the page shows."""
    scenario, out = shlex.quote(str(where / "scenario.toml")), shlex.quote(f"{where}-traced")
    return f"burstlab run {scenario} --trace {','.join(TRACES)} --out {out}"


def _readable(where: Path, replication: int) -> Result:
    if not where.is_dir():
        raise InputError(f"{where}: no such directory\n  fix: give what burstlab run --out wrote")
    if not (where / "summary.json").exists() or not (where / "scenario.toml").exists():
        raise InputError(
            f"{where}: holds no result (summary.json and scenario.toml)\n"
            "  fix: give what burstlab run --out wrote"
        )
    result = read(where)
    if result.version != _core.__version__:
        raise InputError(
            f"{where}: a result of burstlab {result.version}, and this is {_core.__version__}\n"
            f"  fix: {recording(where)}"
        )
    count = len(result.replications)
    if not 0 <= replication < count:
        raise InputError(
            f"--replication {replication}: the result has {count}\n  fix: use 0 to {count - 1}"
        )
    return result


def _flows(result: Result, replication: int, tables: Tables) -> list[dict[str, Any]]:
    """List the flows with those first that have most time-outs."""
    found = [
        {
            "id": flow["id"],
            "label": flow["label"],
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
    """Answer how much simulated time passes in a second, so that a fibre takes about one."""
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
