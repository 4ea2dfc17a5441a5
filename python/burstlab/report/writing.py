"""Write the data, the figures and ``report.html`` of reproduced targets."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from burstlab import _core
from burstlab.files import put
from burstlab.parquet import writing
from burstlab.plot.saving import save, specification, write_csv
from burstlab.report.rendering import Chart, render
from burstlab.reproduce.engine import Options, TargetReport


class Report:
    """What is written about targets, each as soon as it is done.

    Parameters
    ----------
    out
        A directory that exists; each paper gets its own within.
    options
        How the targets are run, for the command that repeats them.
    """

    def __init__(self, out: Path, options: Options) -> None:
        self._out = out
        self._options = options
        self._reports: list[TargetReport] = []
        self._sections: list[dict[str, Any]] = []

    def add(self, report: TargetReport) -> None:
        """Write the data and figures of a target, and ``reproduce.json`` with all until now."""
        with writing(self._out):
            section = _section(report, self._out, self._options)
        self._reports.append(report)
        self._sections.append(section)
        self._list(interrupted=True)

    def finish(self, *, interrupted: bool = False) -> Path:
        """Write ``report.html``; answer where it is.

        Parameters
        ----------
        interrupted
            Whether targets are missing because the run was stopped.
        """
        self._list(interrupted=interrupted)
        page = self._out / "report.html"
        text = _render(self._reports, self._sections, self._options, interrupted)
        with writing(page):
            put(page, text.encode())
        return page

    def _list(self, *, interrupted: bool) -> None:
        document = {
            "burstlab": _core.__version__,
            "effort": self._options.effort,
            "interrupted": interrupted,
            "targets": [report.to_json() for report in self._reports],
        }
        path = self._out / "reproduce.json"
        with writing(path):
            put(path, f"{json.dumps(document, indent=2)}\n".encode())


def _section(report: TargetReport, out: Path, options: Options) -> dict[str, Any]:
    directory = out / report.paper.key
    directory.mkdir(exist_ok=True)
    findings = report.findings
    charts: list[dict[str, Any]] = []
    for name, chart in findings.charts.items():
        drawn = Chart.of(f"{report.paper.key}-{name}", specification(chart))
        paths = save(chart, findings.data.get(name, ()), directory / name)
        charts.append(
            {
                "id": drawn.id,
                "drawn": drawn,
                "zooms": '"bind":"scales"' in drawn.spec,
                "files": [str(path.relative_to(out)) for path in paths],
            }
        )
    if findings.rows:
        rows = [row.to_json() for row in findings.rows]
        write_csv(rows, directory / f"{report.target}-values.csv")
    return {
        "id": report.name.replace("/", "-"),
        "name": report.name,
        "title": report.paper.title(report.target),
        "charts": charts,
        "rows": findings.rows,
        "notes": findings.notes,
        "claims": report.claims,
        "fingerprint": report.fingerprint,
        "seed": report.seed,
        "wall_s": report.wall_s,
        "parameters": _parameters(report, options),
        "command": command(report.name, options),
    }


def command(target: str, options: Options) -> str:
    """Answer the command that repeats a target."""
    seed = "" if options.seed is None else f" --seed {options.seed}"
    return f"burstlab reproduce {target} --{options.effort}{seed}"


def _render(
    reports: Sequence[TargetReport],
    sections: list[dict[str, Any]],
    options: Options,
    interrupted: bool,
) -> str:
    papers = {report.paper.key: {"errata": [], **report.paper.about} for report in reports}
    verdicts = [claim.verdict for report in reports for claim in report.claims]
    return render(
        "reproduction.html.j2",
        [chart["drawn"] for section in sections for chart in section["charts"]],
        papers=papers,
        sections=sections,
        counts={name: verdicts.count(name) for name in ("holds", "differs", "fails")},
        version=_core.__version__,
        effort=options.effort,
        interrupted=interrupted,
        command=command(" ".join(report.name for report in reports), options),
    )


def _parameters(report: TargetReport, options: Options) -> list[dict[str, str]]:
    """Answer what a target was run with: its table of the plan, and the scenario."""
    import tomli_w

    plan = report.paper.plans[report.target]
    kept = {name: value for name, value in plan.items() if name not in ("title", *_EFFORTS)}
    if options.effort in plan:
        kept[options.effort] = plan[options.effort]
    found = [{"title": "Parameters of this target", "text": tomli_w.dumps(kept)}]
    if "scenario" in plan:
        text = (report.paper.directory / plan["scenario"]).read_text(encoding="utf-8")
        title = f"The scenario they change, {plan['scenario']}; defaults: burstlab schema"
        found.append({"title": title, "text": text})
    return found


_EFFORTS = ("quick", "full")
