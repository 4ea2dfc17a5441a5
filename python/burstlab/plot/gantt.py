"""The wavelengths of a fibre over time: which burst holds which, and which found none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from burstlab.errors import InputError
from burstlab.export.flows import Flows
from burstlab.measures.causes import TAKES
from burstlab.plot import theme
from burstlab.plot.sequence import Span

if TYPE_CHECKING:
    from burstlab.results import Result

#: Bursts that are drawn where no part of time is given.
SHOWN = 60

#: Most bursts of a figure.
MOST_BURSTS = 4000

_DELIVERED = theme.Sign("delivered", theme.FIRST, "square")
_LOST = theme.Sign("lost further on", theme.AGAIN, "square")
_UNDER_WAY = theme.Sign("in the network", theme.PENDING, "square")
_REFUSED = theme.Sign("refused here", theme.LOST, "square")
_TAKEN = theme.Sign("lost here", theme.LOST, "square")
_OFFSET = theme.Sign("offset time", theme.INK, theme.SOLID)
_SIGNS = (_DELIVERED, _LOST, _UNDER_WAY, _REFUSED, _TAKEN)

#: The line of bursts that are on no wavelength.
_NONE = "none"


@dataclass(frozen=True)
class Held:
    """A burst on a wavelength of a fibre, in seconds; without one it was refused or lost here."""

    burst: int
    wavelength: int | None
    start_s: float
    end_s: float
    closed_s: float | None
    sign: str
    kind: str
    bytes: int
    cause: str


def fibres(result: Result, *, replication: int = 0) -> list[tuple[int, int]]:
    """Return the fibres of a mesh, the busiest first.

    Parameters
    ----------
    result
        A run of a mesh that traced ``bursts``.
    replication
        Its number.

    Returns
    -------
    list of tuple
        The numbers of the two nodes of each fibre.
    """
    table = result.table("bursts_hops").where(replication=replication)
    pairs = np.stack([table["from"], table["to"]], axis=1)
    refused = np.isnan(table["wavelength"].astype(np.float64))
    length = np.where(refused, 0, table["end_ps"] - table["departed_ps"])
    ends, which = np.unique(pairs, axis=0, return_inverse=True)
    busy = np.bincount(which.reshape(-1), weights=length.astype(np.float64))
    return [(int(ends[i][0]), int(ends[i][1])) for i in np.argsort(-busy, kind="stable")]


def held_rows(
    result: Result,
    fibre: tuple[int, int] | None = None,
    span: Span | None = None,
    *,
    replication: int = 0,
) -> list[Held]:
    """Return the bursts of a fibre, in the order in which they leave its node.

    Parameters
    ----------
    result
        A run that traced ``bursts``.
    fibre
        Of a mesh: numbers of its nodes; by default the busiest. On a path, the fibre of its data
        direction is taken.
    span
        The part of time; by default that of `SHOWN` bursts about the first one lost.
    replication
        Its number.

    Returns
    -------
    list of Held
        One entry per burst, with times in seconds.
    """
    mesh = Flows(result, replication).is_mesh
    if fibre is not None and not mesh:
        raise InputError("a path has one fibre in each direction\n  fix: leave out --fibre")
    if mesh:
        busiest = _busiest(result, replication)
        known = fibres(result, replication=replication)
        if fibre is not None and fibre not in known:
            shown = ", ".join(f"{a}-{b}" for a, b in sorted(known))
            raise InputError(f"no burst crossed a fibre {fibre[0]}-{fibre[1]}\n  fix: {shown}")
        rows = _of_mesh(result, fibre or busiest, replication)
    else:
        rows = _of_path(result, replication)
    rows.sort(key=lambda row: row.start_s)
    kept = _about(rows) if span is None else _within(rows, span)
    if not kept:
        raise InputError(
            "no burst is on the fibre in this time\n  fix: give another --start and --end"
        )
    if len(kept) > MOST_BURSTS:
        raise InputError(
            f"{len(kept):,} bursts are more than a figure can show\n"
            "  fix: choose a shorter time with --start and --end"
        )
    return kept


def _busiest(result: Result, replication: int) -> tuple[int, int]:
    known = fibres(result, replication=replication)
    if not known:
        raise InputError("no burst crossed a fibre\n  fix: make a longer run")
    return known[0]


def _within(rows: Sequence[Held], span: Span) -> list[Held]:
    end = float("inf") if span.end_s is None else span.end_s
    return [row for row in rows if row.end_s >= span.start_s and row.start_s <= end]


def _about(rows: Sequence[Held]) -> list[Held]:
    signs = {_LOST.name, _REFUSED.name, _TAKEN.name}
    lost = (i for i, row in enumerate(rows) if row.sign in signs)
    first = max(next(lost, 0) - SHOWN // 2, 0)
    return list(rows[first : first + SHOWN])


def _of_mesh(result: Result, fibre: tuple[int, int], replication: int) -> list[Held]:
    import numpy as np

    origin, target = fibre
    where = {"replication": replication, "from": origin, "to": target}
    hops = result.table("bursts_hops").where(**where)
    bursts = result.bursts.where(replication=replication)
    mine = bursts.take(np.isin(bursts["burst"], hops["burst"]))
    facts = {row["burst"]: row for row in mine.to_pylist()}
    rows: list[Held] = []
    for hop in hops.to_pylist():
        burst = facts[hop["burst"]]
        refused = hop["wavelength"] is None
        rows.append(
            Held(
                hop["burst"],
                hop["wavelength"],
                hop["departed_ps"] * 1e-12,
                hop["end_ps"] * 1e-12,
                burst["closed_ps"] * 1e-12 if hop["hop"] == 0 else None,
                _here(burst) if refused else _fate(burst),
                burst["direction"],
                burst["bytes"],
                burst["cause"],
            )
        )
    return rows


def _of_path(result: Result, replication: int) -> list[Held]:
    rate = Flows(result, replication).link_bps
    rows: list[Held] = []
    for burst in result.bursts.where(replication=replication, direction="data").to_pylist():
        left = burst["departed_ps"] is not None
        start_s = (burst["departed_ps"] if left else burst["lost_ps"]) * 1e-12
        rows.append(
            Held(
                burst["burst"],
                0 if left else None,
                start_s,
                start_s + burst["bytes"] * 8 / rate,
                burst["closed_ps"] * 1e-12,
                _fate(burst) if left else _here(burst),
                burst["direction"],
                burst["bytes"],
                burst["cause"],
            )
        )
    return rows


def _here(burst: dict[str, Any]) -> str:
    return _TAKEN.name if burst["cause"] in TAKES else _REFUSED.name


def _fate(burst: dict[str, Any]) -> str:
    by_fate = {"lost": _LOST.name, "delivered": _DELIVERED.name}
    return by_fate.get(burst["fate"], _UNDER_WAY.name)


def occupancy_chart(
    result: Result,
    fibre: tuple[int, int] | None = None,
    *,
    start_s: float | None = None,
    end_s: float | None = None,
    replication: int = 0,
    width: int = 680,
) -> Any:
    """Draw the wavelengths of a fibre as lanes, with the bursts that hold them.

    White space in a lane is a void. A burst that found no free wavelength is drawn below, at its
    time. At the first fibre of its path a thin line begins when the burst was closed: its length is
    the offset time plus the waiting time.

    Parameters
    ----------
    result
        A run that traced ``bursts``.
    fibre, replication
        As of `held_rows`.
    start_s, end_s
        The part of time; by default that of some bursts about the first one lost.
    width
        In points.

    Returns
    -------
    altair.Chart
        The figure.
    """
    import altair as alt

    asked = None if start_s is None and end_s is None else Span(start_s or 0.0, end_s)
    mesh = Flows(result, replication).is_mesh
    if mesh and fibre is None:
        fibre = _busiest(result, replication)
    rows = held_rows(result, fibre, asked, replication=replication)
    origin, scale, unit = _scale(rows, asked)
    lanes = _lanes(result, rows, mesh=mesh)
    ends = _ends(rows, asked)
    x_scale = alt.Scale(domain=[(end - origin) * scale for end in ends], nice=False)
    title = f"time ({unit})" if origin == 0 else f"time after {origin:g} s ({unit})"
    found = {row.sign for row in rows}
    offsets = any(row.closed_s is not None and row.closed_s < row.start_s for row in rows)
    signs = [sign for sign in _SIGNS if sign.name in found]
    legend = theme.Legend([*signs, *([_OFFSET] if offsets else [])])
    drawn = [_drawn(row, origin, scale, (ends[1] - ends[0]) / width) for row in rows]

    def x(name: str) -> Any:
        axis = alt.Axis(labelFlush=False, grid=False, tickCount=8)
        return alt.X(f"{name}:Q", title=title, scale=x_scale, axis=axis)

    y = alt.Y(
        "lane:N",
        title="wavelength",
        sort=lanes,
        scale=alt.Scale(domain=lanes, padding=0.25),
        axis=alt.Axis(domain=False, ticks=False, labelPadding=6, titleAnchor="middle"),
    )
    name = "the path, data" if fibre is None else f"fibre {fibre[0]}–{fibre[1]}"
    chart = alt.layer(
        _background(lanes, y),
        _bursts(drawn, legend, x("start"), y),
        *([_offsets(drawn, legend, x("closed"), y)] if offsets else []),
        legend.layer(),
    )
    height = 26 * len(lanes) + 8
    return theme.configured(chart.properties(width=width, height=height, title=name))


def _bursts(drawn: list[dict[str, Any]], legend: theme.Legend, x: Any, y: Any) -> Any:
    import altair as alt

    names = ["burst", "lane", "start", "end", "sign", "kind", "bytes", "cause", "wide"]
    return (
        alt.Chart(theme.inline(drawn, names))
        # The frame makes a bar visible even if it is thinner than a point.
        .mark_bar(clip=True, filled=True, strokeWidth=0.7)
        .encode(
            x=x,
            x2="end:Q",
            y=y,
            color=legend.colour(),
            stroke=alt.condition("datum.wide", alt.value("white"), legend.stroke()),
            tooltip=["burst:Q", "kind:N", "sign:N", "cause:N", "bytes:Q", "start:Q", "end:Q"],
        )
    )


def _offsets(drawn: list[dict[str, Any]], legend: theme.Legend, x: Any, y: Any) -> Any:
    import altair as alt

    rows = [row for row in drawn if row["closed"] is not None and row["closed"] < row["start"]]
    base = alt.Chart(theme.inline(rows, ["closed", "start", "lane"]))
    line = base.transform_calculate(sign=f"'{_OFFSET.name}'").mark_rule(
        clip=True, strokeWidth=1, yOffset=9
    )
    return line.encode(x=x, x2="start:Q", y=y, color=legend.colour())


def _background(lanes: list[str], y: Any) -> Any:
    import altair as alt

    rows = [{"lane": lane} for lane in lanes if lane != _NONE]
    return (
        alt.Chart(theme.inline(rows, ["lane"]))
        .mark_bar(color="#f1f2f5")
        .encode(y=y, x=alt.value(0), x2=alt.value("width"))
    )


def _drawn(row: Held, origin: float, scale: float, point_s: float) -> dict[str, Any]:
    def shown(t_s: float) -> float:
        return round((t_s - origin) * scale, 6)

    return {
        "burst": row.burst,
        "lane": _NONE if row.wavelength is None else f"{row.wavelength}",
        "start": shown(row.start_s),
        "end": shown(row.end_s),
        "closed": None if row.closed_s is None else shown(row.closed_s),
        "wide": int(row.end_s - row.start_s > 3 * point_s),
        "sign": row.sign,
        "kind": row.kind,
        "bytes": row.bytes,
        "cause": row.cause,
    }


def _lanes(result: Result, rows: Sequence[Held], *, mesh: bool) -> list[str]:
    count = int(result.scenario["network"].get("wavelengths") or 1) if mesh else 1
    used = max((row.wavelength or 0 for row in rows), default=0) + 1
    refused = any(row.wavelength is None for row in rows)
    return [*(f"{n}" for n in range(max(count, used))), *([_NONE] if refused else [])]


def _ends(rows: Sequence[Held], span: Span | None) -> tuple[float, float]:
    first, last = min(row.start_s for row in rows), max(row.end_s for row in rows)
    if span is None:
        return first, last
    return span.start_s, last if span.end_s is None else span.end_s


def _scale(rows: Sequence[Held], span: Span | None) -> tuple[float, float, str]:
    """Return where time begins, and its unit: a late instant has too many digits for an axis."""
    first, last = _ends(rows, span)
    length = last - first
    unit, scale = "s", 1.0
    for name, factor in (("ms", 1e3), ("µs", 1e6)):
        if length * scale < 2:
            unit, scale = name, factor
    digits = max(0, int(np.ceil(-np.log10(max(length, 1e-12)))))
    origin = np.floor(first * 10**digits) / 10**digits
    return float(origin) if first > length else 0.0, scale, unit
