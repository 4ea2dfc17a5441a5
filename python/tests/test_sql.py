"""Queries over results: they read the tables, and nothing else can be reached or changed."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

import burstlab as bl
from burstlab.studies.sql import query
from burstlab.tables import from_rows

RUN = {"run": {"duration": "1 s"}, "flows": [{}, {}]}


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    # A name with signs that stand for others where files are looked for.
    out = tmp_path_factory.mktemp("queries") / "a [run], it's *one*"
    bl.run(RUN, out=out, trace=["packets", "bursts"])
    return out


@pytest.fixture
def other(tmp_path):
    """Files that no query may read."""
    path = tmp_path / "other"
    path.mkdir()
    (path / "o.csv").write_text("a,b\n1,secret\n")
    (path / "o.json").write_text('{"a": "secret"}\n')
    bl.run(RUN, out=path / "run")
    return path


def seen(directory: Path) -> dict[str, str]:
    return {
        str(path.relative_to(directory)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(directory.rglob("*"))
        if path.is_file()
    }


#: Escapes. OTHER is a directory next to the result, TABLE a file of the result itself.
ESCAPES = [
    "select * from read_csv('OTHER/o.csv')",
    "select * from 'OTHER/o.csv'",
    "from 'OTHER/run/flows.parquet'",
    "select * from read_parquet('OTHER/run/flows.parquet')",
    "select * from read_parquet(['TABLE', 'OTHER/run/flows.parquet'])",
    "select * from parquet_metadata('OTHER/run/flows.parquet')",
    "select * from read_json('OTHER/o.json')",
    "select * from read_text('OTHER/o.csv')",
    "select * from read_blob('OTHER/o.csv')",
    "select * from glob('OTHER/*')",
    "select * from sniff_csv('OTHER/o.csv')",
    "select * from flows where exists (select * from read_csv('OTHER/o.csv'))",
    "with o as (select * from read_text('OTHER/o.csv')) select * from o, flows",
    "select * from read_csv('http://127.0.0.1:9/o.csv')",
    "copy flows to 'OTHER/new.csv'",
    "copy (select 1) to 'TABLE' (format parquet, use_tmp_file false)",
    "copy (pivot flows on id using sum(bytes)) to 'OTHER/new.csv'",
    "explain analyze copy flows to 'OTHER/new.csv'",
    "explain analyze copy (select 1) to 'TABLE' (format parquet, use_tmp_file false)",
    "explain /* */ analyze copy (select 1) to 'TABLE' (format parquet, use_tmp_file false)",
    "select 1; copy flows to 'OTHER/new.csv'",
    "copy flows to 'OTHER/new.csv'; select 1",
    "copy flows from 'OTHER/o.csv'",
    "export database 'OTHER/exported'",
    "import database 'OTHER/exported'",
    "attach 'OTHER/new.db' as d",
    "attach 'OTHER/new.db' as d; create table d.t as select 1; select 1",
    "install httpfs",
    "load httpfs",
    "load 'OTHER/extension.duckdb_extension'",
    "set enable_external_access = true; select 1",
    "set lock_configuration = false; select 1",
    "reset allowed_paths; select 1",
    "set allowed_directories = ['OTHER']; select * from read_csv('OTHER/o.csv')",
    "pragma enable_profiling",
    "pragma database_list",
    "call enable_logging(storage = 'file', storage_path = 'OTHER/log')",
    "select * from enable_logging(storage = 'file', storage_path = 'OTHER/log')",
    "create persistent secret s (type http)",
    "create table t as select 1",
    "create macro m() as table select * from read_csv('OTHER/o.csv')",
    "prepare p as copy flows to 'OTHER/new.csv'",
    "select * from query('copy flows to ''OTHER/new.csv''')",
    "select getenv('HOME')",
    # Names of variables of the program.
    "select * from sources",
    "select * from database",
]


@pytest.mark.parametrize("sql", ESCAPES)
def test_a_query_reaches_the_tables_alone(burstlab, result, other, monkeypatch, sql):
    home = other / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    before = [seen(result), seen(other)]
    table = str(result / "packets.parquet").replace("'", "''")
    sql = sql.replace("OTHER", str(other)).replace("TABLE", table)
    answer = burstlab("results", result, "--sql", sql)
    assert answer.status == 2, answer.out
    assert answer.err.startswith("error: --sql: ") and "\n  fix: " in answer.err
    assert "Traceback" not in answer.err and "secret" not in answer.out
    assert [seen(result), seen(other)] == before


@pytest.mark.parametrize(
    ("sql", "rows"),
    [
        ("select count(*) as n from flows", 1),
        ("from flows select id order by id", 2),
        ("with f as (select id from flows) select * from f", 2),
        ("pivot flows on id using sum(goodput_bps)", 2),
        ("explain select 1", 1),
        ("explain analyze select count(*) from packets", 1),
        ("values (1), (2)", 2),
        ("describe flows", None),
        ("show tables", 4),
        ("select 1; select count(*) from bursts", 1),
    ],
)
def test_what_is_a_query_is_answered(burstlab, result, sql, rows):
    answer = burstlab("results", result, "--sql", sql, "--json")
    assert answer.status == 0, answer.err
    assert rows is None or len(answer.json()) == rows


def test_a_join_with_equal_names_keeps_all_columns(burstlab, result):
    sql = "select * from flows f join packets p on f.id = p.flow and p.sent_ps > 0 limit 3"
    answer = burstlab("results", result, "--sql", sql, "--json")
    assert answer.status == 0, answer.err
    rows = answer.json()
    names = [*bl.read(result).flows.columns, *bl.read(result).packets.columns]
    # A column "result" stands before those of each table.
    assert len(rows[0]) == len(names) + 2
    assert {"result", "result_1", "replication", "replication_1"} <= rows[0].keys()
    assert all(row["id"] == row["flow"] for row in rows)
    assert burstlab("results", result, "--sql", sql).status == 0


def test_names_that_are_made_apart_meet_no_other():
    table = from_rows([{"a": 1, "a_1": 2}])
    found = query("select a, a, a_1, a from t", {"t": table})
    assert [list(row.values()) for row in found.to_pylist()] == [[1, 1, 2, 1]]
    assert found.columns == ["a", "a_2", "a_1", "a_3"]


def test_a_study_is_queried_the_same_way(tmp_path):
    plan = {"scenario": RUN, "grid": {"tcp.window": [4, 8]}}
    found = bl.study(plan)
    assert len(found.query("select * from runs r join points p on r.point = p.point")) == 2
    with pytest.raises(bl.InputError, match="COPY is no query"):
        found.query(f"copy runs to '{tmp_path / 'runs.csv'}'")
    assert not list(tmp_path.iterdir())
    assert json.dumps(found.summary)
