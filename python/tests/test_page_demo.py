"""The page without a result: scenarios that it runs, presets, the tour, and a file."""

from __future__ import annotations

import contextlib
import gzip
import json
import re
import signal
import subprocess
import sys
import tomllib
from base64 import b64decode
from importlib.resources import files
from pathlib import Path

import pytest
from pages import MESH, PATH, about, ask, data, recorded, serving

import burstlab as bl
from burstlab.errors import InputError
from burstlab.page import Server, demonstration, export, player, viewer
from burstlab.page.presets import presets
from burstlab.page.touring import SCENES, STEPS

STATIC = files("burstlab.page").joinpath("static")


def terms() -> set[str]:
    text = STATIC.joinpath("js", "terms.js").read_text("utf-8")
    listed = text[text.index("{") : text.index("\n};")]
    return {a or b for a, b in re.findall(r'^  (?:"([^"]+)"|(\w+)):', listed, re.MULTILINE)}


# Scenarios.


def test_a_scenario_is_run_and_shown(root):
    page = viewer(root / "examples" / "one_burst.toml", settings=["tcp.variant=reno"])
    shown = about(page)
    assert shown["missing"] == []
    assert shown["flows"][0]["false"] == 1
    result = bl.run(root / "examples" / "one_burst.toml", trace="bursts")
    _, losses = data(page, "losses")
    assert losses["t_s"].tolist() == [
        row["lost_ps"] * 1e-12 for row in result.bursts.where(fate="lost").to_pylist()
    ]
    assert "burstlab run" in shown["record"] and "--set tcp.variant=reno" in shown["record"]
    page.close()


@pytest.mark.parametrize(
    ("tokens", "shown"),
    [
        (["none.toml"], "none.toml"),
        (["RESULT", "--set", "tcp.window=4"], "--set works only with a scenario"),
        (["SCENARIO", "--set", "tcp.window=none"], "tcp.window"),
        (["SCENARIO", "--point", "1"], "--point works only with a study"),
        (["SCENARIO", "--replication", "-1"], "--replication -1"),
        (["SCENARIO", "--token", "short"], "16 to 128 letters"),
        (["SCENARIO", "--token", "x/../../../etc/passwd"], "16 to 128 letters"),
        (["SCENARIO", "--force"], "--force works only with --export"),
        (["SCENARIO", "--export", "."], "exists already"),
        (["SCENARIO", "--export", "result/summary.json/page.html"], "cannot be written"),
    ],
)
def test_what_cannot_be_shown_is_told(burstlab, root, tmp_path, monkeypatch, tokens, shown):
    recorded({**PATH, "run": {"duration": "1 s"}}, tmp_path / "result")
    monkeypatch.chdir(tmp_path)
    known = {"RESULT": "result", "SCENARIO": root / "examples" / "one_burst.toml"}
    answer = burstlab("view", *(known.get(token, token) for token in tokens), "--no-open")
    assert answer.status == 2
    assert shown in answer.err
    assert "fix: " in answer.err


def test_code_in_a_scenario_is_not_run_unasked(burstlab, root, tmp_path):
    bl.run(root / "examples" / "python_law.toml", out=tmp_path / "r")
    answer = burstlab("view", tmp_path / "r" / "scenario.toml", "--no-open")
    assert answer.status == 2
    assert "--allow-code" in answer.err


def test_an_address_can_be_kept():
    page = player()
    token = "lecture-on-bursts-of-november"
    with Server(page, token=token) as server:
        assert server.address.endswith(f"/{token}/")
    with serving(page) as server:
        assert ask(server, f"/{token}/")[0].status == 403


# Presets.


@pytest.mark.parametrize("name", presets())
def test_a_preset_is_the_scenario_of_a_paper_but_for_what_it_says(name):
    preset = presets()[name]
    paper = bl.load(Path(str(files("burstlab.papers"))) / preset.file)
    mine = bl.resolve(preset.scenario)
    assert paper["network"] == {k: v for k, v in preset.scenario["network"].items()}
    for path, value in preset.set.items():
        table, _, field = path.partition(".")
        assert mine[table][field] == value
        assert f"{path} = {value}" in preset.note
    for table in ("tcp", "edge", "access"):
        assert preset.scenario.get(table) == paper.get(table)


@pytest.mark.parametrize("name", presets())
def test_a_preset_can_be_watched(name):
    page = demonstration()
    shown = json.loads(page.data["data/about"]({"run": name}).content)
    assert shown["missing"] == []
    assert shown["flows"]
    _, found = data(page, "bursts", run=name, **{"from": 0, "to": shown["end_s"]})
    assert len(found["burst"]) > 10
    page.close()


def test_each_paper_has_a_preset():
    papers = {path.name for path in Path(str(files("burstlab.papers"))).iterdir() if path.is_dir()}
    papers.discard("__pycache__")
    assert {preset.file.split("/")[0] for preset in presets().values()} == papers


@pytest.mark.parametrize("name", [one for one in presets() if presets()[one].play])
def test_a_preset_can_be_played_with(name):
    page = player()
    shown = json.loads(page.data["data/controls"]({"preset": name}).content)
    assert "Yu, Qiao and Liu (2004)" in shown["note"]
    said, _ = data(page, "play", preset=name, seed=3)
    document = tomllib.loads(said["toml"])
    assert document["tcp"]["profile"] == "ns2-2003"
    assert document["run"]["seed"] == 3
    assert said["runs"] >= 2
    page.close()


@pytest.mark.parametrize(
    ("name", "query", "shown"),
    [
        ("about", {"run": "nothing"}, "unknown run"),
        ("about", {"run": "burst?window=many"}, "a number is needed"),
        ("play", {"preset": "nothing"}, "unknown preset"),
        ("play", {"preset": "lu-hunter-slots"}, "is no path"),
        ("step", {"number": "7"}, "number is 1 to 6"),
        ("step", {}, "number is 1 to 6"),
    ],
)
def test_what_is_not_there_is_refused(name, query, shown):
    page = demonstration()
    text = "&".join(f"{field}={value}" for field, value in query.items())
    with serving(page) as running:
        answer, body = ask(running, f"/{running.token}/data/{name}?{text.replace('?w', '%3Fw')}")
    assert answer.status == 400
    assert shown in body.decode()


def test_what_is_played_can_be_watched():
    page = player()
    key = "burst?window=8&seed=2&loss=0.05"
    shown = json.loads(page.data["data/about"]({"run": key}).content)
    said, _ = data(page, "play", window=8, seed=2, loss=0.05)
    assert shown["fingerprint"] == said["fingerprints"][1]
    plain = json.loads(page.data["data/about"]({"run": key.replace("burst", "plain")}).content)
    assert plain["fingerprint"] == said["fingerprints"][0]
    page.close()


# The tour.


def test_the_numbers_of_the_tour_are_those_of_its_runs():
    page = demonstration()
    steps = [
        json.loads(page.data["data/step"]({"number": str(n)}).content) for n in range(1, STEPS + 1)
    ]
    page.close()
    text = [" ".join(step["text"]) for step in steps]
    trace = ("packets", "bursts", "ledger")
    reno, burst, nsfnet = (bl.run(stop.scene.scenario, trace=trace) for stop in SCENES.values())
    (out,) = reno.ledger.to_pylist()
    assert (out["truth"], out["lost_bursts"]) == ("false", 1)
    assert f"here {out['lost_packets']} of them" in text[0]
    assert f"{out['lost_packets']} travelled in burst {out['burst']}" in text[1]
    assert f"cwnd]] falls from {out['cwnd']:.0f} to 1" in text[2]
    assert f"{(out['t_ps'] - out['lost_ps']) * 1e-12:.2f} s after the loss" in text[2]
    arrived = [run.flows["segments_delivered"][0] for run in (reno, burst)]
    assert arrived[1] > arrived[0]
    assert f"{arrived[1]:,} segments that arrive, against {arrived[0]:,} of Reno" in text[3]
    truths = [row["truth"] for row in nsfnet.ledger.where(kind="timeout").to_pylist()]
    assert f"one of {truths.count('false')} false ones among the {len(truths)}" in text[4]
    lost = nsfnet.counters["bursts_lost"] + nsfnet.counters["ack_bursts_lost"]
    assert f"{lost} of " in text[4]
    # At the first step the burst is on its last fibre before the node where it dies.
    assert 0 < out["lost_ps"] * 1e-12 - steps[0]["state"]["time"] < 0.01


def test_words_that_are_marked_are_explained():
    known = terms()
    page = demonstration()
    for number in range(1, STEPS + 1):
        step = json.loads(page.data["data/step"]({"number": str(number)}).content)
        words = set(re.findall(r"\[\[(.+?)\]\]", " ".join(step["text"])))
        assert words <= known
    page.close()
    html = STATIC.joinpath("page.html").read_text("utf-8")
    assert set(re.findall(r'data-term="([^"]+)"', html)) <= known
    for part in STATIC.joinpath("js").iterdir():
        text = part.read_text("utf-8")
        assert set(re.findall(r'\bterm\("([^"]+)"', text)) <= known, part.name
    controls = STATIC.joinpath("js", "controls.js").read_text("utf-8")
    words = controls[controls.index("const WORDS") : controls.index("};")]
    assert set(re.findall(r': "([^"]+)"', words)) <= known


def test_demo_answers_at_once_and_ctrl_c_ends_it():
    command = [sys.executable, "-m", "burstlab", "demo", "--no-open", "--token", "0123456789abcdef"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as one:
        assert one.stdout is not None
        assert "/0123456789abcdef/" in one.stdout.readline()
        one.send_signal(signal.SIGINT)
        _, err = one.communicate(timeout=300)
    assert (one.returncode, err) == (0, "")


# A file.


def answers(file: Path) -> dict[str, bytes]:
    found = re.search(r'id="answers">(.*?)</script>', file.read_text("utf-8"), re.DOTALL)
    assert found is not None
    listed = json.loads(found[1])
    return {name: gzip.decompress(b64decode(one["content"])) for name, one in listed.items()}


def test_a_file_holds_the_answers_of_the_server(tmp_path):
    recorded(MESH, tmp_path / "r")
    page = viewer(tmp_path / "r")
    file = export(page, tmp_path / "r.html")
    found = answers(file)
    flows = about(page)["flows"]
    names = {"page", "about", "losses", "bursts", *(f"flow&flow={flow['id']}" for flow in flows)}
    assert set(found) == names
    assert found["losses"] == page.data["data/losses"]({}).content
    assert found["flow&flow=4"] == page.data["data/flow"]({"flow": "4"}).content
    assert export(page, tmp_path / "again.html").read_bytes() == file.read_bytes()


def test_a_file_says_how_many_flows_it_has(tmp_path, monkeypatch):
    recorded(MESH, tmp_path / "r")
    monkeypatch.setattr("burstlab.page.exporting.FLOWS_MAX", 9_000)
    page = viewer(tmp_path / "r")
    found = answers(export(page, tmp_path / "r.html"))
    shown = json.loads(found["about"])
    kept = len([name for name in found if name.startswith("flow&")])
    assert 1 <= kept < 6
    assert shown["note"] == f"Of 6 flows this file has {kept}."
    assert [flow["id"] for flow in shown["flows"]] == [
        flow["id"] for flow in about(page)["flows"][:kept]
    ]


def test_a_file_of_play_has_every_answer_to_its_controls(tmp_path, monkeypatch):
    few = {"loss": (0.0, 0.03), "detector": ("ble", "bnak")}
    monkeypatch.setattr("burstlab.page.exporting.PLAYED", few)
    page = player()
    found = answers(export(page, tmp_path / "play.html"))
    page.close()
    asked = {name for name in found if name.startswith("play&")}
    assert asked == {
        f"play&detector={detector}&loss={loss}"
        for detector in ("ble", "bnak")
        for loss in (0, 0.03)
    }
    shown = json.loads(found["controls&preset="])
    assert [one["name"] for one in shown["controls"]] == ["loss", "detector"]


@pytest.mark.slow
def test_the_file_of_the_tour_is_small_and_has_what_it_names(tmp_path):
    page = demonstration()
    file = export(page, tmp_path / "tour.html")
    page.close()
    assert file.stat().st_size < 5_000_000
    found = answers(file)
    page_of = json.loads(found["page"])
    assert [one["key"] for one in page_of["runs"]] == list(SCENES)
    assert page_of["presets"] == []
    for number in range(1, STEPS + 1):
        state = json.loads(found[f"step&number={number}"])["state"]
        assert state["tab"] == "play" or f"about&run={state['run']}" in found
    names = {one["name"] for one in json.loads(found["controls&preset="])["controls"]}
    assert names == {"timer", "loss", "detector"}
    last = " ".join(json.loads(found[f"step&number={STEPS}"])["text"])
    assert "access link" not in last and "paper" not in last


def test_a_file_that_is_there_is_not_replaced_unasked(burstlab, root, tmp_path):
    file = tmp_path / "page.html"
    scenario = root / "examples" / "one_burst.toml"
    assert burstlab("view", scenario, "--export", file).status == 0
    again = burstlab("view", scenario, "--export", file)
    assert (again.status, "exists already" in again.err) == (2, True)
    assert burstlab("view", scenario, "--export", file, "--force").status == 0


@pytest.mark.parametrize("duration", ["100000 s", "61 s", "2 h"])
def test_an_address_asks_for_no_longer_run_than_the_page_has(duration):
    with contextlib.closing(player()) as page:
        for name, more in (("data/play", {}), ("data/several", {"runs": "20"})):
            shown = json.loads(page.data[name]({"duration": duration, **more}).content)
            assert "the page simulates 60 s at most" in shown["error"]
            assert "fix: write 60 s or less" in shown["error"]
        with pytest.raises(InputError, match="60 s at most"):
            page.data["data/about"]({"run": f"burst?duration={duration}"})
        whole = page.data["data/play"]({"duration": "60 s"}).content
        assert not whole.startswith(b'{"error"')


@pytest.mark.parametrize(
    "asked", [{"access": "100 Tb/s", "window": "1000000"}, {"delay": "1 ps", "access": "1 Tb/s"}]
)
def test_an_address_asks_for_no_more_packets_than_the_page_answers_for(asked):
    """No duration is long, and all the same such a run takes minutes and gigabytes."""
    with contextlib.closing(player()) as page:
        asked = {"duration": "60 s", "window": "1000000", **asked}
        for name, more in (("data/play", {}), ("data/several", {"runs": "2"})):
            shown = json.loads(page.data[name]({**asked, **more}).content)
            assert "packets would be sent, and the page simulates 1e+06" in shown["error"]
            assert "fix: write a slower rate" in shown["error"]
        with pytest.raises(InputError, match="packets would be sent"):
            page.data["data/about"](
                {"run": "burst?" + "&".join(f"{k}={v}" for k, v in asked.items())}
            )
        fast = {"access": "100 Tb/s", "duration": "5 s"}  # the window bounds what is sent
        assert not page.data["data/play"](fast).content.startswith(b'{"error"')
