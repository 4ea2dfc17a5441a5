"""Every error that a user can cause says what to do: its text has a line with the fix."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import burstlab

PACKAGE = Path(burstlab.__file__).parent

#: Errors whose text ends with the fix, and those that take it by itself, with its place.
IN_TEXT = "InputError"
BY_ITSELF = {"ScenarioError": 3, "PlanError": 3, "FieldError": 3, "ControlError": 1}


def without(source: str, name: str) -> Iterator[str]:
    """Return where errors are made that say no fix."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        called = node.func
        kind = called.id if isinstance(called, ast.Name) else getattr(called, "attr", "")
        if kind != IN_TEXT and kind not in BY_ITSELF:
            continue
        text = ast.get_source_segment(source, node) or ""
        if kind == IN_TEXT:
            shown = "fix: " in text or "_with_fix(" in text
        else:
            spread = any(isinstance(one, ast.Starred) for one in node.args)
            given = node.args[BY_ITSELF[kind] :]
            empty = bool(given) and isinstance(given[0], ast.Constant) and not given[0].value
            shown = spread or (bool(given) and not empty)
        if not shown:
            yield f"{name}:{node.lineno}: {' '.join(text.split())}"


def test_every_error_has_a_fix():
    found: list[str] = []
    for file in sorted(PACKAGE.rglob("*.py")):
        found += without(file.read_text(), str(file.relative_to(PACKAGE)))
    assert found == []


@pytest.mark.parametrize(
    "source",
    [
        'raise InputError(f"{path}: no such file") from None',
        'errors.InputError("x")',
        'ScenarioError(path, value, "not finite")',
        'ScenarioError(path, value, "not finite", "")',
        'ControlError("failed")',
    ],
)
def test_one_without_is_found(source):
    assert len(list(without(source, "x.py"))) == 1
