"""The picture of a stretch of time of a slotted network: slots on fibres, and those dropped.

The tables have the times at which a slot left the first node and reached the last. For a dropped
slot of TCP that was repaired they also have the output and the time of its drop, but nothing in
between. So it is drawn on the shortest path, and its waiting time is spread over that.
"""

from __future__ import annotations

import itertools
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from burstlab.page.slices import REFUSED, ROWS, Tables

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from burstlab.page.network import Network

    Columns = dict[str, NDArray[Any]]

#: Slots that are followed; of more, one in so many.
SLOTS = 500_000

#: How far to look back for slots in the network; queues at the edges are not on fibres.
_REACH = 4.0


class SlotSlices:
    """Answers about a result of ``[ops]``, in the units and numbers of the page.

    Parameters
    ----------
    tables
        The recorded tables.
    network
        Switches and fibres.
    end_s
        How long the run was.
    """

    def __init__(self, tables: Tables, network: Network, end_s: float) -> None:
        self._tables = tables
        self._network = network
        self._end_s = end_s
        self._every = 1
        self.flow = lru_cache(maxsize=8)(self._flow)

    @cached_property
    def delays_s(self) -> list[float]:
        """Propagation of each fibre, from the scenario or from the fastest path."""
        known = list(self._network.delays_s)
        if all(np.isfinite(known)):
            return known
        slots = self._all
        took = (slots["egress_ps"] - slots["departed_ps"])[np.isfinite(slots["egress_ps"])]
        each = float(took.min()) / 2 if len(took) else 1e-3
        return [delay if np.isfinite(delay) else each for delay in known]

    @cached_property
    def _all(self) -> Columns:
        names = ("flow", "kind", "burst", "departed_ps", "egress_ps", "fate")
        of_tcp = ("kind", "!=", "udp")
        there = [(name, "there", None) for name in ("departed_ps", "burst")]
        rows = self._tables.rows("packets", names, [*there, of_tcp])
        # Packets of one slot are at one place.
        _, first = np.unique(rows["burst"], return_index=True)
        order = first[np.argsort(rows["departed_ps"][first], kind="stable")]
        self._every = -(-len(order) // SLOTS) or 1
        order = order[rows["burst"][order] % self._every == 0]
        return {name: column[order] for name, column in rows.items()}

    @cached_property
    def _dropped(self) -> Columns:
        """Dropped slots with output and time, if the ledger has them."""
        names = ("burst", "node", "port", "lost_ps")
        if not self._tables.has("ledger_losses"):
            return {name: np.zeros(0) for name in names}
        rows = self._tables.rows("ledger_losses", names)
        known = np.isfinite(rows["lost_ps"]) & (rows["node"] > 0) & (rows["port"] > 0)
        number = np.nan_to_num(rows["burst"].astype(np.float64), nan=-1.0)
        _, first = np.unique(number[known], return_index=True)
        kept = np.flatnonzero(known)[first]
        order = kept[np.argsort(rows["lost_ps"][kept], kind="stable")]
        return {name: column[order] for name, column in rows.items()}

    @cached_property
    def _paths(self) -> Mapping[tuple[int, int], list[int]]:
        """Fibres of the shortest path between the ends of flows, in both directions."""
        import networkx

        graph = networkx.DiGraph()
        for index, (fibre, delay_s) in enumerate(
            zip(self._network.fibres, self.delays_s, strict=True)
        ):
            graph.add_edge(*fibre.ends, delay=delay_s, fibre=index)
        found: dict[tuple[int, int], list[int]] = {}
        for a, b in set(self._network.pairs.values()):
            for begin, end in ((a, b), (b, a)):
                path: list[int] = networkx.shortest_path(graph, begin, end, "delay")
                steps = itertools.pairwise(path)
                found[begin, end] = [graph.edges[step]["fibre"] for step in steps]
        return found

    @cached_property
    def _crossings(self) -> Columns:
        """A row for each fibre that a slot is on, or whose output dropped it."""
        slots, dropped = self._all, self._dropped
        number = dropped["burst"].astype(np.int64)
        lost_s = dict(zip(number.tolist(), dropped["lost_ps"].tolist(), strict=True))
        died = dict(zip(number.tolist(), (dropped["node"] - 1).tolist(), strict=True))
        rows: list[tuple[int, int, int, int, int, float, float]] = []
        parts = (slots[name].tolist() for name in ("flow", "kind", "burst", "departed_ps"))
        ends = slots["egress_ps"].tolist()
        for flow, kind, burst, left_s, there_s in zip(*parts, ends, strict=True):
            pair = self._network.pairs.get(flow)
            if pair is None:
                continue
            back, burst = kind == "ack", int(burst)
            path = self._paths[(pair[1], pair[0]) if back else pair]
            gone = burst in lost_s
            until_s = lost_s[burst] if gone else there_s
            if not np.isfinite(until_s):
                continue
            if gone:
                path = self._until(path, died[burst])
            # Where it waited is not recorded.
            total_s = sum(self.delays_s[fibre] for fibre in path)
            spare_s = max(until_s - left_s - total_s, 0.0) / max(len(path), 1)
            at_s = left_s
            for fibre in path:
                rows.append(
                    (burst, fibre, 0, int(back), int(gone), at_s, at_s + self._network.slot_s)
                )
                at_s += self.delays_s[fibre] + spare_s
        names = ("burst", "fibre", "wavelength", "kind", "lost", "left_s", "end_s")
        columns: Columns = dict(
            zip(names, np.array(rows, dtype=np.float64).reshape(-1, 7).T, strict=True)
        )
        return self._with_drops(columns)

    def _until(self, path: list[int], node: int) -> list[int]:
        """Return the fibres of a path before a node."""
        fibres = self._network.fibres
        return path[: next((i for i, f in enumerate(path) if fibres[f].ends[0] == node), len(path))]

    def _with_drops(self, columns: Columns) -> Columns:
        dropped, size = self._dropped, len(self._network.nodes)
        numbers = np.zeros((size, size))
        for index, fibre in enumerate(self._network.fibres):
            numbers[fibre.ends] = index
        ends = [dropped[name].astype(np.int64) - 1 for name in ("node", "port")]
        count, at_s = len(dropped["burst"]), dropped["lost_ps"]
        rows: Columns = {
            "burst": dropped["burst"].astype(np.float64),
            "fibre": numbers[ends[0], ends[1]],
            "wavelength": np.full(count, REFUSED),
            "kind": np.zeros(count),
            "lost": np.ones(count),
            "left_s": at_s,
            "end_s": at_s + self._network.slot_s,
        }
        both = {name: np.concatenate([column, rows[name]]) for name, column in columns.items()}
        kinds = {
            "burst": np.uint32, "fibre": np.uint16, "wavelength": np.int16,
            "kind": np.uint8, "lost": np.uint8,
        }  # fmt: skip
        order = np.argsort(both["left_s"], kind="stable")
        found = {name: both[name][order].astype(kind) for name, kind in kinds.items()}
        left_s = both["left_s"][order]
        return {**found, "reserved_s": left_s, "left_s": left_s, "end_s": both["end_s"][order]}

    def bursts(self, begin_s: float, end_s: float) -> tuple[Columns, dict[str, Any]]:
        """Return each fibre that a slot is on, or is dropped before, from one time to another."""
        found = self._crossings
        reach_s = _REACH * max(self.delays_s, default=0.0)
        first, last = np.searchsorted(found["left_s"], [begin_s - reach_s, end_s])
        part = {name: column[first:last] for name, column in found.items()}
        every = -(-(last - first) // ROWS) or 1
        if every > 1:
            kept = part["burst"] % every == 0
            part = {name: column[kept] for name, column in part.items()}
        return part, {"every": int(max(every, self._every))}

    def losses(self) -> tuple[Columns, dict[str, Any]]:
        """Return when and where slots were dropped, in order: node from 0."""
        dropped = self._dropped
        found: Columns = {
            "t_s": dropped["lost_ps"],
            "node": (dropped["node"] - 1).astype(np.int16),
            "burst": dropped["burst"].astype(np.uint32),
        }
        return found, {"causes": []}

    def _flow(self, number: int) -> Mapping[str, NDArray[Any]]:
        from burstlab.page.flow import columns

        return columns(self._tables, number, path=False)
