"""A measure against a parameter, from results that differ in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from burstlab.completion import FIX, is_of_completion
from burstlab.directories import is_result
from burstlab.errors import InputError
from burstlab.plot import theme
from burstlab.plot.curves import Axes, Curve, CurvePanel, Dot, curve_chart
from burstlab.quantities import number

if TYPE_CHECKING:
    from burstlab.results import Result

_MEGA = ("goodput_bps", "throughput_bps")


def results_in(directory: Path) -> list[Result]:
    """Return the results in the directories of a directory."""
    from burstlab.results import read

    found = sorted(path for path in directory.glob("*/") if is_result(path))
    if not found:
        raise InputError(f"{directory}: holds no directories of results\n  fix: name their parent")
    return [read(path) for path in found]


def parameter(result: Result, path: str) -> Any:
    """Return a field of the resolved scenario; TCP's are those of the first flow."""
    node: Any = result.scenario
    steps = path.split(".")
    if steps[0] == "tcp":
        kinds = [*result.scenario.get("flows", []), *result.scenario.get("demand", [])]
        node, steps = (kinds[0]["tcp"] if kinds else {}), steps[1:]
    for step in steps:
        name, _, index = step.partition("[")
        node = node.get(name) if isinstance(node, Mapping) else None
        if index and node is not None:
            node = node[int(index.rstrip("]"))]
        if node is None:
            raise InputError(f"{path}: the scenario has no such field\n  fix: see scenario.toml")
    return node


def sweep_curves(
    results: Sequence[Result], x: str, y: str = "goodput_bps", by: str | None = None
) -> list[Curve]:
    """Return the mean of a metric with its interval over the values of a parameter.

    Parameters
    ----------
    results
        Runs, each with its replications.
    x
        The parameter, such as ``"tcp.window"`` or ``"edge.timer"``; times are in ms.
    y
        The metric, as ``summary`` names it; of a rate in Mb/s.
    by
        A parameter that sets the curves apart.
    """
    dots: dict[str, dict[float, Dot]] = {}
    for result in results:
        estimate = result.estimates().get(y)
        if estimate is None:
            if is_of_completion(y):
                raise InputError(f"{y}: transfers were under way at the end\n  fix: {FIX}")
            raise InputError(f"{y}: no metric of these results\n  fix: see summary.json")
        scale = 1e-6 if y in _MEGA else 1.0
        ci95 = estimate.get("ci95")
        dot = Dot(
            number(parameter(result, x)),
            estimate["mean"] * scale,
            None if ci95 is None else ci95 * scale,
            estimate["n"],
        )
        label = "" if by is None else str(parameter(result, by))
        dots.setdefault(label, {})[dot.x] = dot
    labels = sorted(dots)
    return [
        Curve(
            label or "measured",
            theme.SERIES[place % len(theme.SERIES)],
            [dots[label][at] for at in sorted(dots[label])],
            "measured" if place % 2 == 0 else "measured-dashed",
        )
        for place, label in enumerate(labels)
    ]


def sweep_chart(
    results: Sequence[Result],
    x: str,
    y: str = "goodput_bps",
    *,
    by: str | None = None,
    beside: Sequence[Curve] = (),
    log_x: bool = False,
    width: int = 460,
    height: int = 300,
) -> Any:
    """Draw a metric against a parameter, with 95 % intervals, and other curves beside.

    Parameters
    ----------
    results, x, y, by
        As of `sweep_curves`.
    beside
        Curves of others: a formula, or what a paper published.
    log_x
        Whether x is drawn in a logarithmic scale.
    width, height
        In points.
    """
    curves = sweep_curves(results, x, y, by)
    unit = {"goodput_bps": "goodput (Mb/s)", "throughput_bps": "throughput (Mb/s)"}.get(y, y)
    axes = Axes(_title(results[0], x), unit, log_x=log_x, columns=1, width=width, height=height)
    return curve_chart([CurvePanel("", [*curves, *beside])], axes)


def _title(result: Result, path: str) -> str:
    value = parameter(result, path)
    text = value if isinstance(value, str) else ""
    return f"{path} (ms)" if text.endswith("s") and "b/s" not in text else path
