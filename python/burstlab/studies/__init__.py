"""Studies: many runs after one plan, each point stored when it is done, on one machine or many."""

from burstlab.studies.conducting import study
from burstlab.studies.outcome import Study
from burstlab.studies.outcome import read_study as read
from burstlab.studies.plan import Plan

__all__ = ["Plan", "Study", "read", "study"]
