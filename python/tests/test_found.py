"""The page of faults in stacks has the output of its lines, if the stacks are built."""

from __future__ import annotations

import ast
import contextlib
import io
import re
import warnings
from itertools import pairwise
from pathlib import Path

import pytest

import burstlab as bl

PAGE = Path(__file__).parents[2] / "docs" / "found.md"
LINES = re.compile(r"```python\n(.*?)```\s+It prints:\s+```text\n(.*?)```", re.DOTALL)

try:
    bl.resolve({"flows": [{"stack": "quinn"}, {"stack": "noq"}]})
except bl.ScenarioError:
    warnings.warn("no third-party stacks: docs/found.md is not looked at", stacklevel=1)
    pytest.skip("this engine was built without third-party stacks", allow_module_level=True)


def printed(code: str) -> str:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(code, str(PAGE), "exec"), {})
    return out.getvalue()


def test_the_cap_of_the_probe_interval_of_noq_does_not_cap():
    text = PAGE.read_text(encoding="utf-8")
    ((code, says),) = LINES.findall(text)
    out = printed(code)
    assert out == says
    apart = ast.literal_eval(out)
    # A wait is the one before and 2 s more, where 2 s are meant.
    grown = [later - before for before, later in pairwise(apart[2:])]
    assert grown == pytest.approx([2.0] * 5, abs=0.02)
    # quinn doubles on, as the page says.
    doubled = ast.literal_eval(printed(code.replace('"noq"', '"quinn"')))[-4:]
    assert ", ".join(f"{one:.2f}" for one in doubled) + " s" in " ".join(text.split())
