"""Targets of a paper, run briefly: each tested statement holds in however short a run."""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from burstlab.plot.saving import specification
from burstlab.reproduce.claims import VERDICTS
from burstlab.reproduce.engine import Options, TargetReport, reproduce
from burstlab.reproduce.paper import Paper


def briefly(
    paper: Paper, shorten: Callable[[dict[str, Any]], None]
) -> Callable[[str], TargetReport]:
    """Return what runs a target once, after plans that `shorten` has changed."""
    plans = copy.deepcopy(dict(paper.plans))
    shorten(plans)
    short, options = Paper(paper.directory, plans), Options(jobs=2)
    return functools.cache(lambda target: reproduce(short, target, options))


def check_report(
    report: TargetReport,
    name: str,
    certain: Mapping[str, Sequence[str]],
    finite: bool = True,
    charts: bool = True,
) -> None:
    """Check that claims have their measures, and hold if `certain` names their starts."""
    document = report.to_json()
    assert document["target"] == name
    target = name.split("/")[1]
    assert {claim["verdict"] for claim in document["claims"]} <= set(VERDICTS)
    assert document["rows"]
    assert not finite or all(np.isfinite(row["measured"]) for row in document["rows"])
    for start in certain.get(target, ()):
        claims = [claim for claim in document["claims"] if claim["claim"].startswith(start)]
        assert claims
        assert all(claim["verdict"] == "holds" for claim in claims), claims
    if charts:
        assert set(report.findings.charts) == {target}
        assert specification(report.findings.charts[target])["$schema"]
        assert report.findings.data[target]
