"""Recorded connections of Linux, through the command."""

import json
import shutil
from importlib.resources import files
from pathlib import Path

import pytest

from burstlab.errors import InputError
from burstlab.oracle import is_linux, replay_linux
from burstlab.oracle.linux import read_linux_index

LINUX = Path(str(files("burstlab"))) / "data" / "oracles" / "linux"
NS2 = LINUX.parent / "ns2"


def few(tmp_path, *names, **changes):
    """Make a directory of some cases, each with some fields changed."""
    index = json.loads((LINUX / "index.json").read_text())
    chosen = [entry for entry in index["cases"] if entry["case"] in names]
    index["cases"] = [{**entry, **changes} for entry in chosen]
    (tmp_path / "index.json").write_text(json.dumps(index))
    (tmp_path / "traces").mkdir()
    for entry in chosen:
        shutil.copy(LINUX / entry["trace"], tmp_path / entry["trace"])
    return tmp_path


def test_every_case_that_comes_along_matches(burstlab):
    answer = burstlab("oracle", LINUX, "--level", "replay", "--json")
    cases = answer.json()["cases"]
    assert answer.status == 0
    assert len(cases) == 40
    assert all(case["match"] and case["level"] == "replay" for case in cases)
    assert all(case["rows_equal"] == case["rows"] > 0 for case in cases)
    assert all(100 * case["state_equal"] >= 99 * case["state_rows"] for case in cases)
    assert len({case["family"] for case in cases}) == 40


def test_a_difference_shows_both_sides(burstlab, tmp_path):
    directory = few(tmp_path, "one-reno-bursts-002", cc="cubic")
    answer = burstlab("oracle", directory, "--json")
    (case,) = answer.json()["cases"]
    assert answer.status == 1
    assert not case["match"]
    assert "Linux cwnd" in case["first_difference"]
    assert "we cwnd" in case["first_difference"]
    text = burstlab("oracle", directory).out
    assert "0 of 1 cases match" in text


def test_what_the_engine_lacks_is_no_match(tmp_path):
    directory = few(tmp_path, "one-reno-bursts-002", cc="hybla")
    (outcome,) = replay_linux(directory)
    assert not outcome.match
    assert outcome.first_difference == "the engine has no hybla"


def test_jobs_change_no_answer(tmp_path):
    directory = few(tmp_path, "dctcp-both-002", "one-reno-clamp-002", "cubic-tcp_frto-001")
    assert replay_linux(directory, jobs=1) == replay_linux(directory, jobs=3)


def test_an_index_that_is_none_is_refused(tmp_path):
    directory = few(tmp_path, "one-reno-bursts-002", gso="one")
    with pytest.raises(InputError, match="gso = 'one' has a wrong type"):
        read_linux_index(directory)
    (directory / "index.json").write_text('{"cases": []}')
    with pytest.raises(InputError, match="mtu"):
        read_linux_index(directory)


@pytest.mark.parametrize("overhead", [-1, 64_001, 832.0, True, "832 B"])
def test_an_overhead_that_is_none_is_refused(tmp_path, overhead):
    directory = few(tmp_path, "one-reno-bursts-002")
    index = json.loads((directory / "index.json").read_text())
    (directory / "index.json").write_text(json.dumps({**index, "send_overhead": overhead}))
    with pytest.raises(InputError, match=r"send_overhead = .*\n  fix: write bytes"):
        read_linux_index(directory)


def test_an_index_may_say_what_a_group_takes_in_the_send_buffer(tmp_path):
    directory = few(tmp_path, "one-reno-bursts-002")
    index = json.loads((directory / "index.json").read_text())
    (directory / "index.json").write_text(json.dumps({**index, "send_overhead": 896}))
    (case,) = read_linux_index(directory)
    sender = case.sender()
    assert isinstance(sender, dict)
    assert sender["options"]["send_overhead"] == 896


def test_a_trace_that_is_none_is_refused(tmp_path):
    directory = few(tmp_path, "one-reno-bursts-002")
    trace = directory / "traces" / "one-reno-bursts-002.csv.gz"
    trace.write_bytes(b"no gzip")
    with pytest.raises(InputError, match="one-reno-bursts-002"):
        replay_linux(directory)


def test_the_level_is_of_linux_alone(burstlab):
    assert is_linux(LINUX)
    assert not is_linux(NS2)
    answer = burstlab("oracle", NS2, "--level", "replay")
    assert answer.status == 2
    assert "--level" in answer.err


def test_recorded_connections_are_run_as_scenarios(burstlab):
    answer = burstlab("oracle", LINUX, "--level", "path", "--json")
    cases = answer.json()["cases"]
    assert len(cases) == 40
    assert all(case["level"] == "path" for case in cases)
    assert [case["case"] for case in cases if not case["match"]] == []
    for case in cases:
        assert case["acked_bytes"] == pytest.approx(case["acked_bytes_recorded"], rel=0.03)
