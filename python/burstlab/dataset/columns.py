"""Every column of a data set, with its type, unit and definition."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class Column:
    """A column.

    Attributes
    ----------
    name
        Its name.
    kind
        Its type, as Arrow calls it.
    unit
        Its unit; empty for names and counts.
    meaning
        Its definition.
    """

    name: str
    kind: str
    unit: str
    meaning: str


#: Columns that identify a run, in every table.
KEY = (
    Column("target", "string", "", "The target of burstlab reproduce whose plan has the run."),
    Column("group", "string", "", "Group of the plan: flow and T_b, say."),
    Column("point", "string", "", "Point of the plan: loss probability, or background load."),
    Column("series", "string", "", "Sender, how it finds losses, and detector."),
    Column("replication", "uint32", "", "Repetition, from 0; the same in all series of a point."),
)

RUNS = (
    *KEY,
    Column("x", "double", "", "Where the point is drawn: the probability, or the load in Erlang."),
    Column("settings", "string", "", "What the plan sets in the scenario, by path, as JSON."),
    Column("scenario", "string", "", "The scenario as JSON, with every field that it uses."),
    Column("seed", "uint64", "", "Seed of all random decisions."),
    Column("fingerprint", "string", "", "Of the run: scenario, seed and results."),
    Column("simulated_s", "double", "s", "How long the run is."),
    Column("flows", "uint32", "", "Connections that are there."),
    Column(
        "goodput_bps", "double", "bit/s", "New data at the receivers, all flows, after warm-up."
    ),
    Column("bursts_sent", "uint64", "", "Bursts with data that set out."),
    Column("bursts_lost", "uint64", "", "Of these, those that were lost."),
    Column("retransmissions", "uint64", "", "Segments that were sent again, all flows."),
    Column("fast_retransmits", "uint64", "", "Repairs begun by duplicate ACKs or by RACK."),
    Column("timeouts", "uint64", "", "Time-outs."),
    Column("false_timeouts", "uint64", "", "Of these: all that was missing died in one burst."),
    Column("true_timeouts", "uint64", "", "Of these: it died in several, or outside of the core."),
    Column("spurious_timeouts", "uint64", "", "Of these: nothing was missing."),
    Column("reductions_one_burst", "uint64", "", "Reductions of the window for one burst."),
    Column("reductions_several_bursts", "uint64", "", "For several, and no queue was full."),
    Column("reductions_congestion", "uint64", "", "For a full queue, or a mark."),
    Column("reductions_outside", "uint64", "", "For packets lost on the air or alone."),
    Column("reductions_reordering", "uint64", "", "For nothing: all arrived, late."),
    Column("reductions_excused", "uint64", "", "Those that a detector excused."),
    Column("reductions_undone", "uint64", "", "Those that the sender took back."),
)

EVENTS = (
    *KEY,
    Column("event", "uint64", "", "Number of the event in the ledger of the run."),
    Column("flow", "uint32", "", "The connection."),
    Column("t_ps", "uint64", "ps", "When."),
    Column(
        "kind", "string", "", "What happened: timeout, fast-retransmit, early-repair, reduction."
    ),
    Column("truth", "string", "", "Of a time-out: false, true or spurious; else none."),
    Column("verdict", "string", "", "What a detector took it for; none without one."),
    Column("reduction", "string", "", "What the window was reduced for; none where it was not."),
    Column("cost", "double", "segments", "By how much it makes the window smaller at first."),
    Column("cwnd", "double", "segments", "Congestion window just before."),
    Column("lost_packets", "uint32", "", "Segments that are missing."),
    Column("lost_bursts", "uint32", "", "Bursts that these were in."),
    Column("burst", "uint64", "", "The first of these bursts; null where nothing is missing."),
    Column("node", "uint32", "", "Where that was lost."),
    Column("cause", "string", "", "Why it was lost."),
    Column("lost_ps", "uint64", "ps", "When it was lost."),
    Column("price_bytes", "int64", "B", "Price of that burst, where it was priced; see prices."),
)

PRICES = (
    *KEY,
    Column("burst", "uint64", "", "A lost burst, by its number in the run."),
    Column("direction", "string", "", "data or ack: on a path the two are numbered apart."),
    Column("lost_ps", "uint64", "ps", "When its loss was certain."),
    Column("cause", "string", "", "Why it was lost."),
    Column("node", "uint32", "", "Where."),
    Column("connections", "uint32", "", "Connections with packets in it."),
    Column(
        "bytes",
        "int64",
        "B",
        "Bytes that receivers would have more at the end if it alone had arrived.",
    ),
    Column("bytes_indirect", "int64", "B", "Of these, those of connections with nothing in it."),
    Column("different", "uint32", "", "Connections that fare otherwise."),
    Column("different_indirect", "uint32", "", "Of these, those with nothing in it."),
    Column("of_lost", "uint64", "", "Bursts of the run that had a price."),
)

TABLES = {"runs": RUNS, "events": EVENTS, "prices": PRICES}

#: The meaning of a row of each table.
ROW = {
    "runs": "a run: one replication of one series at one point",
    "events": "a time-out, or a reduction of the window by anything else",
    "prices": "a lost burst of the first replication of a run, spared by itself",
}


def schema(name: str) -> pa.Schema:
    """Return the schema of a table, with unit and meaning of each column in its metadata."""
    import pyarrow as pa

    kinds = {
        "string": pa.string(), "double": pa.float64(), "uint32": pa.uint32(),
        "uint64": pa.uint64(), "int64": pa.int64(),
    }  # fmt: skip
    return pa.schema(
        [
            pa.field(one.name, kinds[one.kind], metadata={"unit": one.unit, "is": one.meaning})
            for one in TABLES[name]
        ]
    )
