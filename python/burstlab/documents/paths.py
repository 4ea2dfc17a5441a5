"""A scenario or a plan as the values of JSON, and paths to the fields in it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, TypeAlias

from burstlab.errors import InputError

Document: TypeAlias = dict[str, Any]

_STEP = re.compile(r"([^.\[\]]+)|\[(\d+)\]")


def steps_of(path: str) -> list[str]:
    """Return the names and indices of a dotted path, such as ``flows[1].tcp.variant``."""
    steps: list[str] = []
    for part in path.split("."):
        found = ["".join(match) for match in _STEP.findall(part)]
        if not found or re.sub(_STEP, "", part):
            raise InputError(f"--set {path}: not the path of a field\n  fix: write table.field")
        steps.extend(found)
    return steps


def without_none(value: Any) -> Any:
    """Copy dictionaries and lists without None, which TOML cannot represent."""
    if isinstance(value, Mapping):
        return {k: without_none(v) for k, v in value.items() if v is not None}
    if isinstance(value, (list, tuple)):
        return [without_none(item) for item in value if item is not None]
    return value
