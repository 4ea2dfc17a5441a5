"""Examples run, commands have a place in the reference, and links lead somewhere."""

from __future__ import annotations

import ast
import re
import runpy
import sys
import tomllib
from pathlib import Path

import pytest

import burstlab as bl

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", text, flags=re.DOTALL)


def pages(root):
    return [root / "README.md", *sorted((root / "docs").rglob("*.md"))]


def test_the_error_of_the_readme_is_the_one_that_is_printed(root, burstlab, monkeypatch):
    monkeypatch.chdir(root)
    texts = blocks((root / "README.md").read_text(), "text")
    (shown,) = (one for one in texts if one.startswith("$ burstlab "))
    command, *message = shown.strip().splitlines()
    answer = burstlab(*command.removeprefix("$ burstlab ").split())
    assert answer.status == 2
    assert answer.err.strip().splitlines() == message


def test_the_moving_picture_is_what_its_program_draws(root):
    program = runpy.run_path(str(root / "docs/burst_dies.py"))
    drawn = "\n".join(program["picture"](bl.run(program["SCENARIO"], trace=program["TRACE"])))
    assert drawn + "\n" == (root / "docs/images/burst-dies.svg").read_text(encoding="utf-8")


@pytest.mark.parametrize("example", sorted(path.name for path in EXAMPLES.glob("plot_*.py")))
def test_the_gallery_is_drawn(monkeypatch, tmp_path, capsys, example):
    monkeypatch.setattr(sys, "argv", [example, str(tmp_path)])
    runpy.run_path(str(EXAMPLES / example))
    drawn = capsys.readouterr().out.split()
    assert len(drawn) >= 2
    assert f"```{{example}} {Path(example).stem}\n" in (ROOT / "docs/gallery.md").read_text()
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


@pytest.mark.parametrize("page", sorted((ROOT / "docs/models").glob("*.md")), ids=lambda p: p.stem)
def test_a_model_says_what_it_is_for_and_why_it_is_believed(page):
    heads = re.findall(r"^## (.*)$", page.read_text(), flags=re.MULTILINE)
    assert [*heads[-1:]] == ["References"]
    assert {"Model", "Scope and limitations", "Validation"} <= set(heads)


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
    assert "2 replications" in answer.out
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
        "examples",
        "study",
        "results",
        "list",
        "reproduce",
        "export",
        "plot",
        "check",
        "schema",
        "oracle",
        "live",
        "kernel build",
        "model",
        "version",
        "view",
        "play",
    ],
)
def test_every_command_has_help_and_a_place_in_the_reference(root, burstlab, command):
    answer = burstlab(*command.split(), "--help")
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


def test_no_first_line_of_a_property_has_a_colon():
    """The reference takes the words before it for a type, and garbles the line."""
    garbled: list[str] = []
    for path in sorted((ROOT / "python/burstlab").rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for one in ast.walk(tree):
            names = {ast.unparse(name) for name in getattr(one, "decorator_list", [])}
            if names & {"property", "cached_property"}:
                assert isinstance(one, ast.FunctionDef)
                first = (ast.get_docstring(one) or "").partition("\n")[0]
                garbled += [f"{path.name}: {one.name}: {first}"] * (":" in first)
    assert not garbled


#: The nouns that pages and tables use most, as a count of all pages found them.
COMMONEST = """
access ack assembly background bottleneck buffer burst cause censored claim cohort congestion
connection contention conversion core cwnd data default demand detector drain duplicate edge egress
erlang event failure fate fibre fingerprint flow goodput header host ingress ledger link load loss
lost measured mesh metric missing node offset packet path queue rate receiver reduction replication
reservation result retransmission round route sack scenario seed segment sender slot ssthresh study
summary table throughput time-out timer topology trace transmission warm-up wavelength window
"""


def test_the_commonest_words_have_an_entry_for_users():
    users = (ROOT / "docs/glossary.md").read_text(encoding="utf-8").split("\n## The engine\n")[0]
    rows = [line.strip("|").split(" |") for line in users.splitlines() if line.startswith("| ")]
    assert all(len(row) == 3 and all(cell.strip() for cell in row) for row in rows)
    terms = " ".join(row[0] for row in rows).lower()
    assert [word for word in COMMONEST.split() if word not in terms] == []


def test_no_colour_of_the_site_is_fixed_where_the_theme_sets_the_text():
    """A fixed background under text of the theme cannot be read in dark mode."""
    style = (ROOT / "docs/static/site.css").read_text(encoding="utf-8")
    for selector, rules in re.findall(r"([^{}]+)\{([^}]*)\}", style):
        if "img" not in selector:
            for name, value in re.findall(r"(background|(?<!-)color):\s*([^;]+);", rules):
                assert value.startswith("var("), (selector.strip(), name, value)
