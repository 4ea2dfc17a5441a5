"""Window laws and detectors that are classes of Python: like ours where they say the same."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import burstlab as bl
from burstlab import control
from burstlab.classes import written
from burstlab.documents.parameters import tcp_of

LAWS = Path(__file__).parent / "laws" / "transcribed.py"
EXAMPLES = Path(__file__).parents[2] / "examples"

LOSSY: dict[str, Any] = {
    "edge": {"assembly": "timer", "timer": "5 ms"},
    "loss": {"data": {"process": "bernoulli", "probability": 0.02}},
    "tcp": {"window": 40},
    "run": {"duration": "20 s"},
}

#: Every burst holds a window, and some are lost.
TIMING_OUT: dict[str, Any] = {
    **LOSSY,
    "edge": {"assembly": "timer", "timer": "60 ms"},
    "tcp": {"profile": "ns2", "window": 20},
    "run": {"duration": "60 s"},
}


def law(name: str, file: Path = LAWS, **options: Any) -> dict[str, Any]:
    """Settings that make a class the window law."""
    named = {"file": str(file), "class": name, "options": options}
    return {"window_law": "python", "window_law_class": named}


def ble(**options: Any) -> dict[str, Any]:
    """Settings that make the example the detector."""
    named = {"file": str(EXAMPLES / "laws" / "ble.py"), "class": "Ble", "options": options}
    return {"detector": "python", "detector_class": named}


def having(scenario: dict[str, Any], tcp: dict[str, Any]) -> dict[str, Any]:
    """The scenario with other parameters of TCP."""
    return {**scenario, "tcp": {**scenario.get("tcp", {}), **tcp}}


def source(tmp_path: Path, text: str, name: str = "mine.py") -> Path:
    """A file with a class."""
    file = tmp_path / name
    file.write_text(text)
    return file


def numbers(result: bl.Result) -> list[Any]:
    """All that was measured."""
    return [dict(one.summary) for one in result.replications]


def without_events(result: bl.Result) -> list[Any]:
    """All that was measured but the events: a detector of Python hears each ACK by itself."""
    found = numbers(result)
    for one in found:
        counters = dict(one["counters"])
        del one["events_per_packet"], one["speed"], counters["packets_one_by_one"]
        one["counters"] = {name: counters[name] for name in counters if "events" not in name}
    return found


paths = st.fixed_dictionaries(
    {
        "edge": st.sampled_from(
            [
                {"assembly": "timer", "timer": "4 ms"},
                {"assembly": "hybrid", "timer": "5 ms", "size": "9 KB"},
                {"assembly": "none"},
            ]
        ),
        "access": st.fixed_dictionaries(
            {"rate": st.sampled_from(["5 Mb/s", "100 Mb/s"])},
            optional={"queue": st.integers(4, 30)},
        ),
        "loss": st.fixed_dictionaries(
            {
                kind: st.sampled_from(
                    [{"process": "none"}, {"process": "bernoulli", "probability": 0.03}]
                )
                for kind in ("data", "ack")
            }
        ),
        "flows": st.lists(
            st.fixed_dictionaries({}, optional={"bytes": st.sampled_from(["20 KB", "2 MB"])}),
            min_size=1,
            max_size=3,
        ),
        "run": st.just({"duration": "8 s"}),
    }
)

meshes = st.fixed_dictionaries(
    {
        "network": st.just({"topology": "ring", "nodes": 4, "wavelengths": 1}),
        "edge": st.just({"assembly": "timer", "timer": "3 ms"}),
        "loss": st.sampled_from(
            [{}, {"data": {"process": "bernoulli", "probability": 0.05}}],
        ),
        "flows": st.just([{"from": "1", "to": "3", "count": 3}, {"from": "2", "to": "4"}]),
        "demand": st.just(
            [
                {
                    "flows_per_second": 5,
                    "per": "node",
                    "size": {"distribution": "exponential", "mean": "30 KB"},
                }
            ]
        ),
        "run": st.just({"duration": "2 s"}),
    }
)

tcps = st.fixed_dictionaries(
    {
        "variant": st.sampled_from(["tahoe", "reno", "new-reno", "sack"]),
        "profile": st.sampled_from(["rfc", "ns2", "ns2-2003"]),
        "window": st.integers(4, 120),
    }
)


@settings(max_examples=40)
@given(st.one_of(paths, meshes), tcps, st.sampled_from(["Reno", "SlowStarter", "Nothing"]))
def test_the_law_of_rfc_5681_in_python_is_the_built_in_one(scenario, tcp, name):
    ours = bl.run(having(scenario, tcp), seed=7)
    theirs = bl.run(having(scenario, {**tcp, **law(name)}), seed=7)
    assert numbers(theirs) == numbers(ours)
    assert theirs.fingerprint == ours.fingerprint


@settings(max_examples=15)
@given(st.one_of(paths, meshes), st.integers(20, 90))
def test_fast_in_python_is_the_built_in_one(scenario, alpha):
    own = {"window_law": "fast", "fast_alpha": alpha, "fast_gamma": 0.3}
    ours = bl.run(having(scenario, {"window": 100, **own}))
    theirs = bl.run(having(scenario, {"window": 100, **law("Fast", alpha=alpha, gamma=0.3)}))
    assert numbers(theirs) == numbers(ours)


@settings(max_examples=25)
@given(st.one_of(paths, meshes), tcps, st.booleans(), st.integers(0, 5), st.booleans())
def test_ble_in_python_is_the_built_in_one(scenario, tcp, decide_first, burst_min, both):
    if tcp["variant"] == "tahoe":
        tcp = {**tcp, "variant": "sack"}
    order = "decide-first" if decide_first else "update-first"
    native = {"detector": "ble", "ble_order": order, "ble_burst_min": burst_min}
    python = ble(burst_min=burst_min, decide_first=decide_first)
    ours = bl.run(having(scenario, {**tcp, **native}))
    theirs = bl.run(having(scenario, {**tcp, **python, **(law("Reno") if both else {})}))
    assert without_events(theirs) == without_events(ours)


def test_they_are_the_same_packet_by_packet_and_excuse_time_outs():
    ours = bl.run(having(TIMING_OUT, {"detector": "ble"}), trace=("packets", "ledger"))
    theirs = bl.run(having(TIMING_OUT, {**ble(), **law("Reno")}), trace=("packets", "ledger"))
    assert ours.packets.to_arrow().equals(theirs.packets.to_arrow())
    assert ours.ledger.to_arrow().equals(theirs.ledger.to_arrow())
    assert "false" in theirs.ledger.to_pandas()["verdict"].unique()


def test_scalable_is_what_it_says():
    result = bl.run(EXAMPLES / "python_law.toml", trace="cwnd")
    rows = result.cwnd.to_pandas()
    rows = rows[(rows["flow"] == 0) & (rows["event"] == "ack")]
    cwnd, ssthresh = (np.asarray(rows[name], dtype=float) for name in ("cwnd", "ssthresh"))
    above = (cwnd > 20) & (ssthresh < cwnd)
    steps = np.diff(cwnd)[above[:-1]]
    steps = steps[steps > 0]
    assert len(steps) > 1000
    assert np.median(steps) == pytest.approx(0.01)


def test_an_event_says_what_is_so(tmp_path):
    file = source(
        tmp_path,
        """
from burstlab.control import CongestionControl

class Mine(CongestionControl):
    rules_slow_start = True

    def on_ack(self, event):
        for name in NUMBERS:
            value = getattr(event, name)
            assert isinstance(value, (int, float)) and value >= 0, (name, value)
        assert event.acked >= 1 and event.first + event.flight == event.next
        assert event.base_rtt is None or event.base_rtt <= (event.rtt or 1e9)
        assert not event.in_recovery and not event.repeated
        if event.round:
            assert 0 < event.round.base_over_rtt <= 1 and event.round.queued >= 0
            assert event.round.used in (True, False)
        try:
            event.cwnd = 3
        except AttributeError:
            pass
        else:
            raise AssertionError("an event cannot be changed")
        return super().on_ack(event)

    def on_loss(self, event):
        assert event.rtt is None and event.acked == 0 and event.window == event.flight
        return super().on_loss(event)

NUMBERS = ("now cwnd ssthresh window receiver_window flight first next acked rto").split()
""",
    )
    ours, theirs = bl.run(LOSSY), bl.run(having(LOSSY, law("Mine", file)))
    assert numbers(ours)[0]["flows"][0]["fast_retransmits"] > 0
    assert numbers(theirs) == numbers(ours)


def test_a_pair_sets_both(tmp_path):
    file = source(
        tmp_path,
        """
class Mine:
    def on_ack(self, event):
        return event.cwnd, 7

    def on_loss(self, event):
        return 12.5, 7
""",
    )
    rows = bl.run(having(LOSSY, law("Mine", file)), trace="cwnd").cwnd.to_pandas()
    lost = rows[rows["event"] == "fast-retransmit"]
    assert set(np.asarray(lost["cwnd"], dtype=float)) == {12.5}
    assert set(np.asarray(lost["ssthresh"], dtype=float)) == {7.0}


COUNTING = """
from burstlab.control import CongestionControl

acks = 0

class Mine(CongestionControl):
    def on_ack(self, event):
        global acks
        acks += 1
        return event.cwnd + (0.5 if acks > 300 else 0.1)
"""


def test_runs_share_nothing_whoever_makes_them(tmp_path):
    scenario = having(LOSSY, law("Mine", source(tmp_path, COUNTING)))
    alone = [bl.run(scenario, jobs=1, replications=5), bl.run(scenario, jobs=3, replications=5)]
    assert numbers(alone[0]) == numbers(alone[1])
    plan = {
        "replications": 5,
        "scenario": {**scenario, "run": {"duration": "20 s"}},
        "metrics": ["flows.0.packets_sent"],
    }
    here = bl.study(plan, jobs=2)
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        elsewhere = bl.study(plan, client=pool)
    tables = [
        {name: table.to_pylist() for name, table in one.tables().items()}
        for one in (here, elsewhere)
    ]
    assert tables[0] == tables[1]


def test_a_result_holds_the_code_and_runs_it_where_that_is_allowed(tmp_path, burstlab):
    file = source(tmp_path, COUNTING)
    first = bl.run(having(LOSSY, law("Mine", file)), out=tmp_path / "out")
    file.unlink()
    stored = tmp_path / "out" / "scenario.toml"
    found = bl.read(tmp_path / "out").scenario["tcp"]["window_law_class"]
    assert found == {"class": "Mine", "source": COUNTING, "name": "mine.py"}
    assert burstlab("check", stored).status == 0
    refused = burstlab("run", stored)
    assert refused.status == 2 and "--allow-code" in refused.err and not refused.out
    with pytest.raises(bl.ScenarioError, match=r"window_law_class.source: it is code"):
        bl.run(bl.read(tmp_path / "out").scenario)
    assert bl.run(stored, allow_code=True).fingerprint == first.fingerprint
    assert first.fingerprint in burstlab("run", stored, "--allow-code").out


def test_code_is_found_wherever_it_stands():
    assert written({"tcp": {"detector_class": {"source": "x"}}}) == "tcp.detector_class.source"
    assert written({"flows": [{"tcp": {"window_law_class": {"source": "x"}}}]})
    assert written({"schemes": {"a": {"tcp.window_law_class.source": "x"}}})
    assert written({"schemes": {"a": {"tcp.window_law_class": {"source": "x"}}}})
    assert written({"grid": {"tcp.window_law_class": [{"class": "A", "source": "x"}]}})
    assert written({"list": [{"flows[0].tcp.detector_class.source": "x"}]})
    assert not written({"tcp": {"detector_class": {"file": "x.py", "class": "X"}}})


def test_pages_and_a_stored_plan_do_not_run_foreign_code(tmp_path):
    file = source(tmp_path, COUNTING)
    plan = {"scenario": having(LOSSY, law("Mine", file)), "replications": 2}
    bl.study(plan, out=tmp_path / "study")
    stored = next((tmp_path / "study").glob("*.toml"))
    with pytest.raises(bl.ScenarioError, match="it is code"):
        bl.study(stored)
    again = bl.study(stored, allow_code=True)
    assert again.done == 1
    report = (tmp_path / "study" / "report.html").read_text(encoding="utf-8")
    assert "burstlab run . --point 0 --allow-code" in report
    from burstlab.page import viewer
    from burstlab.page.playing import player

    with pytest.raises(bl.ScenarioError, match="it is code"):
        viewer(tmp_path / "study")
    assert viewer(tmp_path / "study", allow_code=True).title
    result = bl.run(having(LOSSY, law("Mine", file)), out=tmp_path / "run")
    with pytest.raises(bl.ScenarioError, match="it is code"):
        player(str(tmp_path / "run" / "scenario.toml"))
    assert result.replications


def test_a_study_sees_that_the_class_changed(tmp_path):
    file = source(tmp_path, COUNTING)
    plan = tmp_path / "plan.toml"
    plan.write_text(
        """
replications = 2
[grid]
tcp.window_law_class.file = ["mine.py", "other.py"]
[scenario.tcp]
window_law = "python"
window_law_class = { file = "mine.py", class = "Mine" }
[scenario.run]
duration = "5 s"
"""
    )
    source(tmp_path, COUNTING.replace("0.5", "0.9"), "other.py")
    bl.study(plan, out=tmp_path / "out")
    assert bl.study(plan, out=tmp_path / "out", resume=True).done == 2
    file.write_text(COUNTING + "\n# Another one.\n")
    says = r"window_law_class.source was \"10 lines, sha256 \w+\", is \"12 lines, sha256 "
    with pytest.raises(bl.InputError, match=says):
        bl.study(plan, out=tmp_path / "out", resume=True)


def test_each_flow_may_have_its_own(tmp_path):
    scenario = {
        **having(LOSSY, law("Reno")),
        "flows": [{}, {"tcp": {"window_law": "aimd"}}, {"tcp": {"window_law_class": {"class": 1}}}],
    }
    with pytest.raises(bl.ScenarioError, match=r"flows\[2\].tcp.window_law_class.class"):
        bl.run(scenario)
    fast = law("Fast", alpha=9, gamma=0.5)
    scenario["flows"] = [{}, {"tcp": {"window_law": "aimd"}}, {"tcp": fast}]
    resolved = bl.resolve(scenario)
    laws = [tcp_of(resolved, flow).get("window_law_class", {}) for flow in resolved["flows"]]
    named = [law.get("class") for law in laws]
    assert named == ["Reno", None, "Fast"]
    assert bl.run(scenario).counters["packets_delivered"] > 0


BODY = """
from burstlab.control import CongestionControl, Detector

class Mine(CongestionControl):
    def __init__(self, factor=1.0):
        self.factor = factor

    def {method}(self, event):
        {body}
"""


@pytest.mark.parametrize("method", ["on_ack", "on_loss", "on_timeout"])
@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("return event.cwnd / 0", "ZeroDivisionError: float division by zero (`return event"),
        ("return event.cnwd", "AttributeError: 'burstlab._core.Event' object has no attribute"),
        ("return float('nan')", "it answered nan, and a number of segments"),
        ("return -1", "it answered -1, and"),
        ("return True", "it answered True, and"),
        ("return None", "it answered None, and"),
        ("return '3'", "it answered '3', and"),
        ("return 3, None", "it answered None, and"),
        ("return 1, 2, 3", "it answered (1, 2, 3), and"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt"),
        ("raise SystemExit(0)", "SystemExit: 0"),
    ],
)
def test_what_fails_ends_the_run_and_is_told(tmp_path, burstlab, method, body, says):
    file = source(tmp_path, BODY.format(method=method, body=body))
    scenario = {**LOSSY, "loss": {"data": {"process": "bernoulli", "probability": 0.2}}}
    with pytest.raises(bl.ControlError) as stated:
        bl.run(having(scenario, law("Mine", file)), out=tmp_path / "out")
    message = str(stated.value)
    line = 8 if says.startswith("it answered") else 9
    assert says in message and f"mine.py, line {line}, Mine.{method}: " in message
    assert " s of simulated time\n  fix: correct the class" in message
    assert not list((tmp_path / "out").iterdir())
    assert stated.value.__cause__ is None


def test_the_command_says_so_in_one_message(tmp_path, burstlab):
    file = source(tmp_path, BODY.format(method="on_ack", body="return 1 / 0"))
    (tmp_path / "one.toml").write_text(
        f"[tcp]\nwindow_law = 'python'\ninitial_ssthresh = 3\n"
        f"window_law_class = {{ file = '{file.name}', class = 'Mine' }}\n"
    )
    answer = burstlab("run", tmp_path / "one.toml")
    assert answer.status == 2 and not answer.out
    assert "mine.py, line 9, Mine.on_ack: ZeroDivisionError" in answer.err
    assert "Traceback" not in answer.err


def test_a_study_keeps_the_points_before_a_failure(tmp_path):
    text = BODY.format(method="on_ack", body="return event.cwnd + 1 / (self.factor - 3)")
    plan = {
        "replications": 1,
        "grid": {"tcp.window_law_class.options.factor": [1, 2, 3, 4]},
        "scenario": having(LOSSY, law("Mine", source(tmp_path, text))),
    }
    with pytest.raises(bl.ControlError, match="ZeroDivisionError"):
        bl.study(plan, out=tmp_path / "out", jobs=1)
    assert bl.read_study(tmp_path / "out").done >= 1


def test_a_failure_comes_back_from_another_process(tmp_path):
    text = BODY.format(method="on_ack", body="return None")
    plan = {"replications": 1, "scenario": having(LOSSY, law("Mine", source(tmp_path, text)))}
    with (
        ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool,
        pytest.raises(bl.ControlError, match=r"line 8, Mine\.on_ack: it answered None"),
    ):
        bl.study(plan, client=pool)


@pytest.mark.parametrize(
    ("text", "name", "options", "says"),
    [
        ("class Mine:\n    pass\n", "Mine", {}, "Mine has no on_ack or on_loss or on_timeout"),
        ("class Mine:\n    def on_lost(self, e): pass\n", "Mine", {}, "did you mean on_loss?"),
        ("class Mine:\n    on_ack = 3\n", "Mine", {}, "Mine.on_ack is not a function"),
        ("class Mine:\n  def on_ack(self, e): 0\n", "Mine", {"a": 1}, "Mine.__init__: TypeError"),
        ("from math import pi\nx = 'Mine'\n", "Mine", {}, "there is no class Mine"),
        ("from math import pi as Mine\n", "Mine", {}, "Mine is not a class"),
        ("import nowhere\nclass Mine: pass\n", "Mine", {}, "line 1: ModuleNotFoundError"),
        ("def f(): return 1 / 0\nx = f()\nclass Mine: pass\n", "Mine", {}, "line 1: ZeroDivision"),
    ],
)
def test_a_class_that_cannot_be_used(tmp_path, text, name, options, says):
    with pytest.raises(bl.ControlError) as stated:
        bl.run(having(LOSSY, law(name, source(tmp_path, text), **options)))
    assert says in str(stated.value)


@pytest.mark.parametrize(
    ("text", "name", "says"),
    [
        ("class Mine: pass\nclass Yours: pass\n", "Mien", "did you mean 'Mine'? the classes of"),
        ("class Mine: pass\nclass Yours: pass\n", "Zebra", "are Mine, Yours"),
        ("x: int\n", "Mine", "mine.py has no class"),
        ("class Mine:\n  def\n", "Mine", "not Python (line 2: "),
        (None, "Mine", "cannot be read (No such file"),
    ],
)
def test_a_class_that_is_not_there_is_told_of_without_running_anything(tmp_path, text, name, says):
    file = source(tmp_path, text) if text else tmp_path / "absent.py"
    with pytest.raises(bl.ScenarioError) as stated:
        bl.resolve(having(LOSSY, law(name, file)))
    assert says in str(stated.value) and "tcp.window_law_class" in str(stated.value)


def test_a_detector_judges_in_words(tmp_path):
    base = "class Mine:\n    def on_timeout(self, event):\n        return "
    for answer, says in (("True", "it answered True"), ("'maybe'", "control.GENUINE")):
        named = {"file": str(source(tmp_path, base + answer)), "class": "Mine"}
        with pytest.raises(bl.ControlError, match=says):
            bl.run(having(TIMING_OUT, {"detector": "python", "detector_class": named}))
    silent = source(tmp_path, "class Mine:\n    def on_loss(self, event): pass\n")
    named = {"file": str(silent), "class": "Mine"}
    with pytest.raises(bl.ControlError, match="Mine has no on_timeout"):
        bl.run(having(TIMING_OUT, {"detector": "python", "detector_class": named}))
    assert control.Detector().on_timeout(None) == control.GENUINE  # pyright: ignore


@pytest.mark.parametrize("name", ["ops", "wlan", "nsfnet", "cwnd_classes"])
def test_a_class_goes_with_whatever_else_there_is(name):
    scenario = bl.load(EXAMPLES / f"{name}.toml")
    scenario["run"] = {"duration": "300 ms"}
    tcp = scenario.get("tcp", {})
    ours = bl.run(scenario, seed=2)
    theirs = bl.run({**scenario, "tcp": {**tcp, **law("Reno")}}, seed=2)
    assert numbers(theirs) == numbers(ours)
    assert bl.run({**scenario, "tcp": {**tcp, **ble()}}).counters["packets_delivered"] > 0


def test_the_page_shows_what_works(root, tmp_path, burstlab):
    text = (root / "docs" / "howto" / "python-control.md").read_text()
    shown = re.findall(r"```python\n(.*?)```", text, re.DOTALL)[0]
    file = source(tmp_path, shown)
    half = bl.run(having(LOSSY, law("Scalable", file, a=0.0, b=0.5)))
    less = bl.run(having(LOSSY, law("Scalable", file)))
    assert less.counters["packets_delivered"] > half.counters["packets_delivered"]
    for block in re.findall(r"```toml\n(.*?)```", text, re.DOTALL):
        (tmp_path / "one.toml").write_text(block)
        (tmp_path / "laws").mkdir(exist_ok=True)
        for name in ("scalable", "ble", "rate", "saimd"):
            (tmp_path / "laws" / f"{name}.py").write_text(
                (EXAMPLES / "laws" / f"{name}.py").read_text()
            )
        assert burstlab("run", tmp_path / "one.toml").status == 0
    # The first message is of a class that is law and detector.
    _, message = re.findall(r"```text\n(error: .*?)```", text, re.DOTALL)
    source(tmp_path, BODY.format(method="on_ack", body="return 1 / 0"))
    (tmp_path / "one.toml").write_text(
        "tcp = { window_law = 'python', window_law_class = { file = 'mine.py', class = 'Mine' }, "
        "initial_ssthresh = 3 }\n"
    )
    stated = burstlab("run", tmp_path / "one.toml").err
    assert re.sub(r"at [\d.]+ s", "at T s", stated) == re.sub(r"at [\d.]+ s", "at T s", message)


def test_results_differ_by_the_code_in_one_line(tmp_path, burstlab):
    for name, text in (("a", COUNTING), ("b", COUNTING + "\n")):
        bl.run(having(LOSSY, law("Mine", source(tmp_path, text))), out=tmp_path / name)
    stated = burstlab("results", tmp_path / "a", tmp_path / "b").out
    assert "window_law_class.source" in stated and "11 lines, sha256 " in stated
    assert "global acks" not in stated


def test_the_classes_of_a_scenario_in_python(tmp_path):
    named = bl.PythonClass(file=str(LAWS), class_="Fast", options={"alpha": 20, "gamma": 0.5})
    tcp = bl.Tcp(window=40, window_law="python", window_law_class=named)
    one = bl.Scenario(tcp=tcp, run=bl.Run(duration="5 s"))
    other = bl.Scenario(tcp=bl.Tcp(window=40, window_law="fast"), run=bl.Run(duration="5 s"))
    assert numbers(bl.run(one)) == numbers(bl.run(other))


def test_what_is_not_with_a_class(tmp_path):
    with pytest.raises(bl.InputError, match="no checkpoints"):
        bl.run(having(LOSSY, law("Reno")), checkpoint=tmp_path)
    with pytest.raises(bl.ScenarioError, match="decides on its window itself"):
        bl.run(having(LOSSY, {**law("Reno"), "variant": "vegas"}))
    with pytest.raises(bl.ScenarioError, match=r"window_law_class: window_law = .python. needs"):
        bl.run(having(LOSSY, {"window_law": "python"}))


def test_dataclasses_and_imports_work(tmp_path):
    file = source(
        tmp_path,
        """
from __future__ import annotations

import math
from dataclasses import dataclass

from burstlab.control import CongestionControl

@dataclass
class Base(CongestionControl):
    beta: float = 0.5

@dataclass
class Mine(Base):
    kept: list[int] = None

    def on_loss(self, event) -> float:
        self.kept.append(1)
        return event.window * math.sqrt(self.beta)
""",
    )
    chosen = law("Mine", file, beta=0.25, kept=[])
    assert numbers(bl.run(having(LOSSY, chosen))) == numbers(bl.run(LOSSY))


@pytest.mark.parametrize("body", ["return event.cwnd", "return 1e300"])
def test_odd_laws_end(tmp_path, body):
    file = source(tmp_path, BODY.format(method="on_ack", body=body))
    for variant in ("tahoe", "reno", "new-reno", "sack"):
        for profile in ("rfc", "ns2"):
            tcp = {**law("Mine", file), "variant": variant, "profile": profile}
            assert bl.run(having(LOSSY, tcp)).counters["packets_delivered"] > 0


def test_ctrl_c_keeps_what_is_done(tmp_path):
    file = source(tmp_path, BODY.format(method="on_ack", body="return event.cwnd + 0.01"))
    (tmp_path / "long.toml").write_text(
        f"[tcp]\nwindow_law = 'python'\ninitial_ssthresh = 3\n"
        f"window_law_class = {{ file = '{file.name}', class = 'Mine' }}\n"
        "[run]\nduration = '200000 s'\n"
    )
    started = (
        "import sys, burstlab as bl\n"
        "seen = []\n"
        "def progress(share):\n"
        "    if share > 0 and not seen:\n"
        "        seen.append(print('going', flush=True))\n"
        "try:\n"
        "    bl.run(sys.argv[1], progress=progress)\n"
        "except bl.Interrupted as stop:\n"
        "    print(stop.result.counters['packets_delivered'] > 0, flush=True)\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", started, str(tmp_path / "long.toml")],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "going\n"
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=60)[0] == "True\n"
    assert process.returncode == 0
