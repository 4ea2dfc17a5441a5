"""Wavelength converters: who held one, read from the fibres that bursts were given."""

from __future__ import annotations

from typing import Any

import numpy as np

from audit.checks import Audit
from audit.result import NONE, Run


def check(run: Run, audit: Audit) -> None:
    """Compare the number of converters and their use with the reservations of bursts."""
    network = run.summary["network"]
    taken = _taken(run)
    # A reservation that is cut off or refused later has no row, or a shorter one; and no table has
    # the wavelength that a burst draws at its ingress.
    known = not tries(run, "segmentation")
    known &= run.scenario["signalling"]["protocol"] != "two-way"
    known &= run.scenario["edge"].get("wavelength") != "random"
    for index, node in enumerate(network["nodes"]):
        path = f"network.nodes[{index}].converters"
        pool = _pool(run, node["name"])
        audit.claim((pool is None) == ("converters" not in node), f"{path}: {pool}")
        if pool is None:
            continue
        outputs = sum(link["from"] == node["name"] for link in network["links"])
        pools = outputs if pool["shared"] == "output" else 1
        audit.equal(f"{path}.number", pools * pool["number"])
        all_ps = pools * pool["number"] * run.measured
        value = taken.get(index + 1, 0) / all_ps if all_ps else 0.0
        if known:
            audit.equal(f"{path}.utilisation", value, relative=1e-7)
        else:
            audit.within(f"{path}.utilisation", 0.0, 1.0)


def cores(run: Run) -> list[dict[str, Any]]:
    """Return the fields of all nodes, and those that groups and nodes set by themselves."""
    core = run.scenario["core"]
    nodes = run.scenario["network"].get("node", [])
    groups = [one["set"] for one in core.get("group", [])]
    return [core, *groups, *(one["core"] for one in nodes if "core" in one)]


def tries(run: Run, step: str) -> bool:
    """Whether some node may try a step for a blocked burst."""
    return any(step in core.get("contention", []) for core in cores(run))


def _pool(run: Run, name: str) -> Any:
    """Return the converters of a node: of the node, else of the last group with it, else of all."""
    core = run.scenario["core"]
    nodes = run.scenario["network"].get("node", [])
    own = [one["set"] for one in core.get("group", []) if name in one.get("nodes", [])]
    own += [one["core"] for one in nodes if one["name"] == name and "core" in one]
    fields = dict(core)
    for one in own:
        fields |= one
    converts = fields.get("conversion") != "none"
    return fields.get("converters") if converts else None


def _taken(run: Run) -> dict[int, int]:
    """Return by node for how long bursts held a converter in the measured time, in ps."""
    hops: Any = run.table("bursts_hops")
    found: dict[int, int] = {}
    if not hops:
        return found
    names = ("burst", "hop", "from", "wavelength", "reserved_ps", "end_ps")
    came: dict[int, tuple[int, int]] = {}
    for burst, hop, node, wavelength, start, end in zip(
        *(hops[name].tolist() for name in names), strict=True
    ):
        if wavelength == NONE:
            continue
        before, other = came.get(burst, (-1, 0))
        if hop and before == hop - 1 and other != wavelength:
            inside = np.clip([start, end], run.start, run.close)
            found[node] = found.get(node, 0) + int(inside[1] - inside[0])
        came[burst] = hop, wavelength
    return found
