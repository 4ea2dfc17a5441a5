"""Data, ACKs and background bursts are separate: on the terminal, in summaries and in studies."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

import burstlab as bl
from burstlab.cli import mesh
from burstlab.cli.app import main
from burstlab.simulation import resolve

LOSSY: dict[str, Any] = {
    "network": {"topology": "line", "nodes": 4, "link_delay": "1 ms", "wavelengths": 64},
    "signalling": {"guard": "100 us"},
    "access": {"rate": "100 Mb/s", "delay": "1 ms"},
    "edge": {"assembly": "timer", "timer": "2 ms", "ack": {"assembly": "none"}},
    "tcp": {"variant": "sack", "window": 50},
    "flows": [{"from": "1", "to": "4", "count": 10}],
    "loss": {"data": {"process": "bernoulli", "probability": 0.01}},
    "run": {"duration": "5 s"},
}

CUT: dict[str, Any] = {
    "network": {"topology": "ring", "nodes": 5, "wavelengths": 2, "link_rate": "1 Gb/s"},
    "edge": {"port": "shared"},
    "signalling": {"guard": "100 us"},
    "flows": [],
    "core": {"contention": ["segmentation"]},
    "bursts": [{"erlangs": 0.4, "length": {"distribution": "exponential", "mean": "50 KB"}}],
    "run": {"duration": "200 ms"},
}

LATE: dict[str, Any] = {
    "network": {"topology": "nsfnet", "wavelengths": 32, "link_rate": "1 Gb/s"},
    "signalling": {"guard": "2048 ns"},
    "edge": {"port": "shared"},
    "flows": [],
    "bursts": [
        {
            "erlangs": 3.2,
            "per": "node",
            "length": {"distribution": "exponential", "mean": "2 KB"},
        }
    ],
    "run": {"duration": "20 ms"},
}


def test_the_first_line_is_that_of_data_bursts():
    result = bl.run(LOSSY)
    (network,) = result.network
    stated = list(mesh.lines(result))
    assert stated[0].startswith(f"data bursts that ended: {network['data']['bursts']:,}; lost ")
    (ratio,) = re.findall(r"a ratio of ([\d.]+) %", stated[0])
    counters = result.counters
    lost = counters["bursts_lost"] / (counters["bursts_lost"] + counters["bursts_delivered"])
    assert float(ratio) == pytest.approx(100 * lost, rel=1e-2)
    assert float(ratio) > 0.5
    (acks,) = [line for line in stated if line.startswith("bursts of ACKs that ended")]
    assert acks.endswith("lost 0, a ratio of 0 %")
    assert not any(line.startswith("background bursts") for line in stated)
    after = [line for line in stated if line.startswith("  assembled: ")]
    assert [", after 2 ms; " in line for line in after] == [True, False]
    assert "bursts of ACKs" not in stated[0]


def test_bytes_that_are_cut_off_are_told():
    result = bl.run(CUT)
    (network,) = result.network
    found = network["background"]
    assert found["bytes_cut"] > 0
    line = next(mesh.lines(result))
    assert f"with what was cut off, a ratio of {100 * found['byte_loss_ratio']:.3g} %" in line
    assert found["byte_loss_ratio"] > found["burst_loss_ratio"]


def test_waits_of_headers_and_late_ones_are_told(tmp_path, capsys):
    path = tmp_path / "late.toml"
    path.write_text(_toml(LATE))
    with pytest.raises(SystemExit) as end:
        main(["run", str(path)])
    assert end.value.code == 0
    shown = capsys.readouterr()
    waits = re.search(r"for a processor, at most 0 s; (\S+) [un]s for a control channel", shown.out)
    assert waits is not None and float(waits[1]) > 0
    assert re.search(r"signalling.guard = 2048 ns: [\d.]+ % of all bursts", shown.err)
    assert "load the channels to" in shown.err


def test_a_guard_that_is_too_short_is_mended_by_load():
    short = {**LATE, "signalling": {"guard": "1 us"}}
    with pytest.raises(bl.ScenarioError) as error:
        resolve(short)
    assert "write more than" in str(error.value)
    assert re.search(r"keep busy for [\d.]+ % of the time from", str(error.value))
    alone = {**LOSSY, "signalling": {"guard": "1 us"}, "network": {"topology": "nsfnet"}}
    with pytest.raises(bl.ScenarioError, match="the more bursts there are in a second"):
        resolve({**alone, "signalling": {"guard": "1 ns"}})


def test_channels_that_cannot_keep_up_are_told_before():
    over = {**LATE, "signalling": {"guard": "100 us", "rate": "100 Mb/s"}}
    assert any("signalling.channels = 1" in one for one in bl.run(over).warnings)


def test_several_replications_have_means_of_each_kind():
    run = {**LOSSY, "run": {"duration": "1 s", "replications": 2}}
    summary = bl.run(run).summary["summary"]
    ratio = summary["network.data.burst_loss_ratio"]
    lost = summary["network.data.causes.injected.bursts"]
    assert ratio["n"] == 2
    assert lost["mean"] == summary["network.data.bursts_lost"]["mean"]
    assert summary["network.acks.burst_loss_ratio"]["mean"] == 0


def test_a_study_says_why_bursts_were_lost(tmp_path):
    plan = {
        "scenario": LATE,
        "grid": {"signalling.guard": ["2048 ns", "20 us"]},
        "replications": 2,
    }
    found = bl.study(plan, out=tmp_path / "study")
    cause = "network.background.causes.late-header.bursts"
    late = dict(zip(found.runs["point"], found.runs[cause], strict=True))
    assert late[0] > late[1]
    assert "network.all.burst_loss_ratio" not in found.metrics
    page = (tmp_path / "study" / "report.html").read_text(encoding="utf-8")
    assert "Why bursts were lost" in page
    assert re.search(r"late-header [\d.,]+ \([\d.]+ %\)", page)
    named = {**plan, "metrics": {"late": cause, "all": "network.all.burst_loss_ratio"}}
    assert bl.study(named, out=tmp_path / "named").metrics == ["late", "all"]
    assert "late-header" in (tmp_path / "named" / "report.html").read_text(encoding="utf-8")


def test_histograms_are_told_by_kind():
    table = bl.run(LOSSY).histograms
    packets = table.where(of="packets-per-burst")
    assert set(packets["kind"]) == {"data", "ack"}
    assert max(packets.where(kind="ack")["value"]) == 1


def _toml(scenario: dict[str, Any]) -> str:
    import tomli_w

    assert json.dumps(scenario)
    return tomli_w.dumps(scenario)
