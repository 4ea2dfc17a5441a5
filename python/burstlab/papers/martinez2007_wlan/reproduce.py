"""Measures and figures of Martinez-Yelmo et al. 2007; the parameters are in the plans."""

from __future__ import annotations

from burstlab.papers.martinez2007_wlan import mechanism, readings, stated, surface

TARGETS = {**surface.TARGETS, **mechanism.TARGETS, **readings.TARGETS, **stated.TARGETS}
