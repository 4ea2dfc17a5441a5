"""Figures (Altair): traces, ratios, curves, heat maps. Each can be saved as PNG, SVG and CSV."""

from burstlab.plot.curves import Axes, Curve, CurvePanel, Dot, curve_chart, curve_rows
from burstlab.plot.ratios import RatioPoint, ratio_chart
from burstlab.plot.saving import save
from burstlab.plot.traces import Panel, panel_rows, trace_chart

__all__ = [
    "Axes",
    "Curve",
    "CurvePanel",
    "Dot",
    "Panel",
    "RatioPoint",
    "curve_chart",
    "curve_rows",
    "panel_rows",
    "ratio_chart",
    "save",
    "trace_chart",
]
