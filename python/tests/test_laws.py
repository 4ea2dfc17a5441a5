"""Comparison of window laws: the same losses for each, intervals, ratios and a figure."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest

import burstlab as bl
from burstlab.documents.parameters import LAWS_OF_LINUX
from burstlab.plot.saving import specification
from burstlab.scenario import WindowLaw

LAWS = Path(__file__).parents[2] / "examples/laws"


class Gentle:
    """As AIMD, but for a smaller reduction."""

    def on_loss(self, event):
        return event.window * 0.9


@pytest.fixture(scope="module")
def lossy():
    return {
        "edge": {"assembly": "timer", "timer": "10 ms"},
        "tcp": {"variant": "sack", "window": 40},
        "loss": {"data": {"process": "bernoulli", "probability": 0.02}},
        "run": {"duration": "10 s", "seed": 3},
    }


@pytest.fixture(scope="module")
def compared(lossy):
    return bl.compare(["reno", "sack", Gentle], lossy, replications=4)


def test_each_law_is_what_a_run_with_it_gives(compared, lossy):
    assert compared.names == ["reno", "sack", "Gentle"]
    rows = {(row["law"], row["measure"]): row for row in compared.estimates()}
    reno = bl.resolve(compared.study.scenario(0, "reno"))
    assert reno["tcp"]["variant"] == "reno"
    values = bl.run(reno).flows["goodput_bps"]
    assert len(values) == 4
    row = rows["reno", "goodput"]
    assert row["mean"] == pytest.approx(values.mean() * 1e-6)
    assert row["unit"] == "Mb/s" and row["n"] == 4 and row["ratio"] is None
    other = bl.run(compared.study.scenario(0, "Gentle"), allow_code=True).flows["goodput_bps"]
    ratio = rows["Gentle", "goodput"]["ratio"]
    assert ratio == pytest.approx(other.mean() / values.mean())
    assert "0.9" in compared.study.scenario(0, "Gentle")["tcp"]["window_law_class"]["source"]


def test_a_line_and_a_mark_for_each(compared):
    lines = repr(compared).splitlines()
    assert [line.split()[0] for line in lines] == list(compared.names)
    assert "±" in lines[0] and "times reno" in lines[1] and "times" not in lines[0]
    assert compared._repr_html_().count("<tr>") == 4
    spec = specification(compared.plot())
    assert len(spec["hconcat"]) == 3
    with pytest.raises(bl.InputError, match="unknown measure"):
        compared.plot(["speed"])


def test_laws_are_named_by_file_by_fields_and_by_the_caller(lossy):
    found = bl.compare(
        {"scalable": f"{LAWS / 'scalable.py'}:Scalable", "small": {"window": 4}},
        lossy,
        replications=1,
    )
    assert list(found.names) == ["scalable", "small"]
    assert {row["ci95"] for row in found.estimates()} == {None}
    assert bl.resolve(found.study.scenario(0, "small"))["tcp"]["window"] == 4


def fields_of(found, law):
    tcp = bl.resolve(found.study.scenario(0, law))["tcp"]
    return tcp["segment_size"], tcp["window"]


@pytest.mark.parametrize(
    ("tcp", "shared"),
    [({}, ("1500 B", 8192)), ({"segment_size": "2 KB", "window": 40}, ("2 KB", 40))],
)
def test_laws_of_linux_and_others_have_equal_segments_and_windows(lossy, tcp, shared):
    scenario = {**lossy, "tcp": tcp, "run": {"duration": "1 s"}}
    laws = ["cubic", "sack", {"variant": "reno", "window": 7}]
    found = bl.compare(laws, scenario, replications=1)
    assert [fields_of(found, law) for law in ("cubic", "sack")] == [shared] * 2
    assert fields_of(found, "variant = reno, window = 7") == (shared[0], 7)


def test_laws_of_one_kind_keep_the_defaults_of_their_profile(lossy):
    scenario = {**lossy, "tcp": {}, "run": {"duration": "1 s"}}
    for laws, shared in ((["reno", "sack"], ("1 KB", 64)), (["cubic", "bbr"], ("1500 B", 8192))):
        found = bl.compare(laws, scenario, replications=1)
        assert [fields_of(found, law) for law in laws] == [shared] * 2


@pytest.mark.parametrize(
    ("laws", "shown"),
    [
        (["reno"], "nothing to compare"),
        (["reno", "reno"], "two laws are called 'reno'"),
        (["reno", "renno"], "unknown law 'renno'"),
        (["reno", "nowhere.py:Law"], "No such file"),
    ],
)
def test_what_is_no_law_is_refused(lossy, laws, shown):
    with pytest.raises(bl.InputError, match=shown):
        bl.compare(laws, lossy)


def test_an_event_tells_what_a_round_trip_was(lossy, tmp_path):
    (tmp_path / "counts.py").write_text(
        "class Counts:\n"
        "    def __init__(self):\n"
        "        self.acked = self.since = 0\n"
        "    def on_ack(self, event):\n"
        "        one = event.round\n"
        "        if one is not None:\n"
        "            assert one.acked > 0 and one.duration > 0\n"
        "            bits = 8 * event.payload * one.acked / one.duration\n"
        "            assert abs(event.delivery_rate - bits) < 1e-3\n"
        "            assert event.delivery_rate <= 1.6e6, 'a fifth more than the access link'\n"
        "            assert one.lost <= one.sent\n"
        "        return event.cwnd + 1 / event.cwnd\n"
    )
    lossy = {**lossy, "access": {"rate": "1 Mb/s"}, "loss": {}}
    law = {"file": str(tmp_path / "counts.py"), "class": "Counts"}
    lossy["tcp"] = {**lossy["tcp"], "window_law": "python", "window_law_class": law}
    assert bl.run(lossy).flows["segments_delivered"][0] > 500


def test_the_laws_of_linux_are_those_that_the_engine_refuses_other_senders():
    def is_refused(law: str) -> bool:
        tcp = {"variant": "sack", "window_law": law}
        try:
            bl.resolve({"tcp": tcp, "flows": [{}]})
        except bl.ScenarioError as error:
            return 'only the variant "linux" has it' in str(error)
        return False

    laws = [law for law in get_args(WindowLaw) if law != "python"]
    assert {law for law in laws if is_refused(law)} == set(LAWS_OF_LINUX)
