"""Indexes and traces that are damaged or say more than is known: named, never a traceback."""

import gzip
import json
import shutil
from importlib.resources import files
from pathlib import Path

import pytest

from burstlab.oracle import path_linux, replay, replay_linux
from burstlab.oracle.linux import read_linux_index
from burstlab.oracle.path import not_of_a_path, scenario_of

ORACLES = Path(str(files("burstlab"))) / "data" / "oracles"
LINUX, NS2, SEVERAL = (ORACLES / name for name in ("linux", "ns2", "ns2-several"))
NAMES = {
    LINUX: "one-reno-bursts-002",
    NS2: "burst5_m_w20__reno",
    SEVERAL: "two_assembly_1",
}


def one_of(directory, source, *, change=None, of_all=None, trace=None):
    """Make a directory of one case of another one, with fields changed and another trace."""
    index = json.loads((source / "index.json").read_text())
    listed = index["cases"] if isinstance(index, dict) else index
    entry = next((one for one in listed if one["case"] == NAMES[source]), listed[0])
    made = [{**entry, **(change or {})}]
    document = {**index, "cases": made, **(of_all or {})} if isinstance(index, dict) else made
    directory.mkdir(exist_ok=True)
    (directory / "index.json").write_text(json.dumps(document))
    target = directory / entry["trace"]
    target.parent.mkdir(exist_ok=True)
    if trace is None:
        shutil.copy(source / entry["trace"], target)
    else:
        target.write_bytes(trace)
    return directory


def levels(source):
    return [["--level", "replay"], ["--level", "path"]] if source == LINUX else [[]]


def refused(burstlab, directory, source, says):
    for level in levels(source):
        answer = burstlab("oracle", directory, *level)
        assert answer.status == 2, answer.out
        assert says in answer.err and "fix:" in answer.err
        assert "Traceback" not in answer.err
        assert max(map(len, answer.err.splitlines())) < 400


PACKED = (LINUX / "traces" / "one-reno-bursts-002.csv.gz").read_bytes()


@pytest.mark.parametrize("source", [LINUX, NS2, SEVERAL], ids=["linux", "ns2", "several"])
@pytest.mark.parametrize(
    "trace",
    [
        b"",
        b"no gzip",
        PACKED[: len(PACKED) // 2],
        PACKED[:-4] + b"\0\0\0\0",
        PACKED[:200] + bytes(60) + PACKED[260:],
        gzip.compress(b"S,0,0,0,2,0\n\xff\xfe\n"),
        gzip.compress(b"nonsense\n"),
    ],
    ids=["empty", "plain", "half", "wrong sum", "flipped", "no text", "no row"],
)
def test_a_damaged_trace_is_refused(burstlab, tmp_path, source, trace):
    if source == LINUX and trace == b"":
        pytest.skip("an empty file unpacks to no row at all, which is tested below")
    refused(burstlab, one_of(tmp_path / "d", source, trace=trace), source, ".csv.gz")


@pytest.mark.parametrize("trace", [b"", gzip.compress(b"")], ids=["empty", "no rows"])
def test_a_trace_without_rows_is_no_recording(burstlab, tmp_path, trace):
    refused(burstlab, one_of(tmp_path / "d", LINUX, trace=trace), LINUX, "no row")


@pytest.mark.parametrize("source", [LINUX, NS2], ids=["linux", "ns2"])
def test_a_trace_that_is_not_there_is_named(burstlab, tmp_path, source):
    directory = one_of(tmp_path / "d", source)
    next(directory.rglob("*.gz")).unlink()
    refused(burstlab, directory, source, "no such file")


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ("S,99999999999999999999,1,1448,16,0,10,9,0,9,0", "no row"),
        ("S,18446744073709551615,1,1448,16,0,10,9,0,9,0", "no row"),
        ("S,-5,1,1448,16,0,10,9,0,9,0", "no row"),
        ("A,9000000000,99999999999999999999,9,0,16,,10,9,0,1,1,1,0,0,0,0,3,0", "no row"),
        ("S,9000000000", "no row"),
        ("A,9000000000,1,9,0", "no row"),
    ],
)
def test_a_row_that_is_none_is_named(burstlab, tmp_path, row, says):
    text = gzip.decompress(PACKED).decode() + row + "\n"
    directory = one_of(tmp_path / "d", LINUX, trace=gzip.compress(text.encode()))
    refused(burstlab, directory, LINUX, says)


def test_acks_that_go_back_in_time_are_no_recording(tmp_path):
    rows = gzip.decompress(PACKED).decode().splitlines()
    acks = [i for i, row in enumerate(rows) if row.startswith("A")]
    first, last = acks[20], acks[-1]
    rows[first], rows[last] = rows[last], rows[first]
    directory = one_of(tmp_path / "d", LINUX, trace=gzip.compress("\n".join(rows).encode()))
    with pytest.raises(Exception, match="the ACK before is later"):
        replay_linux(directory)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        '{"cases"',
        "[[[",
        "{" * 9_999,
        "[" * 99_999,
        "nul",
        '{"cases": 3}',
        '{"cases": [3]}',
    ],
)
def test_an_index_that_is_none_is_refused(burstlab, tmp_path, text):
    (tmp_path / "index.json").write_text(text)
    answer = burstlab("oracle", tmp_path)
    assert answer.status == 2 and "index.json" in answer.err and "fix:" in answer.err


@pytest.mark.parametrize("number", ["NaN", "-Infinity", "1e999", "9" * 5000])
def test_numbers_that_json_has_not_are_refused(burstlab, tmp_path, number):
    directory = one_of(tmp_path / "d", LINUX)
    path = directory / "index.json"
    path.write_text(path.read_text().replace('"mtu": 1500', f'"mtu": {number}'))
    refused(burstlab, directory, LINUX, "index.json")


@pytest.mark.parametrize(
    ("source", "change"),
    [
        (LINUX, {"rate": 0}),
        (LINUX, {"rate": "fast"}),
        (LINUX, {"tb_ms": -1}),
        (LINUX, {"core_delay_ms": 1e300}),
        (LINUX, {"lost_bursts": [0]}),
        (LINUX, {"lost_bursts": 3}),
        (LINUX, {"drop_packets": "1,x"}),
        (LINUX, {"drop_bursts": [None]}),
        (LINUX, {"bytes": 0}),
        (LINUX, {"gso": True}),
        (LINUX, {"writes": "150"}),
        (LINUX, {"writes": "150:5,100:5"}),
        (LINUX, {"writes": "150:0"}),
        (LINUX, {"rbytes": "many"}),
        (LINUX, {"twoway": 2}),
        (LINUX, {"mtu": 40}),
        (LINUX, {"sysctl": 3}),
        (LINUX, {"connection": -1}),
        (LINUX, {"trace": "../index.json"}),
        (LINUX, {"trace": "/etc/hostname"}),
        (LINUX, {"case": None}),
        (NS2, {"trace": "../index.json"}),
        (NS2, {"access_bps": -1}),
        (NS2, {"t_start": 1e40}),
        (NS2, {"drops": [["a", 1]]}),
        (NS2, {"drop_bursts": ["x"]}),
        (NS2, {"delays_ms": [1, 2, 3, True]}),
        (SEVERAL, {"drop_bursts": 3.5}),
        (SEVERAL, {"cbr": [3]}),
        (SEVERAL, {"cbr": [{"bps": 1}]}),
        (SEVERAL, {"t_rec": -1}),
    ],
)
def test_a_value_that_is_none_is_named(burstlab, tmp_path, source, change):
    directory = one_of(tmp_path / "d", source, change=change)
    refused(burstlab, directory, source, next(iter(change)))


def two_of(tmp_path, **change):
    """Make a directory of two recordings of Linux, the first of which has something more."""
    index = json.loads((LINUX / "index.json").read_text())
    names = ("one-reno-bursts-002", "one-reno-clamp-002")
    chosen = [one for one in index["cases"] if one["case"] in names]
    (tmp_path / "traces").mkdir()
    for entry in chosen:
        shutil.copy(LINUX / entry["trace"], tmp_path / entry["trace"])
    chosen[0] = {**chosen[0], **change}
    (tmp_path / "index.json").write_text(json.dumps({**index, "cases": chosen}))
    return tmp_path, chosen[0]["case"]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"wormhole": 3}, "unknown field 'wormhole'"),
        ({"bmax": 9000, "egress": 1e6}, "unknown field 'bmax', 'egress'"),
        ({"sysctl": "tcp_sack=1;tcp_wormhole=1"}, "unknown setting 'tcp_wormhole'"),
        ({"sysctl": "tcp_recovery=9"}, "unknown setting 'tcp_recovery=9'"),
        ({"cc": "hybla"}, "the engine has no hybla"),
        ({"ccs": "cubic", "connection": 1}, "connection 1 of ['cubic'] is not one of reno"),
    ],
)
@pytest.mark.parametrize("level", ["replay", "path"])
def test_what_is_not_known_is_not_judged_and_named(burstlab, tmp_path, change, says, level):
    directory, name = two_of(tmp_path, **change)
    answer = burstlab("oracle", directory, "--level", level)
    assert answer.status == 0, "the other one is judged, and matches"
    assert f"{name}: not judged: {says}" in answer.out
    assert "1 of 2 cases match, 1 not judged" in answer.out
    cases = {
        one["case"]: one
        for one in burstlab("oracle", directory, "--level", level, "--json").json()["cases"]
    }
    assert cases[name]["outcome"] == "not judged" and cases[name]["unjudged"] == says
    assert not cases[name]["match"] and cases[name]["rows"] == 0
    assert {one["outcome"] for one in cases.values()} == {"match", "not judged"}


def test_an_index_of_which_nothing_is_judged_is_no_success(burstlab, tmp_path):
    directory = one_of(tmp_path / "d", LINUX, change={"wormhole": 3})
    assert burstlab("oracle", directory).status == 1


def test_a_field_of_the_whole_index_that_is_not_known_takes_all_its_cases(tmp_path):
    directory = one_of(tmp_path / "d", LINUX, of_all={"gravity": 9.81})
    (outcome,) = replay_linux(directory)
    assert outcome.unjudged == "unknown field 'gravity' of the index"


@pytest.mark.parametrize(
    ("source", "change", "says"),
    [
        (NS2, {"wormhole": 3}, "unknown field 'wormhole'"),
        (SEVERAL, {"wormhole": 3}, "unknown field 'wormhole'"),
    ],
)
def test_cases_of_ns2_with_more_than_is_known_are_skipped(tmp_path, source, change, says):
    report = replay(one_of(tmp_path / "d", source, change=change))
    ((case, reason),) = report.skipped
    assert reason == says and not report.outcomes
    assert case.name


def case_of(tmp_path, **change):
    (case,) = read_linux_index(one_of(tmp_path / "d", LINUX, change=change))
    return case


def test_writes_both_ways_and_other_sizes_become_a_scenario(tmp_path):
    change = {"writes": "150:1000,167:2000", "mtu": 9000, "rmem": 65536}
    case = case_of(tmp_path, **change)
    document = scenario_of(case, 10**12)
    assert document["flows"] == [
        {
            "start": "0 s",
            "script": [
                {"at": "150 ms", "bytes": "1000 B"},
                {"at": "167 ms", "bytes": "2000 B"},
            ],
            "closes": False,
        }
    ]
    assert document["tcp"]["segment_size"] == "9000 B"
    assert document["tcp"]["receive_buffer"] == "65536 B"
    sender = case.sender()
    assert isinstance(sender, dict)
    assert (sender["writes"], sender["bytes"]) == ([(150, 1000), (167, 2000)], None)
    assert sender["options"]["payload"] == 8948
    case = case_of(tmp_path, bytes=5000, rbytes=7000, twoway=1)
    assert scenario_of(case, 10**12)["flows"] == [
        {"start": "0 s", "bytes": "5000 B", "reverse": {"bytes": "7000 B"}}
    ]
    back = case_of(tmp_path, case="x-back", bytes=5000, rbytes=7000, twoway=1)
    assert back.is_back and back.bytes_sent == 7000 and not case.is_back
    case = case_of(tmp_path, sysctl="tcp_slow_start_after_idle=0")
    assert scenario_of(case, 10**12)["tcp"]["idle_restart_window"] == 0


def test_several_connections_become_flows_over_one_link(tmp_path):
    case = case_of(tmp_path, cc="cubic", ccs="reno,cubic,dctcp", connection=1)
    document = scenario_of(case, 10**12)
    laws = [(flow["tcp"]["window_law"], flow["tcp"]["ecn"]) for flow in document["flows"]]
    assert laws == [("aimd", False), ("cubic", False), ("dctcp", True)]
    assert document["access"]["shared"] is True and "marking" in document["access"]
    reason = not_of_a_path(case_of(tmp_path, ccs="reno,cubic", drop_packets="4"))
    assert reason == "drop_packets counts the packets of several connections"


def test_several_connections_are_compared_one_by_one(tmp_path):
    """Two alike over one link: each is the other's recording but for the order at one instant."""
    directory = one_of(tmp_path / "d", LINUX, change={"ccs": "reno,reno", "connection": 1})
    (outcome,) = path_linux(directory)
    assert outcome.outcome == "differs" and outcome.rows_equal > 0


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"gso": 4}, "gso = 4"),
        ({"p": 0.1, "lost_bursts": None}, "without 'lost_bursts'"),
    ],
)
def test_what_a_path_cannot_have_is_not_judged_there(tmp_path, change, says):
    change = {name: value for name, value in change.items() if value is not None}
    directory = one_of(tmp_path / "d", LINUX, change=change)
    if "p" in change:
        path = directory / "index.json"
        index = json.loads(path.read_text())
        del index["cases"][0]["lost_bursts"]
        path.write_text(json.dumps(index))
    (outcome,) = path_linux(directory)
    assert outcome.outcome == "not judged" and says in (outcome.unjudged or "")


def test_live_hosts_do_all_that_one_connection_does(tmp_path):
    case = case_of(tmp_path, writes="150:1000", rmem=65536)
    assert not_of_a_path(case) is None
    assert not_of_a_path(case, live=True) is None
    (tmp_path / "of").mkdir()
    case = case_of(tmp_path / "of", ccs="reno,cubic")
    assert not_of_a_path(case) is None
    assert not_of_a_path(case, live=True) == "'ccs': a live host has one congestion control"
