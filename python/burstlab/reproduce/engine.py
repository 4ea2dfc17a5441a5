"""Run a target and gather the results for the report."""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from burstlab.reproduce.bands import stored
from burstlab.reproduce.claims import Judged
from burstlab.reproduce.context import Context, Findings, Key, measure_of
from burstlab.reproduce.keeping import KeptRuns, RunFile
from burstlab.reproduce.paper import Paper
from burstlab.results import Replication
from burstlab.running.worker_pool import workers_asked

Progress = Callable[[float, str], None]


@dataclass(frozen=True)
class Options:
    """How to reproduce.

    Attributes
    ----------
    effort
        ``"quick"`` or ``"full"``: the table of the plan that sets the number of runs.
    seed
        Instead of the scenario's seed.
    jobs
        Replications at a time, of all targets that are run with these options.
    column
        Whether pictures are drawn for a column of print.
    file
        Where runs are kept beyond this process, if anywhere.
    left
        Runs, by paper, that targets leave for later targets of the same paper.
    free
        Workers that no target has.
    """

    effort: str = "quick"
    seed: int | None = None
    jobs: int | None = None
    column: bool = False
    file: RunFile | None = field(default=None, repr=False, compare=False)
    left: dict[str, tuple[dict[str, Any], dict[Key, Replication]]] = field(
        default_factory=dict, repr=False, compare=False
    )
    free: threading.Semaphore = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "free", threading.Semaphore(workers_asked(self.jobs)))

    def runs(self) -> dict[Key, Replication]:
        """Return where the runs of a paper are kept."""
        return {} if self.file is None else KeptRuns(self.file)


@dataclass(frozen=True)
class TargetReport:
    """One figure or table, reproduced."""

    paper: Paper
    target: str
    findings: Findings
    claims: Sequence[Judged]
    fingerprint: str
    seed: int | None
    wall_s: float

    @property
    def name(self) -> str:
        """Name of the target as the command line takes it."""
        return f"{self.paper.key}/{self.target}"

    @property
    def failed(self) -> bool:
        """Whether a claim fails without an explanation."""
        return any(claim.verdict == "fails" for claim in self.claims)

    def to_json(self) -> dict[str, Any]:
        """Return the target as ``burstlab reproduce --json`` prints it."""
        return {
            "target": self.name,
            "rows": [row.to_json() for row in self.findings.rows],
            "claims": [claim.to_json() for claim in self.claims],
            "measures": {name: stored(value) for name, value in self.findings.measures.items()},
            "seed": self.seed,
            "fingerprint": self.fingerprint,
            "wall_s": round(self.wall_s, 3),
        }


def reproduce(
    paper: Paper, target: str, options: Options, progress: Progress | None = None
) -> TargetReport:
    """Run one target and judge its claims."""
    started = time.perf_counter()
    kept, done = options.left.setdefault(paper.key, ({}, options.runs()))
    context = Context(
        paper,
        target,
        options.effort,
        options.seed,
        options.jobs,
        progress or (lambda share, label: None),
        kept=kept,
        done=done,
        free=options.free,
    )
    findings = measure_of(paper, target)(context)
    context.progress(1.0, target)
    early = paper.early(target, options.effort)
    judged = [
        claim.judge(findings.measures, findings.rows, early) for claim in paper.claims(target)
    ]
    fingerprint = hashlib.sha256("\n".join(context.fingerprints).encode()).hexdigest()[:16]
    return TargetReport(
        paper=paper,
        target=target,
        findings=findings,
        claims=judged,
        fingerprint=fingerprint,
        seed=context.used_seed,
        wall_s=time.perf_counter() - started,
    )
