"""The prices of lost bursts: how they are distributed, and how few make most of their sum."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from burstlab.plot import theme

if TYPE_CHECKING:
    from burstlab.surgery import Blame

#: Steps of a curve; more are not to be seen.
_STEPS = 400

SECONDS, BYTES = "seconds", "bytes"


def measured_in(found: Blame) -> str:
    """Return the unit of prices: seconds where transfers are finite, else bytes."""
    return SECONDS if any(value != 0.0 for value in found.prices[SECONDS]) else BYTES


def price_rows(found: Blame) -> list[dict[str, Any]]:
    """Return prices, the dearest first.

    Each with its ``rank`` from 1, the ``share`` of the bursts that are as dear, and the ``sum`` of
    their prices over that of all.
    """
    import numpy as np

    unit = measured_in(found)
    prices = np.sort(np.asarray(found.prices[unit], dtype=np.float64))[::-1]
    total = float(prices.sum())
    sums = np.cumsum(prices) / total if total != 0.0 else np.zeros(len(prices))
    places = np.unique(np.linspace(0, len(prices) - 1, min(len(prices), _STEPS)).astype(int))
    return [
        {
            "rank": int(place) + 1,
            "price": float(prices[place]),
            "share": (int(place) + 1) / len(prices),
            "sum": float(sums[place]),
        }
        for place in places
    ]


def price_chart(found: Blame, *, width: int = 330, height: int = 240) -> Any:
    """Draw the prices from the dearest on, and the share of their sum that the dearest make.

    Where each loss cost the same, the second curve would be its diagonal, and the loss rate would
    say all.

    Parameters
    ----------
    found
        The prices.
    width, height
        Of a panel, in points.
    """
    import altair as alt

    rows = price_rows(found)
    unit = "s" if measured_in(found) == SECONDS else "bytes"
    data = theme.inline([{**rows[0], "rank": 0, "share": 0.0, "sum": 0.0}, *rows], _COLUMNS)
    base = alt.Chart(data)
    share = alt.Axis(format="~%", tickCount=6)
    left = (
        alt.Chart(theme.inline(rows, _COLUMNS))
        .mark_line(color=theme.FIRST, strokeWidth=1.8, interpolate="step-before")
        .encode(
            x=alt.X("share:Q", title="share of the lost bursts, the dearest first", axis=share),
            y=alt.Y("price:Q", title=f"price of the loss ({unit})"),
        )
    )
    none = (
        alt.Chart(theme.inline([{"at": 0.0}], ["at"])).mark_rule(color=theme.MUTED).encode(y="at:Q")
    )
    even = (
        alt.Chart(theme.inline([{"a": 0.0}, {"a": 1.0}], ["a"]))
        .mark_line(color=theme.MUTED, strokeDash=[4, 4])
        .encode(x="a:Q", y="a:Q")
    )
    right = base.mark_line(color=theme.AGAIN, strokeWidth=1.8).encode(
        x=alt.X("share:Q", title="share of the lost bursts, the dearest first", axis=share),
        y=alt.Y("sum:Q", title="share of the sum of their prices", axis=alt.Axis(format="~%")),
    )
    panels = [
        alt.layer(none, left).properties(width=width, height=height),
        alt.layer(even, right).properties(width=width, height=height),
    ]
    return theme.configured(alt.hconcat(*panels, spacing=24))


_COLUMNS = ["rank", "price", "share", "sum"]
