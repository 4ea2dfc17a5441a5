"""Repeat the figures and tables of a paper and hold them against what it states.

A paper is a directory of `burstlab.papers`: scenarios and plans (TOML), published values (CSV),
claims with their bands (TOML), and one short module that turns runs into measures and figures.
"""

from burstlab.reproduce.engine import Options, TargetReport, reproduce
from burstlab.reproduce.paper import Paper, papers, select

__all__ = ["Options", "Paper", "TargetReport", "papers", "reproduce", "select"]
