"""The input of a target's function: its runs, and its published values."""

from __future__ import annotations

import importlib
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from burstlab.loading import Document, refuse_overridden, set_at, to_document
from burstlab.reproduce.bands import Measure, Row
from burstlab.results import Replication, Result
from burstlab.simulation import override, resolve, run
from burstlab.statistics import Estimate

if TYPE_CHECKING:
    import altair as alt

    from burstlab.plot import Axes, CurvePanel
    from burstlab.reproduce.paper import Paper

#: The key of a run: the resolved scenario as JSON, the seed, and the number of the replication.
Key: TypeAlias = tuple[str, int, int]


@dataclass
class Findings:
    """The findings of a target.

    Attributes
    ----------
    rows
        Measured values with the published ones.
    measures
        Values that claims refer to, by name.
    charts
        Figures, by file name without extension.
    data
        The numbers behind the figures: rows of a CSV file, by file name without extension.
    notes
        Sentences for the report.
    """

    rows: list[Row] = field(default_factory=list)
    measures: dict[str, Measure] = field(default_factory=dict)
    charts: dict[str, alt.TopLevelMixin] = field(default_factory=dict)
    data: dict[str, Sequence[Mapping[str, Any]]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def draw(self, name: str, panels: Sequence[CurvePanel], axes: Axes) -> None:
        """Add a figure of curves, and its numbers."""
        from burstlab.plot import curve_chart, curve_rows

        self.charts[name] = curve_chart(panels, axes)
        self.data[name] = curve_rows(panels)


@dataclass
class Context:
    """The runs of one target."""

    paper: Paper
    target: str
    effort: str
    seed: int | None
    jobs: int | None
    progress: Callable[[float, str], None]
    fingerprints: list[str] = field(default_factory=list)
    used_seed: int | None = None
    #: Values that earlier targets left for this one; they change no number.
    kept: dict[str, Any] = field(default_factory=dict)
    #: Runs of a grid, those of targets before this one among them; none is made twice.
    done: dict[Key, Replication] = field(default_factory=dict)
    #: Workers that no target has; None where this one has them all.
    free: threading.Semaphore | None = None

    @property
    def plan(self) -> Document:
        """The table of the target in ``plans.toml``."""
        return self.paper.plans[self.target]

    def published(self, label: str) -> float | None:
        """Return the published value with this label."""
        return self.paper.published.get((self.target, label))

    def row(self, label: str, measure: Measure) -> Row:
        """Pair a measure with the published value of the same label."""
        published = self.published(label)
        if isinstance(measure, Estimate):
            return Row(label, published, measure.mean, measure.ci95, measure.n)
        return Row(label, published, float(measure), None, 1)

    def tell(self, findings: Findings, label: str, measure: Measure) -> None:
        """Add a measure to findings, for claims and as a row with the published value."""
        findings.measures[label] = measure
        findings.rows.append(self.row(label, measure))

    def scenario(self, settings: Mapping[str, Any]) -> Document:
        """Return the scenario of the target, changed and resolved."""
        document = to_document(self.paper.directory / self.plan["scenario"])
        for path, value in settings.items():
            set_at(document, path, value)
        refuse_overridden(document, settings)
        override(document, seed=self.seed, replications=None)
        resolved = resolve(document)
        self.used_seed = int(resolved["run"]["seed"])
        return resolved

    def runs(self) -> dict[str, Result]:
        """Run every entry of ``runs`` once and return the results by label."""
        entries: Sequence[Mapping[str, Any]] = self.plan["runs"]
        results: dict[str, Result] = {}
        for index, entry in enumerate(entries):
            self.progress(index / len(entries), f"{self.target}: {entry['label']}")
            settings = {**self.plan.get("set", {}), **entry.get("set", {})}
            result = run(
                self.scenario(settings),
                trace=self.plan.get("trace", ()),
                jobs=self.jobs,
            )
            self.fingerprints.append(result.fingerprint)
            results[entry["label"]] = result
        return results


def measure_of(paper: Paper, target: str) -> Callable[[Context], Findings]:
    """Return the function of a paper that runs a target and measures it."""
    module = importlib.import_module(f"burstlab.papers.{paper.directory.name}.reproduce")
    functions: Mapping[str, Any] = module.TARGETS
    return functions[target]
