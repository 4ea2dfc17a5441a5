"""The files of a run, read with nothing but a JSON and a Parquet reader."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

#: Stands for no value in a column of whole numbers.
NONE = -1

Columns = dict[str, Any]

#: Picoseconds in a unit of time.
_UNITS = {"s": 10**12, "ms": 10**9, "us": 10**6, "ns": 10**3, "ps": 1}
_SIZES = {"B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "KiB": 2**10, "MiB": 2**20}
_RATES = {"b/s": 1, "Kb/s": 10**3, "Mb/s": 10**6, "Gb/s": 10**9, "Tb/s": 10**12}


def span_ps(text: str) -> int:
    """Return a time of a scenario, such as ``"5 ms"``, in picoseconds."""
    return _quantity(text, _UNITS)


def size_bytes(text: str) -> int:
    """Return a size of a scenario in bytes."""
    return _quantity(text, _SIZES)


def rate_bps(text: str) -> int:
    """Return a rate of a scenario in bit/s."""
    return _quantity(text, _RATES)


def _quantity(text: str, units: Mapping[str, int]) -> int:
    number, unit = text.split()
    whole, _, part = number.partition(".")
    scaled = int(whole) * units[unit]
    return scaled + (int(part) * units[unit] // 10 ** len(part) if part else 0)


class Run:
    """A result directory of one replication, and the tables in it as numpy columns.

    Attributes
    ----------
    scenario
        The resolved scenario.
    summary
        ``summary.json``.
    end
        When the run ended, in ps.
    start
        When the measured time began, in ps.
    """

    def __init__(self, directory: Path, scenario: Mapping[str, Any]) -> None:
        self.scenario = scenario
        self.summary: dict[str, Any] = json.loads(
            (directory / "summary.json").read_text(), parse_constant=_refuse
        )
        self._tables = {path.stem: _columns(path) for path in directory.glob("*.parquet")}
        self.end = round(self.summary["simulated_s"] * 1e12)
        warmup = span_ps(scenario["run"]["warmup"])
        #: A run that ends before its warm-up is measured from its beginning.
        self.warm = warmup < self.end
        self.start = warmup if self.warm else 0
        #: The measured time ends here; the rest is the drain.
        self.close = min(self.end, span_ps(scenario["run"]["duration"]))
        self.measured = self.close - self.start
        #: Events then, or later, are outside of the measured time.
        self.over = span_ps(scenario["run"]["duration"])

    @property
    def measured_s(self) -> float:
        return self.measured * 1e-12

    @property
    def names(self) -> set[str]:
        """Names of the tables."""
        return set(self._tables)

    def table(self, name: str) -> Columns:
        """Return the columns of a table, of none if there is no such table."""
        return self._tables.get(name, {})

    def rows(self, name: str) -> int:
        """Return how many rows a table has."""
        columns = self.table(name)
        return len(next(iter(columns.values()))) if columns else 0

    def since_start(self, times: Any) -> Any:
        """Return which times are in the measured time."""
        return (times != NONE) & (times >= self.start) & (times < self.over)

    def warm_at(self, times: Any) -> Any:
        """Return which times are after the warm-up, and none where it never ended."""
        return (times >= self.start) & self.warm

    def began(self, times: Any) -> Any:
        """Return which connections are of the cohort, by when they began."""
        return self.since_start(times) & self.warm


def _refuse(constant: str) -> None:
    raise AssertionError(f"{constant} in summary.json")


def _columns(path: Path) -> Columns:
    table = pq.read_table(path)
    return {name: _column(table[name]) for name in table.column_names}


def _column(column: pa.ChunkedArray) -> Any:
    kind = column.type
    if pa.types.is_dictionary(kind) or pa.types.is_string(kind):
        return np.array(column.cast(pa.string()).to_pylist(), dtype=object)
    if pa.types.is_integer(kind):
        return column.cast(pa.int64()).fill_null(NONE).to_numpy()
    if pa.types.is_floating(kind):
        return column.to_numpy()
    return np.array(column.to_pylist(), dtype=object)
