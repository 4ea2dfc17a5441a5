"""The picture of a stretch of time of a result: bursts on fibres, losses, a flow.

Long tables stay in their files; each answer reads the columns and row groups that it needs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from burstlab.export.core import goes_back
from burstlab.page.columns import values
from burstlab.page.delays import delays
from burstlab.page.network import Network
from burstlab.tables import Table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from burstlab.storage.columnar.conditions import Condition
    from burstlab.storage.parquet import Store

    Columns = dict[str, NDArray[Any]]

#: Kinds of bursts; `direction` of the table.
KINDS = ("data", "ack", "background")
_LOST = 1

#: No wavelength: the burst was refused there.
REFUSED = -1

#: Most rows of one answer; more rows are thinned, and the answer says so.
ROWS = 150_000

#: Hops from which the delays of fibres are found, about.
_SEEN = 1_000_000

#: Rows of a table that is kept in memory.
_SHORT = 200_000

_S = 1e-12


class Tables:
    """The recorded tables of one replication of a result, on disk.

    Parameters
    ----------
    store
        The tables of the result.
    replication
        Which of its repetitions.
    """

    def __init__(self, store: Store, replication: int) -> None:
        self._store = store
        self._replication = replication
        self._short: dict[str, Table] = {}

    def has(self, name: str) -> bool:
        """Whether a table was recorded."""
        return name in self._store.names

    def count(self, name: str) -> int:
        """Return how many rows a table has, of all replications; 0 if it was not recorded."""
        return len(self._store.table(name)) if self.has(name) else 0

    def rows(
        self, name: str, columns: Sequence[str], conditions: Sequence[Condition] = ()
    ) -> Columns:
        """Read columns of the rows that meet all conditions; times (``_ps``) in seconds.

        Parameters
        ----------
        name
            The table.
        columns
            Their names; a time without a value is NaN, a category its label.
        conditions
            Which rows; row groups that cannot have any are not read.
        """
        mine = ("replication", "==", self._replication)
        found = self._table(name).read(columns, [mine, *conditions])
        return {name: values(name, column) for name, column in found.items()}

    def _table(self, name: str) -> Table:
        """Return a table: one that is short is read once, not for each flow."""
        if name not in self._short:
            stored = self._store.table(name)
            if len(stored) > _SHORT:
                return stored
            self._short[name] = Table(stored.read())
        return self._short[name]


class Slices:
    """Answers about a result, in the units and numbers of the page.

    Parameters
    ----------
    tables
        The recorded tables.
    network
        Nodes and fibres.
    end_s
        How long the run was.
    """

    def __init__(self, tables: Tables, network: Network, end_s: float) -> None:
        self._tables = tables
        self._network = network
        # Delays are found from the first bursts; there is no need to read them all.
        share = min(1.0, _SEEN / max(1, tables.count("bursts_hops")))
        self._seen_ps = _ps(end_s * share)
        self.flow = lru_cache(maxsize=8)(self._flow)

    @cached_property
    def delays_s(self) -> list[float]:
        """Propagation of each fibre, from the scenario or from the bursts that crossed it."""
        if self._network.path:
            return list(self._network.delays_s)
        names = ("burst", "hop", "from", "to", "departed_ps", "end_ps")
        seen = ("departed_ps", "<=", self._seen_ps)
        hops = self._tables.rows("bursts_hops", names, [seen])
        # A burst that landed later than the hops that were read has its last one elsewhere.
        landed = [("fate", "==", "delivered"), ("arrived_ps", "<=", self._seen_ps)]
        bursts = self._tables.rows("bursts", ("burst", "arrived_ps"), landed)
        fibre = self._fibre(hops["from"], hops["to"])
        return delays([one.ends for one in self._network.fibres], fibre, hops, bursts)

    def _fibre(self, begins: NDArray[Any], ends: NDArray[Any]) -> NDArray[np.int64]:
        """Return the numbers of fibres by their nodes, which tables count from 1."""
        return self._numbers[begins.astype(np.int64) - 1, ends.astype(np.int64) - 1]

    @cached_property
    def _numbers(self) -> NDArray[np.int64]:
        size = len(self._network.nodes)
        numbers = np.zeros((size, size), dtype=np.int64)
        for index, fibre in enumerate(self._network.fibres):
            numbers[fibre.ends] = index
        return numbers

    @cached_property
    def _each(self) -> Columns:
        """Kind, fate and load of each burst of a mesh, by its number; zeros elsewhere.

        With the class of each burst, if there are several.
        """
        classes = ("class",) if self._network.classes else ()
        names = ("burst", "direction", "fate", "packets", "bytes", *classes)
        rows = self._tables.rows("bursts", names)
        # A burst that is in the network at the end of the run has no row: it gets the last entry.
        size = int(rows["burst"].max(initial=0)) + 2
        found: Columns = {
            "kind": np.zeros(size, np.uint8),
            "lost": np.zeros(size, np.uint8),
            "packets": np.zeros(size, np.uint32),
            "bytes": np.zeros(size, np.uint32),
        }
        number = rows["burst"].astype(np.int64)
        for code, kind in enumerate(KINDS):
            found["kind"][number[rows["direction"] == kind]] = code
        found["lost"][number[rows["fate"] == "lost"]] = _LOST
        for name in classes:
            found[name] = np.zeros(size, np.uint16)
        for name in ("packets", "bytes", *classes):
            found[name][number] = rows[name]
        return found

    def bursts(self, begin_s: float, end_s: float) -> tuple[Columns, dict[str, Any]]:
        """Return each fibre that a burst is on, or is refused, from one time to another.

        Parameters
        ----------
        begin_s, end_s
            The stretch of time.
        """
        reach_s = max(self.delays_s, default=0.0)
        rows = self._on_path if self._network.path else self._on_mesh
        found = rows(begin_s - reach_s, end_s)
        order = np.argsort(found["left_s"], kind="stable")
        every = -(-len(order) // ROWS) or 1
        if every > 1:
            # Whole bursts are left out, so that those that stay can be followed.
            order = order[found["burst"][order] % every == 0]
        return {name: column[order] for name, column in found.items()}, {"every": every}

    def _on_mesh(self, begin_s: float, end_s: float) -> Columns:
        names = ("burst", "from", "to", "wavelength", "reserved_ps", "departed_ps", "end_ps")
        when = [("departed_ps", "<=", _ps(end_s)), ("end_ps", ">=", _ps(begin_s))]
        hops = self._tables.rows("bursts_hops", names, when)
        burst = hops["burst"].astype(np.int64)
        known = np.minimum(burst, len(self._each["kind"]) - 1)
        held = np.nan_to_num(hops["wavelength"].astype(np.float64), nan=REFUSED)
        return {
            "burst": burst.astype(np.uint32),
            "fibre": self._fibre(hops["from"], hops["to"]).astype(np.uint16),
            "wavelength": held.astype(np.int16),
            **{name: column[known] for name, column in self._each.items()},
            "reserved_s": hops["reserved_ps"],
            "left_s": hops["departed_ps"],
            "end_s": hops["end_ps"],
        }

    def _on_path(self, begin_s: float, end_s: float) -> Columns:
        """Follow bursts along the chain, which the engine crosses in one step."""
        total_s = sum(self.delays_s) / 2
        names = (*_ENDS, "burst", "departed_ps", "arrived_ps", "lost_ps", "fate", "node")
        begin_ps = _ps(begin_s - total_s - 1.0)
        when = [("departed_ps", "<=", _ps(end_s)), ("departed_ps", ">=", begin_ps)]
        bursts = self._tables.rows("bursts", (*names, "packets", "bytes"), when)
        return _along(bursts, self.delays_s[: len(self.delays_s) // 2], self._length_s)

    @cached_property
    def _length_s(self) -> float:
        """Time that a byte takes on a fibre of a path, from bursts that landed."""
        bursts = self._tables.rows("bursts", ("departed_ps", "arrived_ps", "bytes"))
        total_s = sum(self.delays_s) / 2
        took = bursts["arrived_ps"] - bursts["departed_ps"] - total_s
        each = took / bursts["bytes"]
        seen = each[np.isfinite(each)]
        return max(float(seen.min()), 0.0) if len(seen) else 0.0

    def losses(self) -> tuple[Columns, dict[str, Any]]:
        """Return when, where and why bursts died, in order.

        Nodes count from 0, and -1 is an unknown one. So does the burst that held the wavelength.
        """
        names = (*_ENDS, "burst", "lost_ps", "node", "cause", "rival")
        rows = self._tables.rows("bursts", names, [("fate", "==", "lost")])
        node = rows["node"].astype(np.int64)
        if self._network.path:
            last = len(self._network.nodes) - 1
            node = np.where(goes_back(rows), last - node, node)
        else:
            node = node - 1
        order = np.argsort(rows["lost_ps"], kind="stable")
        when = rows["lost_ps"][order]
        known = np.isfinite(when)
        burst = rows["burst"].astype(np.int64)
        if self._network.path:
            burst = burst * 2 + (rows["direction"] == "ack")
        causes, cause = np.unique(rows["cause"][order][known].astype(str), return_inverse=True)
        rival = np.nan_to_num(rows["rival"].astype(np.float64), nan=-1.0)[order][known]
        found: Columns = {
            "t_s": when[known],
            "node": node[order][known].astype(np.int16),
            "burst": burst[order][known].astype(np.uint32),
            "cause": cause.astype(np.uint8),
            "rival": rival.astype(np.int32),
        }
        return found, {"causes": causes.tolist()}

    def _flow(self, number: int) -> Mapping[str, NDArray[Any]]:
        from burstlab.page.flow import columns

        found = columns(self._tables, number, path=self._network.path)
        if self._network.path:
            found["turned"] = np.array([self._sets_out_at_egress(found["carrier"])], np.uint8)
        return found

    def _sets_out_at_egress(self, carriers: NDArray[np.uint32]) -> bool:
        """Whether data of a flow of a path go back, by the first burst that carried any."""
        data = carriers[carriers % 2 == 0]
        if len(data) == 0 or not self._tables.has("bursts"):
            return False
        first = [("burst", "==", int(data[0]) // 2), ("direction", "==", "data")]
        return bool(goes_back(self._tables.rows("bursts", _ENDS, first)).any())


#: Columns with the direction of a burst of a path.
_ENDS = ("direction", "from", "to")


def _along(bursts: Columns, delays_s: Sequence[float], byte_s: float) -> Columns:
    """Put bursts of a path on its fibres, one row a fibre."""
    hops = len(delays_s)
    back = goes_back(bursts)
    acks = bursts["direction"] == "ack"
    gone = bursts["fate"] == "lost"
    length_s = bursts["bytes"] * byte_s
    # Forwarding packet by packet takes longer than the fibres do; it is spread over them.
    spare = np.nan_to_num(bursts["arrived_ps"] - bursts["departed_ps"] - sum(delays_s) - length_s)
    each = np.maximum(spare, 0.0) / hops
    forth_s, back_s = np.cumsum([0.0, *delays_s]), np.cumsum([0.0, *reversed(delays_s)])
    parts: dict[str, list[NDArray[Any]]] = {}
    for hop in range(hops):
        there = ~gone | (bursts["node"] >= hop)
        there &= np.isfinite(bursts["departed_ps"])
        left = bursts["departed_ps"] + np.where(back, back_s[hop], forth_s[hop]) + hop * each
        refused = gone & (bursts["node"] == hop)
        row = {
            "burst": bursts["burst"].astype(np.uint32) * 2 + acks,
            "fibre": np.where(back, hops + hop, hop).astype(np.uint16),
            "wavelength": np.where(refused, REFUSED, 0).astype(np.int16),
            "kind": acks.astype(np.uint8),
            "lost": gone.astype(np.uint8),
            "packets": bursts["packets"].astype(np.uint32),
            "bytes": bursts["bytes"].astype(np.uint32),
            "reserved_s": left,
            "left_s": left,
            "end_s": left + length_s,
        }
        for name, column in row.items():
            parts.setdefault(name, []).append(column[there])
    return {name: np.concatenate(found) for name, found in parts.items()}


def _ps(seconds: float) -> int:
    return max(0, round(seconds / _S))
