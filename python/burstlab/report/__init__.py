"""One self-contained page on what was reproduced, or on a study."""

from burstlab.report.studies import write_study
from burstlab.report.writing import write

__all__ = ["write", "write_study"]
