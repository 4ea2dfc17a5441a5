"""Why bursts were lost, read from the steps of their signalling alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from audit import converters
from audit.checks import Audit
from audit.result import Run, span_ps

if TYPE_CHECKING:
    from audit.network import Bursts

#: Outcomes of a request for a fibre, and the events before it.
_REQUESTS = ("contended", "no-converter", "injected", "dark", "carried")
_BEFORE = ("port", "header")

#: Names of the loss processes in a scenario.
_PRESCRIBED = ("injected", "scripted", "outage")

#: Causes that end whole bursts.
_OF_BURSTS = {
    "contention",
    "late-header",
    "blocked",
    "cut",
    "injected-contention",
    "no-converter",
    "failure",
    "injected",
    "outage",
}


def check(run: Run, audit: Audit, bursts: Bursts) -> None:
    """Compare the cause of each lost burst, and of its packets, with what the steps tell."""
    events: dict[int, list[str]] = {}
    for row, event in zip(bursts.step_row.tolist(), bursts.steps["event"], strict=True):
        events.setdefault(row, []).append(event)
    outages = list(_outages(run))
    for row in bursts.lost.nonzero()[0].tolist():
        found = bursts.table["cause"][row]
        right = _causes(run, bursts, row, events.get(row, []), outages)
        number = bursts.table["burst"][row]
        audit.claim(found in right, f"burst {number} was lost to {found}, the steps say {right}")
    _packets(run, audit, bursts)


def _causes(
    run: Run, bursts: Bursts, row: int, events: list[str], outages: list[tuple[int, int]]
) -> set[str]:
    """Return the causes that a burst can have been lost to, most often one."""
    table = bursts.table
    packets, load = table["packets"][row], table["load"][row]
    if packets and bursts.packets_cut[row] == packets:
        return {"cut"}
    found: set[str] = set()
    if not packets and bursts.bytes_cut[row] == load:
        # Less than a byte may be left.
        found.add("cut")
    lost = table["lost_ps"][row]
    # At a `fifo` ingress a burst asks for no fibre that is down, and a fibre that goes down asks
    # nobody.
    if any(down <= lost < up for down, up in outages):
        found.add("failure")
    last = next((one for one in reversed(events) if one in (*_REQUESTS, *_BEFORE)), "")
    if run.scenario.get("loss") and last in (*_BEFORE, ""):
        found |= set(_PRESCRIBED)
    signalling = run.scenario.get("signalling", {})
    if signalling.get("protocol") == "two-way":
        asked = events.count("refused") == signalling["requests"]
        return found | ({"failure" if last == "dark" else "blocked"} if asked else set())
    return found | {
        # A later step may find a wavelength that needs a converter.
        "contended": {"contention", "no-converter"} if _converts_late(run) else {"contention"},
        "no-converter": {"no-converter"},
        "injected": {"injected-contention"},
        "dark": {"failure"},
        "header": {"late-header"},
    }.get(last, set())


def _converts_late(run: Run) -> bool:
    """Whether nodes lack converters, and conversion is a step of its own."""
    limited = any("converters" in core for core in converters.cores(run))
    return limited and converters.tries(run, "conversion")


def _outages(run: Run) -> Iterator[tuple[int, int]]:
    for failure in run.scenario.get("failures", []):
        up = failure.get("up")
        yield span_ps(failure["down"]), run.end + 1 if up is None else span_ps(up)


def _packets(run: Run, audit: Audit, bursts: Bursts) -> None:
    """Packets of a lost burst have its cause, or were cut off before."""
    packets = run.table("packets")
    cut: dict[int, int] = {}
    rows: Any = zip(packets["burst"].tolist(), packets["cause"], strict=True)
    for number, cause in rows:
        row = bursts.place.get(number)
        if row is None or cause not in _OF_BURSTS:
            continue
        if cause == "cut":
            cut[row] = cut.get(row, 0) + 1
        else:
            whole = bursts.table["cause"][row]
            audit.claim(cause == whole, f"a packet of burst {number}: {cause}, and not {whole}")
    for row, count in cut.items():
        audit.claim(count <= bursts.packets_cut[row], f"{count} packets were cut off in row {row}")
