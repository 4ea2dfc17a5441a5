"""The result of a study: tables of its runs, its estimates and its comparisons."""

from __future__ import annotations

import html
import json
import os
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from burstlab import _core
from burstlab.errors import InputError, PlanError, unknown
from burstlab.extras import extra
from burstlab.loading import Document
from burstlab.measures.completion import FIX
from burstlab.studies import plan as plans
from burstlab.studies import rows, store
from burstlab.studies.design import columns
from burstlab.studies.plan import Plan, picoseconds
from burstlab.tables import Table

if TYPE_CHECKING:
    import xarray as xr


class Study:
    """A finished study, or the finished part of one.

    Parameters
    ----------
    plan
        The plan it follows.
    stored
        The rows of the finished points.
    version
        Version of burstlab that made it.
    directory
        Where it is stored, if it is.
    warnings
        Warnings of the engine, each once.
    """

    def __init__(
        self,
        plan: Plan,
        stored: Table,
        version: str,
        directory: Path | None = None,
        warnings: Sequence[str] = (),
    ) -> None:
        self.plan = plan
        self.version = version
        self.directory = directory
        self._stored = stored
        self._warnings = warnings

    @cached_property
    def runs(self) -> Table:
        """One row per run, with point, settings, scheme, replication, seed and metrics."""
        return rows.runs(self.plan, self._stored)

    @cached_property
    def estimates(self) -> Table:
        """Mean, half of its 95 % interval, and n, one row per point, scheme and metric."""
        return rows.estimates(self.plan, self.runs)

    @cached_property
    def differences(self) -> Table:
        """One row per point, pair of schemes and metric, paired by replication."""
        return rows.differences(self.plan, self.runs)

    @cached_property
    def points(self) -> Table:
        """One row per point of the plan, with its settings and whether it is finished."""
        from burstlab.storage.columnar.column import of_values

        done = set(self._stored["point"].tolist())
        every = range(len(self.plan.points))
        swept = {name: of_values(values) for name, values in columns(self.plan.points).items()}
        ended = of_values((point in done for point in every), "bool")
        return Table({"point": of_values(every, "int32"), **swept, "done": ended})

    @property
    def metrics(self) -> list[str]:
        """Names of the metrics."""
        return rows.metrics_of(self.plan, self.runs)

    @property
    def done(self) -> int:
        """Number of finished points."""
        return int(self.points["done"].sum())

    @property
    def interrupted(self) -> bool:
        """Whether points are missing."""
        return self.done < len(self.plan.points)

    @property
    def warnings(self) -> list[str]:
        """Warnings of the engine, and points that did not reach their precision or warm-up."""
        return [*self._warnings, *self.shortfalls]

    @property
    def shortfalls(self) -> list[str]:
        """Points that did not reach their precision or a warm-up, in words."""
        found: list[str] = []
        table = self.runs
        if unknown := self._censored():
            found.append(unknown)
        if self.short:
            found.append(
                f"{len(self.short)} points are less precise than asked after "
                f"{self.plan.stopping.most} replications: {_some(self.short)}"
            )
        if self.plan.warmup is not None:
            rushed = set(table.where(warmup_found=False)["point"].tolist())
            if rushed:
                found.append(
                    f"{len(rushed)} points are not steady by half of the run, which is their "
                    f"warm-up: {_some(rushed)}"
                )
        return found

    @cached_property
    def short(self) -> set[int]:
        """Points that are less precise than the plan asks."""
        if self.plan.stopping.relative is None:
            return set()
        compared = self.differences if self.plan.stopping.of == "ratios" else self.estimates
        return set(compared.where(reached=False)["point"].tolist())

    def _censored(self) -> str:
        """List the metrics without a value because transfers were unfinished as runs ended."""
        rows = [row for row in self.estimates.to_pylist() if row["censored"]]
        if not rows:
            return ""
        names = list(dict.fromkeys(row["metric"] for row in rows))
        shown = ", ".join(names[:3]) + (", ..." if len(names) > 3 else "")
        points = {row["point"] for row in rows}
        return (
            f"{shown}: censored at {len(points)} points ({_some(points)}), where transfers were "
            f"unfinished as runs ended, so that they have no mean and no verdict; {FIX}"
        )

    def tables(self) -> dict[str, Table]:
        """Return the tables that a finished study stores.

        Returns
        -------
        dict of Table
            By name: ``runs``, ``estimates`` and ``differences``.
        """
        found = {"runs": self.runs, "estimates": self.estimates}
        if len(self.plan.names) > 1:
            found["differences"] = self.differences
        return found

    def scenario(self, point: int, scheme: str | None = None) -> Document:
        """Return the resolved scenario of a point; `run` repeats its runs with it.

        Parameters
        ----------
        point
            Number of the point.
        scheme
            Name of the scheme; not needed if there is one.

        Returns
        -------
        dict
            Every field, with the study's settings, seed and replications.

        Raises
        ------
        InputError
            If there is no such point or scheme, the point is not finished, or another version made
            the study.
        """
        if self.version != _core.__version__:
            raise InputError(
                f"a study of burstlab {self.version}, and this is {_core.__version__}\n"
                f"  fix: install {self.version} to repeat its runs"
            )
        names = self.plan.names
        if not 0 <= point < len(self.plan.points):
            raise InputError(
                f"point {point}: the study has {len(self.plan.points)}\n"
                f"  fix: use 0 to {len(self.plan.points) - 1}"
            )
        if scheme is None and len(names) > 1:
            raise InputError(f"no scheme is named\n  fix: name one of {', '.join(names)}")
        name = names[0] if scheme is None else scheme
        if name not in names:
            raise unknown("scheme", name, [one for one in names if one])
        rows = self.runs.where(point=point, scheme=name)
        if not len(rows):
            raise InputError(
                f"point {point}: is not finished\n  fix: resume the study, or name another point"
            )
        warmup = ""
        if self.plan.warmup is not None:
            warmup = picoseconds(float(rows["warmup_s"][0]))
        document: Document = json.loads(self.plan.scenario(point, name, warmup))
        document["run"]["replications"] = len(rows)
        return document

    def query(self, sql: str) -> Table:
        """Query the tables `runs`, `estimates`, `differences` and `points` with SQL.

        Parameters
        ----------
        sql
            One query in the dialect of DuckDB.

        Returns
        -------
        Table
            The rows of the answer.

        Examples
        --------
        >>> study.query('select scheme, avg("flows.mean.goodput_bps") from runs group by 1')
        ... # doctest: +SKIP
        """
        from burstlab.studies.sql import query

        return query(sql, {**self.tables(), "points": self.points})

    def to_xarray(self) -> xr.Dataset:
        """Return the means as an xarray dataset; it needs the extra ``xarray``.

        Returns
        -------
        xarray.Dataset
            A grid has one dimension per parameter; another design has one of points. Schemes are a
            dimension if there are any. Each metric has a variable, and one named ``..._ci95`` with
            half the width of its interval. A missing mean is NaN.
        """
        import numpy as np

        xr = extra("xarray", "to_xarray()")

        names, schemes = self.metrics, self.plan.names
        shape, dims, coords = self._axes()
        values = np.full((2, len(names), len(self.plan.points), len(schemes)), np.nan)
        for group in rows.groups(self.plan, self.runs):
            place = schemes.index(group.scheme)
            mean, half = rows.means(group.values)[:2]
            values[0, :, group.point, place], values[1, :, group.point, place] = mean, half
        compared = schemes != [""]
        if compared:
            dims, coords = [*dims, "scheme"], {**coords, "scheme": schemes}
            shape = (*shape, len(schemes))
        data: dict[str, tuple[list[str], Any]] = {}
        for index, name in enumerate(names):
            for end, part in (("", values[0]), ("_ci95", values[1])):
                data[name + end] = (dims, part[index].reshape(shape))
        return xr.Dataset(data, coords, {"burstlab": self.version, "seed": self.plan.seed})

    def _axes(self) -> tuple[tuple[int, ...], list[str], dict[str, Any]]:
        if set(self.plan.designs) == {"grid"}:
            lists: Mapping[str, list[Any]] = self.plan.designs["grid"]
            axes = columns([{name: value} for name, values in lists.items() for value in values])
            coords = {
                name: [value for value in column if value is not None]
                for name, column in axes.items()
            }
            return tuple(map(len, coords.values())), list(coords), coords
        every = columns(self.plan.points)
        of_points: dict[str, Any] = {name: ("point", values) for name, values in every.items()}
        return (
            (len(self.plan.points),),
            ["point"],
            {"point": list(range(len(self.plan.points))), **of_points},
        )

    @property
    def summary(self) -> dict[str, Any]:
        """The document that ``burstlab study --json`` prints."""
        found: dict[int, dict[str, Any]] = {}
        for row in self.estimates.to_pylist():
            point = found.setdefault(row["point"], self._head(row["point"]))
            scheme = point["estimates"].setdefault(row["scheme"], {})
            scheme[row["metric"]] = {name: row[name] for name in ("mean", "ci95", "n")} | (
                {} if row["reached"] is None else {"reached": row["reached"]}
            )
            if row["censored"]:
                scheme[row["metric"]]["censored"] = row["censored"]
        if len(self.plan.names) > 1:
            for row in self.differences.to_pylist():
                kept = ("scheme", "over", "metric", "n")
                entry = {name: row[name] for name in kept}
                if row["censored"]:
                    entry["censored"] = row["censored"]
                for name in ("difference", "ratio"):
                    entry[name] = {"mean": row[name], "ci95": row[f"{name}_ci95"]}
                found[row["point"]].setdefault("differences", []).append(entry)
        return {
            "burstlab": self.version,
            "seed": self.plan.seed,
            "points": len(self.plan.points),
            "done": self.done,
            "interrupted": self.interrupted,
            "schemes": [name for name in self.plan.names if name],
            "metrics": self.metrics,
            "warnings": self.warnings,
            "directory": None if self.directory is None else str(self.directory),
            "results": list(found.values()),
        }

    def _head(self, point: int) -> dict[str, Any]:
        return {"point": point, "parameters": self.plan.points[point], "estimates": {}}

    def __repr__(self) -> str:
        names = [name for name in self.plan.names if name]
        schemes = f", {len(names)} schemes" if names else ""
        return f"<Study: {self.done} of {len(self.plan.points)} points{schemes}>"

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(repr(self)[1:-1])}</p>{self.estimates.to_html(rows=20)}"


class StudyInterrupted(KeyboardInterrupt):
    """Ctrl-C stopped a study; ``study`` holds the points that were finished until then."""

    def __init__(self, study: Study) -> None:
        self.study = study
        super().__init__("interrupted")


def _some(points: set[int]) -> str:
    shown = ", ".join(str(point) for point in sorted(points)[:5])
    return f"{shown}, ..." if len(points) > 5 else shown


def read_study(directory: str | os.PathLike[str]) -> Study:
    """Read a stored study, whether it is finished or not.

    Parameters
    ----------
    directory
        Where `study` or ``burstlab study --out`` wrote.

    Returns
    -------
    Study
        The study, with the points that are finished.
    """
    where = Path(directory)
    head = store.head_of(where)
    try:
        plan = plans.read(where / "plan.toml")
    except PlanError as error:
        raise InputError(
            f"{where}: not a study of this version of burstlab ({error})\n"
            "  fix: use the version that made it, or restore plan.toml"
        ) from None
    marks = store.marks_of(where)
    store.check_plan(where)
    stored = store.stored_rows(where, marks)
    if not len(stored):
        stored = rows.Rows(plan, list(plan.metrics or ())).take()
    missing = [name for name in ("point", "scheme", "replication") if name not in stored.columns]
    if missing:
        raise InputError(
            f"{where}: not a study of burstlab (no column {missing[0]})\n"
            "  fix: give a directory that burstlab study --out wrote"
        )
    swept = columns(plan.points)
    stored = stored.select([name for name in stored.columns if name not in swept])
    return Study(plan, stored, str(head.get("burstlab")), where)
