"""Figures as files: PNG for the screen, SVG and PDF for print, CSV for other programs."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, cast

from burstlab.errors import InputError
from burstlab.extras import extra
from burstlab.plot.drawing import Drawer
from burstlab.printable import shown
from burstlab.storage.directories import ready_file
from burstlab.storage.files import put, whole
from burstlab.storage.parquet import writing

#: Extensions of the formats that a figure can be written in.
KINDS = (".svg", ".pdf", ".png")

#: Draws for all of a process.
_drawer = Drawer()


def save(
    chart: Any, rows: Sequence[Mapping[str, Any]], path: Path, *, column: bool = False
) -> list[Path]:
    """Write ``path.png``, ``path.svg`` and ``path.csv``; pictures need the extra ``pictures``.

    Parameters
    ----------
    chart
        An Altair chart, or its specification.
    rows
        The numbers behind it.
    path
        Where, without extension.
    column
        Whether the pictures are for a column of print, see `burstlab.plot.column`.

    Returns
    -------
    list of Path
        The files that were written.
    """
    kinds = (".png", ".svg") if find_spec("vl_convert") else ()
    pictures = [write(chart, path.with_suffix(kind), column=column) for kind in kinds]
    return [*pictures, *([write_csv(rows, path.with_suffix(".csv"))] if rows else [])]


def write(chart: Any, out: str | os.PathLike[str], *, column: bool = False) -> Path:
    """Write one file: ``.svg`` and ``.pdf`` are vectors, ``.png`` has two pixels a point.

    Parameters
    ----------
    chart
        An Altair chart, or its specification.
    out
        The file; its extension selects the format.
    column
        Whether it is for a column of print: 8.5 cm wide, type of at least 7 points, no title, and
        a PNG with 300 pixels an inch.

    Returns
    -------
    Path
        The file.
    """
    path = Path(out)
    if path.suffix not in KINDS:
        raise InputError(
            f"{path}: the ending is no picture format\n  fix: end the name in {', '.join(KINDS)}"
        )
    ready_file(path)
    if not find_spec("vl_convert"):
        extra("vl_convert", f"a picture ({path.name})")
    spec = json.dumps(specification(chart))
    picture = _drawer.draw(spec, path.suffix[1:], _vegalite_version(), column=column)
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        put(path, picture)
    return path


def specification(chart: Any) -> dict[str, Any]:
    """Return the Vega-Lite specification of a chart; a specification is returned as it is.

    Control characters in text are replaced by escapes, because SVG does not allow them.
    """
    if isinstance(chart, dict):
        return _visible(cast("dict[str, Any]", chart))
    import altair as alt

    with alt.data_transformers.enable("default", max_rows=None):
        return _visible(chart.to_dict())


def _visible(value: Any) -> Any:
    if isinstance(value, str):
        return shown(value, lines=True)
    if isinstance(value, dict):
        return {shown(str(name)): _visible(one) for name, one in value.items()}
    return [_visible(one) for one in value] if isinstance(value, list) else value


def write_csv(rows: Sequence[Mapping[str, Any]], path: Path) -> Path:
    """Write rows as CSV, with the fields of all rows as columns."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    with (
        writing(path),
        whole(path) as part,
        part.open("w", encoding="utf-8", newline="") as file,
    ):
        writer = csv.DictWriter(file, names, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    return path


def _vegalite_version() -> str:
    """Name the Vega-Lite that Altair writes for, as vl-convert calls it."""
    import altair as alt

    major, minor, *_ = alt.SCHEMA_VERSION.lstrip("v").split(".")
    return f"{major}.{minor}"
