"""Third-party code comes from the registries, as it is locked, and actions from their releases."""

from __future__ import annotations

import re
import tomllib

import pytest

LOCKS = ("requirements.lock", "tools.lock", "docs.lock", "browser.lock", "licences.lock")
REGISTRY = "registry+https://github.com/rust-lang/crates.io-index"


@pytest.mark.parametrize("name", LOCKS)
def test_each_package_of_python_is_pinned_by_its_hashes(root, name):
    text = (root / name).read_text(encoding="utf-8")
    entries = [
        one
        for one in re.split(r"\n(?=\S)", text.strip())
        if one and not one.lstrip().startswith("#")
    ]
    assert len(entries) >= 1
    for entry in entries:
        head = entry.splitlines()[0]
        assert re.match(r"[A-Za-z0-9._-]+(\[[a-z,]+\])?==[0-9][^ ]*( ;|$| \\)", head), head
        assert "--hash=sha256:" in entry, head
        assert "://" not in entry and " @ " not in entry, head


@pytest.mark.parametrize("name", ["Cargo.lock", "stacks/Cargo.lock"])
def test_each_crate_of_others_is_of_the_registry_with_its_sum(root, name):
    for one in tomllib.loads((root / name).read_text(encoding="utf-8"))["package"]:
        if not one["name"].startswith(("burstlab", "xtask")):
            assert one.get("source") == REGISTRY, one["name"]
            assert re.fullmatch("[0-9a-f]{64}", one["checksum"]), one["name"]


def test_actions_are_pinned_by_the_commit_of_a_release(root):
    files = sorted((root / ".github/workflows").glob("*.yml"))
    used = [
        line.strip().removeprefix("- ")
        for file in files
        for line in file.read_text(encoding="utf-8").splitlines()
        if "uses:" in line
    ]
    assert used
    for line in used:
        assert re.fullmatch(r"uses: [\w.-]+/[\w.-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", line), line


def test_ci_holds_licences_bans_and_sources(root):
    assert "step make licences" in (root / ".ci/run").read_text(encoding="utf-8")
    rules = tomllib.loads((root / "deny.toml").read_text(encoding="utf-8"))
    assert rules["sources"]["unknown-git"] == rules["sources"]["unknown-registry"] == "deny"
    assert not any("GPL" in one for one in rules["licenses"]["allow"])
