"""Measures and figures of Shihada et al. 2006. Every parameter is in the plans beside this."""

from __future__ import annotations

from burstlab.papers.shihada2006_vegas import equations, fast_flow, resolving, windows

TARGETS = {**windows.TARGETS, **equations.TARGETS, **fast_flow.TARGETS, **resolving.TARGETS}
