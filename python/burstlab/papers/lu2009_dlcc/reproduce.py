"""Measures and figures of Lu and Hunter 2009. Every parameter is in the plans of this folder."""

from __future__ import annotations

from burstlab.papers.lu2009_dlcc import (
    edge,
    in_step,
    out_of_step,
    own,
    pacing,
    rates,
    slots,
    timeline,
    varied,
)

TARGETS = {
    **timeline.TARGETS,
    **rates.TARGETS,
    **in_step.TARGETS,
    **out_of_step.TARGETS,
    **edge.TARGETS,
    **slots.TARGETS,
    **own.TARGETS,
    **pacing.TARGETS,
    **varied.TARGETS,
}
