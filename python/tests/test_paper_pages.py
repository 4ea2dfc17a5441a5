"""Pages of papers: they begin with what a reader must know, then the figures, then all the rest."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

from burstlab.reproduce.coverage import coverage, reports, statements
from burstlab.reproduce.paper import papers

DOCS = Path(__file__).parents[2] / "docs"
PAPERS = {paper.key: paper for paper in papers()}


def _script(name):
    spec = importlib.util.spec_from_file_location(name, DOCS / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


FIGURES = _script("paper_figures").FIGURES


def _page(key):
    return (DOCS / "papers" / f"{key}.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("key", FIGURES)
def test_a_page_begins_with_a_box_that_counts_statements_as_the_command_does(key, tmp_path):
    head = _page(key).split("\n\n")
    assert head[0].startswith("# ")
    marker, counted, *points = head[1].split("\n")
    assert marker == f"<!-- statements: {key} -->"
    paper = PAPERS[key]
    found = statements(coverage(paper, reports(paper, tmp_path)[0]))
    numbers = [int(number) for number in re.findall(r"\d+", counted)]
    assert numbers[0] == sum(numbers[1:]) == len(found)
    holding = sum(one.verdict == "holds" for one in found)
    assert f"{holding} hold," in counted
    # With the count these are six lines.
    assert sum(line.startswith("> * ") for line in points) == 5
    assert head[2] == "## Figures"


@pytest.mark.parametrize("key", FIGURES)
def test_a_page_shows_its_figures_behind_the_box(key):
    shown = re.findall(r"!\[([^\]]+)\]\(\.\./images/([\w-]+)\.svg\)", _page(key))
    assert [name for _, name in shown] == [f"{key}-{name}" for name in FIGURES[key]]
    assert all(len(words) > 20 for words, _ in shown)
    for name in FIGURES[key]:
        assert name in PAPERS[key].targets
        picture = (DOCS / "images" / f"{key}-{name}.svg").read_text(encoding="utf-8")
        assert f"reproduce {key}/{name} --" in picture


@pytest.mark.parametrize("key", FIGURES)
def test_long_lists_are_behind_the_page(key):
    blocks = re.findall(r"<!-- full: [^>]+ -->\n((?:[^\n]+\n)*)", _page(key))
    assert max(block.count("\n") for block in blocks) <= 32
    behind = DOCS / "papers" / "measured" / f"{key}.md"
    if behind.exists():
        for target in re.findall(r"^## `([\w-]+)`$", behind.read_text(encoding="utf-8"), re.M):
            assert f"measured/{key}.md#{target}" in _page(key)


def test_figures_of_papers_are_small():
    sizes = [
        (DOCS / "images" / f"{key}-{name}.svg").stat().st_size
        for key, names in FIGURES.items()
        for name in names
    ]
    assert max(sizes) < 60_000
    assert sum(sizes) < 500_000


def test_a_drawing_loses_nothing_that_is_seen():
    small = _script("paper_figures")._small(
        '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><g class="x"><g>'
        '<path d="M0,0h0v0h0Z"/><path d="M1.234,2.96L3.04,4" opacity="1" stroke="red"/></g></g>'
        '<g aria-hidden="true"><path display="none" d="M1,1L2,2"/></g>'
        '<text class="y">0.025</text></svg>'
    )
    assert small == (
        '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9">'
        '<path d="M1.2,3L3,4" stroke="red" /><text>0.025</text></svg>\n'
    )
