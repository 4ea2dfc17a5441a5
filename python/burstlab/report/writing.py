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


def write(
    reports: Sequence[TargetReport],
    out: Path,
    options: Options,
    *,
    interrupted: bool = False,
) -> Path:
    """Write everything that is known about the targets.

    Parameters
    ----------
    reports
        The targets that were run.
    out
        A directory that exists; each paper gets its own within.
    options
        How they were run, for the command that repeats it.
    interrupted
        Whether targets are missing because the run was stopped.

    Returns
    -------
    Path
        Of ``report.html``.
    """
    sections = [_section(report, out, options) for report in reports]
    document = {
        "burstlab": _core.__version__,
        "effort": options.effort,
        "interrupted": interrupted,
        "targets": [report.to_json() for report in reports],
    }
    page = out / "report.html"
    text = _render(reports, sections, options, interrupted)
    with writing(out):
        put(out / "reproduce.json", f"{json.dumps(document, indent=2)}\n".encode())
        put(page, text.encode())
    return page


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
