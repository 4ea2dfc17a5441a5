"""Reading an oracle directory and comparing logs, without a simulation."""

import gzip
import json

import pytest

from burstlab.errors import InputError
from burstlab.oracle.cases import NotReplayable
from burstlab.oracle.compare import first_difference, first_tie, in_order
from burstlab.oracle.index import read_index
from burstlab.oracle.rows import Row, read_trace

ENTRY = {
    "case": "one",
    "tcp": "Reno",
    "profile": "ns235",
    "opts": "",
    "window": 20,
    "ssthresh_init": 12,
    "access_bps": 1e6,
    "core_bps": 1e10,
    "delays_ms": [10, 10, 10, 10, 20],
    "tick": 0.01,
    "boot_time": 0.005558807159827996,
    "t_start": 0.3737,
    "t_rec": 8,
    "assembly_tb": 0.039,
    "drops": [[300, 1]],
    "drop_bursts": [60],
    "drop_acks": [290],
    "delayed_ack": False,
    "packet_bytes": 1000,
    "overrides": {"sack_blocks": 2},
    "trace": "one.csv.gz",
}


def index(tmp_path, entries):
    (tmp_path / "index.json").write_text(json.dumps(entries))
    return tmp_path


def write_trace(path, text):
    with gzip.open(path, "wt") as file:
        file.write(text)
    return path


def test_a_case_becomes_a_scenario(tmp_path):
    (case,) = read_index(index(tmp_path, [ENTRY]))
    scenario = case.scenario()
    assert scenario["network"]["link_delays"] == ["10 ms"] * 3
    assert scenario["access"]["receiver"] == {"delay": "20 ms"}
    assert scenario["edge"] == {
        "assembly": "timer",
        "timer": "0.039 s",
        "spacing": "1 ns",
    }
    assert scenario["tcp"]["rto_clock_phase"] == "0.00555880716 s"
    assert scenario["tcp"]["initial_ssthresh"] == 12
    assert scenario["tcp"]["segment_size"] == "1000 B"
    assert scenario["tcp"]["sack_blocks"] == 2
    assert scenario["loss"]["data"] == {
        "process": "script",
        "node": 0,
        "packets": [[300, 1]],
        "bursts": [60],
    }
    assert scenario["loss"]["ack"] == {"process": "script", "node": 0, "bursts": [290]}
    assert scenario["flows"] == [{"start": "0.3737 s"}]


def test_options_of_ns2_are_mapped_or_refused(tmp_path):
    entry = {**ENTRY, "opts": "Agent/TCP minrto_ 0.5 Agent/TCP precisionReduce_ false"}
    (case,) = read_index(index(tmp_path, [entry]))
    tcp = case.scenario()["tcp"]
    assert (tcp["rto_min"], tcp["window_halving"]) == ("0.5 s", "integer")
    entry = {**ENTRY, "tcp": "Vegas", "opts": "Agent/TCP/Vegas v_beta_ 5"}
    (case,) = read_index(index(tmp_path, [entry]))
    tcp = case.scenario()["tcp"]
    assert (tcp["variant"], tcp["vegas_beta"]) == ("vegas", 5)
    (case,) = read_index(index(tmp_path, [{**ENTRY, "opts": "Agent/TCP ecn_ 1"}]))
    with pytest.raises(InputError, match="ecn_"):
        case.scenario()


def test_agents_that_the_engine_lacks_are_told_apart(tmp_path):
    (case,) = read_index(index(tmp_path, [{**ENTRY, "tcp": "Fack"}]))
    with pytest.raises(NotReplayable):
        case.scenario()


@pytest.mark.parametrize(
    ("entries", "says"),
    [
        ({}, "list of cases"),
        ([1], "case 1"),
        ([{}], "'case' is missing"),
        ([{**ENTRY, "window": "20"}], "window = '20'"),
        ([{**ENTRY, "tick": 0}], "not positive"),
        ([{**ENTRY, "drops": [3]}], "drops"),
        ([{**ENTRY, "delays_ms": [1]}], "delays_ms"),
        ([{**ENTRY, "delays_ms": ["1", "2", "3", "4"]}], "delays_ms"),
        ([{**ENTRY, "overrides": [1]}], "overrides"),
        ([ENTRY, ENTRY], "listed twice"),
    ],
)
def test_a_bad_index_names_the_case(tmp_path, entries, says):
    with pytest.raises(InputError, match=r"index\.json") as caught:
        read_index(index(tmp_path, entries))
    assert says in str(caught.value)


def test_a_broken_index_names_the_line(tmp_path):
    (tmp_path / "index.json").write_text("[\n{,\n]")
    with pytest.raises(InputError, match="line 2"):
        read_index(tmp_path)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "empty"),
        ("a,b\n", "line 1"),
        ("ev,t,a,b,c,d\nX,1\n", "line 2: unknown event 'X'"),
        ("ev,t,a,b,c,d\nT,1\nS,2,3,1,2\n", "line 3: an S row has 4 fields"),
        ("ev,t,a,b,c,d\nT,soon\n", "line 2"),
    ],
)
def test_a_bad_trace_names_the_line(tmp_path, text, says):
    with pytest.raises(InputError) as caught:
        read_trace(write_trace(tmp_path / "t.csv.gz", text))
    assert says in str(caught.value)
    assert "t.csv.gz" in str(caught.value)


def test_what_is_no_gzip_is_refused(tmp_path):
    path = tmp_path / "t.csv.gz"
    path.write_bytes(b"not gzip")
    with pytest.raises(InputError, match=r"t\.csv\.gz"):
        read_trace(path)


def rows(*lines):
    return [Row(event, t, tuple(float(x) for x in fields)) for event, t, *fields in lines]


def test_rows_of_one_instant_are_ordered_by_event():
    log = rows(("S", 1.0, 5, 1, 2, 20), ("A", 1.0000000004, 4, 2, 20), ("T", 0.5))
    assert [row.event for row in in_order(log)] == ["T", "A", "S"]


def test_times_and_windows_have_a_tolerance():
    theirs = rows(("S", 1.0, 5, 1, 29.8731, 20))
    assert first_difference(theirs, rows(("S", 1.0000000014, 5, 1, 29.873147, 20))) is None
    assert first_difference(theirs, rows(("S", 1.0000000016, 5, 1, 29.8731, 20))) is not None
    assert first_difference(theirs, rows(("S", 1.0, 5, 1, 29.8732, 20))) is not None
    assert first_difference(theirs, rows(("S", 1.0, 6, 1, 29.8731, 20))) is not None


def test_the_first_difference_shows_both_logs():
    theirs = rows(*(("A", float(i), i, 2, 20) for i in range(10)))
    ours = [*theirs[:5], *rows(("T", 5.0)), *theirs[6:]]
    difference = first_difference(theirs, ours)
    assert difference is not None
    assert difference.index == 5
    assert "event T instead of A" in difference.what
    assert len(difference.theirs) == len(difference.ours) == 6


def test_a_log_that_ends_early_differs():
    theirs = rows(("T", 1.0), ("T", 2.0))
    difference = first_difference(theirs, theirs[:1])
    assert difference is not None
    assert "ours ends before" in difference.what


FLOWS = [
    {"tcp": "Reno", "window": 20, "t_start": 0.001, "boot_time": 0.004, "delay_ms": 3},
    {"tcp": "Sack1", "window": 10, "t_start": 0.1, "boot_time": 0.002, "delay_ms": 30.5},
]
SEVERAL = {
    "case": "three",
    "kind": "egress",
    "profile": "ns235",
    "access_bps": 1e7,
    "receiver_bps": 1e6,
    "core_bps": 1e12,
    "delays_ms": [1, 2],
    "tick": 0.01,
    "t_rec": 5,
    "queue": 9,
    "flows": FLOWS,
    "trace": "three.csv.gz",
}


def test_several_flows_become_a_scenario(tmp_path):
    (case,) = read_index(index(tmp_path, [SEVERAL]))
    scenario = case.scenario()
    assert case.variant == "reno+sack"
    assert scenario["access"]["shared"] is True
    assert scenario["access"]["receiver"] == {"rate": "1000000 b/s", "delay": "2 ms", "queue": 9}
    assert [link["delay"] for link in scenario["network"]["link"]] == ["3 ms", "30.5 ms"]
    assert [flow["tcp"]["variant"] for flow in scenario["flows"]] == ["reno", "sack"]
    assert [flow["from"] for flow in scenario["flows"]] == ["s0", "s1"]
    entry = {
        **SEVERAL,
        "kind": "access",
        "delays_ms": [1, 2, 3, 4, 5],
        "cbr": [{"bps": 2e5, "bytes": 500, "t_start": 0.3}],
    }
    (case,) = read_index(index(tmp_path, [entry]))
    assert case.scenario()["traffic"] == [
        {"rate": "200000 b/s", "packet_size": "500 B", "start": "0.3 s", "phase": "0 s"}
    ]
    entry = {**entry, "kind": "assembly", "assembly_tb": 0.039, "drop_bursts": [4]}
    (case,) = read_index(index(tmp_path, [entry]))
    assert case.scenario()["edge"]["timer"] == "0.039 s"
    assert case.scenario()["loss"]["data"]["bursts"] == [4]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"kind": "ring"}, "kind = 'ring' is none of assembly"),
        ({"flows": []}, "flows is empty"),
        ({"flows": [3]}, "flow 0: a table"),
        ({"flows": [{**FLOWS[0], "window": "9"}]}, "flow 0: window = '9'"),
        ({"queue": 0}, "'queue' is missing or not positive"),
        ({"delays_ms": [1, 2, 3]}, "delays_ms has the wrong length"),
    ],
)
def test_a_bad_entry_of_several_flows_is_named(tmp_path, change, says):
    with pytest.raises(InputError, match=r"index\.json") as caught:
        read_index(index(tmp_path, [{**SEVERAL, **change}]))
    assert says in str(caught.value)


def test_rows_of_several_flows_have_its_number(tmp_path):
    text = "ev,t,f,a,b,c,d\nS,1,2,5,1,2,20\nC,1,3,7\n"
    send, other = read_trace(write_trace(tmp_path / "t.csv.gz", text), several=True)
    assert (send.flow, send.fields, other.flow) == (2, (5.0, 1.0, 2.0, 20.0), 3)
    for bad in ("ev,t,a,b,c,d\n", "ev,t,f,a,b,c,d\nT,1\n", "ev,t,f,a,b,c,d\nT,1,x\n"):
        with pytest.raises(InputError):
            read_trace(write_trace(tmp_path / "t.csv.gz", bad), several=True)


def test_ties_are_of_two_sources_at_one_instant():
    def log(*lines):
        return in_order([Row(event, t, (), flow) for event, t, flow in lines])

    assert first_tie(log(("B", 1.0, 0), ("B", 1.0, 0), ("B", 2.0, 1)), "B") is None
    assert first_tie(log(("B", 1.0, 0), ("B", 2.0, 0), ("B", 2.000000001, 1)), "B") == 2.0
    assert first_tie(log(("S", 1.0, 0), ("A", 1.0, 1), ("S", 1.0000001, 1)), "SC") is None
    assert first_tie(log(("S", 1.0, 0), ("C", 1.0, 2)), "SC") == 1.0
    assert first_tie(log(("S", 1.0, 0), ("L", 3.0, 0)), "SC") == 3.0
