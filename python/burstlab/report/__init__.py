"""A self-contained page about reproduced targets, or about a study."""

from burstlab.report.studies import write_study
from burstlab.report.writing import Report

__all__ = ["Report", "write_study"]
