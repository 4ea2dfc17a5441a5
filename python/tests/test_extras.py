"""A missing package is named with the line that installs it."""

from __future__ import annotations

import importlib.metadata
import re
import sys
from pathlib import Path

import pytest

import burstlab as bl
from burstlab.extras import EXTRAS, MissingExtra, extra

ROOT = Path(__file__).parents[2]


@pytest.fixture
def without(monkeypatch):
    """Return what takes a package away, as if it had never been installed."""

    def take(*names: str) -> None:
        for module in [one for one in sys.modules if one.partition(".")[0] in names]:
            monkeypatch.delitem(sys.modules, module)
        for name in names:
            monkeypatch.setitem(sys.modules, name, None)

    return take


def test_each_extra_is_one_of_the_package():
    text = (ROOT / "pyproject.toml").read_text()
    (table,) = re.findall(r"\[project\.optional-dependencies\]\n(.*?)\n\n", text, re.DOTALL)
    named = {line.split(" = ")[0]: line for line in table.splitlines()}
    assert set(EXTRAS.values()) == set(named) - {"all"}
    assert all(name in named["all"] for name in EXTRAS.values())
    packages = importlib.metadata.packages_distributions()
    for module, name in EXTRAS.items():
        (distribution,) = set(packages[module.partition(".")[0]])
        assert distribution.lower() in named[name]


@pytest.mark.parametrize("name", ["pandas", "polars", "arrow"])
@pytest.mark.parametrize("package", ["pyarrow", "its own"])
def test_a_table_names_what_it_needs(without, small, name, package):
    flows = bl.run(small).flows
    without("pyarrow" if package == "pyarrow" or name == "arrow" else name)
    with pytest.raises(ImportError, match=rf"pip install 'burstlab\[{name}\]'"):
        getattr(flows, f"to_{name}")()


def test_runs_and_studies_are_written_and_read_without_arrow(without, small, burstlab, tmp_path):
    without("pyarrow", "pandas", "polars")
    bl.run(small, trace=["packets", "cwnd", "ledger"], out=tmp_path / "run", replications=2)
    found = bl.read(tmp_path / "run")
    assert len(found.packets.where(kind="data", replication=1)) > 0
    assert found.export("csv", tmp_path / "csv")
    bl.study(ROOT / "examples/study.toml", out=tmp_path / "study")
    assert len(bl.read_study(tmp_path / "study").runs) > 0
    answer = burstlab("results", tmp_path / "run", "--sql", "select count(*) as n from packets")
    assert answer.status == 0, answer.err


def test_a_data_set_is_refused_before_its_first_run(without, burstlab, tmp_path):
    without("pyarrow")
    answer = burstlab("dataset", "--out", tmp_path / "set")
    assert answer.status == 2
    assert answer.err.splitlines()[-1] == "  fix: pip install 'burstlab[arrow]'"
    assert not (tmp_path / "set").exists()


def test_a_report_needs_nothing_that_draws_pictures(without, burstlab, tmp_path):
    without("vl_convert")
    answer = burstlab("reproduce", "yu2004/fig2a", "--quick", "--out", tmp_path / "paper")
    assert answer.status == 0, answer.err
    page = (tmp_path / "paper/report.html").read_text()
    assert "vegaEmbed" in page
    assert not list((tmp_path / "paper").rglob("*.png"))
    for file in re.findall(r'href="(yu2004/[^"]+)"', page):
        assert (tmp_path / "paper" / file).exists()


def test_a_package_that_is_broken_is_not_one_that_is_missing(tmp_path, monkeypatch):
    (tmp_path / "polars.py").write_text("import no_such_part_of_polars\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "polars", raising=False)
    with pytest.raises(ModuleNotFoundError, match="no_such_part") as found:
        extra("polars", "this test")
    assert not isinstance(found.value, MissingExtra)
