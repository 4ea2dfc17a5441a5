"""Titles of figures outside their report: paper, place, effort and version."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from burstlab import _core

if TYPE_CHECKING:
    from burstlab.reproduce.engine import Options, TargetReport


def titled(
    spec: Mapping[str, Any],
    report: TargetReport,
    options: Options,
    rows: Sequence[Mapping[str, Any]] = (),
) -> dict[str, Any]:
    """Return a chart's specification with a title of its own.

    Parameters
    ----------
    spec
        The specification; a title that it has is kept as the last line. Where the plan of the
        target has a ``picture``, this is the title; else its ``title`` is.
    report
        The target.
    options
        How.
    rows
        The numbers behind the chart: where they have intervals, the title says what the bars are.
    """
    plan, about = report.paper.plans[report.target], report.paper.about
    own = spec.get("title") or ""
    lines = [
        f"{place(report.target, plan)} of {about['authors']}, {about['venue'].split(', DOI')[0]}",
        f"burstlab {_core.__version__} reproduce {report.name} --{options.effort}"
        + ("" if report.seed is None else f", seed {report.seed}")
        + ("; bars are 95 % intervals" if any(map(_has_interval, rows)) else ""),
        *([own if isinstance(own, str) else own.get("text", "")] if own else []),
    ]
    title = {
        "text": plan.get("picture", plan["title"]),
        "subtitle": lines,
        "anchor": "start",
        "fontSize": 15,
        "subtitleFontSize": 11,
        "offset": 14,
    }
    return {**spec, "title": title}


def _has_interval(row: Mapping[str, Any]) -> bool:
    """Whether a number has an interval: half of it, or its ends."""
    return bool(row.get("ci95")) or row.get("low") != row.get("high")


def place(target: str, plan: Mapping[str, Any]) -> str:
    """Return where a target stands in its paper: ``fig7a`` is Figure 7(a).

    Parameters
    ----------
    target
        Its name.
    plan
        Its table of the plan; ``place`` there is taken as it is.
    """
    if "place" in plan:
        return plan["place"]
    found = re.fullmatch(r"(fig|table)(\d+)([a-z]?)(-.*)?", target)
    if found is None:
        return "On the claims"
    kind, number, part, _ = found.groups()
    if kind == "table":
        return f"Table {number}"
    return f"Figure {number}" + (f"({part})" if part else "")
