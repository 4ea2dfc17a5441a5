"""Connections from files: CSV and Parquet tell the same, and no file breaks the reader."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import burstlab as bl
from burstlab.errors import ScenarioError
from burstlab.flow_traces import read

HEAD = "start,from,to,bytes\n"
ROWS = [(0.0, "2", "3", 12_000), (0.0015, "1", "3", 1), (0.0005, "3", "1", 70_000)]


def scenario(**demand: Any) -> dict[str, Any]:
    return {
        "network": {"topology": "line", "nodes": 3, "link_delay": "10 us", "wavelengths": 8},
        "access": {"rate": "10 Gb/s", "delay": "1 us"},
        "edge": {"assembly": "timer", "timer": "20 us"},
        "demand": [{"pattern": "trace", **demand}],
        "run": {"duration": "10 ms", "drain": "1 s"},
    }


def csv_of(rows: list[tuple[Any, ...]]) -> str:
    return HEAD + "".join(",".join(map(str, row)) + "\n" for row in rows)


def test_rows_are_connections(tmp_path):
    (tmp_path / "flows.csv").write_text(csv_of(ROWS))
    found = bl.run(scenario(file=str(tmp_path / "flows.csv"), start="2 ms")).connections
    shown = {(row["started_ps"], row["from"], row["to"], row["bytes"]) for row in found.to_pylist()}
    # Times count from the start of the demand.
    assert shown == {(2 * 10**9 + round(t * 1e12), a, b, size) for t, a, b, size in ROWS}
    assert all(row["completed_ps"] for row in found.to_pylist())


def test_a_path_counts_from_the_scenario_and_the_result_has_the_rows(tmp_path, burstlab):
    (tmp_path / "flows.csv").write_text(csv_of(ROWS))
    text = """
    network = { topology = "line", nodes = 3, link_delay = "10 us" }
    run = { duration = "10 ms" }
    [[demand]]
    pattern = "trace"
    file = "flows.csv"
    """
    (tmp_path / "one.toml").write_text(text)
    out = tmp_path / "out"
    first = burstlab("run", tmp_path / "one.toml", "--out", out, "--json").json()
    (tmp_path / "flows.csv").unlink()
    again = burstlab("run", out / "scenario.toml", "--json").json()
    assert again["fingerprint"] == first["fingerprint"]
    assert first["demand"][0]["started"] == len(ROWS)


def test_csv_and_parquet_say_the_same(tmp_path):
    (tmp_path / "a.csv").write_text(csv_of(ROWS))
    names = ["start", "from", "to", "bytes"]
    columns = dict(zip(names, map(list, zip(*ROWS, strict=True)), strict=True))
    pq.write_table(pa.table(columns), tmp_path / "a.parquet")
    expected = read(tmp_path / "a.csv")
    assert expected[1] == ["1500000000 ps", "1", "3", "1 B"]
    assert read(tmp_path / "a.parquet") == expected
    # Other columns, another order, whole numbers as names, durations of any unit.
    for unit in ("us", "ns"):
        spans = pa.array([timedelta(seconds=row[0]) for row in ROWS]).cast(pa.duration(unit))
        other = pa.table(
            {
                "bytes": pa.array(columns["bytes"], pa.uint32()),
                "note": ["x"] * 3,
                "to": pa.array([int(name) for name in columns["to"]]),
                "start": spans,
                "from": pa.array(columns["from"]).dictionary_encode(),
            }
        )
        pq.write_table(other, tmp_path / "b.parquet")
        assert read(tmp_path / "b.parquet") == expected
    text = '# made by hand\n bytes , start ,from,to, note\n\n12000,0.0,2,3,"a, b" # one\n'
    (tmp_path / "c.csv").write_text("\ufeff" + text)
    assert read(tmp_path / "c.csv") == expected[:1]


@pytest.mark.parametrize(
    ("text", "where", "says"),
    [
        ("", "", "no connections"),
        (HEAD, "", "no connections"),
        ("start,from,to\n0,1,2\n", "line 1", "no column 'bytes'"),
        ("start,from,to,bytes,to\n", "line 1", "more than one column 'to'"),
        ("0,1,2,1000\n", "line 1", "no column 'start'"),
        (HEAD + "0,1,2\n", "line 2", "3 cells, and 4 columns"),
        (HEAD + "0,1,2,1000\nx,1,2,1000\n", "line 3, start", "no time"),
        (HEAD + "-1,1,2,1000\n", "line 2, start", "negative"),
        (HEAD + "nan,1,2,1000\n", "line 2, start", "no time"),
        (HEAD + "1e30,1,2,1000\n", "line 2, start", "after any run"),
        (HEAD + "1 ms,1,2,1000\n", "line 2, start", "no time"),
        (HEAD + "0,,2,1000\n", "line 2, from", "no name"),
        (HEAD + "0,1,2,1.5\n", "line 2, bytes", "no size"),
        (HEAD + "0,1,2,-5\n", "line 2, bytes", "no size"),
        (HEAD + "0,1,2,1 KB\n", "line 2, bytes", "no size"),
        (HEAD + '0,"1,2,1000\n', "line 2", "not CSV"),
    ],
)
def test_a_mistake_in_csv_is_named_with_its_line(tmp_path, text, where, says):
    file = tmp_path / "bad.csv"
    file.write_text(text)
    with pytest.raises(ScenarioError) as refused:
        read(file)
    shown = str(refused.value)
    assert str(file) in shown and where in shown and says in shown
    assert refused.value.fix


def test_what_is_no_table_is_refused(tmp_path):
    for name, content, says in [
        ("a.parquet", b"PAR1 is not enough", "not a Parquet file"),
        ("a.csv", b"\xff\xfe\x00", "not UTF-8"),
        ("a.dat", b"", "the ending names no format"),
    ]:
        (tmp_path / name).write_bytes(content)
        with pytest.raises(ScenarioError, match=says):
            read(tmp_path / name)
    with pytest.raises(ScenarioError, match="cannot be read"):
        read(tmp_path / "none.csv")
    nothing = pa.table({"start": [None], "from": ["1"], "to": ["2"], "bytes": [10]})
    pq.write_table(nothing, tmp_path / "null.parquet")
    with pytest.raises(ScenarioError, match=r"row 1, start.*no time"):
        read(tmp_path / "null.parquet")


@pytest.mark.parametrize(
    ("row", "says"),
    [
        (["0 s", "1", "9", "1 KB"], "no such node"),
        (["0 s", "1", "1", "1 KB"], "ends where it starts"),
        (["0 s", "1", "2", "0 B"], "no size"),
        (["2000001 s", "1", "2", "1 KB"], "after any run"),
    ],
)
def test_the_engine_judges_rows_by_its_nodes(row, says):
    rows = [["0 s", "1", "2", "1 KB"], row]
    with pytest.raises(ScenarioError, match=says) as refused:
        bl.resolve(scenario(trace=rows))
    assert refused.value.path.startswith("demand[0].trace[1]")


def test_rows_and_a_file_are_one_too_many(tmp_path):
    (tmp_path / "a.csv").write_text(csv_of(ROWS))
    both = scenario(file=str(tmp_path / "a.csv"), trace=[["0 s", "1", "2", "1 KB"]])
    with pytest.raises(ScenarioError, match="trace is given too"):
        bl.resolve(both)
    with pytest.raises(ScenarioError, match="needs it, or file"):
        bl.resolve(scenario())
    with pytest.raises(ScenarioError, match="does not use it"):
        bl.resolve(scenario(trace=both["demand"][0]["trace"], size={"mean": "1 KB"}))


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(alphabet="0123456789.,-+eE\"'#\n\r xnab", max_size=120))
def test_any_text_is_read_or_refused(tmp_path, text):
    file = tmp_path / "any.csv"
    file.write_text(HEAD + text, encoding="utf-8", newline="")
    try:
        rows = read(file)
    except ScenarioError as refused:
        assert str(file) in str(refused)
        return
    assert all(row[0].endswith(" ps") and row[3].endswith(" B") for row in rows)


def test_other_words_for_columns_and_other_ways_to_write_numbers(tmp_path):
    (tmp_path / "a.csv").write_text("start_time,src,dst,size\n1.5e-3,1,3,2.0e4\n")
    assert read(tmp_path / "a.csv") == [["1500000000 ps", "1", "3", "20000 B"]]
    (tmp_path / "b.csv").write_text("start,src,source,dst,size\n0,1,1,3,9\n")
    with pytest.raises(ScenarioError, match="more than one column 'from'"):
        read(tmp_path / "b.csv")
    (tmp_path / "c.csv").write_text("start,from,to,bytes\n0,1,3,2.5\n")
    with pytest.raises(ScenarioError, match="no size in bytes"):
        read(tmp_path / "c.csv")


def test_lists_of_hpcc(tmp_path):
    (tmp_path / "flow.txt").write_text("2\n0 1 3 100 20000 0.001\n\n1 2 3 100 4e4 0.002\n")
    assert read(tmp_path / "flow.txt") == [
        ["1000000000 ps", "0", "1", "20000 B"],
        ["2000000000 ps", "1", "2", "40000 B"],
    ]
    for text, says in [
        ("", "no number of flows"),
        ("3\n0 1 3 100 20000 0.001\n", "no number of flows"),
        ("1\n0 1 3 100 20000\n", "5 columns"),
    ]:
        (tmp_path / "flow.txt").write_text(text)
        with pytest.raises(ScenarioError, match=says):
            read(tmp_path / "flow.txt")
