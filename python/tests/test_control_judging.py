"""Classes that are law and detector: what they get, what they return, what is refused."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from code_on_pages import bare, blocks

import burstlab as bl

LAWS = Path(__file__).parent / "laws" / "judging.py"
SAIMD = Path(__file__).parents[2] / "examples" / "laws" / "saimd.py"

#: Every burst holds a window, and some are lost.
TIMING_OUT: dict[str, Any] = {
    "access": {"rate": "1 Gb/s", "delay": "1 ms"},
    "edge": {"assembly": "timer", "timer": "5 ms"},
    "loss": {"data": {"process": "bernoulli", "probability": 0.02}},
    "tcp": {"profile": "ns2", "window": 20},
    "run": {"duration": "30 s"},
}
#: A burst holds a part of the window.
SLOW: dict[str, Any] = {**TIMING_OUT, "access": {"rate": "5 Mb/s"}}
LOSSES = {"data": {"process": "bernoulli", "probability": 0.1}}
LINUX: dict[str, Any] = {**TIMING_OUT, "tcp": {"profile": "linux", "window_law": "aimd"}}
SLOTS: dict[str, Any] = {
    "network": {"topology": "star", "nodes": 4, "wavelengths": 1},
    "ops": {},
    "tcp": {},
}


def having(scenario: dict[str, Any], **tcp: Any) -> dict[str, Any]:
    return {**scenario, "tcp": {**scenario["tcp"], **tcp}}


def judging(name: str, file: Path = LAWS, **tcp: Any) -> dict[str, Any]:
    named = {"file": str(file), "class": name}
    return {"window_law": "python", "window_law_class": named, "detector": "law", **tcp}


def flows(scenario: dict[str, Any]) -> list[Any]:
    return [one.summary["flows"] for one in bl.run(scenario).replications]


@pytest.mark.parametrize("scenario", [TIMING_OUT, LINUX], ids=["classic", "linux"])
@pytest.mark.parametrize(
    ("name", "notices", "native"),
    [("Bnak", "naks", {"detector": "bnak"}), ("Back", "acks", {"detector": "back"})],
)
def test_a_detector_of_the_engine_written_in_a_law_is_the_same(scenario, name, notices, native):
    ours = flows(having(scenario, **native))
    theirs = flows(having(scenario, **judging(name, class_notices=notices)))
    assert theirs == ours
    assert theirs != flows(having(scenario, detector="none")), "the detector matters"


@pytest.mark.parametrize("tcp", [SLOW["tcp"], LINUX["tcp"]], ids=["classic", "linux"])
def test_a_class_gets_acks_blocks_and_rounds_and_shares_its_state(tcp):
    forgiving = flows(having({**SLOW, "tcp": tcp}, window=40, **judging("Forgiving")))
    assert forgiving != flows(having({**SLOW, "tcp": tcp}, window=40))


def test_a_run_repeats():
    scenario = having(TIMING_OUT, **judging("Saimd", SAIMD))
    assert flows(scenario) == flows(scenario)


def test_the_page_shows_the_example_which_has_at_most_forty_lines(root):
    text = SAIMD.read_text()
    assert bare(text) in blocks(root / "docs/howto/python-control.md")
    assert len(text.splitlines()) <= 40


@pytest.mark.parametrize("other", ["sack", "cubic"])
def test_compare_makes_such_a_class_its_own_detector(other):
    laws = bl.compare(
        [other, f"{SAIMD}:Saimd", f"{LAWS}:Bnak", f"{LAWS}:Back"], TIMING_OUT, replications=2
    )
    ratios = {row["law"]: row["ratio"] for row in laws.estimates() if row["measure"] == "goodput"}
    assert ratios["Bnak"] > 1 and ratios["Saimd"] != 1
    assert ratios["Back"] > 1, "it gets burst ACKs"


NAK = "def on_burst_lost(self, event): return True"
ACK = "def on_burst_left(self, event): pass"
EXCUSE = "def excuses(self, event): return True"


@pytest.mark.parametrize(
    ("body", "tcp", "says"),
    [
        (EXCUSE, {"detector": "none"}, 'Mine.excuses: with tcp.detector = "none" no law gets'),
        (EXCUSE, {"detector": "ble"}, 'write detector = "law", or leave out excuses'),
        (NAK, {}, 'Mine.on_burst_lost: with tcp.class_notices = "none" it gets no burst NAKs'),
        (NAK, {"class_notices": "acks"}, 'write class_notices = "all" (or "naks"), or leave'),
        (f"{EXCUSE}\n{ACK}", {}, "it gets no burst ACKs of the ingress"),
        (
            f"{EXCUSE}\n{ACK}",
            {"class_notices": "acks", "back_mode": "egress"},
            'write class_notices = "all" (or "acks") and back_mode = "both"',
        ),
        (EXCUSE, {"class_notices": "naks"}, 'no on_burst_lost, which tcp.class_notices = "naks"'),
        (EXCUSE, {"class_notices": "acks"}, 'no on_burst_left, which tcp.class_notices = "acks"'),
        ("def on_loss(self, event): return 1", {}, 'no excuses, which tcp.detector = "law" needs'),
        ("def excuses(self, event): return 1", {}, "it answered 1, and True or False was wanted"),
        (f"{EXCUSE}\ndef on_loss(self, event): return -2", {}, "it answered -2, and a number of"),
        (f"{EXCUSE}\ndef on_bursts(self, event): pass", {}, "did you mean on_burst_lost?"),
    ],
)
def test_a_class_that_does_not_fit_is_refused(tmp_path, body, tcp, says):
    file = tmp_path / "mine.py"
    file.write_text("class Mine:\n" + "".join(f"    {line}\n" for line in body.splitlines()))
    with pytest.raises(bl.ControlError) as stated:
        bl.run(having({**SLOW, "loss": LOSSES}, **{**judging("Mine", file), **tcp}))
    assert says in str(stated.value) and "\n  fix: " in str(stated.value)


def test_the_page_shows_the_message_of_a_missing_notice(root, tmp_path, burstlab):
    page = (root / "docs/howto/python-control.md").read_text()
    message = re.findall(r"```text\n(error: .*?)```", page, re.DOTALL)[0]
    (tmp_path / "mine.py").write_text(f"class Mine:\n    {NAK}\n")
    (tmp_path / "one.toml").write_text(
        "[tcp]\nwindow_law = 'python'\ndetector = 'law'\n"
        "window_law_class = { file = 'mine.py', class = 'Mine' }\n"
    )
    answer = burstlab("run", tmp_path / "one.toml")
    assert (answer.status, answer.err) == (2, message)


def test_a_class_that_excuses_what_was_never_lost_ends_the_run(tmp_path, burstlab):
    (tmp_path / "mine.py").write_text(f"class Mine:\n    {NAK}\n")
    # Time-outs come before the ACKs, so that bursts hold what has arrived already.
    (tmp_path / "one.toml").write_text(
        "[edge]\nassembly = 'timer'\ntimer = '30 ms'\n"
        "[loss.data]\nprocess = 'bernoulli'\nprobability = 0.1\n"
        "[tcp]\nrto_fixed = '60 ms'\nwindow = 20\nwindow_law = 'python'\n"
        "window_law_class = { file = 'mine.py', class = 'Mine' }\n"
        "detector = 'law'\nclass_notices = 'naks'\n[run]\nduration = '20 s'\n"
    )
    answer = burstlab("run", tmp_path / "one.toml")
    assert answer.status == 2 and not answer.out
    assert "Mine.on_burst_lost: it answered True, and False for burst" in answer.err
    assert "is below event.first" in answer.err and "fix: " in answer.err


@pytest.mark.parametrize(
    ("scenario", "fix"),
    [
        (SLOTS, 'class_notices = "none"'),
        ({"edge": {"assembly": "none"}, "tcp": {}}, 'edge.assembly = "timer"'),
    ],
)
def test_notices_that_no_node_sends_are_refused(scenario, fix):
    with pytest.raises(bl.ScenarioError, match=r'tcp\.class_notices = "?naks') as stated:
        bl.resolve(having(scenario, **judging("Bnak", class_notices="naks")))
    assert fix in str(stated.value)


def test_only_a_class_is_law_and_detector():
    with pytest.raises(bl.ScenarioError, match=r'only "saimd", "bcl" and a class of Python are'):
        bl.resolve({"tcp": {"detector": "law"}})


def test_a_detector_of_its_own_judges_for_linux_and_gets_notices(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(
        "class Mine:\n    def on_timeout(self, event):\n        return 'genuine'\n"
        "    def on_burst_lost(self, event):\n"
        "        first, end = event.suspects\n"
        "        return first < end and set(range(first, end)) <= set(event.segments)\n"
    )
    named = {"detector_class": {"file": str(file), "class": "Mine"}, "class_notices": "naks"}
    for scenario in (TIMING_OUT, LINUX):
        theirs = flows(having(scenario, detector="python", **named))
        assert theirs == flows(having(scenario, detector="bnak"))
