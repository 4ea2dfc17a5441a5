"""Studies: many runs of one plan on one machine or many; each finished point is stored at once."""

from burstlab.studies.conducting import study
from burstlab.studies.outcome import Study
from burstlab.studies.outcome import read_study as read
from burstlab.studies.plan import Plan

__all__ = ["Plan", "Study", "read", "study"]
