"""Figures (Altair), each of which can be written as SVG, PDF and PNG, and its numbers as CSV."""

from burstlab.plot.curves import (
    Axes,
    Curve,
    CurvePanel,
    Dot,
    curve_chart,
    curve_rows,
    on_one_scale,
)
from burstlab.plot.distributions import distribution_chart, distribution_rows
from burstlab.plot.dots import DotAxes, NamedPoint, dot_chart, dot_rows, point
from burstlab.plot.gantt import Held, fibres, held_rows, occupancy_chart
from burstlab.plot.named import Named, named_chart, named_rows
from burstlab.plot.occupied import occupied_chart, occupied_rows
from burstlab.plot.ratios import RatioPoint, ratio_chart
from burstlab.plot.saving import save, write
from burstlab.plot.sequence import Span, sequence_chart, sequence_rows, timeout_rows
from burstlab.plot.study import Figure, figures
from burstlab.plot.sweep import results_in, sweep_chart, sweep_curves
from burstlab.plot.traces import Panel, panel_rows, trace_chart
from burstlab.plot.windows import window_chart, window_rows

__all__ = [
    "Axes",
    "Curve",
    "CurvePanel",
    "Dot",
    "DotAxes",
    "Figure",
    "Held",
    "Named",
    "NamedPoint",
    "Panel",
    "RatioPoint",
    "Span",
    "curve_chart",
    "curve_rows",
    "distribution_chart",
    "distribution_rows",
    "dot_chart",
    "dot_rows",
    "fibres",
    "figures",
    "held_rows",
    "named_chart",
    "named_rows",
    "occupancy_chart",
    "occupied_chart",
    "occupied_rows",
    "on_one_scale",
    "panel_rows",
    "point",
    "ratio_chart",
    "results_in",
    "save",
    "sequence_chart",
    "sequence_rows",
    "sweep_chart",
    "sweep_curves",
    "timeout_rows",
    "trace_chart",
    "window_chart",
    "window_rows",
    "write",
]
