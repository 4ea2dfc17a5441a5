"""One self-contained page on what was reproduced, or on a study."""

from burstlab.report.studies import write_study
from burstlab.report.writing import Report

__all__ = ["Report", "write_study"]
