"""Which of the three kinds of network a resolved scenario has.

The engine has the same three (`NetworkKind` of the crate `scenario`): on a path no burst meets
another, the nodes of a mesh switch bursts, those of a slotted network switch slots.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

Kind = Literal["path", "mesh", "slots"]


def kind(resolved: Mapping[str, Any]) -> Kind:
    """Return the kind of network of a scenario.

    Parameters
    ----------
    resolved
        A scenario with its defaults written out, as each result has it.
    """
    if resolved["network"]["topology"] == "path":
        return "path"
    return "mesh" if resolved.get("ops") is None else "slots"
