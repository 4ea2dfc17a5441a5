"""Charts in a notebook: no network, and nobody's choice is overruled."""

from __future__ import annotations

import re
import sys
from types import ModuleType

import altair as alt
import pytest

from burstlab.plot import Named, named_chart
from burstlab.plot.notebook import bundle


@pytest.fixture
def notebook(monkeypatch):
    monkeypatch.setitem(sys.modules, "ipykernel", ModuleType("ipykernel"))
    before = alt.renderers.active
    yield
    alt.renderers.enable(before)


def test_a_chart_is_a_picture(notebook):
    chart = named_chart([Named("one", 1.0, 0.5)], "a value")
    assert alt.renderers.active == "burstlab"
    shown = chart._repr_mimebundle_()
    shown = shown[0] if isinstance(shown, tuple) else shown
    assert shown["image/svg+xml"].startswith("<svg")
    assert "a value" in shown["image/svg+xml"]


def test_without_what_draws_pictures_it_brings_its_program(notebook, monkeypatch):
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    shown = bundle(named_chart([Named("one", 1.0)], "a value").to_dict())["text/html"]
    assert "vegaEmbed" in shown and "a value" in shown
    assert not re.findall(r"(?:src|href)=", shown[:200])


def test_a_renderer_that_was_chosen_stays(notebook):
    alt.renderers.enable("json")
    named_chart([Named("one", 1.0)], "a value")
    assert alt.renderers.active == "json"


def test_elsewhere_nothing_is_chosen():
    before = alt.renderers.active
    named_chart([Named("one", 1.0)], "a value")
    assert alt.renderers.active == before
