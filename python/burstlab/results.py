"""The result of a run: tables, counters, a summary, and a directory that holds them."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

from burstlab.documents.paths import without_none
from burstlab.errors import InputError, NotRecorded, unknown
from burstlab.measures.series import series_of
from burstlab.measures.speed import speed
from burstlab.printable import several
from burstlab.statistics import means_of
from burstlab.storage.directories import SCENARIO, SUMMARY, Names, Place
from burstlab.storage.heads import Head
from burstlab.storage.parquet import Store, StoredPart, write_hidden, writing
from burstlab.storage.result_directory import check_result, check_scenario
from burstlab.storage.source_tags import SourceTags, together
from burstlab.tables import MESH, RECORDED, TRACES, WITH, Table, from_rows, join, not_recorded

if TYPE_CHECKING:
    from burstlab.measures.ledger import LedgerTable
    from burstlab.plot.of_result import Plots
    from burstlab.summaries import (
        Counters,
        DemandSummary,
        NetworkSummary,
        OpsSummary,
        Summary,
        WlanSummary,
    )

__all__ = [
    "MESH",
    "PARTS",
    "RECORDED",
    "TRACES",
    "WITH",
    "Interrupted",
    "Replication",
    "Result",
    "read",
    "together",
]

Part = TypeVar("Part")

#: Columns and rows of the flows that a notebook shows.
_SHOWN = ("id", "label", "variant", "goodput_bps", "packets_sent", "retransmissions", "timeouts")
_ROWS_SHOWN = 10

#: Parts of a summary that only some networks have.
PARTS = ("network", "ops", "ack_pacing", "wlan", "demand", "surgery", "stacks")


@dataclass(frozen=True)
class Replication:
    """One independent repetition of a run.

    Attributes
    ----------
    summary
        Counters, flows, fingerprint and warnings of the engine.
    tables
        The recorded tables, by name.
    """

    summary: Summary
    tables: Mapping[str, Table]

    @property
    def network(self) -> NetworkSummary:
        """Measurements of its mesh of bursts."""
        return _there(self.summary.get("network"), "mesh")

    @property
    def ops(self) -> OpsSummary:
        """Measurements of its slotted network."""
        return _there(self.summary.get("ops"), "slotted network")

    @property
    def wlan(self) -> list[WlanSummary]:
        """Summaries of its wireless cells, with ``down`` and ``up`` of each."""
        return self.summary.get("wlan", [])

    @property
    def demand(self) -> list[DemandSummary]:
        """Measurements of each demand."""
        return self.summary.get("demand", [])


@dataclass(frozen=True, repr=False)
class Result:
    """A finished run.

    Attributes
    ----------
    scenario
        The resolved scenario: every field, defaults included.
    seed
        The seed; with the scenario and the version it determines every number.
    version
        Version of burstlab that made it.
    wall_s
        How long it took.
    replications
        The repetitions, in order.
    interrupted
        Whether it was stopped before its end.
    directory
        Where it is stored, if it is.
    """

    scenario: Mapping[str, Any]
    seed: int
    version: str
    wall_s: float
    replications: Sequence[Replication]
    interrupted: bool = False
    directory: Path | None = field(default=None, compare=False)
    _joined: dict[str, Table] = field(default_factory=dict, repr=False, compare=False)

    @property
    def flows(self) -> Table:
        """One row per flow and replication; rates in bits per second, times in seconds."""
        return self.table("flows")

    @property
    def packets(self) -> Table:
        """One row per transmission of a packet or an ACK; needs ``trace=("packets",)``.

        ``sent_ps`` and other times are in picoseconds; those after a loss are missing.
        """
        return self.table("packets")

    @property
    def bursts(self) -> Table:
        """One row per burst; needs ``trace=("bursts",)``."""
        return self.table("bursts")

    @property
    def cwnd(self) -> Table:
        """One row per event at a sender, in segments; needs ``trace=("cwnd",)``."""
        return self.table("cwnd")

    @property
    def ledger(self) -> LedgerTable:
        """One row per time-out, fast retransmission, early repair and spurious retransmission.

        Each row counts the losses behind it, which ``result.ledger.with_losses()`` lists. A
        time-out also has its ``truth``: false, true or spurious. Needs ``trace=("ledger",)``.
        """
        from burstlab.measures.ledger import LedgerTable

        return LedgerTable(self.table("ledger"), lambda: self.ledger_losses)

    @property
    def ledger_losses(self) -> Table:
        """One row per lost packet behind an event of the ledger.

        Join the two tables on ``replication`` and ``event``, as ``result.ledger.with_losses()``
        does; ``event`` begins at 0 in each replication.
        """
        return self.table("ledger_losses")

    @property
    def histograms(self) -> Table:
        """One row per class of a histogram of a mesh, with smallest ``value`` and ``count``."""
        return self.table("histograms")

    @property
    def connections(self) -> Table:
        """One row per connection of a demand.

        ``received_ps`` is missing until the last byte is at the receiver, ``completed_ps`` until
        the sender has its ACK.
        """
        return self.table("connections")

    @property
    def samples(self) -> Table:
        """Active connections, one row per edge node and time; needs ``run.sample``."""
        return self.table("samples")

    @property
    def queues(self) -> Table:
        """One row per sampling time and assembly queue with data; needs ``run.occupancy``."""
        return self.table("queues")

    @property
    def ports(self) -> Table:
        """Wavelengths and bursts, one row per fibre and time; needs ``run.occupancy``."""
        return self.table("ports")

    @property
    def wavelengths(self) -> Table:
        """One row per wavelength and sampling interval; needs ``run.occupancy``."""
        return self.table("wavelengths")

    @property
    def network(self) -> list[NetworkSummary]:
        """Measurements of its mesh of bursts, per replication; empty without a mesh."""
        found = (one.summary.get("network") for one in self.replications)
        return [network for network in found if network]

    @property
    def ops(self) -> list[OpsSummary]:
        """Measurements of its slotted network, per replication; empty without slots."""
        found = (one.summary.get("ops") for one in self.replications)
        return [ops for ops in found if ops]

    @property
    def wlan(self) -> list[list[WlanSummary]]:
        """Wireless cells of each replication, with ``down`` and ``up`` of each."""
        return [one.wlan for one in self.replications]

    @property
    def demand(self) -> list[list[DemandSummary]]:
        """Measurements of each demand, per replication."""
        return [one.demand for one in self.replications]

    @property
    def plot(self) -> Plots:
        """Its figures, ``sequence()``, ``window()``, ``distribution()`` and ``occupancy()``."""
        # Upward: figures are drawn of results. Users ask a result for them, and few runs do.
        from burstlab.plot.of_result import Plots

        return Plots(self)

    @property
    def counters(self) -> Counters:
        """Packets, ACKs and bursts by fate, summed over the replications."""
        total: Counter[str] = Counter()
        for one in self.replications:
            total.update(cast("dict[str, int]", one.summary["counters"]))
        return cast("Counters", dict(total))

    @property
    def events_per_packet(self) -> float:
        """Simulated events divided by delivered data packets."""
        counters = self.counters
        return counters.get("events", 0) / max(counters.get("packets_delivered", 0), 1)

    @property
    def packets_per_burst(self) -> float:
        """Data packets per data burst, for bursts that left the optical network; 0 with slots."""
        if self.ops:
            return 0.0
        counters = self.counters
        return counters.get("packets_crossed", 0) / max(counters.get("bursts_delivered", 0), 1)

    @property
    def warnings(self) -> list[str]:
        """Warnings of the engine, and surgery that changed nothing; each once."""
        found = [w for one in self.replications for w in one.summary.get("warnings", [])]
        operations = [it for one in self.replications for it in one.summary.get("surgery", [])]
        if operations:
            from burstlab.surgery import effects

            found += effects.warnings(operations)
        return list(dict.fromkeys(found))

    @property
    def fingerprint(self) -> str:
        """Hash over everything that happened; equal runs have equal fingerprints."""
        return together([str(one.summary.get("fingerprint", "")) for one in self.replications])

    @property
    def simulated_s(self) -> float:
        """Simulated time of all replications, in seconds."""
        return sum(float(one.summary["simulated_s"]) for one in self.replications)

    @property
    def summary(self) -> dict[str, Any]:
        """The document that ``burstlab run --json`` prints."""
        document: dict[str, Any] = {
            "burstlab": self.version,
            "seed": self.seed,
            "fingerprint": self.fingerprint,
            "simulated_s": self.simulated_s,
            "wall_s": round(self.wall_s, 6),
            "interrupted": self.interrupted,
            "warnings": self.warnings,
            "counters": self.counters,
            "events_per_packet": self.events_per_packet,
            "speed": speed(self.counters, [one.summary for one in self.replications]),
            "packets_per_burst": self.packets_per_burst,
        }
        if len(self.replications) == 1:
            only = cast("Mapping[str, Any]", self.replications[0].summary)
            document["flows"] = [dict(flow) for flow in only["flows"]]
            document.update({name: only[name] for name in PARTS if name in only})
        else:
            document["replications"] = [dict(one.summary) for one in self.replications]
            document["summary"] = self.estimates()
        return document

    def estimates(self) -> dict[str, dict[str, Any]]:
        """Return every metric as a mean over the replications.

        A metric of a replication is the sum over its flows. A time is the mean over the flows that
        have one. If there are several flows, ``label[id].metric`` is the metric of one flow.
        Completion times are left out if a transfer was unfinished in some replication.

        Returns
        -------
        dict of dict
            By metric: mean, 95 % half-width and n.
        """
        known = series_of([one.summary for one in self.replications])
        return {name: one.to_json() for name, one in means_of(known).items()}

    def table(self, name: str) -> Table:
        """Return a recorded table.

        Parameters
        ----------
        name
            One of `recorded`.

        Returns
        -------
        Table
            The rows of all replications, one below the other.
        """
        if name not in self._joined:
            self._joined[name] = self._join(name)
        return self._joined[name]

    def _join(self, name: str) -> Table:
        if name == "flows":
            rows = [
                {"replication": one.summary["replication"], **flow}
                for one in self.replications
                for flow in one.summary["flows"]
            ]
            return from_rows(rows)
        if name not in RECORDED:
            raise unknown("table", name, ("flows", *RECORDED))
        found = [one.tables for one in self.replications if name in one.tables]
        if not found:
            raise not_recorded(name)
        store = found[0].store if isinstance(found[0], StoredPart) else None
        if store is not None and len(store.replications) == len(self.replications):
            return store.table(name)
        return join([tables[name] for tables in found])

    @property
    def recorded(self) -> list[str]:
        """Names of the tables this result holds."""
        present = {name for one in self.replications for name in one.tables}
        return ["flows", *(name for name in RECORDED if name in present)]

    @property
    def stored(self) -> Store:
        """The tables of a stored result, in its directory."""
        found = [one.tables for one in self.replications]
        assert found and isinstance(found[0], StoredPart), "the result is not stored"
        return found[0].store

    @property
    def marks(self) -> SourceTags:
        """The metadata that each table of this result is stored with."""
        return marks_of(self.version, self.seed, [one.summary for one in self.replications])

    def export(self, format: str, out: str | os.PathLike[str], **options: Any) -> list[Path]:
        """Write files for other programs.

        Parameters
        ----------
        format
            ``"pcapng"``, ``"perfetto"``, ``"qlog"``, ``"xplot"``, ``"flowmon"`` or ``"csv"``.
        out
            The file; of ``csv`` the directory.
        **options
            ``at``, ``flow``, ``replication`` and ``force``, as of `burstlab.export.export`.

        Returns
        -------
        list of Path
            The files that were written.
        """
        # Upward: exports read results. Users ask a result for them, and few runs do.
        from burstlab.export import export

        return export(self, format, out, **options)

    def write(self, directory: str | os.PathLike[str], *, force: bool = False) -> Path:
        """Write ``scenario.toml``, ``summary.json`` and one Parquet file per table.

        Parameters
        ----------
        directory
            Where; a directory with another result is refused.
        force
            Replace the other result, as a whole, once this one is written.

        Returns
        -------
        Path
            The directory.
        """
        own = any(
            isinstance(one.tables, StoredPart) and one.tables.store.lies_in(Path(directory))
            for one in self.replications
        )
        with Place(directory, force=force or own) as place, writing(place.path):
            names = [name for name in self.recorded if name != "flows"]
            for name in names:
                tables = (one.tables for one in self.replications)
                parts = (found[name] for found in tables if name in found)
                write_hidden(place.path, name, parts, self.marks.of(name))
            return self.move_in(place, names)

    def move_in(self, place: Place, names: Sequence[str]) -> Path:
        """Move the tables that lie in a directory under hidden names to their final names.

        Parameters
        ----------
        place
            The directory.
        names
            Of the tables, without ``flows``.

        Returns
        -------
        Path
            The directory.
        """
        import tomli_w

        with writing(place.path):
            write_hidden(place.path, "flows", [self.flows], self.marks.of("flows"))
            scenario = tomli_w.dumps(without_none(self.scenario)).encode()
            return place.move_in(["flows", *names], scenario, self.summary)

    def document(self) -> dict[str, Any]:
        """Return the document of ``burstlab run --json``, in the form for several replications.

        Returns
        -------
        dict
            `summary`, with ``replications`` and ``summary`` even for one replication.
        """
        found = self.summary
        if "summary" not in found:
            found["replications"] = [dict(one.summary) for one in self.replications]
            found["summary"] = self.estimates()
        return found

    def __repr__(self) -> str:
        """Return one line: the size of the run, and the goodput of its flows."""
        count = len(self.replications)
        parts = [several(count, "replication") if count > 1 else "1 run", f"seed {self.seed}"]
        flows = [flow for one in self.replications for flow in one.summary["flows"]]
        if flows:
            each = sum(float(flow["goodput_bps"]) for flow in flows) / len(flows)
            parts.append(f"{several(len(flows) // count, 'flow')} of {each / 1e6:.4g} Mb/s")
        parts += [f"{several(self.counters['bursts_lost'], 'burst')} lost"]
        parts += ["interrupted"] if self.interrupted else []
        return f"<Result: {', '.join(parts)}; tables {', '.join(self.recorded)}>"

    def _repr_html_(self) -> str:
        import html

        head = html.escape(f"{repr(self)[1:-1]}; fingerprint {self.fingerprint}")
        flows = self.flows
        names = [name for name in _SHOWN if name in flows.columns]
        rows = min(len(flows), _ROWS_SHOWN)
        more = f"<p>and {several(len(flows) - rows, 'more flow')}</p>" if rows < len(flows) else ""
        return f"<p>{head}</p>{flows.to_html(rows, names)}{more}"


class Interrupted(KeyboardInterrupt):
    """Ctrl-C stopped a run; ``result`` holds the numbers until then."""

    def __init__(self, result: Result) -> None:
        self.result = result
        super().__init__("interrupted")


def read(directory: str | os.PathLike[str]) -> Result:
    """Read a stored result; each table is read when it is asked for.

    Parameters
    ----------
    directory
        Where `Result.write` or a run with ``out`` wrote.

    Returns
    -------
    Result
        As the run returned it.
    """
    from burstlab.loading import toml_of

    head = read_head(directory)
    scenario = toml_of(head.scenario, head.directory / SCENARIO)
    replications = [
        Replication(cast("Summary", summary), head.store.part(number))
        for number, summary in zip(head.numbers, head.summaries, strict=True)
    ]
    made = head.seed, head.version, head.wall_s, replications, head.interrupted
    return Result(scenario, *made, head.directory)


def read_head(directory: str | os.PathLike[str], names: Names | None = None) -> Head:
    """Read the metadata of the result in a directory; its files belong to one result.

    Parameters
    ----------
    directory
        Where `Result.write` or a run with ``out`` wrote.
    names
        The files in it, if they are known. By default an interrupted move is completed first.
    """
    from burstlab.loading import read_text
    from burstlab.storage import sums
    from burstlab.storage.shapes import check_summaries

    where = Path(directory)
    there = check_result(where, names)
    scenario = read_text(where / SCENARIO)
    try:
        document = sums.heeding(read_text(where / SUMMARY))
        intact = sums.is_intact(document)
        summaries = document.get("replications") or [
            {
                key: document[key]
                for key in (
                    "seed",
                    "fingerprint",
                    "simulated_s",
                    "interrupted",
                    "warnings",
                    "counters",
                    "flows",
                    *PARTS,
                )
                if key in document or key not in PARTS
            }
        ]
        numbers = [one.setdefault("replication", index) for index, one in enumerate(summaries)]
        seed, version, wall_s = (
            document["seed"],
            document["burstlab"],
            document["wall_s"],
        )
        marks = marks_of(version, seed, summaries)
        check_scenario(where, scenario, document, version)
        store = Store.open(
            where, there, document["tables"], marks, numbers, sums.recorded(document)
        )
    except InputError:
        raise
    except (KeyError, TypeError, AttributeError, ValueError, RecursionError) as error:
        raise InputError(
            f"{where}: not a result of burstlab ({error})\n"
            "  fix: give a directory that burstlab run --out wrote"
        ) from None
    looks = check_summaries(where / SUMMARY, summaries)
    if not intact:
        raise InputError(
            f"{where / SUMMARY}: damaged, or was changed\n"
            "  fix: restore the file from a copy, or run the scenario again"
        )
    interrupted = bool(document["interrupted"])
    return Head(
        where, scenario, seed, version, wall_s, interrupted, summaries, numbers, store, looks
    )


def marks_of(version: str, seed: int, summaries: Sequence[Mapping[str, Any]]) -> SourceTags:
    """Return the metadata that distinguishes the tables of one result from those of another.

    Parameters
    ----------
    version, seed
        Of the result.
    summaries
        Those of its replications.
    """
    prints = [str(one.get("fingerprint", "")) for one in summaries]
    fields = {
        "burstlab": version,
        "seed": seed,
        "fingerprint": together(prints),
        "replications": prints,
    }
    return SourceTags(fields, "run", SUMMARY)


def _there(part: Part | None, what: str) -> Part:
    if part is None:
        raise NotRecorded(f"the run has no {what}\n  fix: run a scenario that has one")
    return part
