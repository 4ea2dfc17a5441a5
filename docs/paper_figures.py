"""Draw the figures of the pages in docs/papers from targets that were reproduced.

    python docs/paper_figures.py DIRECTORY [PAPER ...]

``burstlab reproduce all --out DIRECTORY`` writes ``DIRECTORY/PAPER/TARGET.json``, with the figures
of a target. The figures of `FIGURES` become docs/images/PAPER-FIGURE.svg, each as small as its
marks allow. The head of a figure names its version, effort and seed. Figures of targets that are
not in DIRECTORY stay as they are.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from burstlab.plot.saving import write

IMAGES = Path(__file__).parent / "images"

#: The figures of each page, by the targets that draw them.
FIGURES = {
    "yu2004": ("table1", "table2", "table3", "table5"),
    "shihada": ("fig6", "fig1", "readings"),
    "lu-hunter": ("fig8", "fig10", "fig1"),
    "martinez-yelmo": ("fig3", "window"),
    "ramantas": ("fig5a", "fig6a", "assembly"),
}

_SVG = "{http://www.w3.org/2000/svg}"

#: Attributes that change nothing in a picture without an animation, and what they are by default.
_IDLE = {"opacity": "1", "stroke-width": "1", "stroke-opacity": "1", "fill-opacity": "1"}
_MUTE = ("class", "role", "pointer-events", "aria-hidden", "aria-label", "aria-roledescription")

#: Attributes that are places, in points.
_PLACES = {"d", "transform", "x", "y", "x1", "x2", "y1", "y2"}


def main(arguments: Sequence[str]) -> int:
    """Draw the figures of a directory, of all papers or of the named ones."""
    directory = Path(arguments[0])
    for paper in arguments[1:] or FIGURES:
        for name in FIGURES[paper]:
            source = directory / paper / f"{name}.json"
            if source.exists():
                spec = _of(json.loads(source.read_text(encoding="utf-8")), f"{paper}-{name}")
                path = IMAGES / f"{paper}-{name}.svg"
                path.write_text(_small(write(spec, path).read_text()), encoding="utf-8")
                print(f"{path}: {path.stat().st_size:,} bytes")
    return 0


def _of(section: dict[str, Any], name: str) -> dict[str, Any]:
    (text,) = [one["spec"] for one in section["charts"] if one["id"] == f"chart-{name}"]
    spec = json.loads(text)
    spec["config"]["aria"] = False
    return spec


def _small(text: str) -> str:
    """Return a drawing without what is not to be seen, and with places to a tenth of a point."""
    ElementTree.register_namespace("", _SVG[1:-1])
    root = ElementTree.fromstring(text)
    fonts = {one.get("font-family", "") for one in root.iter(f"{_SVG}text")}
    for one in root.iter():
        for name in _MUTE:
            one.attrib.pop(name, None)
        for name, idle in _IDLE.items():
            if one.get(name) == idle:
                one.attrib.pop(name)
        if len(fonts) == 1:
            one.attrib.pop("font-family", None)
    if len(fonts) == 1 and fonts != {""}:
        root.set("font-family", fonts.pop())
    _prune(root)
    for one in root.iter():
        for name in _PLACES.intersection(one.attrib):
            one.set(name, re.sub(r"-?\d+\.\d+", _rounded, one.attrib[name]))
    return ElementTree.tostring(root, encoding="unicode") + "\n"


def _rounded(found: re.Match[str]) -> str:
    return f"{round(float(found[0]), 1):g}"


def _prune(part: ElementTree.Element) -> None:
    """Remove groups without content, paths without length, and groups that set nothing."""
    for child in list(part):
        _prune(child)
        empty = child.tag == f"{_SVG}g" and not len(child)
        gone = child.tag == f"{_SVG}path" and child.get("d", "") in ("", "M0,0h0v0h0Z")
        hidden = child.get("display") == "none"
        if empty or gone or hidden:
            part.remove(child)
        elif child.tag == f"{_SVG}g" and not child.attrib:
            place = list(part).index(child)
            part.remove(child)
            for inner in reversed(list(child)):
                part.insert(place, inner)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
