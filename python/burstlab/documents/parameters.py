"""TCP parameters of flows and demands in a resolved scenario: the general ones, and what differs.

``[tcp]`` has every general parameter, and an entry of ``[[flows]]`` or ``[[demand]]`` its own. A
scenario of a result that an earlier version wrote has all of them at each entry.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

#: Window laws that only the sender of Linux has.
LAWS_OF_LINUX = (
    *("cubic", "dctcp", "bbr", "bbr3"),
    *("scalable", "highspeed", "htcp", "illinois", "veno", "westwood"),
)

#: Window laws that judge their own losses.
SCHEMES = ("saimd", "bcl")

#: Parameters that only the sender of Linux has.
OF_LINUX = frozenset(
    (
        "sack",
        "d_sack",
        "rack",
        "rack_adapts",
        "rack_counts",
        "tail_loss_probe",
        "f_rto",
        "slow_start",
        "grouping",
        "bbr_phase",
        "timestamps",
        "ecn",
        "receive_buffer",
        "receive_buffer_max",
        "window_clamp",
        "window_scaling",
        "send_buffer",
        "send_overhead",
        "wheel_phase",
    )
)

#: Choices whose value ``"python"`` needs a class, and the field of that class.
_CLASSES = {"window_law": "window_law_class", "detector": "detector_class"}


def tcp_of(scenario: Mapping[str, Any], entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return all TCP parameters of an entry of ``[[flows]]`` or ``[[demand]]``.

    Parameters
    ----------
    scenario
        A resolved scenario, as `resolve` answers it and as a result has it.
    entry
        One of its flows or demands.
    """
    found = {**(scenario.get("tcp") or {}), **(entry.get("tcp") or {})}
    if found.get("variant") != "linux":
        found = {name: value for name, value in found.items() if name not in OF_LINUX}
    idle = {field for choice, field in _CLASSES.items() if found.get(choice) != "python"}
    return {name: value for name, value in found.items() if name not in idle}


def needs_classes(scenario: Mapping[str, Any]) -> bool:
    """Whether a class of Python takes part in a flow or a demand of a resolved scenario."""
    entries = (entry for table in ("flows", "demand") for entry in scenario.get(table) or ())
    parameters = (tcp_of(scenario, entry) for entry in entries)
    return any(field in found for found in parameters for field in _CLASSES.values())
