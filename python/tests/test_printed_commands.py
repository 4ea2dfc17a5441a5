"""Commands that reports, pages and messages print do what they say, from what lies there alone.

Each study and each result is moved into an empty directory, what it was made of is removed, and the
command is taken as it is printed there.
"""

from __future__ import annotations

import html
import json
import re
import shlex
from pathlib import Path

import pytest
from pages import about, data

import burstlab as bl
from burstlab import again
from burstlab.page import viewer
from burstlab.page.playing import player
from burstlab.storage.sums import sealed
from burstlab.studies import read as read_study

LAW = """
class Gentle:
    def on_ack(self, event): return event.cwnd + 0.5 / event.cwnd
    def on_loss(self, event): return event.window * 0.8
    def on_timeout(self, event): return 2.0
"""

#: A plan of which each part names a file: a class, topologies, sizes and connections.
PLAN = """
scenario = "net.toml"
replications = 2
metrics = ["counters.events", "counters.bursts_sent"]
[grid]
network.file = ["nets/two.json", "nets/three.json"]
[schemes.plain]
tcp.window = 12
"demand[0].size.mean" = "20 KB"
[schemes.gentle]
tcp = { window_law = "python", window_law_class = { file = "gentle.py", class = "Gentle" } }
"demand[0].size.mean" = "20 KB"
[schemes.sizes]
"demand[0].size" = { distribution = "empirical", file = "sizes.csv" }
[schemes.trace]
"demand[0].pattern" = "trace"
"demand[0].file" = "connections.csv"
"""

NET = """
[network]
topology = "custom"
[edge]
assembly = "timer"
timer = "1 ms"
[[demand]]
[run]
duration = "2 s"
seed = 4
"""


def inputs(place: Path) -> Path:
    place.mkdir()
    (place / "nets").mkdir()
    for name, count in (("two", 2), ("three", 3)):
        nodes = [{"id": f"n{number}", "role": "both"} for number in range(count)]
        links = [
            {"source": "n0", "target": f"n{number}", "length_km": 10} for number in range(1, count)
        ]
        document = {"directed": False, "multigraph": False, "graph": {}}
        text = json.dumps({**document, "nodes": nodes, "links": links})
        (place / f"nets/{name}.json").write_text(text)
    (place / "gentle.py").write_text(LAW)
    (place / "sizes.csv").write_text("bytes,probability\n10000,0.5\n30000,1\n")
    rows = "start,from,to,bytes\n0.001,n0,n1,20000\n0.01,n1,n0,50000\n"
    (place / "connections.csv").write_text(rows)
    (place / "net.toml").write_text(NET)
    (place / "plan.toml").write_text(PLAN)
    return place


def removed(place: Path) -> None:
    for file in sorted(place.rglob("*"), reverse=True):
        file.rmdir() if file.is_dir() else file.unlink()
    place.rmdir()


@pytest.fixture
def alone(tmp_path, monkeypatch, burstlab):
    """Make a study whose schemes and grid name files, and leave nothing but it."""
    made = inputs(tmp_path / "made")
    answer = burstlab("study", made / "plan.toml", "--out", tmp_path / "st")
    assert answer.status == 0, answer.err
    (tmp_path / "empty").mkdir()
    (tmp_path / "st").rename(tmp_path / "empty" / "moved study")
    removed(made)
    monkeypatch.chdir(tmp_path / "empty")
    return tmp_path / "empty" / "moved study"


def words(command: str) -> list[str]:
    first, *rest = shlex.split(command)
    assert first == "burstlab", command
    return rest


def commands(page: Path) -> list[str]:
    """Return the commands of a report: in elements of code, a line each."""
    text = page.read_text(encoding="utf-8")
    found = re.findall(r"<(?:code|pre)[^>]*>([^<]*)</(?:code|pre)>", text)
    lines = [html.unescape(line).strip() for one in found for line in one.splitlines()]
    return [line for line in lines if line.startswith("burstlab ")]


def test_a_study_holds_every_file_that_a_scheme_or_a_grid_names(alone, burstlab):
    study = read_study(alone)
    names = {"nets/two.json", "nets/three.json", "gentle.py", "sizes.csv", "connections.csv"}
    assert set(study.plan.to_document()["files"]) == names
    rows = study.runs.to_pylist()
    assert len(rows) == 16
    for row in rows[::2]:
        again = bl.run(study.scenario(row["point"], row["scheme"]), allow_code=True)
        pair = [
            one for one in rows if (one["point"], one["scheme"]) == (row["point"], row["scheme"])
        ]
        prints = [one.summary["fingerprint"] for one in again.replications]
        assert prints == [one["fingerprint"] for one in pair]


def test_files_of_any_bytes_travel_with_a_plan(tmp_path):
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    made = inputs(tmp_path / "made")
    table = {"start": [0.001], "from": ["n0"], "to": ["n1"], "bytes": [20_000]}
    parquet.write_table(pa.table(table), made / "flows.parquet")
    network = {"topology": "custom", "file": str(made / "nets/two.json")}
    plan = {
        "scenario": {"network": network, "run": {"duration": "20 ms"},
                     "demand": [{"pattern": "trace"}]},
        "replications": 1,
        "metrics": ["counters.events"],
        "grid": {"demand[0].file": [str(made / "flows.parquet"), str(made / "connections.csv")]},
    }  # fmt: skip
    first = bl.study(plan, out=tmp_path / "study")
    removed(made)
    stored = read_study(tmp_path / "study")
    for point in range(2):
        run = bl.run(stored.scenario(point))
        row = first.runs.where(point=point)
        assert [run.replications[0].summary["fingerprint"]] == row["fingerprint"].tolist()
    assert bl.study(tmp_path / "study" / "plan.toml").runs.to_pylist() == first.runs.to_pylist()


def test_a_file_that_changed_is_another_plan(tmp_path):
    made = inputs(tmp_path / "made")
    bl.study(made / "plan.toml", out=tmp_path / "study")
    (made / "gentle.py").write_text(LAW.replace("0.8", "0.7"))
    with pytest.raises(bl.InputError, match=r"files.gentle.py was \"\d+ lines, sha256") as error:
        bl.study(made / "plan.toml", out=tmp_path / "study", resume=True)
    assert "on_loss" not in str(error.value)


def test_a_plan_with_a_file_that_is_none_is_refused(tmp_path):
    plan = {"scenario": {}, "replications": 1, "files": {"a.csv": {"base64": "?"}}}
    with pytest.raises(bl.InputError, match=r"files.a.csv: no file .*\n  fix: "):
        bl.study(plan)
    with pytest.raises(bl.InputError, match=r"files.a.csv: no file"):
        bl.study({**plan, "files": {"a.csv": 3}})


def test_every_command_of_a_study_report(alone, burstlab, monkeypatch):
    study = read_study(alone)
    prints = {}
    for row in study.runs.to_pylist():
        prints.setdefault((row["point"], row["scheme"]), []).append(row["fingerprint"])
    monkeypatch.chdir(alone)
    found = commands(alone / "report.html")
    runs = [one for one in found if one.startswith("burstlab run ")]
    assert len(runs) == len(prints) == 8
    for command, expected in zip(runs, prints.values(), strict=True):
        answer = burstlab(*words(command), "--json")
        assert answer.status == 0, (command, answer.err)
        assert [one["fingerprint"] for one in answer.json()["replications"]] == expected
    # Only where there is code is leave asked for it.
    assert sum("--allow-code" in one for one in runs) == 2
    (view,) = [one for one in found if one.startswith("burstlab view ")]
    assert burstlab(*words(view), "--export", "page.html").status == 0
    (whole,) = [one for one in found if one.startswith("burstlab study ")]
    assert burstlab(*words(whole)).status == 0
    assert read_study("../again").runs.to_pylist() == study.runs.to_pylist()
    assert len(found) == len(runs) + 2


def test_what_a_page_prints_records_what_it_shows(alone, burstlab):
    for place, scheme in enumerate(("plain", "gentle")):
        page = viewer(alone, point=place, scheme=scheme, allow_code=True)
        record = about(page)["record"]
        page.close()
        assert burstlab(*words(record)).status == 0, record
        out = shlex.split(record)[-1]
        rows = read_study(alone).runs.where(point=place, scheme=scheme)
        prints = [one.summary["fingerprint"] for one in bl.read(out).replications]
        assert prints == rows["fingerprint"].tolist()


def test_messages_name_commands_that_work(alone, burstlab):
    answer = burstlab("run", alone)
    (command,) = re.findall(r"fix: (burstlab run .*) runs one", answer.err)
    assert burstlab(*words(command)).status == 0
    answer = burstlab("results", alone)
    assert answer.status == 0
    with pytest.raises(bl.InputError) as error:
        bl.read(alone)
    (command,) = re.findall(r"fix: (burstlab run .*) repeats one", str(error.value))
    assert command.endswith("--out DIR")
    assert burstlab(*words(command.replace("DIR", "made-again"))).status == 0
    assert bl.read("made-again").replications
    command = again.of_study(alone / "plan.toml", "study-again")
    assert burstlab(*words(command)).status == 0
    head = json.loads((alone / "study.json").read_text())
    (alone / "study.json").write_text(json.dumps(sealed({**head, "format": 1})))
    answer = burstlab("results", alone)
    (command,) = re.findall(r"repeat the study: (burstlab study .*) --out DIR", answer.err)
    assert command == again.of_study(alone / "plan.toml", "x").removesuffix(" --out x")


@pytest.mark.parametrize("code", [False, True])
def test_commands_of_a_result_and_of_pages_of_it(code, tmp_path, monkeypatch, burstlab):
    (tmp_path / "gentle.py").write_text(LAW)
    law = {"window_law": "python", "window_law_class": {"file": "gentle.py", "class": "Gentle"}}
    monkeypatch.chdir(tmp_path)
    scenario = {
        "edge": {"assembly": "timer", "timer": "2 ms"},
        "tcp": law if code else {},
        "loss": {"data": {"process": "bernoulli", "probability": 0.05}},
        "run": {"duration": "100 ms"},
    }
    first = bl.run(scenario, out=tmp_path / "empty" / "my result", trace=("bursts", "packets"))
    (tmp_path / "gentle.py").unlink()
    monkeypatch.chdir(tmp_path / "empty")
    from burstlab.page.viewing import recording

    assert burstlab(*words(recording(Path("my result")))).status == 0
    assert bl.read("my result-traced").fingerprint == first.fingerprint
    summary = json.loads(Path("my result/summary.json").read_text())
    del summary["tables"]
    Path("my result/summary.json").write_text(json.dumps(summary))
    with pytest.raises(bl.InputError) as error:
        bl.read("my result")
    (command,) = re.findall(r"make it again \((burstlab .*), with", str(error.value))
    assert burstlab(*words(command)).status == 0
    assert bl.read("my result-again").fingerprint == first.fingerprint
    stored = Path("my result-again/scenario.toml")
    page = viewer(stored, allow_code=code, settings=["run.duration=50 ms"])
    record = about(page)["record"]
    page.close()
    assert ("--allow-code" in record) == code
    assert burstlab(*words(record)).status == 0, record
    page = player(str(stored), allow_code=code)
    shown, _ = data(page, "play")
    page.close()
    Path("play.toml").write_text(shown["toml"])
    flag = [shown["flag"]] if shown["flag"] else []
    assert bool(flag) == code
    assert burstlab("run", "play.toml", *flag, "--trace", "bursts", "--out", "played").status == 0
    assert bl.read("played").replications[0].summary["fingerprint"] == shown["fingerprints"][1]
    answer = burstlab("run", "play.toml", *flag, "--set", "tcp.detector=none")
    assert answer.status == 0, answer.err


def test_the_commands_of_a_reproduction_run_from_an_empty_directory(
    burstlab, tmp_path, monkeypatch
):
    target = "yu2004/fig3"
    assert burstlab("reproduce", target, "--quick", "--out", tmp_path / "made").status == 0
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    printed = dict.fromkeys(commands(tmp_path / "made/report.html"))
    assert len(printed) == 4
    assert "burstlab reproduce yu2004 --quick" in printed
    for number, command in enumerate(printed):
        verb, *given = words(command)
        if verb in ("demo", "play"):
            assert burstlab(verb, *given, "--export", f"{verb}.html").status == 0
            continue
        assert verb == "reproduce", command
        if given[0] == target.partition("/")[0]:
            # All of the paper takes a minute: its name and its flags are read.
            given = [target, *given[1:]]
        assert burstlab(verb, *given, "--out", f"again{number}").status == 0
        found, made = (
            json.loads((place / "reproduce.json").read_text())["targets"][0]["fingerprint"]
            for place in (Path(f"again{number}"), tmp_path / "made")
        )
        assert found == made
