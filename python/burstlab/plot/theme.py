"""Colours, fonts and sizes that all figures share."""

from __future__ import annotations

import hashlib
import math
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

INK = "#1f2430"
MUTED = "#6b7280"
GRID = "#e7e9ee"

FIRST = "#3b6fb6"
AGAIN = "#e08a1e"
LOST = "#c8102e"
TIMEOUT = "#7a3e9d"
CUT = "#2f8f6b"
FALSE = "#d1651b"
PENDING = "#9aa3b0"

#: Series of a comparison, in the order in which they are drawn.
SERIES = ("#3b6fb6", "#d1651b", "#27ab71", "#662959")

#: More of them, where there are more series than four.
MANY = (*SERIES, "#b58900", "#0f8a94", "#c44e86", "#7a7f2a")

#: The one format of the numbers of axes: six digits, no separators, no zeros at the end.
NUMBER = ".6~g"

FONT = "Inter, 'Helvetica Neue', Arial, 'DejaVu Sans', sans-serif"


#: The common look, as Vega-Lite has it.
CONFIG: dict[str, Any] = {
    "font": FONT,
    "background": "white",
    "numberFormat": NUMBER,
    "view": {"stroke": "#c9cdd6"},
    "axis": {
        "gridColor": GRID,
        "domainColor": MUTED,
        "tickColor": MUTED,
        "labelColor": INK,
        "titleColor": INK,
        "titleFontWeight": "normal",
        "labelFontSize": 11,
        "titleFontSize": 12,
        # Vega moves the first and the last label away from their ticks.
        "labelFlush": False,
    },
    "legend": {
        "orient": "bottom",
        "titleColor": INK,
        "labelColor": INK,
        "labelFontSize": 12,
        "symbolSize": 70,
        "symbolOpacity": 1,
    },
    "title": {"color": INK, "fontSize": 14, "anchor": "start", "subtitleColor": MUTED},
}


def configured(chart: Any) -> Any:
    """Give a chart the common look; in a notebook it needs no network."""
    from burstlab.plot.notebook import offline

    offline()
    return chart.configure(**CONFIG)


def broken(height: float, *, across: str = "y", at: tuple[float, Any] | None = None) -> Any:
    """Return a layer that marks an axis which does not begin at zero: two strokes across it.

    Parameters
    ----------
    height
        Of the panel, in points.
    across
        ``"y"`` for the vertical axis, at its lower end, ``"x"`` for the horizontal one, at its
        left end.
    at
        Another place on the horizontal axis, and the scale of this axis.
    """
    import altair as alt

    x, y = (0.0, height - 9.0) if across == "y" else (9.0, height)
    angle = 0 if across == "y" else 90
    place = alt.value(x) if at is None else alt.X("broken:Q", scale=at[1])
    row = {"broken": 1 if at is None else at[0]}
    base = alt.Chart(inline([row], ["broken"])).encode(x=place, y=alt.value(y))
    gap = base.mark_point(
        shape=_GAP, filled=True, fill="white", size=64, opacity=1, strokeWidth=0, angle=angle
    )
    marks = base.mark_point(
        shape=_STROKES, filled=False, stroke=MUTED, size=64, opacity=1, strokeWidth=1.1,
        angle=angle,
    )  # fmt: skip
    return alt.layer(gap, marks)


def ruled(value: float | None, scale: Any) -> list[Any]:
    """Return the layer of an upright rule at a value; none where there is no value.

    Parameters
    ----------
    value
        On the horizontal axis.
    scale
        Of this axis.
    """
    import altair as alt

    if value is None:
        return []
    rule = alt.Chart(inline([{"x": value}], ["x"])).mark_rule(color=MUTED, strokeWidth=1)
    return [rule.encode(x=alt.X("x:Q", scale=scale))]


def broken_title(text: str, room: float, character: float = 6.0) -> str | list[str]:
    """Break the title of an axis that is longer than the axis; "B = 32" stays in one line.

    Parameters
    ----------
    text
        The title.
    room
        Length of the axis, in points.
    character
        Width of a character, in points.
    """
    lines = textwrap.wrap(text.replace(" = ", "\u00a0=\u00a0"), max(12, int(room / character)))
    return lines if len(lines) > 1 else text


def from_zero(low: float, high: float) -> bool:
    """Whether an axis of values from `low` to `high` may as well begin at zero."""
    return 0.0 <= low <= 0.4 * high


def rounded(low: float, high: float, steps: int = 6) -> tuple[float, float]:
    """Return round ends of an axis around values, and the same for the same values.

    Parameters
    ----------
    low, high
        The ends of the values.
    steps
        About how many steps the axis has.
    """
    if from_zero(low, high):
        low = 0.0
    span = high - low or abs(high) or 1.0
    power = 10.0 ** math.floor(math.log10(span / steps))
    step = next(power * part for part in (1.0, 2.0, 5.0, 10.0) if power * part * steps >= span)
    first, last = step * math.floor(low / step + 1e-9), step * math.ceil(high / step - 1e-9)
    return (first, last) if first < last else (first - step, last + step)


def rounded_log(low: float, high: float) -> tuple[float, float]:
    """Return ends of a logarithmic axis around values: 1, 2 or 5 times a power of ten.

    Parameters
    ----------
    low, high
        The ends of the values, above zero.
    """
    first = max(step for step in _steps_log(low) if step <= low * (1.0 + 1e-9))
    last = min(step for step in _steps_log(high) if step >= high * (1.0 - 1e-9))
    return (first, last) if first < last else (first / 2.0, last * 2.0)


def ticks_log(low: float, high: float) -> list[float]:
    """Return the labelled values of a logarithmic axis from `low` to `high`.

    Over three decades they are powers of ten, below that 1, 2 and 5 times these.
    """
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    parts = (1.0,) if high / low > 1001.0 else (1.0, 2.0, 5.0)
    found = [float(f"{part}e{decade}") for decade in decades for part in parts]
    return [one for one in found if low * (1.0 - 1e-9) <= one <= high * (1.0 + 1e-9)]


def _steps_log(value: float) -> list[float]:
    decade = math.floor(math.log10(value))
    steps = [float(f"{part}e{one}") for one in (decade, decade + 1) for part in (1, 2, 5)]
    return [float(f"5e{decade - 1}"), *steps]


def strokes(**more: Any) -> Any:
    """Return a legend of lines, long enough for their dashes to be seen."""
    import altair as alt

    return alt.Legend(symbolType="stroke", symbolStrokeWidth=2, symbolSize=700, **more)


def inline(rows: list[dict[str, Any]], columns: list[str]) -> Any:
    """Embed rows in a chart as CSV text, a third of the size of JSON objects."""
    import altair as alt

    text, parse = as_csv(rows, columns)
    # Without a name of its own Vega-Lite takes one text of CSV for another.
    name = "rows-" + hashlib.sha256(text.encode()).hexdigest()[:16]
    return alt.InlineData(name=name, values=text, format=alt.CsvDataFormat(type="csv", parse=parse))


def as_csv(rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> tuple[str, dict[str, str]]:
    """Return rows as CSV text, and which of its columns are numbers."""
    lines = [",".join(columns)]
    lines += [",".join(_cell(row.get(name)) for name in columns) for row in rows]
    numbers = {
        name: "number"
        for name in columns
        if all(isinstance(row.get(name), (int, float, type(None))) for row in rows)
    }
    return "\n".join(lines), numbers


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.6g}" if abs(value) < 1000 else f"{value:.9g}"
    text = str(value)
    return '"' + text.replace('"', '""') + '"' if "," in text or '"' in text else text


@dataclass(frozen=True)
class Sign:
    """How one kind of mark or line is drawn, and named in the legend.

    Attributes
    ----------
    name
        Its name in the legend.
    colour
        Its colour.
    shape
        Of marks: a shape of Vega; of lines one of `LINES`.
    """

    name: str
    colour: str
    shape: str


def _bars(*spans: tuple[float, float]) -> str:
    return "".join(f"M{a},-0.18L{b},-0.18L{b},0.18L{a},0.18Z" for a, b in spans)


def _thin(*spans: tuple[float, float]) -> str:
    return "".join(f"M{a},-0.1L{b},-0.1L{b},0.1L{a},0.1Z" for a, b in spans)


#: A full mark, and a hollow one: its inner edge runs in the opposite direction.
_DISC = "M0.4,0A0.4,0.4,0,1,1,-0.4,0A0.4,0.4,0,1,1,0.4,0Z"
_RING = _DISC + "M0.24,0A0.24,0.24,0,1,0,-0.24,0A0.24,0.24,0,1,0,0.24,0Z"
_DIAMOND = "M0,-0.72L0.72,0L0,0.72L-0.72,0ZM0,-0.48L-0.48,0L0,0.48L0.48,0Z"

#: Two strokes across an axis, and the gap between them.
_STROKES = "M-0.6,-0.1L0.6,-0.7M-0.6,0.7L0.6,0.1"
_GAP = "M-0.6,-0.1L0.6,-0.7L0.6,0.1L-0.6,0.7Z"

#: A published value at a place of ours: a level.
_LEVEL = "M-1,-0.14L1,-0.14L1,0.14L-1,0.14Z"

#: The same, of a published place with a value of ours.
_UPRIGHT = "M-0.14,-1L0.14,-1L0.14,1L-0.14,1Z"

#: Full marks of series that stand side by side, which differ without their colours too.
FULL = (
    _DISC,
    "M-0.36,-0.36L0.36,-0.36L0.36,0.36L-0.36,0.36Z",
    "M0,-0.5L0.46,0.34L-0.46,0.34Z",
    "M0,-0.5L0.5,0L0,0.5L-0.5,0Z",
)

#: A run of the second series, where runs are drawn one by one.
RING = _RING

#: The one mark of a published value, hollow, and the marks where one of its two places is ours.
PUBLISHED = _DIAMOND
PLACED, UPRIGHT = _LEVEL, _UPRIGHT

#: Lines in a legend, and the dashes they are drawn with.
SOLID, DASHED, DOTTED = "solid", "dashed", "dotted"
LINES = {
    SOLID: (_bars((-1.4, 1.4)), [1, 0]),
    DASHED: (_bars((-1.4, -0.2), (0.3, 1.5)), [6, 3]),
    DOTTED: (_bars((-1.4, -0.9), (-0.45, 0.05), (0.5, 1.0)), [2, 2]),
    # The looks of curves: thinner, and with the mark that measured and published values have.
    "line": (_thin((-1.6, 1.6)), [1, 0]),
    "dashed": (_thin((-1.6, -0.6), (-0.2, 0.6), (1.0, 1.6)), [6, 4]),
    "measured": (_thin((-1.6, 1.6)) + _DISC, [1, 0]),
    "measured-dashed": (_thin((-1.6, -0.9), (0.9, 1.6)) + _DISC, [7, 5]),
    "published": (_DIAMOND, [2, 3]),
    "placed": (_LEVEL, [2, 3]),
    "placed-x": (_UPRIGHT, [2, 3]),
    "runs": (_DISC, [1, 0]),
    "runs-open": (_RING, [1, 0]),
    "points": (_DISC, [1, 0]),
}


class Legend:
    """One legend for layers of marks and lines: a layer names what it draws in `field`.

    Parameters
    ----------
    signs
        The marks and lines, in order.
    title
        The varied field whose values are their names; empty if the names say it.
    more
        Properties of the legend, as Vega-Lite calls them.
    """

    def __init__(self, signs: Sequence[Sign], title: str = "", **more: Any) -> None:
        self._more: dict[str, Any] = {"labelLimit": 300, **more}
        self._title = title or None
        self._signs = list(signs)
        #: The names in the legend, in order.
        self.names = [sign.name for sign in signs]

    def inline(self, rows: list[dict[str, Any]], columns: list[str]) -> Any:
        """Embed rows with a column ``sign``; a sign that the legend lacks would not be drawn."""
        lost = {row["sign"] for row in rows} - set(self.names)
        assert not lost, f"the legend lacks {sorted(lost)}: these would not be drawn"
        return inline(rows, columns)

    def colour(self) -> Any:
        """Return the encoding of colours, by the field ``sign``."""
        import altair as alt

        colours = [sign.colour for sign in self._signs]
        scale = alt.Scale(domain=self.names, range=colours)
        legend = alt.Legend(symbolOpacity=1, symbolStrokeWidth=0, **self._more)
        return alt.Color("sign:N", title=self._title, scale=scale, legend=legend)

    def lane(self) -> Any:
        """Return the encoding of places below one another within a row, by the field ``sign``."""
        import altair as alt

        return alt.YOffset("sign:N", scale=alt.Scale(domain=self.names, paddingOuter=0.5))

    def stroke(self) -> Any:
        """Return the encoding of frames in the colour of their content."""
        import altair as alt

        colours = [sign.colour for sign in self._signs]
        scale = alt.Scale(domain=self.names, range=colours)
        return alt.Stroke("sign:N", title=None, scale=scale, legend=None)

    def shape(self) -> Any:
        """Return the encoding of shapes, by the field ``sign``."""
        import altair as alt

        shapes = [LINES.get(sign.shape, (sign.shape,))[0] for sign in self._signs]
        scale = alt.Scale(domain=self.names, range=shapes)
        return alt.Shape("sign:N", title=self._title, scale=scale)

    def layer(self) -> Any:
        """Return a layer that draws nothing and has the legend show everything."""
        import altair as alt

        rows = [{"sign": name} for name in self.names]
        return (
            alt.Chart(inline(rows, ["sign"]))
            .transform_filter("false")
            .mark_point(filled=True, opacity=1, strokeWidth=0)
            .encode(color=self.colour(), shape=self.shape())
        )

    def lines(self, rows: list[dict[str, Any]], columns: list[str], name: str) -> Any:
        """Return a layer of one kind of line, without its places."""
        import altair as alt

        sign = self._signs[self.names.index(name)]
        return (
            alt.Chart(inline(rows, columns))
            .transform_calculate(sign=f"'{name}'")
            .mark_line(interpolate="step-after", clip=True, strokeDash=LINES[sign.shape][1])
            .encode(color=self.colour())
        )

    def rules(self, rows: list[dict[str, Any]], columns: list[str], name: str) -> Any:
        """Return a layer of one kind of rule, without its places."""
        import altair as alt

        sign = self._signs[self.names.index(name)]
        return (
            alt.Chart(inline(rows, columns))
            .transform_calculate(sign=f"'{name}'")
            .mark_rule(strokeWidth=1.6, clip=True, strokeDash=LINES[sign.shape][1])
            .encode(color=self.colour())
        )
