"""Code on pages, for tests that compare it with the file that it is from."""

from __future__ import annotations

import ast
import re
from pathlib import Path


def bare(text: str) -> str:
    """Return code without its docstrings."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef)) and ast.get_docstring(node):
            node.body = node.body[1:]
    return ast.unparse(tree)


def blocks(page: Path) -> list[str]:
    """Return the blocks of Python on a page, without their docstrings."""
    shown = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    return [bare(block) for block in shown]
