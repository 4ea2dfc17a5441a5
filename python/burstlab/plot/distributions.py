"""Distributions of bursts: their length, their packets, and how many of these are of one flow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from burstlab.errors import InputError
from burstlab.plot import theme

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from burstlab.results import Result

#: Steps of a curve; more are not to be seen.
_STEPS = 400

LENGTH = "length of a burst (KB)"
PACKETS = "packets in a burst"
SEGMENTS = "segments of one flow in a burst"


def samples(result: Result) -> dict[str, NDArray[np.float64]]:
    """Return the packets and lengths of bursts of data, in all replications.

    Parameters
    ----------
    result
        A run that traced ``bursts``; with ``packets`` there are the segments of one flow.
    """
    bursts = result.bursts.where(direction="data")
    found = {
        LENGTH: bursts["bytes"].astype(np.float64) / 1000,
        PACKETS: bursts["packets"].astype(np.float64),
    }
    if "packets" in result.recorded:
        found[SEGMENTS] = _segments(result)
    return found


def _segments(result: Result) -> NDArray[np.float64]:
    """Count the data packets of each flow in each burst, a part of the table at a time."""
    names = ("replication", "burst", "flow")
    keys, counts = np.empty((0, len(names)), dtype=np.uint64), np.empty(0, dtype=np.int64)
    for batch in result.packets.batches([*names, "kind"]):
        read = batch.read()
        rows = read["kind"].is_equal("data") & read["burst"].is_valid()
        columns = [read[name].filled(0) for name in names]
        more = np.stack([column[rows].astype(np.uint64) for column in columns], axis=1)
        keys, which = np.unique(np.concatenate([keys, more]), axis=0, return_inverse=True)
        weights = np.concatenate([counts, np.ones(len(more), dtype=np.int64)])
        counts = np.bincount(which.reshape(-1), weights=weights, minlength=len(keys))
        counts = counts.astype(np.int64)
    return counts.astype(np.float64)


def distribution_rows(results: Mapping[str, Result]) -> list[dict[str, Any]]:
    """Return the steps of the distribution functions.

    Parameters
    ----------
    results
        Runs that traced ``bursts``, by label.

    Returns
    -------
    list of dict
        ``value``, and ``share``: that of bursts with at most this value; ``panel``, ``run``,
        ``mean``.
    """
    rows: list[dict[str, Any]] = []
    for label, result in results.items():
        for panel, values in samples(result).items():
            if len(values) == 0:
                continue
            levels, counts = np.unique(values, return_counts=True)
            share = np.cumsum(counts) / len(values)
            if len(levels) > _STEPS:
                kept = np.unique(np.searchsorted(share, np.linspace(0, 1, _STEPS)))
                kept = kept[kept < len(levels)]
                kept = np.unique([0, *kept, len(levels) - 1])
                levels, share = levels[kept], share[kept]
            mean = float(values.mean())
            begin = {"panel": panel, "run": label, "value": float(levels[0]), "share": 0.0}
            rows.append({**begin, "mean": mean})
            rows += [
                {"panel": panel, "run": label, "value": float(v), "share": float(s), "mean": mean}
                for v, s in zip(levels, share, strict=True)
            ]
    if not rows:
        raise InputError("the run has no burst with data\n  fix: make a longer run")
    return rows


def distribution_chart(
    results: Result | Mapping[str, Result], *, width: int = 300, height: int = 220
) -> Any:
    """Draw the distribution functions of bursts of data, with the mean as a dot.

    Parameters
    ----------
    results
        A run that traced ``bursts``, or several by the names they have in the legend.
    width, height
        Of a panel, in points.

    Returns
    -------
    altair.Chart
        The figure.
    """
    import altair as alt

    named = results if isinstance(results, Mapping) else {"": results}
    rows = distribution_rows(named)
    panels = list(dict.fromkeys(row["panel"] for row in rows))
    names = list(named)
    dashes = [theme.LINES[look][1] for look in (theme.SOLID, theme.DASHED, theme.DOTTED)]
    scale = alt.Scale(domain=names, range=[theme.SERIES[i % 4] for i in range(len(names))])
    legend = theme.strokes() if len(names) > 1 else None
    colour = alt.Color("run:N", title=None, scale=scale, legend=legend)
    looks = alt.Scale(domain=names, range=[dashes[i % 3] for i in range(len(names))])
    dash = alt.StrokeDash("run:N", title=None, scale=looks, legend=legend)
    ticks = alt.Axis(tickCount=6, labelFlush=False)
    drawn: list[Any] = []
    for panel in panels:
        mine = [row for row in rows if row["panel"] == panel]
        x = alt.X("value:Q", title=panel, scale=alt.Scale(zero=True, nice=True), axis=ticks)
        title = "share of bursts" if panel == panels[0] else None
        y = alt.Y("share:Q", title=title, scale=alt.Scale(domain=[0, 1]))
        base = alt.Chart(theme.inline(mine, ["run", "value", "share", "mean"]))
        line = base.mark_line(interpolate="step-after", strokeWidth=1.8).encode(
            x=x, y=y, color=colour, strokeDash=dash
        )
        means = [
            {"run": name, "mean": row["mean"], "at": _share(mine, name, row["mean"])}
            for name in names
            for row in mine
            if row["run"] == name and row["share"] == 0.0
        ]
        dot = (
            alt.Chart(theme.inline(means, ["run", "mean", "at"]))
            .mark_point(filled=True, size=60, opacity=1)
            .encode(x="mean:Q", y="at:Q", color=colour, tooltip=["run:N", "mean:Q"])
        )
        drawn.append(alt.layer(line, dot).properties(width=width, height=height))
    chart = alt.concat(*drawn, columns=3, spacing=24)
    return theme.configured(chart.resolve_scale(color="shared", strokeDash="shared"))


def _share(rows: list[dict[str, Any]], run: str, value: float) -> float:
    """Return the height of the step at a value."""
    below = [row["share"] for row in rows if row["run"] == run and row["value"] <= value]
    return max(below, default=0.0)
