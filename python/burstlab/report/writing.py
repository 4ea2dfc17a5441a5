"""Write the data, the figures and ``report.html`` of reproduced targets."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from burstlab import _core
from burstlab.plot.saving import save, specification, write_csv
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
    (out / "reproduce.json").write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    page = out / "report.html"
    page.write_text(_render(reports, sections, options, interrupted), encoding="utf-8")
    return page


def _section(report: TargetReport, out: Path, options: Options) -> dict[str, Any]:
    directory = out / report.paper.key
    directory.mkdir(exist_ok=True)
    findings = report.findings
    charts: list[dict[str, Any]] = []
    for name, chart in findings.charts.items():
        spec = json.dumps(specification(chart), separators=(",", ":"))
        paths = save(chart, findings.data.get(name, ()), directory / name)
        charts.append(
            {
                "id": f"chart-{report.paper.key}-{name}".replace(".", "-"),
                "spec": _script_safe(spec),
                "zooms": '"bind":"scales"' in spec,
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
    import vl_convert
    from jinja2 import Environment, StrictUndefined

    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    template = environment.from_string(
        files("burstlab.report").joinpath("page.html.j2").read_text(encoding="utf-8")
    )
    papers = {report.paper.key: report.paper.about for report in reports}
    verdicts = [claim.verdict for report in reports for claim in report.claims]
    return template.render(
        papers=papers,
        sections=sections,
        counts={name: verdicts.count(name) for name in ("holds", "differs", "fails")},
        version=_core.__version__,
        effort=options.effort,
        interrupted=interrupted,
        command=command(" ".join(report.name for report in reports), options),
        # The stub wants an argument that the function does not.
        vega=_script_safe(vl_convert.javascript_bundle()),  # pyright: ignore[reportCallIssue]
    )


def _script_safe(text: str) -> str:
    """Keep the text from ending the script element it stands in.

    The escapes mean the same within a string, which is where these words can occur.
    """
    text = re.sub(r"</(script)", r"<\\/\1", text, flags=re.IGNORECASE)
    return text.replace("<!--", "<\\!--")
