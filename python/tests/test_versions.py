"""One version in all places, that of an engine with third-party stacks too."""

from __future__ import annotations

import tomllib

from burstlab import _core


def test_both_workspaces_have_one_version(root):
    versions = [
        tomllib.loads((root / where).read_text("utf-8"))["workspace"]["package"]["version"]
        for where in ("Cargo.toml", "stacks/Cargo.toml")
    ]
    assert versions == [_core.__version__] * 2
