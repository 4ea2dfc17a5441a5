"""The page of benchmarks has the recorded numbers of instructions."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_the_instructions_of_the_page_are_those_on_record():
    page = (ROOT / "docs/benchmarks.md").read_text(encoding="utf-8")
    record = tomllib.loads((ROOT / "benches/instructions.toml").read_text(encoding="utf-8"))
    for case in record["cases"].values():
        row = rf"^\| {re.escape(case['what'])} \| \**([\d,]+)\** \|"
        assert re.findall(row, page, re.MULTILINE)[:1] == [f"{case['instructions']:,.0f}"], row
