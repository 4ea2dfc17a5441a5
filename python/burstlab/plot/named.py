"""Values with intervals, one below the other under their names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from burstlab.plot import theme


@dataclass(frozen=True)
class Named:
    """A value under a name.

    Attributes
    ----------
    name
        What it is of.
    value
        The value.
    ci95
        Half of its 95 % interval, if it has one.
    n
        Number of replications.
    """

    name: str
    value: float
    ci95: float | None = None
    n: int | None = None


def named_rows(values: Sequence[Named]) -> list[dict[str, Any]]:
    """Answer what is drawn, one row a value."""
    return [
        {
            "name": one.name,
            "value": one.value,
            "low": one.value - (one.ci95 or 0.0),
            "high": one.value + (one.ci95 or 0.0),
            "n": one.n,
        }
        for one in values
    ]


def named_chart(values: Sequence[Named], title: str) -> Any:
    """Draw values from the first, on top, to the last; ``title`` is that of their axis."""
    import altair as alt

    rows = named_rows(values)
    base = alt.Chart(theme.inline(rows, ["name", "value", "low", "high", "n"])).encode(
        y=alt.Y(
            "name:N",
            title=None,
            sort=[one.name for one in values],
            axis=alt.Axis(labelLimit=400, grid=True, ticks=False, labelPadding=8),
        ),
        tooltip=[
            alt.Tooltip("name:N"),
            *(alt.Tooltip(f"{field}:Q", format=".4g") for field in ("value", "low", "high")),
            alt.Tooltip("n:Q"),
        ],
    )
    scale = alt.Scale(zero=False, nice=True, padding=8)

    def at(field: str) -> Any:
        return alt.X(f"{field}:Q", title=title, scale=scale, axis=alt.Axis(format="~g"))

    colour = theme.SERIES[0]
    whiskers = base.mark_rule(strokeWidth=1.8, color=colour).encode(x=at("low"), x2="high:Q")
    caps = [
        base.mark_tick(thickness=1.8, size=9, orient="vertical", opacity=1, color=colour).encode(
            x=at(end)
        )
        for end in ("low", "high")
    ]
    marks = base.mark_point(size=60, filled=True, opacity=1, color=colour).encode(x=at("value"))
    return theme.configured(
        alt.layer(whiskers, *caps, marks).properties(width=460, height=alt.Step(26))
    )
