"""Find the first difference between two event logs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from burstlab.oracle.rows import ORDER, WINDOW_FIELDS, Row

#: The recorded times have nine decimals: the tolerance and half a unit of the last one.
TIME_TOLERANCE_S = 1e-9 + 0.5e-9

_CONTEXT = 3


@dataclass(frozen=True)
class Difference:
    """Where two logs part.

    Attributes
    ----------
    index
        Number of rows that agree.
    what
        One sentence on what differs.
    theirs, ours
        The rows around the place.
    """

    index: int
    what: str
    theirs: list[str]
    ours: list[str]

    def __str__(self) -> str:
        return f"row {self.index + 1}: {self.what}"


def in_order(rows: Sequence[Row]) -> list[Row]:
    """Sort by time; within one instant by event, by flow, then as logged.

    Times closer than the tolerance are one instant, so a rounding in the ninth decimal cannot
    swap two rows.
    """
    ordered = sorted(rows, key=lambda row: row.t)
    result: list[Row] = []
    start = 0
    for index in range(1, len(ordered) + 1):
        ends = index == len(ordered) or ordered[index].t - ordered[index - 1].t > TIME_TOLERANCE_S
        if ends:
            instant = ordered[start:index]
            result.extend(sorted(instant, key=lambda row: (ORDER[row.event], row.flow)))
            start = index
    return result


def first_difference(theirs: Sequence[Row], ours: Sequence[Row]) -> Difference | None:
    """Compare row by row; both logs are in order.

    Parameters
    ----------
    theirs, ours
        The logs.
    """
    for index, (their, our) in enumerate(zip(theirs, ours, strict=False)):
        what = _differs(their, our, TIME_TOLERANCE_S)
        if what:
            return _difference(index, what, theirs, ours)
    if len(theirs) == len(ours):
        return None
    shorter, longer = ("ours", theirs) if len(ours) < len(theirs) else ("theirs", ours)
    index = min(len(theirs), len(ours))
    return _difference(index, f"{shorter} ends before {longer[index]}", theirs, ours)


def first_tie(rows: Sequence[Row], arrivals: str) -> float | None:
    """Find the first instant at which the order of events at a shared queue is open.

    That is where packets of two sources arrive, or where one leaves as another arrives (a row L).

    Parameters
    ----------
    rows
        A log, in order of time.
    arrivals
        The letters of the events that are arrivals at the queue.
    """
    before: Row | None = None
    for row in rows:
        if row.event == "L":
            return row.t
        if row.event not in arrivals:
            continue
        together = before is not None and row.t - before.t <= TIME_TOLERANCE_S
        if before is not None and together and row.flow != before.flow:
            return before.t
        before = row
    return None


def _differs(their: Row, our: Row, tolerance_s: float) -> str:
    if their.flow != our.flow:
        return f"{our.event} of flow {our.flow} instead of {their.event} of flow {their.flow}"
    if their.event != our.event:
        return f"event {our.event} instead of {their.event}"
    if abs(their.t - our.t) > tolerance_s:
        return f"{their.event} at {our.t:.9f} s instead of {their.t:.9f} s"
    window = WINDOW_FIELDS.get(their.event)
    for place, (expected, found) in enumerate(zip(their.fields, our.fields, strict=True)):
        same = _six_digits(expected, found) if place == window else expected == found
        if not same:
            return f"{their.event} has {found:.9g} instead of {expected:.9g} in field {place + 1}"
    return ""


def _six_digits(expected: float, found: float) -> bool:
    if expected == found:
        return True
    if expected == 0.0:
        return abs(found) < 1e-6
    unit = 10.0 ** (math.floor(math.log10(abs(expected))) - 5)
    return abs(expected - found) <= 0.5000001 * unit


def _difference(index: int, what: str, theirs: Sequence[Row], ours: Sequence[Row]) -> Difference:
    around = slice(max(0, index - _CONTEXT), index + _CONTEXT)
    return Difference(
        index,
        what,
        [str(row) for row in theirs[around]],
        [str(row) for row in ours[around]],
    )
