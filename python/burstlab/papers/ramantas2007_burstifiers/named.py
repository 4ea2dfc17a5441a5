"""Points with names: what a table has in rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from burstlab.plot import theme
from burstlab.statistics import Estimate

PUBLISHED = "published"


@dataclass(frozen=True)
class NamedPoint:
    """One value of a row.

    Attributes
    ----------
    panel, name, series
        Title of the panel, name of the row, and which of its values this is.
    value
        The value.
    ci95, n
        Half of its 95 % interval and the number of replications.
    """

    panel: str
    name: str
    series: str
    value: float
    ci95: float | None = None
    n: int | None = None


def point(panel: str, name: str, series: str, measure: Estimate) -> NamedPoint:
    """Return what was measured as a point."""
    return NamedPoint(panel, name, series, measure.mean, measure.ci95, measure.n)


def named_rows(points: Sequence[NamedPoint]) -> list[dict[str, Any]]:
    """Return what is drawn, one row a point."""
    return [asdict(one) for one in points]


def named_chart(points: Sequence[NamedPoint], colours: dict[str, str], width: int = 330) -> Any:
    """Draw rows by name, in panels side by side; a published value is a diamond."""
    import altair as alt

    names = list(dict.fromkeys(one.name for one in points))
    panels = list(dict.fromkeys(one.panel for one in points))
    series = [name for name in colours if any(one.series == name for one in points)]
    legend = theme.Legend(
        [
            theme.Sign(name, colours[name], "diamond" if name == PUBLISHED else "circle")
            for name in series
        ]
    )
    drawn = []
    for panel in panels:
        inside = [one for one in points if one.panel == panel]
        own = list(dict.fromkeys(one.name for one in inside))
        apart = panel == panels[0] or own != list(
            dict.fromkeys(one.name for one in points if one.panel == panels[0])
        )
        shown = own if apart else names
        rows = [
            {
                **row,
                "sign": row["series"],
                "low": min(row["value"], max(0.0, row["value"] - (row["ci95"] or 0.0))),
                "high": row["value"] + (row["ci95"] or 0.0),
            }
            for row in named_rows(inside)
        ]
        columns = ["name", "sign", "value", "low", "high", "n"]
        axis = alt.Axis(labels=apart, ticks=apart, labelLimit=260)
        base = alt.Chart(theme.inline(rows, columns)).encode(
            y=alt.Y("name:N", title=None, sort=shown, axis=axis),
            color=legend.colour(),
            tooltip=[alt.Tooltip(f"{column}:N") for column in columns],
        )
        x = alt.X("value:Q", title=panel, scale=alt.Scale(zero=True, nice=True))
        printed = base.transform_filter(alt.datum.sign == PUBLISHED)
        full = base.transform_filter(alt.datum.sign != PUBLISHED)
        drawn.append(
            alt.layer(
                printed.mark_point(size=110, filled=True, opacity=1, strokeWidth=0).encode(
                    x=x, shape=legend.shape()
                ),
                full.mark_rule(strokeWidth=2).encode(x=alt.X("low:Q", title=panel), x2="high:Q"),
                full.mark_point(size=50, filled=True, opacity=1, strokeWidth=0).encode(
                    x=x, shape=legend.shape()
                ),
                legend.layer(),
            ).properties(width=width, height=34 * len(shown))
        )
    return theme.configured(
        alt.hconcat(*drawn, spacing=18).resolve_scale(color="shared", shape="shared")
    )
