"""Measures and figures of Ramantas et al. 2007. Every parameter is in the plans beside this."""

from __future__ import annotations

from burstlab.papers.ramantas2007_burstifiers import figures, flow, schemes

TARGETS = {**figures.TARGETS, **flow.TARGETS, **schemes.TARGETS}
