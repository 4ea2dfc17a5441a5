"""Write ``report.html`` of a study: what differs first, and how each point is run again."""

from __future__ import annotations

import hashlib
import json
import math
import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from burstlab import again, classes
from burstlab.measures.written import with_interval
from burstlab.plot.study import figures, of_metrics, scaled
from burstlab.report.rendering import Chart, render
from burstlab.results import together
from burstlab.statistics import LEVEL
from burstlab.storage.files import put
from burstlab.storage.parquet import writing
from burstlab.storage.sums import note_sums
from burstlab.studies.called import called
from burstlab.studies.fields import flat
from burstlab.studies.verdicts import Versus, main_metrics, order, significance, versus

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from burstlab.studies.outcome import Study
    from burstlab.studies.plan import Plan

#: Metrics that are drawn, and those that have a column of the table of points.
DRAWN, SHOWN = 4, 3

#: Rows of a table; the Parquet files have all.
ROWS = 1000

#: Where a run says how many bursts of a kind were lost for a cause.
_CAUSE = re.compile(r"network\.(\w+)\.causes\.([\w-]+)\.bursts")

#: Values of a parameter that are written down.
_VALUES = 12

NAME = "report.html"


def write_study(study: Study, directory: Path) -> Path:
    """Write the report of a study that is done; it depends on the study alone.

    Parameters
    ----------
    study
        The study.
    directory
        Where it is stored.
    """
    path = directory / NAME
    content = _render(study).encode()
    with writing(path, "--out", "resume (--resume): all points are kept"):
        note_sums(directory, {NAME: hashlib.sha256(content).hexdigest()})
        put(path, content)
    return path


def _render(study: Study) -> str:
    plan, compared = study.plan, len(study.plan.names) > 1
    metrics = main_metrics(study)
    drawn = figures(study, metrics[:DRAWN])
    charts = [Chart.of(f"{one.kind}-{place}", one.spec) for place, one in enumerate(drawn)]
    asked = plan.stopping.relative is not None
    code = [again.FLAG] if classes.named_in(plan.to_document()) else []
    return render(
        "study.html.j2",
        charts,
        summary=_summary(plan),
        points=len(plan.points),
        runs=len(study.runs),
        compared=compared,
        precision=_precision(plan) if asked else "",
        short=len(study.short),
        # Only the last session knows the warnings of the engine.
        warnings=study.shortfalls,
        **_verdicts(study, metrics, compared),
        spans=_spans(study, metrics[:ROWS]),
        losses=_losses(study),
        swept=plan.swept,
        figures=[
            {
                "id": chart.id,
                "title": one.metric if one.kind == "mean" else f"{one.metric}, schemes compared",
                "caption": one.caption,
            }
            for one, chart in zip(drawn, charts, strict=True)
        ],
        **_parameters(study),
        warmup=_warmup(study),
        shown=metrics[:SHOWN],
        **_rows(study, metrics[:SHOWN]),
        view=again.of_point(".", plan, 0, verb="view"),
        repeat=shlex.join(["burstlab", "study", "plan.toml", *code, "--out", "../again"]),
        version=study.version,
        seed=plan.seed,
        fingerprint=together(study.runs["fingerprint"].tolist()),
    )


def _summary(plan: Plan) -> str:
    names = [name for name in plan.names if name]
    counted = [f"{path} ({count} values)" for path, count in _counts(plan).items()]
    varied = f"Varied: {', '.join(counted)}." if counted else "One point."
    return f"{varied} Schemes: {', '.join(names)}." if names else varied


def _counts(plan: Plan) -> dict[str, int]:
    return {path: len({_text(p.get(path)) for p in plan.points}) for path in plan.swept}


def _where(plan: Plan, point: int, swept: Sequence[str]) -> list[str]:
    values = plan.points[point]
    return [_text(values[path]) if path in values else "–" for path in swept]


def _precision(plan: Plan) -> str:
    stop = plan.stopping
    assert stop.relative is not None
    what = "ratios of the means of each two schemes" if stop.of == "ratios" else "means"
    return (
        f"Asked for: 95 % intervals within {100 * stop.relative:g} % of the {what} of "
        f"{', '.join(stop.metrics)}, with {stop.first} to {stop.most} replications."
    )


def _verdicts(study: Study, metrics: Sequence[str], compared: bool) -> dict[str, Any]:
    if not compared:
        empty: list[Any] = []
        return {
            "verdicts": empty, "others": empty, "differences": empty, "differences_shown": "",
            "apart": 0, "tests": 0,
        }  # fmt: skip
    p_holm = significance(study)
    found = order(versus(study, p_holm), metrics)
    first = [one for one in found if one.metric in metrics] if study.plan.metrics is None else found
    others = [one for one in found if one not in first]
    rows, total = _differences(study, p_holm, metrics)
    shown = f"{total:,} rows"
    if total > len(rows):
        shown = f"the {len(rows):,} most significant of {total:,} rows"
    return {
        "verdicts": [_versus(one) for one in first],
        "others": [_versus(one) for one in others],
        "differences": rows,
        "differences_shown": shown,
        "apart": int((p_holm <= LEVEL).sum()),
        "tests": int((p_holm >= 0.0).sum()),
    }


def _versus(one: Versus) -> dict[str, Any]:
    ratio = "–"
    if one.ratios is not None:
        low, middle, high = (f"{value:.4g}" for value in one.ratios)
        ratio = middle if low == high else f"{middle} ({low} to {high})"
    return {**vars(one), "ratio": ratio}


def _differences(
    study: Study, p_holm: NDArray[np.float64], metrics: Sequence[str]
) -> tuple[list[dict[str, Any]], int]:
    """Return the rows to show, the most significant where there are too many, and of how many."""
    import numpy as np

    table = study.differences
    wanted = set(metrics)
    kept = np.flatnonzero([name in wanted for name in table.column("metric").to_pylist()])
    total = len(kept)
    if total > ROWS:
        # NaN comes last.
        kept = np.sort(kept[np.argsort(p_holm[kept], kind="stable")[:ROWS]])
    rows: list[dict[str, Any]] = []
    swept = study.plan.swept
    for row, p in zip(table.take(kept).to_pylist(), p_holm[kept].tolist(), strict=True):
        kind, verdict = _verdict(row, p)
        rows.append(
            {
                "point": row["point"],
                "where": _where(study.plan, row["point"], swept),
                "metric": row["metric"],
                "pair": f"{row['scheme']} / {row['over']}",
                "difference": _measure(row["difference"], row["difference_ci95"], row["metric"]),
                "ratio": _measure(row["ratio"], row["ratio_ci95"], least=0.0),
                "n": row["n"],
                "p": "–" if math.isnan(p) else f"{p:.2g}",
                "kind": kind,
                "verdict": verdict,
            }
        )
    return rows, total


def _verdict(row: Mapping[str, Any], p: float) -> tuple[str, str]:
    if row["censored"]:
        return "censored", f"no verdict: censored in {row['censored']} runs"
    if math.isnan(p):
        equal = row["difference"] == 0.0
        return ("equal", "equal in every run") if equal else ("undecided", "too few runs")
    if p > LEVEL:
        return "undecided", "not shown to differ"
    if row["difference"] > 0.0:
        return "higher", f"{row['scheme']} higher"
    return "lower", f"{row['scheme']} lower"


def _spans(study: Study, metrics: Sequence[str]) -> list[dict[str, Any]]:
    """Return where each metric is smallest and largest, scheme by scheme."""
    table = of_metrics(study.estimates, metrics)
    parts = [
        table.column(name).to_pylist() for name in ("metric", "scheme", "mean", "ci95", "point")
    ]
    ends: dict[tuple[str, str], list[tuple[float, Any, int]]] = {}
    for metric, scheme, mean, half, point in zip(*parts, strict=True):
        if mean is not None and math.isfinite(mean):
            one = (mean, half, point)
            low, high = ends.setdefault((metric, scheme), [one, one])
            ends[metric, scheme] = [min(low, one, key=_first), max(high, one, key=_first)]
    rank = {name: place for place, name in enumerate(metrics)}
    least = {name: _least(study, name) for name in metrics}
    found: list[dict[str, Any]] = []
    for (metric, scheme), (low, high) in sorted(ends.items(), key=lambda kv: rank[kv[0][0]]):
        row: dict[str, Any] = {"metric": metric, "scheme": scheme}
        for name, (mean, half, point) in (("low", low), ("high", high)):
            row[name] = _measure(mean, half, metric, least[metric])
            row[f"{name}_at"] = _settings(study.plan.points[point])
        found.append(row)
    return found


def _losses(study: Study) -> list[dict[str, Any]]:
    """Return why bursts were lost, kind by kind, at the points and schemes where some were."""
    paths = study.plan.metrics or {name: name for name in study.metrics}
    found = [(name, _CAUSE.fullmatch(path)) for name, path in paths.items()]
    causes = {name: match.groups() for name, match in found if match is not None}
    if not causes:
        return []
    table = of_metrics(study.estimates, list(causes))
    lost: dict[tuple[int, str, str], dict[str, float]] = {}
    parts = [table.column(name).to_pylist() for name in ("point", "scheme", "metric", "mean")]
    for point, scheme, metric, mean in zip(*parts, strict=True):
        kind, cause = causes[metric]
        if mean is not None and mean > 0.0:
            lost.setdefault((point, scheme, kind), {})[cause] = mean
    return [
        {
            "point": point,
            "where": _settings(study.plan.points[point]),
            "scheme": scheme,
            "kind": kind,
            "causes": ", ".join(
                f"{cause} {mean:,.4g} ({100 * mean / sum(by.values()):.3g} %)"
                for cause, mean in sorted(by.items(), key=lambda one: -one[1])
            ),
        }
        for (point, scheme, kind), by in list(lost.items())[:ROWS]
    ]


def _first(one: tuple[float, Any, int]) -> float:
    return one[0]


def _settings(point: Mapping[str, Any]) -> str:
    return ", ".join(f"{called(path)} = {_text(value)}" for path, value in point.items())


def _parameters(study: Study) -> dict[str, Any]:
    plan = study.plan
    counts = _counts(plan)
    varied: list[tuple[str, str]] = []
    for path, count in counts.items():
        texts = list(dict.fromkeys(_text(point.get(path)) for point in plan.points))
        shown = ", ".join(texts[:_VALUES])
        varied.append((path, shown if count <= _VALUES else f"{shown}, ... ({count:,} values)"))
    document = plan.to_document()
    own = {
        name: value
        for name, value in document.items()
        if name not in ("scenario", "schemes", "metrics", "files", *plan.designs)
    }
    rows = [(path, _text(value)) for path, value in flat(own, "").items()]
    rows.insert(0, ("design", ", ".join(plan.designs) or "one point"))
    rows += [(f"files.{name}", one) for name, one in plan.files.described()]
    rows.append(("metrics", ", ".join(plan.metrics) if plan.metrics else "every single number"))
    resolved = study.scenario(0, plan.names[0])
    return {
        "varied": varied,
        "schemes": [
            (name, [(path, _text(value)) for path, value in settings.items()])
            for name, settings in plan.schemes.items()
            if name
        ],
        "plan": rows,
        "fixed": _leaves(document["scenario"]),
        "resolved": _leaves(resolved),
    }


def _leaves(value: Any, path: str = "") -> list[tuple[str, str]]:
    """Return the fields of a scenario by their paths; long lists are cut short."""
    if isinstance(value, Mapping) and value:
        steps = [(f"{path}.{name}" if path else str(name), one) for name, one in value.items()]
    elif isinstance(value, list) and any(isinstance(one, Mapping) for one in value):
        steps = [(f"{path}[{index}]", one) for index, one in enumerate(value[:_VALUES])]
        if len(value) > _VALUES:
            more = (f"{path}[...]", f"{len(value) - _VALUES} more")
            return [*(leaf for step, one in steps for leaf in _leaves(one, step)), more]
    else:
        text = _text(value)
        return [(path, text if len(text) <= 200 else f"{text[:200]}...")] if path else []
    return [leaf for step, one in steps for leaf in _leaves(one, step)]


def _warmup(study: Study) -> dict[str, Any] | None:
    rule = study.plan.warmup
    if rule is None:
        return None
    import numpy as np

    table = study.runs
    places = np.flatnonzero(table["replication"] == 0)
    # All schemes at a point have one warm-up.
    _, first = np.unique(table["point"][places], return_index=True)
    times = table["warmup_s"][places[first]]
    steady = table["warmup_found"][places[first]]
    settings = ", ".join(f"{k} = {_text(v)}" for k, v in flat(rule.to_document(), "").items())
    return {
        "text": f"Found by MSER-5 at each point ({settings}) and left out of every metric.",
        "low": f"{times.min():.4g} s",
        "middle": f"{np.median(times):.4g} s",
        "high": f"{times.max():.4g} s",
        "steady": int(steady.sum()),
        "rushed": int((~steady).sum()),
    }


def _rows(study: Study, metrics: Sequence[str]) -> dict[str, Any]:
    """Return a row for each scheme at each point, as many as fit."""
    import numpy as np

    runs = study.runs
    starts = np.flatnonzero(runs["replication"] == 0)
    total = len(starts)
    ends = [*starts[1:].tolist(), len(runs)]
    means, reached = _means(study, metrics)
    heads = runs.take(starts[:ROWS])
    prints = runs["fingerprint"][: ends[min(ROWS, total) - 1]].tolist() if total else []
    points, schemes = heads["point"].tolist(), heads["scheme"].tolist()
    warmups = heads["warmup_s"].tolist() if "warmup_s" in heads.columns else []
    rows: list[dict[str, Any]] = []
    swept = study.plan.swept
    for place, (point, scheme) in enumerate(zip(points, schemes, strict=True)):
        start, stop = int(starts[place]), ends[place]
        rows.append(
            {
                "point": point,
                "where": _where(study.plan, point, swept),
                "scheme": scheme,
                "means": [means.get((point, scheme, name), "–") for name in metrics],
                "n": stop - start,
                "warmup": f"{warmups[place]:.4g} s" if warmups else "",
                "reached": reached.get((point, scheme)),
                "fingerprint": together(prints[start:stop]),
                "command": again.of_point(".", study.plan, point, scheme),
            }
        )
    shown = f"{total:,} rows" if total <= ROWS else f"the first {ROWS:,} of {total:,} rows"
    return {"rows": rows, "rows_shown": shown}


def _means(
    study: Study, metrics: Sequence[str]
) -> tuple[dict[tuple[int, str, str], str], dict[tuple[int, str], bool]]:
    """Return means as text, and whether the precision was reached, by point and scheme."""
    table = of_metrics(study.estimates, {*metrics, *study.plan.stopping.metrics})
    names = ("point", "scheme", "metric", "mean", "ci95", "censored", "reached")
    least = {name: _least(study, name) for name in {*metrics, *study.plan.stopping.metrics}}
    means: dict[tuple[int, str, str], str] = {}
    reached: dict[tuple[int, str], bool] = {}
    for row in zip(*(table.column(name).to_pylist() for name in names), strict=True):
        point, scheme, metric, mean, half, censored, enough = row
        if point < ROWS:
            text = "censored" if censored else _measure(mean, half, metric, least[metric])
            means[point, scheme, metric] = text
            if enough is not None:
                reached[point, scheme] = reached.get((point, scheme), True) and enough
    if study.plan.stopping.of == "ratios":
        for point, scheme, _ in means:
            reached[point, scheme] = point not in study.short
    return means, reached


def _measure(
    mean: float | None, half: float | None, metric: str = "", least: float = -math.inf
) -> str:
    """Write a value with its interval, and with a handy unit where the metric has one."""
    if mean is None or not math.isfinite(mean):
        return "–"
    title, factor = scaled(metric, abs(mean))
    unit = "" if title == called(metric) else title.rpartition("(")[2].rstrip(")")
    wide = None if half is None else half * factor
    return with_interval(mean * factor, wide, unit, least=least)


def _least(study: Study, metric: str) -> float:
    """Return the least value of a metric that is below 0 in no run: no interval goes below."""
    return -math.inf if (study.runs[metric] < 0.0).any() else 0.0


def _text(value: Any) -> str:
    if value is None:
        return "–"
    return value if isinstance(value, str) else json.dumps(value)
