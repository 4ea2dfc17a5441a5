"""Occupancy of a network over time: queues, ports and wavelengths, as sampled."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from burstlab.errors import InputError
from burstlab.plot import theme

if TYPE_CHECKING:
    from burstlab.results import Result

#: Fibres and pairs that have a line of their own: those that are fullest.
SHOWN = 4

#: Instants that a figure shows at most; of more, each point is the mean of several.
POINTS = 400


def occupied_rows(
    result: Result,
    *,
    replication: int = 0,
    start_s: float = 0.0,
    end_s: float | None = None,
) -> list[dict[str, Any]]:
    """Return what is drawn: a row a panel, line and time.

    Parameters
    ----------
    result
        A run with ``run.occupancy``.
    replication
        Which one.
    start_s, end_s
        The part of time.

    Returns
    -------
    list
        ``panel``, ``line``, ``t_s`` and ``value``: the share of time that wavelengths of a fibre
        are reserved since the instant before (0 to 1), bursts that wait for a fibre, and bytes that
        wait in the assembly queues from a node to another. The fullest by their mean are there, by
        name; times are put together so that a line has at most `POINTS`.
    """
    end_s = float("inf") if end_s is None else end_s

    def there(table: Any) -> list[dict[str, Any]]:
        rows = table.where(replication=replication).to_pylist()
        return [row for row in rows if start_s <= row["t_ps"] * 1e-12 <= end_s]

    if not {"ports", "wavelengths"} <= set(result.recorded):
        raise InputError(
            "the run has no tables of occupancy\n"
            '  fix: add run.occupancy, such as --set run.occupancy="1 ms"'
        )
    looks = sorted({row["t_ps"] for row in there(result.table("ports"))})
    if not looks:
        raise InputError("nothing was recorded in this time\n  fix: give another --start and --end")
    every = looks[0] if len(looks) == 1 else looks[1] - looks[0]
    used: dict[str, dict[int, list[float]]] = {}
    for row in there(result.table("wavelengths")):
        cell = used.setdefault(_fibre(row), {}).setdefault(row["t_ps"], [])
        cell.append(row["reserved_ps"] / every)
    panels = {
        "reserved share": {
            name: {t: sum(one) / len(one) for t, one in line.items()} for name, line in used.items()
        },
        "bursts at the ingress": _sums(there(result.table("ports")), "bursts"),
        "KB in assembly": _sums(_queues(result, there), "bytes", 1e-3),
    }
    rows: list[dict[str, Any]] = []
    for panel, lines in panels.items():
        fullest = sorted(lines, key=lambda name: (-sum(lines[name].values()), name))[:SHOWN]
        for name in fullest:
            for t_s, value in _means(looks, lines[name]):
                rows.append({"panel": panel, "line": name, "t_s": t_s, "value": value})
    return rows


def occupied_chart(
    result: Result,
    *,
    replication: int = 0,
    start_s: float = 0.0,
    end_s: float | None = None,
    width: int = 620,
    height: int = 130,
) -> Any:
    """Draw how full wavelengths, ports and queues are over time, one panel each.

    Parameters
    ----------
    result, replication, start_s, end_s
        As of `occupied_rows`.
    width, height
        Of a panel, in points.

    Returns
    -------
    altair.Chart
        The figure.
    """
    import altair as alt

    rows = occupied_rows(result, replication=replication, start_s=start_s, end_s=end_s)
    panels: list[Any] = []
    names = list(dict.fromkeys(row["panel"] for row in rows))
    for panel in names:
        mine = [row for row in rows if row["panel"] == panel]
        lines = list(dict.fromkeys(row["line"] for row in mine))
        colour = alt.Color(
            "line:N",
            title=None,
            sort=lines,
            scale=alt.Scale(domain=lines, range=list(theme.SERIES[: len(lines)])),
        )
        x = alt.X("t_s:Q", title="time (s)" if panel == names[-1] else None)
        chart = alt.Chart(theme.inline(mine, ["line", "t_s", "value"])).mark_line(
            interpolate="step-before", strokeWidth=1.6
        )
        encoded = chart.encode(
            x=x,
            y=alt.Y("value:Q", title=panel, scale=alt.Scale(zero=True, nice=True)),
            color=colour,
            tooltip=["line:N", alt.Tooltip("t_s:Q", format=".6g"), "value:Q"],
        )
        panels.append(encoded.properties(width=width, height=height))
    return theme.configured(alt.vconcat(*panels, spacing=8).resolve_scale(color="independent"))


def _fibre(row: dict[str, Any]) -> str:
    return f"{row['from']} to {row['to']}"


def _queues(result: Result, there: Any) -> list[dict[str, Any]]:
    return there(result.table("queues")) if "queues" in result.recorded else []


def _sums(rows: list[dict[str, Any]], field: str, unit: float = 1.0) -> dict[str, dict[int, float]]:
    """Add up a number by fibre, or pair of nodes, and instant; without those that are always 0."""
    found: dict[str, dict[int, float]] = {}
    for row in rows:
        line = found.setdefault(_fibre(row), {})
        line[row["t_ps"]] = line.get(row["t_ps"], 0.0) + row[field] * unit
    return {name: line for name, line in found.items() if any(line.values())}


def _means(looks: list[int], line: dict[int, float]) -> list[tuple[float, float]]:
    """Average over groups of instants, so that `POINTS` are left; a missing row counts as 0."""
    each = -(-len(looks) // POINTS)
    groups = [looks[n : n + each] for n in range(0, len(looks), each)]
    return [
        (round(group[-1] * 1e-12, 12), sum(line.get(t, 0.0) for t in group) / len(group))
        for group in groups
    ]
