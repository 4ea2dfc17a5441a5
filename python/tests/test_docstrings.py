"""Docstrings of public functions: each parameter and what is returned have an entry (numpydoc)."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import burstlab as bl
from burstlab import plot, statistics

STUB = Path(bl.__file__).with_name("__init__.pyi").read_text()
NAMES = re.findall(r"import \w+ as (\w+)$", STUB, re.MULTILINE)


def public() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Yield public functions and methods with their names; scenario classes are generated."""
    found = {f"burstlab.{name}": getattr(bl, name) for name in NAMES}
    found |= {f"burstlab.plot.{name}": getattr(plot, name) for name in plot.__all__}
    found |= {f"burstlab.statistics.{name}": one for name, one in vars(statistics).items()}
    for name, one in found.items():
        if name.rpartition(".")[2].startswith("_") or not str(getattr(one, "__module__", "")):
            continue
        if inspect.isclass(one) and one.__module__.startswith("burstlab."):
            if one.__module__ != "burstlab.scenario":
                yield from methods(name, one)
        elif inspect.isfunction(one) and one.__module__.startswith("burstlab."):
            yield name, one


def methods(name: str, of: type) -> Iterator[tuple[str, Callable[..., Any]]]:
    """Yield the public methods of a class; properties have no parameters."""
    for method, one in vars(of).items():
        function = getattr(one, "__func__", one)
        if inspect.isfunction(function) and not method.startswith("_"):
            yield f"{name}.{method}", function


def section(text: str, title: str) -> str | None:
    """Return the text of a section of a numpydoc docstring, or None if there is none."""
    found = re.search(
        rf"(?:^|\n){title}\n-{{{len(title)}}}\n(.*?)(?=\n\n\w[^\n]*\n-{{3,}}\n|\Z)", text, re.S
    )
    return found[1] if found else None


def entries(text: str) -> list[str]:
    """Return the names of the entries of a section: ``a, b`` or ``a : type`` begins one."""
    heads = [line.split(" : ")[0] for line in text.split("\n") if line[:1].strip()]
    return [name.strip().lstrip("*") for head in heads for name in head.split(",")]


def faults(function: Callable[..., Any]) -> list[str]:
    """Return the faults of a docstring, empty if there are none."""
    text = inspect.getdoc(function) or ""
    signature = inspect.signature(function)
    names = [name for name in signature.parameters if name not in ("self", "cls")]
    found: list[str] = []
    listed = section(text, "Parameters")
    if names and listed is None:
        found.append("no section Parameters")
    elif names and listed is not None and sorted(entries(listed)) != sorted(names):
        found.append(f"Parameters has {entries(listed)}, the signature {names}")
    returned = str(signature.return_annotation)
    if returned != "None" and section(text, "Returns") is None:
        found.append(f"no section Returns for {returned}")
    if returned.startswith(("Generator", "Iterator[range")) and section(text, "Yields") is None:
        found.append("no section Yields")
    for title in ("Parameters", "Returns", "Yields", "Raises"):
        body = section(text, title)
        if body is None:
            continue
        lines = [line for line in body.split("\n") if line.strip()]
        undescribed = [
            a
            for a, b in zip(lines, [*lines[1:], ""], strict=True)
            if a[:1].strip() and b[:1].strip()
        ]
        if not lines or undescribed or lines[-1][:1].strip():
            found.append(f"an entry of {title} has no description")
    if not text.split("\n")[0].endswith("."):
        found.append("the summary is no sentence")
    return found


PUBLIC = dict(public())


@pytest.mark.parametrize("name", PUBLIC)
def test_parameters_and_returned_values_are_documented(name):
    assert faults(PUBLIC[name]) == []


def test_the_list_has_the_functions_that_users_call():
    some = ("burstlab.run", "burstlab.study", "burstlab.Table.where", "burstlab.plot.window_chart")
    assert set(some) <= set(PUBLIC) and len(PUBLIC) > 60


def test_faults_are_found():
    def bare(a: int) -> int:
        """Return it."""
        return a

    def partial(a: int, b: int) -> None:
        """Do it.

        Parameters
        ----------
        a
        """

    def undescribed(a: int) -> int:
        """Return it.

        Parameters
        ----------
        a
            A number.

        Returns
        -------
        int
        """
        return a

    assert len(faults(bare)) == 2
    assert len(faults(partial)) == 2
    assert faults(undescribed) == ["an entry of Returns has no description"]
