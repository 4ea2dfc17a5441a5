"""Every command that writes, over every kind of directory: it succeeds, or it changes nothing.

A command that succeeds leaves all readable that is there, and every file unchanged that is not of
the very thing that it replaces. One that is refused says what to do, and changes no byte.
"""

from __future__ import annotations

import ctypes
import hashlib
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import tomli_w
from test_dataset import PLANS, SCENARIO

import burstlab as bl
import burstlab.papers
from burstlab.cli import main
from burstlab.measures.comparing import find
from burstlab.reproduce.engine import TargetReport, reproduce
from burstlab.reproduce.paper import Paper
from burstlab.storage import files, sums
from burstlab.storage.files import put
from burstlab.storage.verifying import BAD, verify

RUN: dict[str, Any] = {
    "edge": {"assembly": "timer", "timer": "5 ms"},
    "loss": {"data": {"process": "bernoulli", "probability": 0.03}},
    "run": {"duration": "2 s", "seed": 3},
}

#: A name that is no UTF-8.
ODD = os.fsdecode(b"caf\xe9")


@dataclass(frozen=True)
class Writer:
    """A command that writes.

    Attributes
    ----------
    words
        The command; OUT stands for the directory, RUN, PLAN and RESULT for what is given.
    replaces
        The kind of directory whose files it may replace.
    writes
        Names, of which somebody else may have files there.
    """

    words: str
    replaces: str = ""
    writes: tuple[str, ...] = ()


_RESULT = ("summary.json", "scenario.toml", "packets.parquet", "flows.parquet", "live/letter.txt")
_WHAT_IF = ("first/letter.txt", "other/letter.txt", "different_bursts.parquet")
_STUDY = ("plan.toml", "runs.parquet", "report.html", "sums.json", "points/000000.parquet")
_PAPER = ("report.html", "runs.sqlite", "yu2004/fig2a.csv", "yu2004/fig2a.json")
_SET = ("README.md", "runs.parquet", "events.parquet", "prices.parquet")

WRITERS = {
    "run": Writer("run RUN --out OUT", "", _RESULT),
    "run, forced": Writer("run RUN --trace packets --out OUT --force", "result", _RESULT),
    "checkpoint": Writer("run RUN --checkpoint OUT", "", ("replication-0.ckpt",)),
    "resume": Writer("run RUN --checkpoint OUT --resume", "checkpoints", ("replication-0.ckpt",)),
    "what-if": Writer("what-if RESULT --spare BURST --out OUT", "", _WHAT_IF),
    "what-if, forced": Writer(
        "what-if RESULT --spare BURST --out OUT --force", "what-if", _WHAT_IF
    ),
    "what-if, figure": Writer("what-if RESULT --spare BURST --figure OUT/report.svg"),
    "blame": Writer("blame RESULT --sample 2 --out OUT", "", ("prices.parquet",)),
    "blame, resumed": Writer(
        "blame RESULT --sample 2 --out OUT --resume", "prices", ("prices.parquet",)
    ),
    "blame, figure": Writer("blame RESULT --sample 2 --figure OUT/report.svg"),
    "study": Writer("study PLAN --out OUT", "", _STUDY),
    "study, resumed": Writer("study PLAN --out OUT --resume", "study", _STUDY),
    "reproduce": Writer("reproduce yu2004/fig2a --out OUT", "reproduction", _PAPER),
    "reproduce, full": Writer("reproduce yu2004/fig2a --full --out OUT", "reproduction", _PAPER),
    "dataset": Writer("dataset small/grid --prices 1 --out OUT", "", _SET),
    "dataset, forced": Writer("dataset small/grid --prices 1 --out OUT --force", "data set", _SET),
    "export csv": Writer("export RESULT --format csv --out OUT", "", ("flows.csv",)),
    "export csv, forced": Writer("export RESULT --format csv --out OUT --force", "tables"),
    "export": Writer("export RESULT --out OUT/sender.pcapng", "", ("sender.pcapng",)),
    "export over the directory": Writer("export RESULT --out OUT --force"),
    "plot": Writer("plot RESULT sequence --out OUT/report.svg"),
    "view": Writer("view RESULT --export OUT/page.html --no-open", "", ("page.html",)),
    "examples": Writer("examples OUT", "", ("one_burst.toml",)),
}

#: Files that a command with --force shall write.
OVER = {
    "export": "export RESULT --format qlog --out OUT/NAME --force",
    "view": "view RESULT --export OUT/NAME --force --no-open",
    "topology": "topology TOPOLOGY --out OUT/NAME --force",
}


def call(line: str, given: Mapping[str, str]) -> int:
    words = line.split()
    for name, value in given.items():
        words = [word.replace(name, value) for word in words]
    with pytest.raises(SystemExit) as left:
        main(words)
    return int(left.value.code or 0)


def _once(paper: Paper, target: str, *more: Any) -> TargetReport:
    """Run a target the first time that it is asked for."""
    key = (paper.key, target)
    if key not in _REPORTS:
        _REPORTS[key] = reproduce(paper, target, *more)
    return _REPORTS[key]


_REPORTS: dict[tuple[str, str], TargetReport] = {}


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Have a paper with a small grid, and pictures that nobody draws."""
    where = tmp_path_factory.mktemp("papers") / "small"
    where.mkdir()
    (where / "path.toml").write_text(SCENARIO.replace("3 s", "1 s"))
    (where / "plans.toml").write_text(PLANS.replace("3 s", "1 s").replace("6 s", "1 s"))
    paths = [str(where.parent), *burstlab.papers.__path__]
    monkeypatch.setattr(burstlab.papers, "__path__", paths)
    monkeypatch.setattr("burstlab.reproduce.abreast.reproduce", _once)
    monkeypatch.setattr("vl_convert.svg_to_png", lambda *_, **__: b"a picture")
    monkeypatch.setattr("vl_convert.vegalite_to_svg", lambda *_, **__: "a drawing")


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Files that commands read."""
    where = tmp_path_factory.mktemp("given")
    (where / "run.toml").write_text(tomli_w.dumps(RUN))
    plan = {"scenario": RUN, "grid": {"tcp.window": [4, 8]}}
    (where / "plan.toml").write_text(tomli_w.dumps(plan))
    result = bl.run(RUN, trace=("packets", "bursts", "cwnd", "ledger"), out=where / "result")
    bursts = result.bursts.where(fate="lost").to_pylist()
    (where / "edges.csv").write_text("source,target,km\na,b,100\nb,c,100\n")
    return {
        "TOPOLOGY": str(where / "edges.csv"),
        "RUN": str(where / "run.toml"),
        "PLAN": str(where / "plan.toml"),
        "RESULT": str(where / "result"),
        "BURST": str(bursts[0]["burst"]),
    }


@pytest.fixture(scope="module")
def made(given: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Directories of each kind, which are copied."""
    where = tmp_path_factory.mktemp("made")
    with pytest.MonkeyPatch.context() as patch:
        _quick.__wrapped__(patch, tmp_path_factory)  # pyright: ignore
        for kind, writer in (
            ("what-if", "what-if"),
            ("prices", "blame"),
            ("study", "study"),
            ("reproduction", "reproduce"),
            ("data set", "dataset"),
            ("checkpoints", "checkpoint"),
            ("tables", "export csv"),
        ):
            assert call(WRITERS[writer].words, {**given, "OUT": str(where / kind)}) == 0
    shutil.copytree(given["RESULT"], where / "result")
    _half_written(where)
    _foreign(where)
    (where / "empty").mkdir()
    (where / "a file").write_text("somebody's\n")
    return {path.name: path for path in where.iterdir()}


def _half_written(where: Path) -> None:
    """Make what processes leave that are killed while they write."""
    half = where / "half a result"
    half.mkdir()
    for name in (".packets-0.parquet", "tmp_.packets-0.parquet", "..summary.json.part", ".lock"):
        (half / name).write_bytes(b"PAR1 half")
    half = where / "half a what-if"
    (half / ".aside").mkdir(parents=True)
    shutil.copytree(where / "what-if" / "first", half / ".aside" / "first")
    half = where / "half of prices"
    half.mkdir()
    (half / ".prices.jsonl").write_bytes(b"")
    half = where / "half a study"
    shutil.copytree(where / "study", half)
    for name in ("study.json", "runs.parquet", "estimates.parquet", "report.html", "timing.json"):
        (half / name).unlink()
    (half / "sums.json").unlink()
    (half / "points").mkdir()
    half = where / "a study under way"
    shutil.copytree(where / "study", half)
    (half / "points").mkdir()
    for name in (".000001.parquet", "tmp_.000001.parquet"):
        (half / "points" / name).write_bytes(b"PAR1 half")
    half = where / "half a reproduction"
    (half / "yu2004" / ".fig2a").mkdir(parents=True)
    (half / "yu2004" / "fig2a.csv").write_text("x\n1\n")
    half = where / "half a data set"
    (half / ".aside").mkdir(parents=True)
    (half / ".aside" / "runs.parquet").write_bytes(b"PAR1 half")
    # Complete, and killed while the files took their places.
    pair = where / "what-if all but in place"
    shutil.copytree(where / "what-if", pair)
    (pair / ".aside").mkdir()
    shutil.copytree(pair / "other", pair / ".aside" / "other")
    shutil.move(pair / "what-if.json", pair / ".aside" / "what-if.json")
    (pair / ".aside" / ".complete").write_text('{"old": [], "last": ["what-if.json"]}\n')


#: Files of somebody else that have the names of ours.
NAMES = sorted({name for writer in WRITERS.values() for name in writer.writes})


def _foreigner(name: str) -> str:
    """Return the kind of a directory with a file of this name that is not ours."""
    return f"foreign {name.replace('/', ' ')}"


def _foreign(where: Path) -> None:
    """Make directories of somebody else, one for each name of ours, and one without any."""
    for name in ("notes.txt", *NAMES):
        path = where / _foreigner(name) / name
        path.parent.mkdir(parents=True)
        path.write_text("somebody's\n")
    path = where / "foreign runs.sqlite" / "runs.sqlite"
    path.unlink()
    with sqlite3.connect(path) as file:
        file.execute("create table runs (mine text, other text)")
        file.execute("insert into runs values ('dear', 'data')")
    file.close()


KINDS = (
    *("empty", "result", "what-if", "prices", "study", "reproduction", "data set", "checkpoints"),
    *("tables", "half a result", "half a what-if", "half of prices", "half a study"),
    *("a study under way", "half a reproduction", "half a data set", "what-if all but in place"),
    *("a file", "foreign notes.txt"),
    *map(_foreigner, NAMES),
)


def seen(directory: Path) -> dict[str, str]:
    """Return all that is there, with what it holds."""
    found = {"": "directory" if directory.is_dir() else "file"}
    for path in sorted(directory.rglob("*") if directory.is_dir() else [directory]):
        data = path.read_bytes() if path.is_file() else b"directory"
        found[os.path.relpath(path, directory)] = hashlib.sha256(data).hexdigest()
    return found


def readable(directory: Path) -> None:
    """See to it that all that says what it is can be read, and is what it says."""
    for path in [directory, *directory.rglob("*")]:
        if (path / "scenario.toml").is_file() and (path / "summary.json").is_file():
            if "somebody" in (path / "summary.json").read_text():
                continue
            result = bl.read(path)
            assert all(len(result.table(name).read()) for name in result.recorded)
        if (path / "study.json").is_file():
            study = bl.read_study(path)
            assert not study.interrupted and len(study.estimates)
    if any((directory / head).is_file() for head in ("what-if.json", "blame.json", "dataset.json")):
        assert not [one for one in verify([directory]) if one.state in BAD]


def check(directory: Path, line: str, given: Mapping[str, str], before: dict[str, str],
          replaces: bool, capsys: pytest.CaptureFixture[str]) -> None:  # fmt: skip
    """Run a command, and hold it to what this file promises."""
    capsys.readouterr()
    status = call(line, {**given, "OUT": str(directory)})
    printed = capsys.readouterr()
    after = seen(directory)
    assert status in (0, 2), printed.err
    if status == 2:
        assert printed.err.startswith("error: ") and "\n  fix: " in printed.err, printed.err
        assert after == before, printed.err
        return
    readable(directory)
    if not replaces:
        theirs = {name for name in before if not name.startswith(_LEFT)}
        changed = [name for name in theirs if after.get(name) != before[name]]
        assert not changed, printed.out
    hidden = [name for name in after if name.startswith((".", "tmp_")) and name != "."]
    assert not [name for name in hidden if name not in before], hidden
    if replaces:
        assert not hidden


#: Files of a killed process, which the next writer removes.
_LEFT = (".", "tmp_", "points/.", "points/tmp_", "yu2004/.")


@pytest.mark.parametrize(
    ("writer", "kind"),
    [
        (name, kind)
        for name, writer in WRITERS.items()
        for kind in KINDS
        if not kind.startswith("foreign ") or kind in map(_foreigner, ("notes.txt", *writer.writes))
    ],
)
def test_all_is_readable_or_nothing_is_changed(writer, kind, given, made, tmp_path, capsys):
    directory = copied(made[kind], tmp_path / "out")
    asked = WRITERS[writer]
    replaces = bool(asked.replaces) and asked.replaces in kind
    check(directory, asked.words, given, seen(directory), replaces, capsys)


def copied(origin: Path, target: Path) -> Path:
    if origin.is_dir():
        shutil.copytree(origin, target)
    else:
        shutil.copy(origin, target)
    return target


@pytest.mark.parametrize("writer", WRITERS)
def test_a_directory_whose_name_is_odd(writer, given, made, tmp_path, capsys):
    directory = copied(made["empty"], tmp_path / ODD)
    check(directory, WRITERS[writer].words, given, seen(directory), False, capsys)


@pytest.mark.parametrize("writer", WRITERS)
def test_a_directory_that_is_not_there_is_made_or_not_begun(writer, given, tmp_path, capsys):
    directory = tmp_path / "new" / "out"
    capsys.readouterr()
    status = call(WRITERS[writer].words, {**given, "OUT": str(directory)})
    assert status == 0, capsys.readouterr().err
    if directory.is_dir():
        readable(directory)


@contextmanager
def without_rights() -> Iterator[None]:
    """Give up the rights of root on foreign files, if this is root."""
    if os.geteuid() != 0:
        yield
        return
    libc = ctypes.CDLL(None, use_errno=True)
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    data = (ctypes.c_uint32 * 6)()
    assert libc.capget(header, data) == 0
    whole = list(data)
    # CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH.
    data[0] &= ~0b110
    assert libc.capset(header, data) == 0
    try:
        yield
    finally:
        data[:] = whole
        assert libc.capset(header, data) == 0


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="no such rights here")
@pytest.mark.parametrize("kind", ["empty", "result", "what-if", "study", "prices", "half a result"])
@pytest.mark.parametrize("writer", WRITERS)
def test_a_directory_that_may_not_be_written(writer, kind, given, made, tmp_path, capsys):
    directory = copied(made[kind], tmp_path / "out")
    before = seen(directory)
    inside = [directory, *(path for path in directory.rglob("*") if path.is_dir())]
    for path in inside:
        path.chmod(0o500)
    try:
        with without_rights():
            check(directory, WRITERS[writer].words, given, before, False, capsys)
            assert seen(directory) == before
    finally:
        for path in inside:
            path.chmod(0o700)


@pytest.mark.parametrize(
    "kind",
    ["result", "what-if", "prices", "study", "a study under way", "reproduction", "data set"],
)
@pytest.mark.parametrize("over", OVER)
def test_no_file_takes_the_place_of_one_of_ours(over, kind, given, made, tmp_path, capsys):
    directory = copied(made[kind], tmp_path / "out")
    for path in sorted(path for path in directory.rglob("*") if path.is_file()):
        if "part" in path.name:
            continue
        before = seen(directory)
        name = os.path.relpath(path, directory)
        status = call(OVER[over].replace("NAME", name), {**given, "OUT": str(directory)})
        printed = capsys.readouterr()
        if path.name.startswith((".", "tmp_")):
            continue
        assert status == 2, name
        assert "is part of " in printed.err and seen(directory) == before


def listed(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir())


def test_a_what_if_over_a_result_is_refused_before_it_is_run(given, made, tmp_path, capsys):
    directory = copied(made["result"], tmp_path / "out")
    before = seen(directory)
    line = "what-if RESULT --spare BURST --out OUT --force"
    assert call(line, {**given, "OUT": str(directory)}) == 2
    assert "holds the result of a run\n  fix: give another --out" in capsys.readouterr().err
    found = bl.what_if(given["RESULT"], spare=int(given["BURST"]))
    with pytest.raises(bl.InputError, match="holds the result of a run"):
        found.write(directory, force=True)
    assert seen(directory) == before


#: System calls that change or make a name.
CHANGES = (
    *((Path, name) for name in ("replace", "unlink", "mkdir", "rmdir")),
    *((shutil, "rmtree"), (os, "fsync")),
)


def killed(count: int, write: Callable[[], object]) -> int | None:
    """Write in a process of its own, which is killed before so many changes and one more.

    Parameters
    ----------
    count
        How many changes it may make.
    write
        What it does.

    Returns
    -------
    int, optional
        How many changes it made, where it came to its end.
    """
    receives, sends = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            left = [count]
            for owner, name in CHANGES:
                setattr(owner, name, _counted(getattr(owner, name), left))
            write()
            os.write(sends, str(count - left[0]).encode())
            status = 0
        finally:
            os._exit(status)
    os.close(sends)
    _, ended = os.waitpid(child, 0)
    made = os.read(receives, 20)
    os.close(receives)
    assert ended in (0, signal.SIGKILL), ended
    return int(made) if made else None


def moments(write: Callable[[], object]) -> Iterator[int]:
    """Return before which changes to kill: some of all, and each of the last."""
    total = killed(10_000, write)
    assert total is not None and total > 20
    yield from sorted({*range(0, total, 8), *range(total - 20, total)})


def _counted(real: Any, left: list[int]) -> Any:
    def change(*given: Any, **options: Any) -> Any:
        left[0] -= 1
        if left[0] < 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return real(*given, **options)

    return change


@pytest.mark.parametrize("before", ["empty", "what-if"])
def test_a_what_if_that_is_killed_is_whole_or_replaced(before, given, made, tmp_path):
    found = bl.what_if(given["RESULT"], spare=int(given["BURST"]), trace=["bursts"])
    force = before == "what-if"
    whole = copied(made[before], tmp_path / "whole")
    for count in moments(lambda: found.write(whole, force=force)):
        directory = copied(made[before], tmp_path / str(count))
        if force:
            # Of an earlier version, whose tables had other names, and neither sums nor a seal.
            for name in ("connections", "bursts"):
                old = directory / f"different_{name}.parquet"
                old.rename(directory / f"{name}.parquet")
            head = directory / "what-if.json"
            said = json.loads(head.read_text())
            del said[sums.FIELD], said[sums.SEAL]
            said["burstlab"] = "0.4.0"
            head.write_text(json.dumps(said))
        assert killed(count, lambda out=directory: found.write(out, force=force)) is None
        # Whoever looks next finds both runs, of before or of now, or none.
        with suppress(bl.InputError):
            find([directory])
        there = [(directory / name).exists() for name in ("first", "other", "what-if.json")]
        assert len(set(there)) == 1
        if there[0]:
            readable(directory)
            first, other = (bl.read(directory / side) for side in ("first", "other"))
            assert first.recorded == other.recorded
        # The same command again does it.
        found.write(directory, force=force or there[0])
        readable(directory)
        assert listed(directory) == listed(whole)
        shutil.rmtree(directory)


def test_half_a_pair_of_an_earlier_version_can_be_replaced(given, made, tmp_path, capsys):
    directory = tmp_path / "out"
    shutil.copytree(made["what-if"] / "first", directory / "first")
    line = "what-if RESULT --spare BURST --out OUT"
    assert call(line, {**given, "OUT": str(directory)}) == 2
    assert "--force" in capsys.readouterr().err
    assert call(f"{line} --force", {**given, "OUT": str(directory)}) == 0
    readable(directory)


@pytest.mark.parametrize("left", [b"", b'{"burstlab": "0', b'{"burstlab": "0.1"}'])
def test_prices_go_on_after_a_kill_at_their_first_line(left, given, made, tmp_path, capsys):
    directory = tmp_path / "out"
    directory.mkdir()
    (directory / ".prices.jsonl").write_bytes(left)
    for end in ("", " --resume"):
        out = copied(directory, tmp_path / f"out{len(end)}")
        assert call(f"blame RESULT --sample 2 --out OUT{end}", {**given, "OUT": str(out)}) == 0
        assert listed(out) == ["blame.json", "prices.parquet"]
    theirs = (made["prices"] / "prices.parquet").read_bytes()
    assert (out / "prices.parquet").read_bytes() == theirs


def test_prices_that_are_killed_at_any_moment_are_resumed(given, made, tmp_path):
    def price(out: Path, resume: bool = False) -> None:
        bl.blame(given["RESULT"], sample=2, out=out, jobs=1, resume=resume)

    for count in moments(lambda: price(tmp_path / "whole")):
        directory = tmp_path / str(count)
        assert killed(count, lambda out=directory: price(out)) is None
        head = directory / ".prices.jsonl"
        if head.exists():
            assert json.loads(head.read_text().splitlines()[0])["burstlab"]
        price(directory, resume=True)
        assert listed(directory) == ["blame.json", "prices.parquet"]
        theirs = (made["prices"] / "prices.parquet").read_bytes()
        assert (directory / "prices.parquet").read_bytes() == theirs


def test_prices_that_are_known_are_not_begun_anew(given, tmp_path, capsys):
    directory = tmp_path / "out"
    directory.mkdir()
    (directory / ".prices.jsonl").write_text('{"burstlab": "0"}\n{"index": 0}\n')
    before = seen(directory)
    assert call("blame RESULT --sample 2 --out OUT", {**given, "OUT": str(directory)}) == 2
    assert "--resume" in capsys.readouterr().err and seen(directory) == before


def test_finished_prices_of_another_question_are_not_resumed(given, made, tmp_path, capsys):
    directory = copied(made["prices"], tmp_path / "out")
    before = seen(directory)
    line = "blame RESULT --sample 3 --out OUT --resume"
    assert call(line, {**given, "OUT": str(directory)}) == 2
    assert (
        "holds the prices of an earlier command" in capsys.readouterr().err
        and seen(directory) == before
    )


@pytest.mark.parametrize("name", ["caf\udce9", "caf\udce9/run"])
def test_a_result_below_an_odd_name_is_refused_or_read(name, given, made, tmp_path, capsys):
    directory = tmp_path / name
    shutil.copytree(made["result"], directory)
    before = seen(directory)
    for line in ("export OUT", "view OUT --export OUT/p"):
        assert call(line, {**given, "OUT": str(directory)}) == 2
        assert "the name is not UTF-8" in capsys.readouterr().err
    for line in ("results OUT", "results OUT --verify"):
        assert call(line, {**given, "OUT": str(directory)}) == 0
    assert seen(directory) == before


def test_a_query_from_a_directory_with_an_odd_name(made, tmp_path, capsys, monkeypatch):
    shutil.copytree(made["result"], tmp_path / ODD / "run")
    monkeypatch.chdir(tmp_path / ODD)
    words = ["results", "run", "--json", "--sql", "select count(*) as n from packets"]
    capsys.readouterr()
    with pytest.raises(SystemExit) as left:
        main(words)
    assert not left.value.code and json.loads(capsys.readouterr().out)[0]["n"] > 0


def test_a_second_writer_of_a_directory_or_file_is_refused(given, tmp_path, capsys):
    from burstlab.storage.directories import TABLES, Room
    from burstlab.storage.files import whole

    out = tmp_path / "csv"
    with Room(out, TABLES):
        line = "export RESULT --format csv --out OUT --force"
        assert call(line, {**given, "OUT": str(out)}) == 2
    assert "another process is writing there" in capsys.readouterr().err
    file = tmp_path / "x.pcapng"
    with whole(file) as part:
        part.write_bytes(b"one")
        assert call("export RESULT --out OUT", {**given, "OUT": str(file)}) == 2
        assert "another process is writing it" in capsys.readouterr().err
    assert file.read_bytes() == b"one"


def test_a_second_run_with_the_same_checkpoints_is_refused(given, tmp_path, capsys):
    from burstlab.running.checkpoints import Checkpoints

    line = "run RUN --checkpoint OUT --resume"
    with Checkpoints(tmp_path / "kept"):
        before = seen(tmp_path / "kept")
        assert call(line, {**given, "OUT": str(tmp_path / "kept")}) == 2
        assert "another run keeps its checkpoints there\n  fix: wait" in capsys.readouterr().err
        assert seen(tmp_path / "kept") == before
    assert call(line, {**given, "OUT": str(tmp_path / "kept")}) == 0
    # The result may go to the same directory.
    line = "run RUN --checkpoint OUT --out OUT"
    assert call(line, {**given, "OUT": str(tmp_path / "both")}) == 0
    assert listed(tmp_path / "both") == [
        *("flows.parquet", "replication-0.ckpt", "scenario.toml", "summary.json"),
    ]


def test_a_page_is_whole_or_not_there(given, tmp_path):
    page = tmp_path / "page.html"
    limit = "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192)); "
    words = ["view", given["RESULT"], "--export", str(page), "--no-open"]
    program = f"{limit}from burstlab.cli import main; main({words!r})"
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert answer.returncode == 2, answer.stderr
    assert f"{page}: cannot be written (File too large)\n  fix: make room" in answer.stderr
    assert not list(tmp_path.iterdir())


def test_the_folder_of_live_hosts_is_no_others(tmp_path):
    from burstlab.live.running import _refuse_folder  # pyright: ignore[reportPrivateUsage]
    from burstlab.live.times import FOLDER

    folder = tmp_path / FOLDER
    _refuse_folder(folder)
    folder.mkdir()
    _refuse_folder(folder)
    (folder / "letter.txt").write_text("dear\n")
    with pytest.raises(bl.InputError, match="does not belong to a run of live hosts"):
        _refuse_folder(folder)
    (folder / "live.json").write_text("{}\n")
    _refuse_folder(folder)


def test_a_pipe_is_written_to_and_not_replaced(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        put(pipe, b"what is written")
        assert os.read(reader, 100) == b"what is written"
    finally:
        os.close(reader)
    assert pipe.is_fifo() and list(tmp_path.iterdir()) == [pipe]


def test_a_link_to_what_is_open_is_written_through(tmp_path, monkeypatch):
    (tmp_path / "dev").mkdir()
    (tmp_path / "out").write_text("before")
    link = tmp_path / "dev" / "stdout"
    link.symlink_to(tmp_path / "out")
    monkeypatch.setattr(files, "STREAMS", (tmp_path / "dev",))
    put(link, b"what is written")
    assert link.is_symlink() and (tmp_path / "out").read_bytes() == b"what is written"
    assert list((tmp_path / "dev").iterdir()) == [link]
