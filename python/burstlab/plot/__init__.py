"""Figures (Altair): packet traces and ratios. Each can be saved as PNG, SVG and CSV."""

from burstlab.plot.ratios import RatioPoint, ratio_chart
from burstlab.plot.saving import save
from burstlab.plot.traces import Panel, panel_rows, trace_chart

__all__ = ["Panel", "RatioPoint", "panel_rows", "ratio_chart", "save", "trace_chart"]
