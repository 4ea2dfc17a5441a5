"""Recorded ns-2 traces: every packet at its time."""

from __future__ import annotations

import gzip
import json
import shutil
from importlib.resources import files
from pathlib import Path

import pytest

ORACLES = Path(str(files("burstlab"))) / "data" / "oracles" / "ns2"


def test_the_recorded_traces_agree(burstlab):
    answer = burstlab("oracle", ORACLES, "--json")
    document = answer.json()
    different = [case for case in document["cases"] if not case["match"]]
    assert different == []
    assert answer.status == 0
    assert len(document["cases"]) >= 50
    assert sum(case["compared"] for case in document["cases"]) > 50_000
    variants = {case["variant"] for case in document["cases"]}
    assert variants == {"tahoe", "reno", "new-reno", "sack", "vegas"}


@pytest.fixture
def one_case(tmp_path):
    """A directory with one case of the data."""
    entries = json.loads((ORACLES / "index.json").read_text())
    entry = next(e for e in entries if e["tcp"] == "Reno" and e["drops"])
    (tmp_path / "traces").mkdir()
    shutil.copy(ORACLES / entry["trace"], tmp_path / entry["trace"])
    return tmp_path, entry


def write(directory, *entries):
    (directory / "index.json").write_text(json.dumps(entries))


def test_a_difference_is_found_and_shown(burstlab, one_case):
    directory, entry = one_case
    write(directory, {**entry, "window": entry["window"] - 1})
    answer = burstlab("oracle", directory, "--json")
    assert answer.status == 1
    (case,) = answer.json()["cases"]
    assert not case["match"]
    assert case["first_difference"].startswith("row ")
    text = burstlab("oracle", directory)
    assert text.status == 1
    assert "recorded" in text.out
    assert "0 of 1 cases match" in text.out


def test_one_changed_digit_is_found(burstlab, one_case):
    directory, entry = one_case
    path = directory / entry["trace"]
    with gzip.open(path, "rt") as file:
        lines = file.read().splitlines()
    place = next(i for i, line in enumerate(lines) if i > 200 and line.startswith("S"))
    cells = lines[place].split(",")
    cells[1] = f"{float(cells[1]) + 3e-9:.9f}"
    lines[place] = ",".join(cells)
    with gzip.open(path, "wt") as file:
        file.write("\n".join(lines) + "\n")
    write(directory, entry)
    (case,) = burstlab("oracle", directory, "--json").json()["cases"]
    assert not case["match"]
    assert case["compared"] == place - 1


def test_what_cannot_be_replayed_is_listed(burstlab, one_case):
    directory, entry = one_case
    write(directory, entry, {**entry, "case": "other", "tcp": "Fack"})
    answer = burstlab("oracle", directory, "--json")
    assert answer.status == 0
    (skipped,) = answer.json()["skipped"]
    assert (skipped["case"], skipped["variant"]) == ("other", "Fack")
    assert "skipped" in answer.err


def test_a_missing_or_broken_trace_is_bad_input(burstlab, one_case):
    directory, entry = one_case
    write(directory, {**entry, "trace": "traces/none.csv.gz"})
    assert burstlab("oracle", directory).status == 2
    (directory / entry["trace"]).write_bytes(b"\x1f\x8b\x08\x00broken")
    write(directory, entry)
    answer = burstlab("oracle", directory)
    assert answer.status == 2
    assert entry["trace"] in answer.err


SEVERAL = ORACLES.with_name("ns2-several")


def test_several_flows_agree_up_to_the_first_tie(burstlab):
    answer = burstlab("oracle", SEVERAL, "--json")
    document = answer.json()
    entries = {entry["case"]: entry for entry in json.loads((SEVERAL / "index.json").read_text())}
    assert len(entries) == 40
    for case in document["cases"]:
        tie = entries[case["case"]].get("first_tie")
        assert case["outcome"] == ("match" if tie is None else "tie"), case
        if tie is not None:
            assert case["compared"] == tie["rows"]
            assert case["tie_s"] == pytest.approx(tie["t"], abs=2e-9)
    outcomes = [case["outcome"] for case in document["cases"]]
    assert outcomes.count("match") == 20
    assert sum(case["compared"] for case in document["cases"]) > 50_000
    assert answer.status == 0
    for kind in ("assembly", "access", "egress"):
        of_kind = [case for case in document["cases"] if case["case"].startswith(kind)]
        assert len(of_kind) >= 12
        assert any(case["match"] for case in of_kind)
    text = burstlab("oracle", SEVERAL).out
    assert "tie at t = 1.187372768 s, 373 rows before it agree" in text
    assert "20 of 40 cases match, 20 tie (" in text


def one_of_several(tmp_path, name):
    """A directory with one case of several flows, and the lines of its trace."""
    entries = json.loads((SEVERAL / "index.json").read_text())
    entry = next(e for e in entries if e["case"].startswith(name))
    (tmp_path / "traces").mkdir()
    write(tmp_path, entry)
    with gzip.open(SEVERAL / entry["trace"], "rt") as file:
        return entry, file.read().splitlines()


@pytest.mark.parametrize(("ahead", "outcome"), [(True, "differs"), (False, "tie")])
def test_a_difference_before_a_tie_is_one_and_behind_it_is_none(burstlab, tmp_path, ahead, outcome):
    entry, lines = one_of_several(tmp_path, "assembly09")
    tie = entry["first_tie"]["t"]
    sends = [i for i, line in enumerate(lines) if line.startswith("S")]
    place = next(i for i in sends[40 if ahead else 0 :] if ahead or time_of(lines[i]) > tie + 0.01)
    cells = lines[place].split(",")
    cells[4] = "7"
    lines[place] = ",".join(cells)
    with gzip.open(tmp_path / entry["trace"], "wt") as file:
        file.write("\n".join(lines) + "\n")
    answer = burstlab("oracle", tmp_path, "--json")
    (case,) = answer.json()["cases"]
    assert (case["outcome"], case["match"]) == (outcome, False)
    assert answer.status == (1 if ahead else 0)
    assert case["agrees_beyond"] is False
    assert case["compared"] == (place - 1 if ahead else entry["first_tie"]["rows"])


def time_of(line):
    return float(line.split(",")[1])


def test_delays_that_ns2_drew_are_not_drawn_again(burstlab, one_case):
    directory, entry = one_case
    write(directory, entry, {**entry, "case": "drawn", "jitter": [0.001]})
    (skipped,) = burstlab("oracle", directory, "--json").json()["skipped"]
    assert (skipped["case"], skipped["reason"]) == (
        "drawn",
        "ns-2 drew the delays of send_jitter",
    )
