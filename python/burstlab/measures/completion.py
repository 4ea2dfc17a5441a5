"""Which numbers are of completion times, and when they are unknown.

A transfer that is unfinished when its run ends is censored: its duration is unknown, except that it
is longer than its age. A completion time that such a transfer could change has no value in its run.
If some run has no value, there is no mean over runs either: the runs with a value would be those
whose transfers were short.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

#: How to let transfers end.
FIX = "write run.drain, long enough that all transfers end"

#: Of a flow, an instant or a time that it has when it is done.
_OF_A_FLOW = ("received_s", "completed_s", "received_after_s", "acknowledged_after_s")
_OF_A_COHORT = re.compile(r"(received|acknowledged)_(mean|mean_bound|p\d+)_s|slowdown_(mean|p\d+)")
_OF_A_CLASS = ("mean", "p50", "p99")


def is_of_completion(path: str) -> bool:
    """Return whether the number at a path of a summary has no value where transfers are censored.

    Parameters
    ----------
    path
        Where it is, as a study names its metrics: ``demand.web.received_p99_s``.
    """
    steps = path.replace("[", ".").replace("]", "").split(".")
    name = steps[-1]
    if steps[0] == "flows" or len(steps) == 1:
        return name in _OF_A_FLOW
    if steps[0] != "demand":
        return False
    if "departed" in steps:
        return name != "connections"
    in_class = "slowdown" in steps and name in _OF_A_CLASS
    return in_class or _OF_A_COHORT.fullmatch(name) is not None


def unbiased(table: Mapping[str, Any], name: str) -> Any:
    """Return an entry of a demand without what some censored transfers may change: None there.

    Parameters
    ----------
    table
        The demand, as a summary has it.
    name
        The entry.
    """
    value = table[name]
    if not is_biased(table, name):
        return value
    if isinstance(value, Mapping):
        return {key: one if key == "connections" else None for key, one in value.items()}
    return None


def leaves_under_way(table: Mapping[str, Any]) -> bool:
    """Return whether transfers of a demand, or of a class of its sizes, are censored."""
    return bool(table.get("censored") or table.get("unacknowledged"))


def is_biased(table: Mapping[str, Any], name: str) -> bool:
    """Return whether an entry of a demand says little of its transfers, for some are censored.

    Those that were done in the measured time are then rather the short ones, and a mean with ages
    in place of times is too small.

    Parameters
    ----------
    table
        The demand, as a summary has it.
    name
        The entry.
    """
    return may_be_biased(name) and leaves_under_way(table)


def may_be_biased(name: str) -> bool:
    """Return whether an entry of a demand says little where some of its transfers are censored."""
    return name == "departed" or name.endswith("_mean_bound_s")


def is_open(flow: Mapping[str, Any], name: str) -> bool:
    """Return whether a flow is a finite transfer that has no such time, as it is not done.

    Parameters
    ----------
    flow
        The flow, as a summary has it.
    name
        The time.
    """
    return name in _OF_A_FLOW and flow.get("bytes") is not None and flow.get(name) is None
