"""Tables I, II and IV as tables of single runs: the paper prints no intervals.

A printed ratio of two single runs lies as far from the mean of such ratios as a run is long.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from burstlab.plot import Axes, Curve, CurvePanel, Dot, theme
from burstlab.reproduce.context import Context, Findings
from burstlab.reproduce.grid import Corner, Sample, run_grid
from burstlab.statistics import Estimate, t_quantile


@dataclass(frozen=True)
class Cell:
    """A printed ratio, and ratios of single runs.

    Attributes
    ----------
    row
        The schemes compared.
    corner
        Where it was run.
    label
        Name in the table.
    printed
        The published value.
    ratios
        One of each pair of runs, which have no random number in common.
    """

    row: str
    corner: Corner
    label: str
    printed: float
    ratios: NDArray[np.float64]

    @property
    def gap(self) -> Estimate:
        """The print less the mean of single runs, in standard deviations of a single run."""
        return _jackknife(lambda kept: _gap(self, kept), len(self.ratios))


def add_gaps(context: Context, findings: Findings) -> None:
    """Add to a table how far its rows are from single runs, measures of another target."""
    whose, length = context.plan["single"]
    # The runs are that target's: they are no part of the fingerprint of this one.
    other = replace(context, fingerprints=[])
    mine = [cell for cell in _cells(other, whose, length) if cell.corner.group == context.target]
    for name, gap in _farthest(length, mine).items():
        findings.measures[f"{whose}: {name}"] = gap


def single_runs(context: Context) -> Findings:
    """Compare printed cells with single runs of several lengths."""
    findings = Findings()
    lengths: list[str] = context.plan[context.effort].get("lengths", context.plan["lengths"])
    every = {length: _cells(context, context.target, length) for length in lengths}
    for length, cells in every.items():
        _tell(context, findings, length, cells)
        if "but" in context.plan:
            rest = [cell for cell in cells if cell.corner.label != context.plan["but"]]
            name = f"{length}: chi-square of the {len(rest)} other cells"
            context.tell(findings, name, _chi_square(rest))
    drawn = every[context.plan["drawn"]]
    findings.measures.update(_farthest(context.plan["drawn"], drawn))
    for cell in drawn:
        label = f"{context.plan['drawn']}, {cell.corner.group}, {cell.label}"
        findings.measures[f"{label}: gap (s.d.)"] = cell.gap
        spread = float(np.std(cell.ratios, ddof=1))
        findings.measures[f"{label}: standard deviation of one run"] = spread
    _draw(context, findings, drawn)
    return findings


def _farthest(length: str, cells: Sequence[Cell]) -> dict[str, Estimate]:
    """Return the largest gap of each row of each table."""
    found: dict[str, Estimate] = {}
    for row in dict.fromkeys((cell.corner.group, cell.row) for cell in cells):
        gaps = [cell.gap for cell in cells if (cell.corner.group, cell.row) == row]
        name = f"{length}, {', '.join(row)}: largest gap of a cell (s.d.)"
        found[name] = _size(max(gaps, key=lambda gap: abs(gap.mean)))
    return found


def _tell(context: Context, findings: Findings, length: str, cells: Sequence[Cell]) -> None:
    name = f"{length}: chi-square of {len(cells)} cells"
    context.tell(findings, name, _chi_square(cells))
    farthest = max((cell.gap for cell in cells), key=lambda gap: abs(gap.mean))
    context.tell(findings, f"{length}: largest gap of a cell (s.d.)", _size(farthest))


def _cells(context: Context, target: str, grid: str) -> list[Cell]:
    """Run a grid of single runs, unless it was run, and pair its runs."""
    key = f"{target} {grid} {context.effort} {context.seed}"
    if key not in context.kept:
        other = replace(context, target=target, fingerprints=[])
        corners = run_grid(other, grid, lambda _: [])
        context.kept[key] = corners, other.used_seed, other.fingerprints
    corners, seed, fingerprints = context.kept[key]
    context.fingerprints.extend(fingerprints)
    context.used_seed = context.used_seed or seed
    plan = context.paper.plans[target]
    over, names = plan["over"], plan["rows"]
    found: list[Cell] = []
    for corner in corners:
        table = context.paper.published
        for place, (series, row) in enumerate(names.items()):
            label = plan["cell"].format(row=row, point=corner.label)
            # Runs of one number have the same random numbers.
            ratios = _rates(corner, series, place + 1) / _rates(corner, over, 0)
            found.append(Cell(row, corner, label, table[corner.group, label], ratios))
    return found


def _rates(corner: Corner, series: str, shift: int) -> NDArray[np.float64]:
    return np.roll(corner.values(series, _goodput), shift)


def _goodput(sample: Sample) -> float:
    return float(sample.summary["flows"][0]["goodput_bps"])


def _gap(cell: Cell, kept: NDArray[np.intp]) -> float:
    ratios = cell.ratios[kept]
    spread = float(np.std(ratios, ddof=1))
    # Where all runs agree, a run that is printed otherwise is no such run.
    return (cell.printed - float(np.mean(ratios))) / spread if spread > 0.0 else math.inf


def _chi_square(cells: Sequence[Cell]) -> Estimate:
    """Return the sum of the squares of all gaps, on average the number of cells."""
    count = len(cells[0].ratios)
    return _jackknife(lambda kept: sum(_gap(cell, kept) ** 2 for cell in cells), count)


def _jackknife(of: Callable[[NDArray[np.intp]], float], count: int) -> Estimate:
    """Return a statistic of runs, with its interval by leaving out one run after another."""
    every = np.arange(count)
    without = np.array([of(np.delete(every, one)) for one in range(count)])
    error = math.sqrt((count - 1) / count * float(np.sum((without - without.mean()) ** 2)))
    return Estimate(of(every), t_quantile(count - 1) * error, count)


def _size(gap: Estimate) -> Estimate:
    return replace(gap, mean=abs(gap.mean))


def _draw(context: Context, findings: Findings, cells: Sequence[Cell]) -> None:
    """Draw the print on the range of two standard deviations of a single run."""
    panels: list[CurvePanel] = []
    for group in dict.fromkeys(cell.corner.group for cell in cells):
        mine = [cell for cell in cells if cell.corner.group == group]
        curves: list[Curve] = []
        for colour, row in zip(theme.SERIES, dict.fromkeys(c.row for c in mine), strict=False):
            of_row = [cell for cell in mine if cell.row == row]
            spread = [_range(cell) for cell in of_row]
            printed = [Dot(cell.corner.x, cell.printed) for cell in of_row]
            curves.append(Curve(f"{row}, one run, ± 2 s.d.", colour, spread, "measured"))
            curves.append(Curve(f"{row}, published", colour, printed, "published"))
        panels.append(CurvePanel(context.paper.plans[group]["place"], curves))
    findings.draw(context.target, panels, Axes(context.plan["x_title"], "throughput ratio"))


def _range(cell: Cell) -> Dot:
    spread = 2.0 * float(np.std(cell.ratios, ddof=1))
    return Dot(cell.corner.x, float(np.mean(cell.ratios)), spread, len(cell.ratios))


TARGETS = {"single-runs": single_runs, "single-runs-iv": single_runs}
