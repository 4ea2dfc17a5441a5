"""Figures for a column of a printed paper: 8.5 cm wide, with type of at least 7 points.

One point of a drawing is one point of print. Panels that stand side by side are put one below the
other, all type gets the sizes of `TYPE`, and panels are made as wide as the column leaves room for.
A title is left out, since a printed figure has a caption.
"""

from __future__ import annotations

import copy
import json
import re
import textwrap
from collections.abc import Callable, Mapping
from typing import Any, cast

from burstlab.plot import theme

#: Width of a column in centimetres, and in points of print.
WIDTH_CM = 8.5
WIDTH = WIDTH_CM / 2.54 * 72.0

#: Least size of type in points; sizes of labels, titles of axes and titles of panels.
LEAST = 7.0
TYPE = {"labelFontSize": 7.0, "titleFontSize": 8.0, "title": 8.5}

#: A panel is at least as wide and at most as high as this, in points.
_NARROWEST, _HIGHEST = 90.0, 150.0

#: Points that a character of the title of an axis takes, about.
_CHARACTER = 4.2

#: Characters of a line: of the name of a row, and of a legend with such rows and without them.
_IN_ROWS, _IN_LEGEND = 26, 44

_SIZE = re.compile(r'<svg [^>]*?width="([\d.]+)" height="([\d.]+)"')


def in_column(spec: Mapping[str, Any], draw: Callable[[dict[str, Any]], str]) -> str:
    """Draw a figure for a column.

    Parameters
    ----------
    spec
        A specification of Vega-Lite.
    draw
        Draws one as SVG.

    Returns
    -------
    str
        The SVG, as wide as the column.
    """
    room = WIDTH - 40.0
    picture = ""
    for _ in range(5):
        picture = draw(_narrowed(spec, room))
        width, _ = _size(picture)
        if abs(width - WIDTH) <= 1.0 or (room <= _NARROWEST and width > WIDTH):
            break
        # Labels of axes take the same place whatever the panel's width is.
        room = max(_NARROWEST, room + WIDTH - width)
    return _sized(picture)


def _size(picture: str) -> tuple[float, float]:
    found = _SIZE.search(picture)
    assert found is not None, "a drawing has no size"
    return float(found[1]), float(found[2])


def _sized(picture: str) -> str:
    """Give a drawing the width of the column; its box is in points."""
    width, height = _size(picture)
    box = max(width, WIDTH)
    cm = f'width="{WIDTH_CM}cm" height="{WIDTH_CM * height / box:.3f}cm"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {cm} viewBox="0 0 {box:.2f} {height:.2f}"'
    return re.sub(
        r'<svg [^>]*?width="[\d.]+" height="[\d.]+" viewBox="[^"]*"',
        head + ' xmlns:xlink="http://www.w3.org/1999/xlink"', picture, count=1,
    )  # fmt: skip


def _narrowed(spec: Mapping[str, Any], room: float) -> dict[str, Any]:
    made = copy.deepcopy(dict(spec))
    made.pop("title", None)
    config = made.setdefault("config", {})
    for part in ("axis", "legend", "header"):
        config[part] = {**config.get(part, {}), **{k: TYPE[k] for k in TYPE if k != "title"}}
    config["axis"] |= {"titlePadding": 3, "labelPadding": 2, "tickSize": 3, "titleLimit": 0}
    config["legend"] |= {"columns": 1, "labelLimit": 190, "rowPadding": 1, "offset": 6}
    config["title"] = {**config.get("title", {}), "fontSize": TYPE["title"], "limit": room + 30}
    config["concat"] = {"spacing": 10}
    _walk(made, room, _IN_ROWS if _rows(made) else _IN_LEGEND)
    _break_titles(made, room, _HIGHEST)
    return made


def _break_titles(part: dict[str, Any], width: float, height: float) -> None:
    """Break titles of axes that are longer than the axis of their panel."""
    height = part["height"] if isinstance(part.get("height"), (int, float)) else height
    for name, room in (("x", width), ("y", height)):
        channel = part.get("encoding", {}).get(name, {})
        for holder in (channel, channel.get("axis")):
            if isinstance(holder, dict) and isinstance(holder.get("title"), str):
                holder["title"] = theme.broken_title(holder["title"], room, _CHARACTER)
    inside = [*part.get("vconcat", ()), *part.get("concat", ()), *part.get("layer", ())]
    for one in [*inside, part["spec"]] if isinstance(part.get("spec"), dict) else inside:
        _break_titles(one, width, height)


def _rows(part: Mapping[str, Any]) -> list[str]:
    """Return the names of the rows of a panel, if it has rows and no vertical axis of numbers."""
    found = part.get("encoding", {}).get("y", {})
    if isinstance(found, dict) and isinstance(found.get("sort"), list):
        return found["sort"]
    inside = [*part.get("layer", ()), *part.get("hconcat", ()), *part.get("vconcat", ())]
    return next((rows for one in inside if (rows := _rows(one))), [])


def _wrapped(names: list[str], most: int) -> str:
    """Return an expression of Vega for labels that break names longer than this."""
    return f"{json.dumps({name: textwrap.wrap(name, most) for name in names})}[datum.label]"


def _walk(part: dict[str, Any], room: float, most: int) -> None:
    """Put panels side by side one below the other, and give each panel its width."""
    if "hconcat" in part:
        part["vconcat"] = part.pop("hconcat")
    if "concat" in part:
        part["columns"] = 1
    _name_all([*part.get("vconcat", ()), *part.get("concat", ())])
    width = part.get("width")
    if isinstance(width, (int, float)):
        height = part.get("height")
        if isinstance(height, (int, float)):
            rows = _rows(part)
            lines = sum(len(textwrap.wrap(name, _IN_ROWS)) for name in rows)
            least = 9.0 * lines + 5.0 * len(rows) if rows else 70.0
            part["height"] = max(least, min(_HIGHEST, height * room / width))
            _lowered(part, part["height"] - height)
        part["width"] = room
    _shrink(part, most)
    for name in ("vconcat", "concat", "layer"):
        for inner in part.get(name, ()):
            _walk(inner, room, most)
    if isinstance(part.get("spec"), dict):
        _walk(part["spec"], room, most)


def _name_all(panels: list[dict[str, Any]]) -> None:
    """Give each panel the vertical title and names that only the first one has side by side."""
    if not panels:
        return
    titles = [y["title"] for y in _verticals(panels[0]) if y.get("title")]
    for y in [one for panel in panels[1:] for one in _verticals(panel)]:
        if titles and y.get("title", "") is None and not isinstance(y.get("sort"), list):
            y["title"] = titles[0]
        if isinstance(y.get("axis"), dict) and y["axis"].get("labels") is False:
            y["axis"] |= {"labels": True, "ticks": True}


def _verticals(part: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the vertical channels of a panel and of its layers."""
    own = part.get("encoding", {}).get("y")
    inside = [one for layer in part.get("layer", ()) for one in _verticals(layer)]
    return [own, *inside] if isinstance(own, dict) else inside


def _lowered(part: dict[str, Any], by: float) -> None:
    """Move marks whose place is counted from the top of a panel with the lower end of the panel."""
    for layer in part.get("layer", ()):
        _lowered(layer, by)
    y = part.get("encoding", {}).get("y", {})
    if isinstance(y, dict) and isinstance(y.get("value"), (int, float)):
        y["value"] += by


def _shrink(part: dict[str, Any], most: int) -> None:
    """Take sizes of one panel out, where those of the column hold."""
    mark = part.get("mark")
    if isinstance(mark, dict):
        made = cast("dict[str, Any]", mark)
        if "fontSize" in made:
            made["fontSize"] = max(LEAST, float(made["fontSize"]) * 0.7)
        if made.get("type") == "point" and "size" in made:
            made["size"] = float(made["size"]) * 0.5
        if made.get("type") == "tick":
            made |= {
                name: float(made[name]) * 0.7 for name in ("size", "thickness") if name in made
            }
        if "strokeWidth" in made:
            made["strokeWidth"] = float(made["strokeWidth"]) * 0.7
    for channel in part.get("encoding", {}).values():
        if not isinstance(channel, dict):
            continue
        legend, axis = channel.get("legend"), channel.get("axis")
        if isinstance(legend, dict):
            for name in ("columns", "labelLimit", "symbolSize", "labelFontSize"):
                legend.pop(name, None)
            legend |= {"symbolSize": 110, "labelOffset": 8}
            names = channel.get("scale", {}).get("domain")
            if isinstance(names, list) and all(isinstance(name, str) for name in names):
                legend["labelExpr"] = _wrapped(names, most)
        if isinstance(axis, dict):
            if "values" not in axis:
                axis["tickCount"] = 4
            axis.pop("labelFontSize", None)
            axis.pop("titleFontSize", None)
            if isinstance(channel.get("sort"), list):
                axis |= {"labelExpr": _wrapped(channel["sort"], _IN_ROWS), "labelLimit": 200}
