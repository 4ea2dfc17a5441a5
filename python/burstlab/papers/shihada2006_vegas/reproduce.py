"""Measures and figures of Shihada et al. 2006. Every parameter is in the plans of this folder."""

from __future__ import annotations

from burstlab.papers.shihada2006_vegas import (
    collapse,
    equations,
    fast_flow,
    load,
    readings,
    resolving,
    windows,
)

TARGETS = {
    **windows.TARGETS,
    **equations.TARGETS,
    **fast_flow.TARGETS,
    **load.TARGETS,
    **readings.TARGETS,
    **collapse.TARGETS,
    **resolving.TARGETS,
}
