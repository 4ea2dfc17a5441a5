"""The times at which bursts leave a core node, for a capture there: fibres carry bursts alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from burstlab.documents.kind import kind
from burstlab.errors import InputError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from burstlab.results import Result

#: The prefix of a place that is a core node: ``node:3``, ``node:Denver``.
NODE = "node:"


@dataclass(frozen=True)
class Passing:
    """When bursts leave a node on a fibre; one that comes back is there again.

    Attributes
    ----------
    keys
        Twice the number of a burst, and 1 more for one of ACKs on a path, where each direction
        counts its own; rising.
    times_ps
        When its first bit leaves.
    by_direction
        Whether directions count their own.
    """

    keys: NDArray[np.int64]
    times_ps: NDArray[np.uint64]
    by_direction: bool

    def of(
        self, bursts: NDArray[np.uint64], acks: NDArray[np.bool_]
    ) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
        """Return which rows pass, once for each time that they do, and when.

        Parameters
        ----------
        bursts
            The burst of each packet; anything beyond 2^62 is none.
        acks
            Whether it is an ACK.
        """
        import numpy as np

        known = np.minimum(bursts, 2**62 - 1).astype(np.int64)
        wanted = known * 2 + (acks if self.by_direction else 0)
        first = np.searchsorted(self.keys, wanted, side="left")
        count = np.searchsorted(self.keys, wanted, side="right") - first
        rows = np.repeat(np.arange(len(bursts)), count)
        nth = np.arange(len(rows)) - np.repeat(np.cumsum(count) - count, count)
        return rows, self.times_ps[first[rows] + nth]


def passing(result: Result, place: str, replication: int) -> Passing:
    """Return the times at which bursts leave a core node.

    Parameters
    ----------
    result
        A run that traced ``bursts``.
    place
        ``node:`` with the number of the node, or its name. Nodes of a mesh count from 1; of a path
        1 is the first core node.
    replication
        Its number.
    """
    network = result.scenario["network"]
    if kind(result.scenario) == "path":
        return _on_a_path(result, _number(place, [str(n + 1) for n in range(_cores(network))]))
    names = [str(node["name"]) for node in network.get("node", [])]
    table = result.table("bursts_hops").where(replication=replication)
    highest = max([len(names), *table["from"].tolist(), *table["to"].tolist()])
    node = _number(place, names or [str(n + 1) for n in range(highest)])
    return _in_a_mesh(table, node)


def goes_back(bursts: Any) -> NDArray[np.bool_]:
    """Return which bursts of a path set out at its egress.

    Those of ACKs do, unless data go both ways: then bursts say where they go.

    Parameters
    ----------
    bursts
        Columns of the table ``bursts``: ``direction``, ``from`` and ``to``.
    """
    import numpy as np

    known = bursts["from"] > 0
    return np.where(known, bursts["from"] > bursts["to"], bursts["direction"] == "ack")


def _number(place: str, names: list[str]) -> int:
    """Return the number of a node, from 1."""
    asked = place.removeprefix(NODE)
    if asked in names:
        return names.index(asked) + 1
    if asked.isdecimal() and 1 <= int(asked) <= len(names):
        return int(asked)
    shown = ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")
    raise InputError(f"--at {place}: there is no such node\n  fix: {NODE} and one of {shown}")


def _cores(network: Any) -> int:
    return int(network["core_nodes"])


def _in_a_mesh(table: Any, node: int) -> Passing:
    import numpy as np

    held = np.isfinite(table["wavelength"].astype(np.float64)) & (table["from"] == node)
    keys = table["burst"][held].astype(np.int64) * 2
    times = table["departed_ps"][held].astype(np.uint64)
    order = np.lexsort((times, keys))
    return Passing(keys[order], times[order], by_direction=False)


def _on_a_path(result: Result, node: int) -> Passing:
    """Follow bursts along the chain, in which bursts that are cut through leave as they come."""
    import numpy as np

    from burstlab import _core

    if result.scenario["core"]["forwarding"] != "cut-through":
        raise InputError(
            f"--at {NODE}{node}: bursts wait for their end at each node of this path, and no table "
            'has when\n  fix: capture at the edges, or run it with core.forwarding = "cut-through"'
        )
    network = result.scenario["network"]
    delay_ps = round(_core.seconds(network["link_delay"]) * 1e12)
    table = result.bursts
    left = table["departed_ps"].astype(np.float64)
    acks = table["direction"] == "ack"
    steps = np.where(goes_back(table), _cores(network) + 1 - node, node)
    lost = table["fate"] == "lost"
    # Nodes count from where a burst sets out.
    there = np.isfinite(left) & ~(lost & (table["node"] <= steps))
    table_ps = table.column("departed_ps").filled(0).astype(np.uint64)
    keys = table["burst"].astype(np.int64)[there] * 2 + acks[there]
    times = table_ps[there] + (steps[there] * delay_ps).astype(np.uint64)
    order = np.lexsort((times, keys))
    return Passing(keys[order], times[order], by_direction=True)
