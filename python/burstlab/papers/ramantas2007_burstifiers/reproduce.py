"""Measures and figures of Ramantas et al. 2007. Every parameter is in the plans of this folder."""

from __future__ import annotations

from burstlab.papers.ramantas2007_burstifiers import (
    bursts,
    flow,
    pairs,
    rule,
    schemes,
    segments,
    sources,
    throughputs,
    transfers,
)

TARGETS = {
    **sources.TARGETS,
    **bursts.TARGETS,
    **transfers.TARGETS,
    **throughputs.TARGETS,
    **flow.TARGETS,
    **segments.TARGETS,
    **rule.TARGETS,
    **schemes.TARGETS,
    **pairs.TARGETS,
}
