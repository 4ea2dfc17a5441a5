"""The metadata of the result in a directory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from burstlab.storage.parquet import Store


@dataclass(frozen=True)
class Head:
    """The metadata of the result in a directory, before any of its tables is read.

    Attributes
    ----------
    directory
        The directory.
    scenario
        The text of its scenario.
    seed, version, wall_s, interrupted
        As of `Result`.
    summaries
        One summary for each replication.
    numbers
        The number of the replication of each summary.
    store
        Its tables.
    looks
        The shape of the first of its summaries (`burstlab.storage.shapes.looks`).
    """

    directory: Path
    scenario: str
    seed: int
    version: str
    wall_s: float
    interrupted: bool
    summaries: Sequence[Mapping[str, Any]]
    numbers: Sequence[int]
    store: Store
    looks: Any = None
