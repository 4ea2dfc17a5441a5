"""Columns and their Parquet files, held against those of Arrow."""

from __future__ import annotations

import gc
import json
import os
import warnings
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import burstlab as bl
from burstlab.storage import sums
from burstlab.storage.arrow import from_arrow
from burstlab.storage.columnar import database
from burstlab.storage.columnar.column import Column, of_values
from burstlab.storage.columnar.database import Damaged
from burstlab.storage.columnar.reading import File
from burstlab.storage.columnar.writing import GROUP, Writer
from burstlab.storage.sums import FIELD, SEAL
from burstlab.tables import TRACES, Table, join

STUDY = Path(__file__).parents[2] / "examples/study.toml"

KINDS = {
    "bool": st.booleans(),
    "int8": st.integers(-(2**7), 2**7 - 1),
    "int32": st.integers(-(2**31), 2**31 - 1),
    "int64": st.integers(-(2**63), 2**63 - 1),
    "uint8": st.integers(0, 2**8 - 1),
    "uint16": st.integers(0, 2**16 - 1),
    "uint32": st.integers(0, 2**32 - 1),
    "uint64": st.integers(0, 2**64 - 1),
    "float32": st.floats(width=32, allow_nan=False),
    "float64": st.floats(allow_nan=False),
    "text": st.text(st.characters(exclude_categories=["Cs"]), max_size=4),
}


@st.composite
def tables(draw: Any) -> Table:
    """Columns of every kind; of some the values are few, or rise, or are missing."""
    rows = draw(st.integers(0, 300))
    found: dict[str, Column] = {}
    for name, values in KINDS.items():
        few = st.sampled_from(draw(st.lists(values, min_size=1, max_size=3)))
        one = draw(st.sampled_from([values, few, values | st.none(), few | st.none(), st.none()]))
        every = draw(st.lists(one, min_size=rows, max_size=rows))
        if draw(st.booleans()) and None not in every and name != "text":
            every.sort(key=float)
        found[name] = of_values(every, name)
    return Table(found)


def write(path: Path, *parts: Table) -> None:
    writer = Writer(path)
    for part in parts:
        writer.write(part.read())
    writer.close({"a key": "its value"})


def read(path: Path, *which: Any) -> Table:
    return Table(File(path).read(*which))


@pytest.mark.slow
@settings(max_examples=60)
@given(tables(), tables())
def test_arrow_reads_what_we_write_and_so_do_we(first, second):
    path = Path("both.parquet")
    write(path, first, second)
    wanted = join([first, second])
    found = pq.read_table(path)
    assert found.cast(wanted.to_arrow().schema).to_pydict() == wanted.to_arrow().to_pydict()
    assert read(path).equals(wanted)
    assert read(path).to_pylist() == wanted.to_pylist()
    assert pq.read_metadata(path).metadata == {b"a key": b"its value"}


@pytest.mark.slow
@settings(max_examples=60)
@given(
    tables(),
    st.sampled_from(["zstd", "gzip", "none"]),
    st.sampled_from(["1.0", "2.0"]),
    st.booleans(),
    st.sampled_from([64, 2**20]),
)
def test_we_read_what_arrow_writes(table, compression, page, dictionary, size):
    arrow = table.to_arrow()
    pq.write_table(
        arrow, "arrow.parquet", compression=compression, data_page_version=page,
        use_dictionary=dictionary, data_page_size=size, row_group_size=100,
    )  # fmt: skip
    found = read(Path("arrow.parquet"))
    assert found.to_arrow().schema == arrow.schema
    assert found.to_pylist() == arrow.to_pylist()


@pytest.fixture(autouse=True)
def here(tmp_path_factory, monkeypatch):
    """Write where nobody else does; one place for all examples of a test."""
    monkeypatch.chdir(tmp_path_factory.mktemp("here"))


def test_duckdb_reads_what_we_write(tmp_path):
    rng = np.random.default_rng(1)
    table = Table(
        {
            "t_ps": Column(np.cumsum(rng.integers(0, 10**9, 5000)).astype(np.uint64)),
            "node": Column(rng.integers(0, 9, 5000).astype(np.uint32), rng.random(5000) < 0.5),
            "fate": Column(rng.integers(0, 3, 5000).astype(np.int32), None, ("a", "b", "c")),
            "cwnd": Column(rng.random(5000)),
        }
    )
    write(tmp_path / "a.parquet", table)
    with duckdb.connect(":memory:") as database:
        found = database.sql(f"select * from '{tmp_path}/a.parquet'").to_arrow_table()
    assert Table(from_arrow(found)).to_pylist() == table.to_pylist()


def test_rows_of_conditions_are_those_of_all_groups(tmp_path):
    count = 3 * GROUP + 17
    rng = np.random.default_rng(2)
    table = Table(
        {
            "t_ps": Column(np.arange(count, dtype=np.uint64) * 7, rng.random(count) < 0.9),
            "flow": Column(rng.integers(0, 5, count).astype(np.uint32)),
            "fate": Column(rng.integers(0, 2, count).astype(np.int32), None, ("lost", "there")),
        }
    )
    write(tmp_path / "a.parquet", table)
    assert pq.read_metadata(tmp_path / "a.parquet").num_row_groups == 4
    every = [("t_ps", ">=", 7 * GROUP), ("t_ps", "<=", 8 * GROUP), ("fate", "!=", "lost")]
    for conditions in (every, [("flow", "==", 3)], [("flow", "==", 9)], [("t_ps", "there", None)]):
        found = read(tmp_path / "a.parquet", ["flow", "t_ps"], conditions)
        wanted = Table(table.read(["flow", "t_ps"], conditions))
        assert found.equals(wanted)
    assert len(read(tmp_path / "a.parquet", ["flow"], every)) > 0


def test_a_damaged_file_is_told_and_never_believed_to_be_another(tmp_path):
    path = tmp_path / "a.parquet"
    whole = Table({name: of_values([1, 0, None, 1] * 50, name) for name in KINDS if name != "text"})
    write(path, Table({**whole.read(), "text": of_values(["a", None, "b", "a"] * 50)}))
    content = path.read_bytes()
    rng = np.random.default_rng(3)
    shown = 0
    for _ in range(400):
        damaged = bytearray(content)
        for place in rng.integers(0, len(damaged), rng.choice([1, 4])):
            damaged[place] = rng.integers(0, 256)
        end = len(damaged) if rng.random() < 0.5 else int(rng.integers(0, len(damaged)))
        path.write_bytes(bytes(damaged[:end]))
        try:
            read(path)
        except Damaged:
            shown += 1
    assert shown > 200


def former(path: Path) -> None:
    """Write a table as versions before 0.3 did, by Arrow, with its marks."""
    marks = pq.read_metadata(path).metadata
    table = pq.read_table(path)
    for place, field in enumerate(table.schema):
        if field.type == pa.string():
            table = table.set_column(place, field.name, table[field.name].dictionary_encode())
    wide = [field.name for field in table.schema if field.type in (pa.uint64(), pa.int64())]
    few = [name for name in table.schema.names if name not in wide]
    with pq.ParquetWriter(
        path, table.schema, compression="zstd", compression_level=1,
        use_dictionary=few,  # pyright: ignore[reportArgumentType]
        column_encoding=dict.fromkeys(wide, "DELTA_BINARY_PACKED"),
    ) as writer:  # fmt: skip
        for batch in table.to_batches(1000):
            writer.write_table(pa.Table.from_batches([batch]))
        writer.add_key_value_metadata({key: text for key, text in marks.items()})


def without_sums(path: Path) -> None:
    """Take from a document what no version of those days wrote."""
    shown = json.loads(path.read_text())
    path.write_text(json.dumps({name: shown[name] for name in shown if name not in (FIELD, SEAL)}))


def test_a_result_that_arrow_wrote_is_read(small, tmp_path, monkeypatch):
    monkeypatch.setattr(sums, "_seals", lambda version: False)  # it is of before 0.5.0
    run = bl.run(small, trace=TRACES, replications=2)
    run.write(tmp_path)
    for file in tmp_path.glob("*.parquet"):
        former(file)
    without_sums(tmp_path / "summary.json")
    found = bl.read(tmp_path)
    assert found.recorded == run.recorded
    for name in run.recorded:
        assert found.table(name).to_pylist() == run.table(name).to_pylist(), name
        assert str(found.table(name)["replication"].dtype) == "uint32" or name == "flows"


def test_a_study_that_arrow_wrote_is_read_and_resumed(tmp_path):
    done = bl.study(STUDY, out=tmp_path / "out")
    for file in (tmp_path / "out").glob("*.parquet"):
        former(file)
    (tmp_path / "out" / "sums.json").unlink()
    found = bl.read_study(tmp_path / "out")
    assert found.runs.to_pylist() == done.runs.to_pylist()
    assert bl.study(STUDY, out=tmp_path / "out", resume=True).runs.equals(done.runs)


@pytest.mark.parametrize("compression", ["snappy", "lz4"])
def test_a_file_that_another_program_wrote_anew_is_read(tmp_path, compression):
    pq.write_table(pa.table({"a": [1, 2]}), tmp_path / "a.parquet", compression=compression)
    assert read(tmp_path / "a.parquet").to_pylist() == [{"a": 1}, {"a": 2}]


def test_a_column_of_another_kind_says_which(tmp_path):
    pq.write_table(pa.table({"a": [[1], [2]]}), tmp_path / "a.parquet")
    with pytest.raises(Damaged, match=r"'a' has a type that Burstlab does not read: BIGINT\[\]"):
        read(tmp_path / "a.parquet")


def test_signs_in_a_name_stand_for_themselves(tmp_path):
    path = tmp_path / "it's [1-3]?*.parquet"
    write(path, Table({"a": of_values([1])}), Table({"a": of_values([2])}))
    write(tmp_path / "it's 1xy.parquet", Table({"a": of_values([3])}))
    assert read(path).to_pylist() == [{"a": 1}, {"a": 2}]
    assert [one.name for one in sorted(tmp_path.iterdir())] == ["it's 1xy.parquet", path.name]


@pytest.mark.parametrize("value", [-1, 0, 255, 256, 2**70, np.uint8(7)])
@pytest.mark.parametrize("how", ["==", "!=", "<=", ">="])
def test_conditions_may_be_beyond_what_a_column_holds(tmp_path, how, value):
    table = Table({"a": of_values([0, 7, None, 255], "uint8"), "b": of_values([0.5, 7, 9, None])})
    write(tmp_path / "a.parquet", table)
    for name in table.columns:
        wanted = Table(table.read(None, [(name, how, value)]))
        assert read(tmp_path / "a.parquet", None, [(name, how, value)]).equals(wanted)


class Interrupted:
    """A connection to DuckDB at which Ctrl-C comes while it does its first command."""

    def __init__(self, error: Exception) -> None:
        self._error = error
        self.asked: list[str] = []

    def execute(self, command: str) -> None:
        self.asked.append(command)
        if len(self.asked) == 1:
            raise self._error


@pytest.mark.parametrize(
    "error", [RuntimeError("Query interrupted"), duckdb.Error("KeyboardInterrupt: ")]
)
def test_ctrl_c_is_heard_once_the_file_is_whole(error):
    connection = Interrupted(error)
    with pytest.raises(KeyboardInterrupt), database.cursor():
        database.finish(connection, "copy")  # pyright: ignore[reportArgumentType]
    assert connection.asked == ["copy", "copy"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_process_that_is_forked_reads_and_writes(tmp_path):
    table = Table({"a": of_values([1, 2])})
    write(tmp_path / "parent.parquet", table)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of forks with threads
        child = os.fork()
    if child == 0:
        write(tmp_path / "child.parquet", read(tmp_path / "parent.parquet"))
        gc.collect()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    assert read(tmp_path / "child.parquet").equals(table)


def test_a_column_that_is_not_there_is_named():
    table = Table({"sent_ps": of_values([1]), "fate": of_values(["lost"])})
    with pytest.raises(KeyError, match="unknown column"):
        table["sent"]
    with pytest.raises(bl.InputError, match="did you mean 'fate'"):
        table.where(fat="lost")
