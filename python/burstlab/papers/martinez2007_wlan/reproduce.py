"""Measures and figures of Martinez-Yelmo et al. 2007; the parameters are in the plans."""

from __future__ import annotations

from burstlab.papers.martinez2007_wlan import own, surface

TARGETS = {**surface.TARGETS, **own.TARGETS}
