"""The README's example runs, the commands it names exist, and links lead somewhere."""

from __future__ import annotations

import re
import runpy
import shlex
import sys
import tomllib
from pathlib import Path

import pytest

import burstlab as bl

PAGES = ["README.md", "docs"]
ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", text, flags=re.DOTALL)


def pages(root):
    return [root / "README.md", *sorted((root / "docs").rglob("*.md"))]


def test_the_example_of_the_readme_runs(root, monkeypatch, capsys):
    monkeypatch.chdir(root)
    (example,) = blocks((root / "README.md").read_text(), "python")
    assert len(example.strip().splitlines()) <= 20
    exec(compile(example, "README.md", "exec"), {})
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["reno", "new-reno", "sack"]
    goodputs = [float(re.findall(r"([\d.]+) kb/s", line)[0]) for line in lines]
    # One burst of five packets lost: SACK repairs it soonest, Reno waits for its timer.
    assert goodputs[0] < goodputs[1] < goodputs[2] < 1000


def test_the_error_of_the_readme_is_the_one_that_is_printed(root, burstlab, monkeypatch):
    monkeypatch.chdir(root)
    (shown,) = blocks((root / "README.md").read_text(), "text")
    command, *message = shown.strip().splitlines()
    answer = burstlab(*command.removeprefix("$ burstlab ").split())
    assert answer.status == 2
    assert answer.err.strip().splitlines() == message


def test_the_commands_of_the_documentation_run(root, burstlab, monkeypatch, tmp_path):
    monkeypatch.chdir(root)
    commands = []
    for page in pages(root):
        for block in blocks(page.read_text(), "sh"):
            commands += [line for line in block.splitlines() if line.startswith("burstlab run")]
    assert commands
    for command in commands:
        tokens = command.split()[1:]
        if "--out" in tokens:
            tokens[tokens.index("--out") + 1] = str(tmp_path / "out")
        assert burstlab(*tokens).status == 0, command


@pytest.mark.parametrize("page", ["export", "plots"])
def test_the_pages_on_exports_and_plots_run(root, burstlab, monkeypatch, tmp_path, page):
    (tmp_path / "examples").symlink_to(EXAMPLES)
    monkeypatch.chdir(tmp_path)
    text = (root / f"docs/howto/{page}.md").read_text()
    for block in blocks(text, "sh"):
        for line in block.splitlines():
            answer = burstlab(*shlex.split(line)[1:])
            assert answer.status == 0, (line, answer.err)
    for block in blocks(text, "python"):
        exec(compile(block, page, "exec"), {})
    assert {path.suffix for path in (tmp_path / "out").rglob("*.*")} >= (
        {".pcapng", ".qlog", ".xpl", ".csv", ".json"} if page == "export" else {".svg", ".pdf"}
    )


@pytest.mark.parametrize("example", sorted(path.name for path in EXAMPLES.glob("plot_*.py")))
def test_the_gallery_is_drawn(monkeypatch, tmp_path, capsys, example):
    monkeypatch.setattr(sys, "argv", [example, str(tmp_path)])
    runpy.run_path(str(EXAMPLES / example))
    drawn = capsys.readouterr().out.split()
    assert len(drawn) >= 2
    assert all(Path(name).stat().st_size > 500 for name in drawn)


def snippets():
    for page in sorted((ROOT / "docs/models").glob("*.md")):
        for number, block in enumerate(blocks(page.read_text(), "toml"), start=1):
            yield pytest.param(block, id=f"{page.stem}-{number}")


@pytest.mark.parametrize("block", list(snippets()))
def test_the_scenarios_of_the_models_run(block):
    scenario = tomllib.loads(block)
    network = scenario.setdefault("network", {})
    if "[network]" not in block:
        network["topology"] = "nsfnet"  # a part of a network of the text around it
    scenario.setdefault("run", {"duration": "100 ms"})
    assert bl.run(scenario).counters["events"] > 0


#: A plan, and no scenario.
PLANS = {"study.toml"}


@pytest.mark.parametrize(
    "example", sorted(path.name for path in EXAMPLES.glob("*.toml") if path.name not in PLANS)
)
def test_the_examples_run(burstlab, monkeypatch, example):
    monkeypatch.chdir(ROOT)
    path = f"examples/{example}"
    assert burstlab("check", path).status == 0
    answer = burstlab("run", path, "--replications", 2)
    assert answer.status == 0
    assert "2 replication(s)" in answer.out
    mesh = bl.resolve(path)["network"]["topology"] != "path"
    assert ("busiest fibres" in answer.out) == mesh
    assert ("events" in answer.out) == mesh


def test_links_lead_somewhere(root):
    for page in pages(root):
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text()):
            assert (page.parent / target).exists(), f"{page}: {target}"


@pytest.mark.parametrize(
    "command",
    [
        "run",
        "study",
        "results",
        "list",
        "reproduce",
        "export",
        "plot",
        "check",
        "schema",
        "oracle",
        "model",
        "version",
        "view",
        "play",
    ],
)
def test_every_command_has_help_and_a_place_in_the_reference(root, burstlab, command):
    answer = burstlab(command, "--help")
    assert answer.status == 0
    assert len(answer.out) > 100
    assert f"## `burstlab {command}" in (root / "docs/reference/cli.md").read_text()


def test_list_and_schema(burstlab):
    assert "yu2004/table1" in burstlab("list").out
    document = burstlab("list", "--json").json()
    choices = document["choices"]
    assert "sack" in choices["tcp.variant"]
    for field, name in {
        "core.scheduler": "lauc-vf",
        "core.conversion": "limited",
        "core.contention": "delay-line",
        "edge.assembly": "cwnd-classes",
        "signalling.protocol": "two-way",
        "traffic.pattern": "poisson",
        "demand.size.distribution": "web-search",
    }.items():
        assert name in choices[field]
    assert "core.contention" in burstlab("list").out
    assert burstlab("schema").json()["properties"]["tcp"]
    assert burstlab("model").status == 0
    assert burstlab("--version").out == burstlab("version").out
