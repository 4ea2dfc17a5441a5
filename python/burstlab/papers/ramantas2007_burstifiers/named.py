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
    """Answer what was measured as a point."""
    return NamedPoint(panel, name, series, measure.mean, measure.ci95, measure.n)


def named_rows(points: Sequence[NamedPoint]) -> list[dict[str, Any]]:
    """Answer what is drawn, one row a point."""
    return [asdict(one) for one in points]


def named_chart(points: Sequence[NamedPoint], colours: dict[str, str], width: int = 330) -> Any:
    """Draw rows by name, one panel beside the other; what was published is hollow."""
    import altair as alt

    names = list(dict.fromkeys(one.name for one in points))
    panels = list(dict.fromkeys(one.panel for one in points))
    series = [name for name in colours if any(one.series == name for one in points)]
    colour = alt.Color(
        "series:N",
        title=None,
        scale=alt.Scale(domain=series, range=[colours[name] for name in series]),
    )
    drawn = []
    for panel in panels:
        rows = [
            {
                **row,
                "low": row["value"] - (row["ci95"] or 0.0),
                "high": row["value"] + (row["ci95"] or 0.0),
            }
            for row in named_rows([one for one in points if one.panel == panel])
        ]
        columns = ["name", "series", "value", "low", "high", "n"]
        axis = alt.Axis(labels=panel == panels[0], ticks=panel == panels[0], labelLimit=260)
        base = alt.Chart(theme.inline(rows, columns)).encode(
            y=alt.Y("name:N", title=None, sort=names, axis=axis),
            color=colour,
            tooltip=[alt.Tooltip(f"{column}:N") for column in columns],
        )
        x = alt.X("value:Q", title=panel, scale=alt.Scale(zero=True, nice=True))
        hollow = base.transform_filter(alt.datum.series == PUBLISHED)
        full = base.transform_filter(alt.datum.series != PUBLISHED)
        drawn.append(
            alt.layer(
                full.mark_rule(strokeWidth=2).encode(x=alt.X("low:Q", title=panel), x2="high:Q"),
                full.mark_point(size=55, filled=True, opacity=1).encode(x=x),
                hollow.mark_point(size=80, filled=False, shape="diamond", strokeWidth=1.8).encode(
                    x=x
                ),
            ).properties(width=width, height=34 * len(names))
        )
    return theme.configured(alt.hconcat(*drawn, spacing=18).resolve_scale(color="shared"))
