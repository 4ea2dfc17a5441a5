"""Text of a user is shown wherever it is printed, drawn or served: no markup, and no command."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
import tomli_w

import burstlab as bl
from burstlab import plot
from burstlab.page import viewer
from burstlab.printable import brief, shown
from burstlab.report import rendering
from burstlab.reproduce.claims import VERDICTS

TRACES = ("packets", "bursts", "cwnd", "ledger")

LABELS = {
    "markup": "[/b] [bold red]x[/] [link=http://x] :smile:",
    "script": "</script><script>alert(1)</script><img src=x onerror=alert(1)>",
    "comment": "<!--<script>",
    "template": "{{7*7}} {% raw %} ${7*7} {0}",
    "quotes": "\"'`\\ % & ;",
    "control": "\x1b[31mred\x1b]0;title\x07\x9b2J\r\x08\x7f\nnew line\ttab",
    "turned": "\u202egpj.exe \u2066x\u2069 \u061c",
    "other scripts": "مرحبا שלום 日本語 👩\u200d💻🎉",
    "long": "x" * 20_000,
}

#: Characters that control a terminal, or turn the direction of writing.
ACTS = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def scenario(label: str) -> dict[str, Any]:
    return {
        "edge": {"assembly": "timer", "timer": "5 ms"},
        "loss": {"data": {"process": "script", "bursts": [9]}},
        "flows": [{"label": label}, {"label": "other"}],
        "run": {"duration": "2 s"},
    }


@pytest.fixture(params=LABELS.values(), ids=list(LABELS))
def label(request) -> str:
    return request.param


@pytest.fixture
def stored(label: str, tmp_path: Path) -> Path:
    bl.run(scenario(label), trace=TRACES, out=tmp_path / "out")
    return tmp_path / "out"


def test_what_steers_becomes_visible():
    assert shown("a\x1b[1m\n\x9b\u202e") == r"a\x1b[1m\n\x9b\u202e"
    assert shown("a\nb\r", lines=True) == "a\nb\\r"
    assert shown("\ud800") == r"\ud800"
    assert shown(LABELS["other scripts"]) == LABELS["other scripts"]
    assert brief("x" * 999) == "x" * 117 + "..."
    assert len(brief("\x1b" * 999)) == 120


def test_a_command_prints_it(label, tmp_path, burstlab):
    file = tmp_path / "scenario.toml"
    file.write_text(tomli_w.dumps(scenario(label)), encoding="utf-8")
    out = tmp_path / "out"
    for words in (
        ("run", file, "--out", out, "--trace", "packets"),
        ("results", out),
        ("results", out, "--sql", "select label from flows"),
        ("check", file),
    ):
        answer = burstlab(*words)
        assert answer.status == 0, answer.err
        assert not ACTS.search(answer.out + answer.err)
    sql = "select label from flows where id = 0"
    found = burstlab("results", out, "--sql", sql).out
    assert "".join(shown(label).split()) in "".join(found.split()), "the whole of it is shown"
    assert burstlab("run", file, "--json").json()["flows"][0]["label"] == label


@pytest.mark.parametrize("field", ["tcp.variant", "access.rate", "network.topology", "edge.timer"])
def test_its_own_error_prints_it(label, field, tmp_path, burstlab):
    file = tmp_path / "scenario.toml"
    table, name = field.split(".")
    file.write_text(tomli_w.dumps({table: {name: label}}), encoding="utf-8")
    for words in (("run", file), ("check", file)):
        answer = burstlab(*words)
        assert (answer.status, answer.out) == (2, "")
        assert answer.err.startswith(f"error: {field} = ")
        assert "\n  fix: " in answer.err
        assert not ACTS.search(answer.err)


def test_errors_print_names_of_fields_flags_and_files(label, tmp_path, burstlab):
    name = label[:60]
    file = tmp_path / "scenario.toml"
    file.write_text(tomli_w.dumps({"tcp": {name: 1}}), encoding="utf-8")
    for words in (
        ("run", file),
        ("run", tmp_path / name),
        ("study", tmp_path / name),
        ("view", tmp_path / name),
        ("results", tmp_path / name),
        ("export", tmp_path / name),
        ("oracle", tmp_path / name),
        ("reproduce", name, "--out", tmp_path / "o"),
        ("model", name),
        ("run", file, "--set", f"{name}=1"),
        ("run", file, "--seed", name),
        ("run", file, f"--{name}"),
        (name,),
    ):
        answer = burstlab(*words)
        assert (answer.status, answer.out) == (2, ""), words
        assert answer.err.startswith("error: ")
        assert "Traceback" not in answer.err
        assert not ACTS.search(answer.err)


class Elements(HTMLParser):
    """The elements of a page, and its text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.names: list[str] = []
        self.text: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.names.append(tag)
        assert not any(name.startswith("on") for name, _ in attrs)

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def test_a_notebook_shows_it(stored, label):
    result = bl.read(stored)
    for one in (result, result.flows):
        page = one._repr_html_()  # pyright: ignore[reportPrivateUsage]
        found = Elements(page)
        assert not {"script", "img"} & set(found.names)
        assert shown(label) in found.text
        assert not ACTS.search(page)


def test_figures_and_exports_have_it(stored, label, tmp_path):
    result = bl.read(stored)
    plain = bl.run(scenario("plain"), trace=TRACES)
    for number, draw in enumerate((plot.sequence_chart, plot.window_chart)):
        svg = plot.write(draw(result, 0), tmp_path / f"{number}.svg").read_text()
        texts = [one.text or "" for one in ET.fromstring(svg).iter() if one.text]
        assert any(shown(label)[:20] in text for text in texts)
        assert not {one.tag.rpartition("}")[2] for one in ET.fromstring(svg).iter()} & {"script"}
    (xpl,) = result.export("xplot", tmp_path / "x.xpl")
    (other,) = plain.export("xplot", tmp_path / "y.xpl")
    lines, others = (path.read_text(encoding="utf-8").split("\n") for path in (xpl, other))
    # The label is in its one line; every other line is what it is without.
    assert [line for line in lines if label not in line and "seed 1" not in line] == [
        line for line in others if "plain" not in line
    ]
    (qlog,) = result.export("qlog", tmp_path / "x.qlog")
    head = json.loads(qlog.read_text().split("\n")[0].lstrip("\x1e"))
    assert shown(label) in head["title"]
    (trace,) = result.export("perfetto", tmp_path / "x.json")
    assert json.loads(trace.read_text())
    result.export("pcapng", tmp_path / "x.pcapng")
    result.export("csv", tmp_path / "csv")
    import pyarrow.csv as pc

    options = pc.ParseOptions(newlines_in_values=True)
    table = pc.read_csv(tmp_path / "csv/flows.csv", parse_options=options)
    assert table["label"].to_pylist()[0].replace("\r", "") == label.replace("\r", "")


def test_the_page_serves_it_as_data(stored, label):
    answer = viewer(stored).answer("data/about", {})
    assert answer is not None and answer.kind == "application/json"
    labels = [flow["label"] for flow in json.loads(answer.content)["flows"]]
    assert shown(label) in labels


def test_the_scripts_of_the_page_write_text_only():
    for file in sorted((Path(bl.__file__).parent / "page/static/js").glob("*.js")):
        text = file.read_text()
        for method in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("):
            assert method not in text, file.name


def test_the_report_of_a_study_shows_it(label, tmp_path, burstlab):
    name = label[:60]
    plan = {
        "scenario": scenario(label),
        "schemes": {name: {"tcp.window": 4}, "other": {"tcp.window": 8}},
        "replications": 2,
        "metrics": ["flows.mean.goodput_bps"],
    }
    file = tmp_path / "plan.toml"
    file.write_text(tomli_w.dumps(plan), encoding="utf-8")
    answer = burstlab("study", file, "--out", tmp_path / "study")
    assert answer.status == 0, answer.err
    page = (tmp_path / "study/report.html").read_text(encoding="utf-8")
    assert page.count("<script>") == page.count("</script>") == 2
    found = Elements(page)
    assert "img" not in found.names and found.names.count("script") == 2
    assert shown(name, lines=True) in "".join(found.text)
    assert "49" not in [text.strip() for text in found.text]
    assert not ACTS.search(page.split("<script>")[0])
    assert not ACTS.search(answer.out + answer.err)
    shown_again = burstlab("results", tmp_path / "study")
    assert shown_again.status == 0
    assert not ACTS.search(shown_again.out)


def test_the_report_of_a_reproduction_shows_it(label):
    claim = {
        "claim": label, "source": label, "verdict": "holds", "evidence": label, "why": label,
        "limit": "after", "wrong_models": {label: "fails"},
    }  # fmt: skip
    section = {
        "name": label, "id": "x", "title": label, "rows": [], "notes": [label],
        "charts": [{"id": "c", "spec": "{}", "zooms": True, "caption": label, "files": ["a.svg"]}],
        "claims": [claim], "parameters": [{"title": label, "text": label}], "command": label,
        "fingerprint": "f", "seed": 1, "wall_s": 1.0,
        "again": {"burstlab": label, "effort": "quick", "seed": None},
    }  # fmt: skip
    about = {"authors": label, "title": label, "venue": label, "errata": [label]}
    page = rendering.render(
        "reproduction.html.j2", [rendering.Chart.of("x", {"title": label})],
        papers={"x": about}, sections=[section], counts=dict.fromkeys(VERDICTS, 1),
        versions=[label], quick=True, interrupted=False, commands=[label], lead=section,
        errata={"x": [{"place": label, "id": "e", "html": "<p>text</p>"}]},
        next_steps=[(label, label)],
    )  # fmt: skip
    found = Elements(page)
    assert "img" not in found.names and found.names.count("script") == 2
    assert page.count("</script>") == 2
    assert not ACTS.search(page.split("<script>")[0])


def test_a_bar_shows_it(label, monkeypatch):
    from burstlab.running import progress

    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    with progress.bar(label[:200]) as update:
        assert update is not None
        update(0.5)
