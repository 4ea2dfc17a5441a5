"""One self-contained page on what was reproduced."""

from burstlab.report.writing import write

__all__ = ["write"]
