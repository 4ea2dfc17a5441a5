"""Measures and figures of Shihada et al. 2006. Every parameter is in the plans beside this."""

from __future__ import annotations

from burstlab.papers.shihada2006_vegas import fast_flow, resolving, windows

TARGETS = {**windows.TARGETS, **fast_flow.TARGETS, **resolving.TARGETS}
