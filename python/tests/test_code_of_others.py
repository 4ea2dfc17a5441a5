"""Code that came with a result, a study or a data set is executed only where that is allowed.

One list of all that runs a scenario, and one of all the places in which code can stand.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

import burstlab as bl
from burstlab import sizing, surgery
from burstlab.documents.provenance import MARKS, came_with
from burstlab.live.running import live
from burstlab.page import viewer
from burstlab.page.playing import player
from burstlab.ties import compare_ties

#: A law that leaves a mark wherever it is executed.
LAW = """
open({mark!r}, "a").write("x")
class Law:
    def on_ack(self, event): return event.cwnd + 1
    def on_loss(self, event): return 2.0
    def on_timeout(self, event): return 2.0
"""

SCENARIO = """
[edge]
assembly = "timer"
timer = "2 ms"
[loss.data]
process = "bernoulli"
probability = 0.05
[tcp]
window_law = "python"
window_law_class = {{ file = "{file}", class = "Law" }}
[run]
duration = "200 ms"
"""


class Case:
    """A directory from somebody else, and an operation on it."""

    def __init__(self, place: Path) -> None:
        self.place, self.mark = place, place / "executed"
        self.law = LAW.format(mark=str(self.mark))

    def own(self, file: str = "law.py", directory: str = "own") -> Path:
        where = self.place / directory
        where.mkdir(exist_ok=True)
        if "/" not in file:
            (where / file).write_text(self.law)
        (where / "scenario.toml").write_text(SCENARIO.format(file=file))
        return where / "scenario.toml"

    def executed(self) -> bool:
        found = self.mark.exists()
        self.mark.unlink(missing_ok=True)
        return found


def text_in_a_result(case: Case) -> Path:
    bl.run(case.own(), out=case.place / "result")
    return case.place / "result" / "scenario.toml"


def file_beside(case: Case) -> Path:
    scenario = case.own(directory="result")
    (scenario.parent / "summary.json").write_text("{}")
    return scenario


def file_further_in(case: Case) -> Path:
    bl.run({"run": {"duration": "10 ms"}}, out=case.place / "result")
    return case.own(directory="result/more")


def file_elsewhere(case: Case) -> Path:
    own = case.own()
    scenario = case.own(str(own.parent / "law.py"), directory="result")
    (scenario.parent / "study.json").write_text("{}")
    return scenario


def file_of_a_result(case: Case) -> Path:
    theirs = file_beside(case)
    return case.own(str(theirs.parent / "law.py"))


def linked(case: Case) -> Path:
    own = case.place / "own"
    own.mkdir()
    theirs = file_beside(case)
    (own / "scenario.toml").symlink_to(theirs)
    (own / "law.py").symlink_to(theirs.parent / "law.py")
    return own / "scenario.toml"


def file_of_a_data_set(case: Case) -> Path:
    scenario = case.own(directory="set")
    (scenario.parent / "dataset.json").write_text('{"recipe": ""}')
    return scenario


PLACES = [
    *(text_in_a_result, file_beside, file_further_in, file_elsewhere),
    *(file_of_a_result, linked, file_of_a_data_set),
]

Call = Callable[[Path, bool], object]


def plan(scenario: Path) -> dict[str, object]:
    return {"scenario": str(scenario), "replications": 1, "metrics": ["counters.bursts_sent"]}


def planned(scenario: Path) -> Path:
    file = scenario.parents[1] / "plan.toml"
    file.write_text(f'scenario = "{scenario}"\nreplications = 1\nmetrics = ["counters.events"]\n')
    return file


#: Everything of Python that runs a scenario, and takes the leave to execute code with it.
CALLS: dict[str, Call] = {
    "run": lambda given, leave: bl.run(given, allow_code=leave),
    "load and run": lambda given, leave: bl.run(bl.load(given), allow_code=leave),
    "resolve and run": lambda given, leave: bl.run(bl.resolve(bl.load(given)), allow_code=leave),
    "study": lambda given, leave: bl.study(plan(given), allow_code=leave),
    "compare": lambda given, leave: bl.compare(
        {"a": {"window": 8}, "b": {"window": 16}}, given, replications=1, allow_code=leave
    ),
    "size": lambda given, leave: sizing.size(
        given, "goodput > 1 b/s", "tcp.window=8,16", replications=2, most=2, allow_code=leave
    ),
    "ties": lambda given, leave: compare_ties(given, allow_code=leave),
    "view": lambda given, leave: viewer(given, allow_code=leave).close(),
    "play": lambda given, leave: player(str(given), allow_code=leave).close(),
}

#: Commands with the flag, each with what stands before and behind the file of the scenario.
COMMANDS: dict[str, Callable[[Path], list[str]]] = {
    "run": lambda given: ["run", str(given)],
    "study": lambda given: ["study", str(planned(given)), "--out", f"{planned(given)}-study"],
    "size": lambda given: [
        *("size", str(given), "--for", "goodput > 1 b/s", "--over", "tcp.window=8,16"),
        *("--replications", "2", "--most", "2"),
    ],
    "check --ties": lambda given: ["check", str(given), "--ties", "--json"],
    "view": lambda given: ["view", str(given), "--export", f"{given}.html"],
    "play": lambda given: ["play", str(given), "--export", f"{given}.html"],
}


@pytest.mark.parametrize("place", PLACES)
def test_nothing_of_others_is_executed_unasked(place, tmp_path, burstlab):
    case = Case(tmp_path)
    given = place(case)
    case.executed()
    for name, call in CALLS.items():
        with pytest.raises(bl.ScenarioError, match=r"allow_code=True") as error:
            call(given, False)
        assert not case.executed(), name
        assert "code" in str(error.value)
    for name, words in COMMANDS.items():
        answer = burstlab(*words(given))
        assert answer.status == 2, name
        assert "--allow-code" in answer.err and not answer.out, name
        assert not case.executed(), name


@pytest.mark.parametrize("name", CALLS)
def test_it_is_executed_where_that_is_allowed(name, tmp_path):
    case = Case(tmp_path)
    given = file_beside(case)
    CALLS[name](given, True)
    assert case.executed(), name


@pytest.mark.parametrize("name", CALLS)
def test_a_file_of_ones_own_needs_no_leave(name, tmp_path):
    case = Case(tmp_path)
    given = case.own()
    (tmp_path / "summary.json").write_text('{"of": "another program"}')
    if name == "resolve and run":
        # The result of `resolve` has the text itself.
        with pytest.raises(bl.ScenarioError, match="allow_code=True"):
            CALLS[name](given, False)
        return
    CALLS[name](given, False)
    assert case.executed()


def test_what_only_reads_executes_nothing_and_needs_no_leave(tmp_path, burstlab):
    case = Case(tmp_path)
    for given in (text_in_a_result(case), case.own(directory="result")):
        case.executed()
        assert burstlab("check", given).status == 0
        assert bl.resolve(given)["tcp"]["window_law"] == "python"
        assert bl.load(given)
        for ask in (surgery.what_if, surgery.blame):
            with pytest.raises(bl.InputError, match="cannot be copied"):
                ask(given)
        with pytest.raises(bl.InputError):
            live(given, allow_code=False)
        assert not case.executed()


def test_a_law_that_lies_in_a_result_needs_leave_too(tmp_path):
    case = Case(tmp_path)
    theirs = file_beside(case).parent / "law.py"
    scenario = {"run": {"duration": "100 ms"}}
    with pytest.raises(bl.ScenarioError, match="allow_code=True"):
        bl.compare([f"{theirs}:Law", "sack"], scenario, replications=1)
    assert not case.executed()
    bl.compare([f"{theirs}:Law", "sack"], scenario, replications=1, allow_code=True)
    assert case.executed()


@pytest.mark.parametrize("how", ["window_law", "detector", "source"])
def test_fields_of_a_law_that_lead_into_a_result_need_leave_too(how, tmp_path):
    case = Case(tmp_path)
    theirs = file_beside(case).parent / "law.py"
    given: dict[str, str] = {"file": str(theirs), "class": "Law"}
    if how == "source":
        given = {"source": theirs.read_text(), "name": "law.py", "class": "Law"}
    choice = "detector" if how == "detector" else "window_law"
    laws = {"theirs": {choice: "python", f"{choice}_class": given}, "ours": "reno"}
    scenario = {"run": {"duration": "100 ms"}}
    with pytest.raises(bl.ScenarioError, match="allow_code=True"):
        bl.compare(laws, scenario, replications=1)
    assert not case.executed()


def test_a_value_of_size_that_leads_into_a_result_needs_leave(tmp_path):
    case = Case(tmp_path)
    theirs = file_beside(case).parent / "law.py"
    scenario = {"tcp": {"window_law": "python", "window_law_class": {"class": "Law"}}}
    with pytest.raises(bl.ScenarioError, match="allow_code=True"):
        sizing.size(
            scenario, "goodput > 1 Mb/s", f"tcp.window_law_class.file={theirs},{theirs}.copy"
        )
    assert not case.executed()


def test_a_class_that_lies_with_checkpoints_needs_leave(tmp_path, burstlab):
    case = Case(tmp_path)
    own = case.own()
    directory = tmp_path / "kept"
    plain = tmp_path / "plain.toml"
    plain.write_text('[run]\nduration = "100 ms"\n')
    assert burstlab("run", plain, "--checkpoint", directory).status == 0
    for file in (own, own.parent / "law.py"):
        (directory / file.name).write_text(file.read_text())
    if not list(directory.glob("*.ckpt")):
        (directory / "replication-0.ckpt").write_bytes(b"")
    refused = burstlab("run", directory / "scenario.toml")
    assert refused.status == 2 and "--allow-code" in refused.err
    assert not case.executed()


def test_a_scheme_of_a_plan_that_came_with_a_study_needs_leave(tmp_path, burstlab):
    case = Case(tmp_path)
    case.own()
    (tmp_path / "own" / "scenario.toml").write_text('[run]\nduration = "100 ms"\n')
    law = '{ window_law = "python", window_law_class = { file = "law.py", class = "Law" } }'
    (tmp_path / "own" / "plan.toml").write_text(
        'scenario = "scenario.toml"\nreplications = 1\nmetrics = ["counters.events"]\n'
        f"[schemes]\nplain.tcp.window = 8\nlaw.tcp = {law}\n"
    )
    first = burstlab("study", tmp_path / "own" / "plan.toml", "--out", tmp_path / "study")
    assert first.status == 0 and case.executed()
    stored = tmp_path / "study" / "plan.toml"
    for words in (["study", stored, "--out", tmp_path / "more"],
                  ["run", tmp_path / "study", "--point", "0", "--scheme", "law"],
                  ["view", tmp_path / "study", "--scheme", "law"]):  # fmt: skip
        refused = burstlab(*words)
        assert refused.status == 2 and "--allow-code" in refused.err
        assert not case.executed()
    assert burstlab("run", tmp_path / "study", "--point", "0", "--scheme", "plain").status == 0


@pytest.mark.parametrize("mark", MARKS)
def test_directories_that_burstlab_wrote_are_known_by_any_of_their_files(mark, tmp_path):
    (tmp_path / "inside").mkdir()
    assert came_with(tmp_path / "inside" / "x.toml") is None
    (tmp_path / "inside" / mark).touch()
    assert came_with(tmp_path / "inside" / "x.toml") == tmp_path / "inside"
    (tmp_path / "inside" / "deep").mkdir()
    assert came_with(tmp_path / "inside" / "deep" / "x.toml") == tmp_path / "inside"
    (tmp_path / "inside" / mark).write_text("[]")
    assert came_with(tmp_path / "inside" / "deep" / "x.toml") is None


#: Modules that read scenarios, and those among them that run what they read without the door.
READERS = {
    "loading.py": "is the door",
    "simulation.py": "load and resolve execute nothing; run has the door",
    "cli/check.py": "checks and executes nothing; ties.py hands it to run, which has the door",
    "cli/run.py": "hands what it read to run, which has the door",
    "page/presets.py": "reads scenarios of the package",
    "page/touring.py": "reads scenarios of the package",
    "reproduce/context.py": "reads scenarios of the package",
    "surgery/source.py": "refuses every class, whoever wrote it",
    "ties.py": "hands what it read to run, which has the door",
    "studies/plan.py": "says where there is code; conducting.py refuses it",
}


def test_whatever_reads_a_scenario_has_the_door_or_a_reason():
    package = Path(bl.__file__).parent
    called = re.compile(r"\b(to_document|as_written|with_files)\(")
    found = {
        str(file.relative_to(package))
        for file in package.rglob("*.py")
        if any(
            called.search(line) and ".to_document(" not in line and "def " not in line
            for line in file.read_text(encoding="utf-8").splitlines()
        )
    }
    assert found == set(READERS)
