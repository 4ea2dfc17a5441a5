"""Progress in a notebook: one output that is written anew, and is empty in the end."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import pytest

import burstlab as bl
from burstlab.running import progress

RUN = {"run": {"duration": "2 s"}}


class Handle:
    """Stands for an output of a cell."""

    def __init__(self, first: dict[str, str]) -> None:
        self.shown = [first]

    def update(self, data: dict[str, str], *, raw: bool) -> None:
        assert raw
        self.shown.append(data)


@pytest.fixture
def notebook(monkeypatch: pytest.MonkeyPatch) -> list[Handle]:
    """A notebook as far as progress sees one; answers its outputs."""
    handles: list[Handle] = []

    def display(data: dict[str, str], *, raw: bool, display_id: bool) -> Handle:
        assert raw and display_id
        handles.append(Handle(data))
        return handles[-1]

    module: Any = ModuleType("IPython.display")
    module.display = display
    monkeypatch.setitem(sys.modules, "ipykernel", ModuleType("ipykernel"))
    monkeypatch.setitem(sys.modules, "IPython", ModuleType("IPython"))
    monkeypatch.setitem(sys.modules, "IPython.display", module)
    monkeypatch.setattr(progress, "_EVERY_S", 0.0)
    return handles


def test_a_run_has_one_output_that_ends_empty(notebook, capsys):
    bl.run(RUN, replications=3, progress=True)
    (handle,) = notebook
    assert handle.shown[0] == {"text/plain": "running ..."}
    assert handle.shown[-1] == {"text/plain": "", "text/html": ""}
    assert '<progress value="1.0000" max="1"' in handle.shown[-2]["text/html"]
    assert "simulated s/s" in handle.shown[-2]["text/plain"]
    assert "0:00:00 left" in handle.shown[-2]["text/plain"]
    assert capsys.readouterr() == ("", "")


def test_a_study_tells_its_points(notebook):
    bl.study({"scenario": RUN, "grid": {"tcp.window": [5, 10, 15]}}, progress=True)
    (handle,) = notebook
    assert "3/3 points" in handle.shown[-2]["text/plain"]
    assert handle.shown[-1]["text/html"] == ""


def test_an_error_leaves_no_bar(notebook):
    def stop(_progress: Any) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), progress.study_bar("<i>") as show:
        assert show is not None
        show(progress_of(0.5))
        stop(None)
    (handle,) = notebook
    assert "&lt;i&gt;" in handle.shown[1]["text/html"]
    assert handle.shown[-1] == {"text/plain": "", "text/html": ""}


def progress_of(share: float) -> Any:
    from burstlab.running.progress import Progress

    return Progress(10, 5, share)


def test_a_notebook_is_not_told_more_often_than_it_can_show(notebook, monkeypatch):
    monkeypatch.setattr(progress, "_EVERY_S", 3600.0)
    with progress.bar("running") as show:
        assert show is not None
        for share in range(100):
            show(share / 100)
    (handle,) = notebook
    assert len(handle.shown) == 3


def test_elsewhere_nothing_is_shown(capsys):
    bl.run(RUN, progress=True)
    assert capsys.readouterr() == ("", "")
