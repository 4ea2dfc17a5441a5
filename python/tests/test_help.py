"""Each ``--help`` has an example that can be read, a page that is there, and how it may end."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from burstlab.cli.commands import app
from burstlab.cli.epilogues import ALL, EPILOGUES, STATUSES

ROOT = Path(__file__).parents[2]


def _commands() -> set[str]:
    found = set()
    for name, command in app.resolved_commands().items():
        found.add(name)
        found |= {f"{name} {inner}" for inner in command.resolved_commands()}
    return {name for name in found if not name.rpartition(" ")[2].startswith("-")}


def test_every_command_has_its_end():
    assert set(EPILOGUES) == _commands()


@pytest.mark.parametrize("name", sorted(EPILOGUES))
def test_the_end_of_a_help(name, burstlab):
    shown = " ".join(burstlab(*name.split(), "--help").out.split())
    epilogue = EPILOGUES[name]
    assert " ".join(str(epilogue).split()) in shown
    assert (ROOT / epilogue.page).is_file()
    assert all(f"{status} " in shown for status in epilogue.ends)
    assert "129, 130 or 143" in shown
    tokens = shlex.split(epilogue.example)
    assert tokens[: 1 + len(name.split())] == ["burstlab", *name.split()]
    if name != "kernel":
        app.parse_args(tokens[1:], exit_on_error=False, print_error=False)


@pytest.mark.parametrize("line", [[], ["-h"], ["--help"]])
def test_the_overview_lists_every_command_with_its_first_sentence(line, burstlab):
    listed = " ".join(burstlab(*line).out.split())
    for name, command in app.resolved_commands().items():
        if not name.startswith("-") and name != "version":
            first = command.help.split("\n\n")[0]
            assert f" {name} {' '.join(first.split())}" in listed
    assert " ".join(str(ALL).split()) in listed


def test_the_overview_loads_no_command_and_no_slow_module():
    code = (
        "import sys\n"
        "there = set(sys.modules)\n"
        "from burstlab.cli import main\n"
        "try:\n"
        "    main(['--help'])\n"
        "except SystemExit:\n"
        "    pass\n"
        "ours = {one for one in sys.modules if one.startswith('burstlab.cli.')}\n"
        "of_the_list = {'app', 'plain', 'streams', 'overview', 'epilogues'}\n"
        "assert ours == {f'burstlab.cli.{one}' for one in of_the_list}, ours\n"
        "slow = {'cyclopts', 'rich', 'numpy', 'ast', 'inspect', 'pathlib', 'shutil'}\n"
        "assert not slow & (set(sys.modules) - there), slow & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)


def test_statuses_are_those_of_the_page(burstlab):
    page = (ROOT / "docs/reference/cli.md").read_text(encoding="utf-8")
    listed = {int(one) for one in re.findall(r"^\| (\d+) \|", page, flags=re.MULTILINE)}
    assert listed == {*STATUSES, 129, 130, 143}
    assert all(set(one.ends) <= set(STATUSES) for one in EPILOGUES.values())


def test_defaults_are_named(burstlab):
    for name in ("run", "live"):
        assert "hosts) (default: none)" in " ".join(
            burstlab(name, "--help").out.replace("│", " ").split()
        )
    shown = " ".join(burstlab("run", "--help").out.replace("│", " ").split())
    assert "Independent repetitions (default: that of the scenario, else 1)" in shown


@pytest.mark.parametrize(
    ("line", "usage"),
    [
        ("run", "burstlab run [OPTIONS] SCENARIO"),
        ("size a.toml", "burstlab size --for"),
        ("plot out", "burstlab plot [OPTIONS] DIRECTORY KIND"),
        ("study", "burstlab study [OPTIONS] PLAN"),
        ("run a.toml --seed", "burstlab run [OPTIONS] SCENARIO"),
        ("run a.toml b.toml", "burstlab run [OPTIONS] SCENARIO"),
        ("kernel build --jobs x", "burstlab kernel build [OPTIONS]"),
        ("kernel nothing", "burstlab kernel COMMAND"),
        ("what-if", "burstlab what-if [OPTIONS] SOURCE"),
    ],
)
def test_a_line_that_cannot_be_read_gets_the_usage_of_its_command(line, usage, burstlab):
    answer = burstlab(*line.split())
    assert answer.status == 2
    assert f"\n  usage: {usage}" in answer.err and "\n  fix: see burstlab" in answer.err
