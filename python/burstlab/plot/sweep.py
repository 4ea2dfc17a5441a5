"""A measure against a parameter, from results that differ in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from burstlab.documents.parameters import tcp_of
from burstlab.documents.quantities import number
from burstlab.errors import InputError
from burstlab.measures.completion import FIX, is_of_completion
from burstlab.plot import theme
from burstlab.plot.curves import Axes, Curve, CurvePanel, Dot, curve_chart
from burstlab.statistics import mean_ci95
from burstlab.storage.directories import is_result, settle
from burstlab.studies.metrics import NoMetric, value_at

if TYPE_CHECKING:
    from burstlab.results import Result

_MEGA = ("goodput_bps", "throughput_bps")


def results_in(directory: Path) -> list[Result]:
    """Read the results in the subdirectories of a directory.

    Parameters
    ----------
    directory
        Their parent.

    Returns
    -------
    list of Result
        In the order of their names.
    """
    from burstlab.results import read

    if (directory / "study.json").exists():
        raise InputError(
            f"{directory}: is a study, which has its own figures\n"
            f"  fix: look at {directory / 'report.html'}, or use burstlab.read_study"
        )
    settle(directory)
    found = sorted(path for path in directory.glob("*/") if is_result(path))
    if not found:
        raise InputError(f"{directory}: holds no directories of results\n  fix: name their parent")
    return [read(path) for path in found]


def parameter(result: Result, path: str) -> Any:
    """Return a field of the resolved scenario; Parameters of TCP are taken from the first flow."""
    node: Any = result.scenario
    steps = path.split(".")
    if steps[0] == "tcp":
        kinds = [*result.scenario.get("flows", []), *result.scenario.get("demand", [])]
        node, steps = (tcp_of(result.scenario, kinds[0]) if kinds else {}), steps[1:]
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
        The metric, as ``summary`` names it; rates are in Mb/s. A number of flows is summed over
        flows, a time averaged. Or a path through a summary, as studies name metrics
        (``"flows.mean.goodput_bps"``).
    by
        A parameter with one curve for each of its values.

    Returns
    -------
    list of Curve
        The means, with 95 % intervals.

    Raises
    ------
        If there is no such parameter or metric, if a replication has no value, as transfers were
        unfinished or nothing arrived, or if two results would be at the same point of a curve.
    """
    dots: dict[str, dict[float, Dot]] = {}
    for result in results:
        estimate = _estimate(result, y)
        scale = 1e-6 if _is_rate(y) else 1.0
        ci95 = estimate.get("ci95")
        dot = Dot(
            number(parameter(result, x)),
            estimate["mean"] * scale,
            None if ci95 is None else ci95 * scale,
            estimate["n"],
        )
        label = "" if by is None else str(parameter(result, by))
        curve = dots.setdefault(label, {})
        if dot.x in curve:
            raise InputError(
                f"--x {x}: two results have {parameter(result, x)}"
                f"{'' if by is None else f' and {by} = {label}'}\n"
                "  fix: name a field in which they differ with --by, or leave out one result"
            )
        curve[dot.x] = dot
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


def _estimate(result: Result, y: str) -> Mapping[str, Any]:
    """Return mean, half-width and n of a metric, by either name of it."""
    estimate = result.estimates().get(y)
    if estimate is not None:
        return estimate
    try:
        values = [value_at(one.summary, y) for one in result.replications]
    except NoMetric:
        values = []
    known = [value for value in values if value is not None]
    if known and len(known) == len(values):
        return mean_ci95(known).to_json()
    if is_of_completion(y):
        raise InputError(f"{y}: transfers were unfinished at the end\n  fix: {FIX}")
    if values:
        raise InputError(
            f"{y}: a replication has no such value\n  fix: run it for longer, or leave it out"
        )
    raise InputError(f"{y}: no metric of these results\n  fix: see summary.json")


def _is_rate(y: str) -> bool:
    return y.rpartition(".")[2] in _MEGA


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
    """Draw a metric against a parameter, with 95 % intervals, and other curves for comparison.

    Parameters
    ----------
    results, x, y, by
        As of `sweep_curves`.
    beside
        Other curves: a formula, or published values.
    log_x
        Whether x has a logarithmic scale.
    width, height
        In points.

    Returns
    -------
    altair.Chart
        The figure.
    """
    curves = sweep_curves(results, x, y, by)
    axes = Axes(
        _title(results[0], x),
        _measured(results, y),
        log_x=log_x,
        columns=1,
        width=width,
        height=height,
    )
    return curve_chart([CurvePanel("", [*curves, *beside])], axes)


def _measured(results: Sequence[Result], y: str) -> str:
    """Return the title of the axis of a metric: with the unit of a rate, and its flow."""
    if not _is_rate(y):
        return y
    if "." in y:
        return f"{y.removesuffix('_bps')} (Mb/s)"
    many = any(len(one.summary["flows"]) > 1 for run in results for one in run.replications)
    return f"{y.removesuffix('_bps')}{' of all flows' if many else ''} (Mb/s)"


def _title(result: Result, path: str) -> str:
    value = parameter(result, path)
    text = value if isinstance(value, str) else ""
    return f"{path} (ms)" if text.endswith("s") and "b/s" not in text else path
