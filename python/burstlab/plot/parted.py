"""How two runs part at a burst: the windows of the connections that differ most, in both."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from burstlab.errors import InputError
from burstlab.plot import theme

if TYPE_CHECKING:
    from burstlab.results import Result
    from burstlab.surgery import WhatIf

#: Points of a line; more are not to be seen.
_STEPS = 2000

AS_IT_IS, OPERATED = "as it is", "operated"


def parted_rows(found: WhatIf, connections: int = 3) -> list[dict[str, Any]]:
    """Return the windows of the connections that differ most: ``run``, ``t_s``, ``cwnd``.

    Parameters
    ----------
    found
        Two runs that traced ``cwnd``.
    connections
        Of how many connections.
    """
    most = [row["connection"] for row in found.connections.to_pylist()[:connections]]
    if not most:
        raise InputError(
            "the runs do not differ: there is nothing to draw\n  fix: operate on another burst"
        )
    rows: list[dict[str, Any]] = []
    for name, result in ((AS_IT_IS, found.first), (OPERATED, found.other)):
        if "cwnd" not in result.recorded:
            raise InputError("the windows were not recorded\n  fix: leave cwnd in --trace")
        for number in most:
            rows += [
                {"connection": f"connection {number}", "run": name, "t_s": t_s, "cwnd": cwnd}
                for t_s, cwnd in _windows(result, number)
            ]
    return rows


def _windows(result: Result, flow: int) -> list[tuple[float, float]]:
    table = result.cwnd.where(flow=flow)
    times, windows = table.seconds("t_ps"), table["cwnd"]
    step = max(1, len(times) // _STEPS)
    return [(round(float(t), 9), float(w)) for t, w in zip(times, windows, strict=True)][::step]


def parted_chart(found: WhatIf, *, connections: int = 3, width: int = 620) -> Any:
    """Draw the windows of the connections that differ most, in both runs.

    Parameters
    ----------
    found
        Two runs that traced ``cwnd``.
    connections
        Of how many connections, a panel each.
    width
        Of a panel, in points.
    """
    import altair as alt

    rows = parted_rows(found, connections)
    panels = list(dict.fromkeys(row["connection"] for row in rows))
    names, colours = [AS_IT_IS, OPERATED], [theme.PENDING, theme.FIRST]
    scale = alt.Scale(domain=names, range=colours)
    colour = alt.Color("run:N", title=None, scale=scale, legend=theme.strokes())
    looks = [theme.LINES[theme.SOLID][1], theme.LINES[theme.DASHED][1]]
    dash = alt.StrokeDash("run:N", title=None, scale=alt.Scale(domain=names, range=looks))
    times = [row["t_s"] for row in rows]
    x = alt.X(
        "t_s:Q",
        title="simulated time (s)",
        scale=alt.Scale(domain=[min(times), max(times)], nice=False),
    )
    done = [{"at": one["at_s"]} for one in found.operations if one["at_s"] is not None]
    drawn: list[Any] = []
    for panel in panels:
        mine = [row for row in rows if row["connection"] == panel]
        base = alt.Chart(theme.inline(mine, ["run", "t_s", "cwnd"]))
        line = base.mark_line(interpolate="step-after", strokeWidth=1.6).encode(
            x=x,
            y=alt.Y("cwnd:Q", title="cwnd (segments)", scale=alt.Scale(zero=True)),
            color=colour,
            strokeDash=dash,
        )
        rule = (
            alt.Chart(theme.inline(done, ["at"]))
            .mark_rule(color=theme.LOST, strokeWidth=1.2)
            .encode(x="at:Q")
        )
        drawn.append(alt.layer(line, rule).properties(width=width, height=150, title=panel))
    chart = alt.vconcat(*drawn, spacing=12)
    return theme.configured(chart.resolve_scale(color="shared", strokeDash="shared"))
