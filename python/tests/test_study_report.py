"""The report of a study: its verdicts, its figures, and that each point can be run again."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

import burstlab as bl
from burstlab.errors import InputError
from burstlab.measures.comparing import compare, find
from burstlab.plot.study import figures
from burstlab.reproduce.paper import papers
from burstlab.storage.sums import sealed
from burstlab.studies.called import called
from burstlab.studies.verdicts import main_metrics, order, significance, versus

SCENARIO: dict[str, Any] = {
    "edge": {"assembly": "timer", "timer": "5 ms"},
    "loss": {"data": {"process": "bernoulli", "probability": 0.03}},
    "run": {"duration": "10 s"},
}
SCHEMES = {"reno": {"tcp.variant": "reno"}, "s&ck": {"tcp.variant": "sack"}}
METRICS = ["flows.mean.goodput_bps", "flows.mean.timeouts"]

COMPARED: dict[str, Any] = {
    "scenario": SCENARIO,
    "schemes": SCHEMES,
    "metrics": METRICS,
    "grid": {"tcp.window": [8, 64], "edge.timer": ["2 ms", "5 ms", "20 ms"]},
    "precision": {"relative": 0.315, "metrics": METRICS[:1], "minimum": 4, "maximum": 8},
}


@pytest.fixture(scope="module")
def compared(tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("compared") / "study"
    bl.study(COMPARED, out=out)
    return out


def text_of(page: str) -> str:
    """The text for a reader: without the head, the programs, and the tags."""
    body = page.partition("<main>")[2].partition("</main>")[0]
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", body))


def cells(page: str, row: str) -> list[str]:
    """The cells of the first row of a table that holds a text."""
    (found,) = re.findall(rf"<tr>(?:(?!</tr>).)*{re.escape(row)}.*?</tr>", page, re.DOTALL)[:1]
    return [text_of(f"<main>{cell}</main>").strip() for cell in re.findall(r"<td.*?</td>", found)]


def test_the_page_stands_alone(compared):
    page = (compared / "report.html").read_text(encoding="utf-8")
    assert page.count("<script>") == page.count("</script>") == 2
    head = page.split("<script>")[0]
    assert not re.findall(r"<(?:script|link|img)[^>]+(?:src|href)=", head)
    assert "s&amp;ck" in head and "s&ck" not in head
    identifiers = re.findall(r'\bid="([^"]+)"', head)
    assert len(identifiers) == len(set(identifiers)) == 4
    for name in identifiers:
        assert f'"{name}": {{"$schema"' in page
    assert head.index("Verdict") < head.index("Figures") < head.index("Parameters")


def test_the_verdicts_are_those_of_results(compared):
    study = bl.read_study(compared)
    p_holm = significance(study)
    shown = compare(find([compared])).differences
    by_place = {
        (json.dumps(one.point, sort_keys=True), one.result, one.over, one.metric): one
        for one in shown
    }
    assert len(by_place) == len(p_holm) == 12
    for row, p in zip(study.differences.to_pylist(), p_holm, strict=True):
        point = json.dumps(study.plan.points[row["point"]], sort_keys=True)
        other = by_place[point, row["scheme"], row["over"], row["metric"]]
        expected = pytest.approx(float("nan"), nan_ok=True)
        if other.p_holm is not None:
            expected = pytest.approx(other.p_holm, rel=1e-6, abs=1e-12)
        assert p == expected
    found = order(versus(study, p_holm), main_metrics(study))
    assert [one.metric for one in found] == METRICS
    assert sum(one.higher + one.lower for one in found) == sum(one.significant for one in shown) > 0
    page = (compared / "report.html").read_text(encoding="utf-8")
    for one in found:
        row = cells(page, f">{called(one.metric)}</td><td>s&amp;ck / reno</td>")
        counts = (one.higher, one.lower, one.undecided, one.equal)
        assert row[2:6] == [str(count) if count else "–" for count in counts]


def test_each_row_runs_again(compared, burstlab, monkeypatch):
    page = (compared / "report.html").read_text(encoding="utf-8")
    monkeypatch.chdir(compared)
    commands = re.findall(r"<code>(burstlab run \. [^<]*)</code></td><td><code>(\w+)</code>", page)
    assert len(commands) == 12
    for command, fingerprint in commands[3::5]:
        words = shlex.split(command.replace("&#39;", "'").replace("&amp;", "&"))
        answer = burstlab(*words[1:], "--json")
        assert answer.status == 0, answer.err
        assert answer.json()["fingerprint"] == fingerprint


def test_precision_and_parameters_are_told(compared):
    study = bl.read_study(compared)
    page = (compared / "report.html").read_text(encoding="utf-8")
    short = len(set(study.estimates.where(reached=False)["point"].tolist()))
    assert 0 < short < 6
    assert f"{short} points are less precise" in page
    assert page.count(">reached<") == sum(study.estimates["reached"] == True)  # noqa: E712
    assert cells(page, "<code>edge.timer</code>")[1] == "2 ms, 5 ms, 20 ms"
    assert cells(page, "<code>loss.data.probability</code>")[1] == "0.03"
    assert cells(page, "<code>network.core_nodes</code>")[1] == "2", "a default"
    assert cells(page, "<code>burstlab</code>")[1] == bl.__version__


def test_the_same_study_has_the_same_report(compared, tmp_path):
    bl.study(COMPARED, out=tmp_path / "again", jobs=1)
    report = (tmp_path / "again/report.html").read_bytes()
    assert report == (compared / "report.html").read_bytes()
    (tmp_path / "again/report.html").unlink()
    bl.study(COMPARED, out=tmp_path / "again", resume=True, report=False)
    assert not (tmp_path / "again/report.html").exists()
    bl.study(COMPARED, out=tmp_path / "again", resume=True)
    assert (tmp_path / "again/report.html").read_bytes() == report


def test_what_draws_is_what_the_locked_package_has():
    from burstlab.report.rendering import drawn_by, script_safe

    made = pytest.importorskip("vl_convert").javascript_bundle()
    assert drawn_by() == script_safe(made), "make vega writes it anew"


DESIGNS: dict[str, dict[str, Any]] = {
    "nothing varies": {},
    "schemes alone": {"schemes": SCHEMES},
    "names": {"grid": {"tcp.variant": ["reno", "sack"]}, "schemes": {"a": {}, "b": {}}},
    "drawn": {
        "latin_hypercube": {
            "points": 8,
            "ranges": {
                "tcp.window": {"from": 4, "to": 64},
                "loss.data.probability": {"from": 0.001, "to": 0.1, "scale": "log"},
                "tcp.variant": ["reno", "sack"],
            },
        },
    },
    "many panels": {
        "grid": {
            "tcp.window": list(range(4, 20)),
            "tcp.variant": ["reno", "sack"],
            "edge.timer": [f"{n} ms" for n in range(1, 9)],
        },
    },
    "many values": {"grid": {"tcp.window": list(range(4, 60))}, "schemes": SCHEMES},
}


@pytest.mark.parametrize("name", DESIGNS)
def test_every_design_can_be_drawn(name, tmp_path):
    import vl_convert

    scenario = {**SCENARIO, "run": {"duration": "1 s"}}
    plan = {"scenario": scenario, "replications": 2, "metrics": METRICS, **DESIGNS[name]}
    study = bl.study(plan, out=tmp_path / "out")
    drawn = figures(study, METRICS)
    assert [one.metric for one in drawn][:1] == METRICS[:1]
    for one in drawn[:2]:
        rows = one.spec["data"]["values"].splitlines()
        assert len(rows) > 1
        vega = vl_convert.vegalite_to_vega(json.dumps(one.spec))
        assert vega["marks"]
    first = drawn[0]
    panels = {"drawn": 2, "many panels": 6}.get(name, 1)
    assert len(first.spec["concat"]) == panels
    if name == "many panels":
        assert "6 of 8 combinations are drawn" in first.caption
        assert "tcp variant = sack" in first.spec["data"]["values"]
    if name == "drawn":
        assert len(rows_of(first)) == 2 * 8
    marks = {layer["mark"]["type"] for layer in first.spec["concat"][0]["layer"]}
    assert ("area" in marks) == (name == "many values")
    assert "Points, and how to run each again" in (tmp_path / "out/report.html").read_text()


def rows_of(figure: Any) -> list[str]:
    return figure.spec["data"]["values"].splitlines()[1:]


def test_a_figure_has_the_values_of_the_tables(compared):
    study = bl.read_study(compared)
    mean, ratio = figures(study, METRICS[:1])
    assert (mean.kind, ratio.kind) == ("mean", "ratio")
    rows = [line.split(",") for line in rows_of(mean)]
    assert len(rows) == 12
    for row in rows:
        point, scheme = int(row[7]), row[1]
        (shown,) = study.estimates.where(point=point, scheme=scheme, metric=METRICS[0]).to_pylist()
        assert float(row[2]) == pytest.approx(shown["edge.timer_s"] * 1e3)
        scale = 1e-6 if "Mb/s" in json.dumps(mean.spec) else 1e-3
        assert float(row[3]) == pytest.approx(shown["mean"] * scale, rel=1e-5)
        gap = (float(row[5]) - float(row[4])) / 2
        assert gap == pytest.approx(shown["ci95"] * scale, rel=1e-4)
    assert {line.split(",")[1] for line in rows_of(ratio)} == {"s&ck / reno"}


def test_a_warm_up_is_told_and_kept(tmp_path, burstlab):
    plan = {
        "scenario": SCENARIO, "warmup": "mser", "replications": 2,
        "grid": {"tcp.window": [8, 30]}, "metrics": METRICS,
    }  # fmt: skip
    study = bl.study(plan, out=tmp_path / "out")
    page = (tmp_path / "out/report.html").read_text()
    assert "Found by MSER-5 at each point" in page
    longest = max(study.runs["warmup_s"])
    assert f"{longest:.4g} s" in page
    prints = study.runs.where(point=1)["fingerprint"].tolist()
    again = bl.run(study.scenario(1))
    assert [one.summary["fingerprint"] for one in again.replications] == prints


def test_a_point_that_is_not_there_is_refused(compared, burstlab, tmp_path):
    for words, shown in [
        (["--point", 6, "--scheme", "reno"], "point 6: the study has 6\n  fix: use 0 to 5"),
        (["--point", -1, "--scheme", "reno"], "use 0 to 5"),
        (["--point", 0], "no scheme is named\n  fix: name one of reno, s&ck"),
        (["--point", 0, "--scheme", "ren"], "did you mean 'reno'?"),
    ]:
        answer = burstlab("run", compared, *words)
        assert (answer.status, shown in answer.err) == (2, True), answer.err
    assert burstlab("run", tmp_path, "--point", 0).status == 2
    head = json.loads((compared / "study.json").read_text())
    other = tmp_path / "other"
    other.mkdir()
    for file in compared.iterdir():
        (other / file.name).write_bytes(file.read_bytes())
    (other / "study.json").write_text(json.dumps(sealed({**head, "burstlab": "0.0.9"})))
    answer = burstlab("run", other, "--point", 0, "--scheme", "reno")
    assert answer.status == 2
    assert "a study of burstlab 0.0.9" in answer.err


def test_a_point_that_is_not_done_is_refused(tmp_path, monkeypatch):
    from burstlab.studies import workers

    monkeypatch.setattr(workers, "_HERE_S", 1e-6)

    def stop(progress: Any) -> None:
        if progress.done:
            raise KeyboardInterrupt

    with pytest.raises(bl.StudyInterrupted):
        bl.study(COMPARED, out=tmp_path / "out", jobs=1, progress=stop)
    study = bl.read_study(tmp_path / "out")
    assert not (tmp_path / "out/report.html").exists()
    with pytest.raises(InputError, match="not finished"):
        study.scenario(5, "reno")


def test_the_errata_of_a_report_are_those_of_the_page(root):
    page = (root / "docs/errata.md").read_text(encoding="utf-8")
    headings = re.findall(r"^### (.*)$", page, re.MULTILINE)
    assert [place for paper in papers() for place in paper.about.get("errata", [])] != []
    assert sorted(place for paper in papers() for place in paper.about.get("errata", [])) == sorted(
        headings
    )
