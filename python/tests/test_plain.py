"""Command lines that are read without the library: as it reads them, or not at all."""

from __future__ import annotations

import functools
import inspect
import subprocess
import sys

import pytest
from cyclopts import CycloptsError
from hypothesis import given
from hypothesis import strategies as st

from burstlab.cli import commands, plain
from burstlab.cli.run import run

PLAIN = [
    ["run", "a.toml"],
    ["run", "a.toml", "--seed", "3"],
    ["run", "--seed", " 1_000 ", "a.toml", "--json"],
    ["run", "a.toml", "--set", "tcp.window=40", "--set", "run.duration=1 s", "--force"],
    ["run", "a b.toml", "--trace", "packets,bursts", "--trace", "cwnd", "--out", "one"],
    ["run", "study", "--point", "0", "--scheme", "bnak"],
    ["run", "a.toml", "--checkpoint", "c", "--checkpoint-every", "5 s", "--resume"],
    ["run", "a.toml", "--max-memory", "2 GB", "--allow-code", "--jobs", "0"],
]

NOT_PLAIN = [
    ["--help", "run"],
    ["run"],
    ["run", ""],
    ["run", "--help"],
    ["run", "a.toml", "b.toml"],
    ["run", "a.toml", "--seed"],
    ["run", "a.toml", "--seed", "1.5"],
    ["run", "a.toml", "--seed", "-1"],
    ["run", "a.toml", "--seed=3"],
    ["run", "a.toml", "--seed", "3", "--seed", "4"],
    ["run", "a.toml", "--json", "--json"],
    ["run", "a.toml", "--no-json"],
    ["run", "a.toml", "--sed", "3"],
    ["run", "a.toml", "--checkpoint_every", "5 s"],
    ["run", "a.toml", "--", "--seed"],
    ["run", "-"],
    ["examples"],
]

WORDS = ["a.toml", "", "-", "--", "-3", "3", " 7", "1.5", "x=1", "--help", "--sead", "--seed=4"]
FLAGS = [f"--{name.strip('_').replace('_', '-')}" for name in inspect.signature(run).parameters]


def asked(call: functools.partial[object]) -> tuple[tuple[object, ...], dict[str, object]]:
    assert call.func is run
    return call.args, call.keywords


def by_library(line: list[str]) -> tuple[tuple[object, ...], dict[str, object]]:
    command, bound, _ = commands.app.parse_args(line, exit_on_error=False, print_error=False)
    assert command is run
    return bound.args, bound.kwargs


@pytest.mark.parametrize("line", PLAIN, ids=" ".join)
def test_a_plain_line_asks_for_what_the_library_reads_in_it(line):
    call = plain.read(line)
    assert isinstance(call, functools.partial)
    assert asked(call) == by_library(line)


@pytest.mark.parametrize("line", NOT_PLAIN, ids=" ".join)
def test_any_other_line_is_left_to_the_library(line):
    assert plain.read(line) is None


@given(st.lists(st.sampled_from(WORDS + FLAGS), max_size=6))
def test_no_line_is_read_in_another_way(words):
    call = plain.read(["run", *words])
    if call is None:
        return
    assert isinstance(call, functools.partial)
    try:
        expected = by_library(["run", *words])
    except CycloptsError as error:
        raise AssertionError(f"the library refuses it: {error}") from None
    assert asked(call) == expected


def test_each_flag_of_a_run_is_one_that_can_be_read():
    for name, parameter in inspect.signature(run).parameters.items():
        value = [] if parameter.annotation in ("cli.flags.Switch", "cli.flags.Json") else ["3"]
        if parameter.kind is parameter.KEYWORD_ONLY:
            flag = f"--{name.strip('_').replace('_', '-')}"
            assert plain.read(["run", "a.toml", flag, *value]) is not None, flag


@pytest.mark.parametrize("flags", [(), ("--json",)])
def test_a_run_does_without_what_it_does_not_need(small_file, flags):
    words = ["run", str(small_file), "--seed", "2", *flags]
    code = (
        "import sys\n"
        "from burstlab.running import lazy_load\n"
        "from burstlab.cli import main\n"
        "try:\n"
        f"    main({words!r})\n"
        "except SystemExit as left:\n"
        "    assert not left.code\n"
        "heavy = {'cyclopts', 'rich', 'numpy', 'pyarrow', 'asyncio', 'ctypes'}\n"
        "loaded = {*sys.modules, *lazy_load._wanted}  # a run that takes longer loads those too\n"
        "sys.exit(', '.join(heavy & loaded) or 0)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "goodput" in done.stdout
