"""`make stacks QUINN=path`: the workspace of the stacks, written again for checkouts of theirs."""

from __future__ import annotations

import importlib.util
import json
import shutil
import subprocess
import sys
import tomllib

import pytest

MEMBERS = '[workspace]\nmembers = ["quinn-proto"]\n[workspace.package]\nversion = "0.12.3"\n'
CRATE = '[package]\nname = "quinn-proto"\nversion.workspace = true\nedition = "2021"\n'


@pytest.fixture
def script(root):
    found = importlib.util.spec_from_file_location("checkouts", root / "stacks/checkouts.py")
    assert found is not None and found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


@pytest.fixture
def checkout(tmp_path):
    top = tmp_path / "my quinn"
    (top / "quinn-proto/src/congestion/bbr").mkdir(parents=True)
    (top / "Cargo.toml").write_text(MEMBERS)
    (top / "quinn-proto/Cargo.toml").write_text(CRATE)
    (top / "quinn-proto/src/lib.rs").write_text("")
    return top


def contents(top):
    return {path: path.read_bytes() for path in top.rglob("*") if path.is_file()}


def test_the_copy_asks_for_the_version_of_the_checkout_and_changes_nothing_else(
    root, script, checkout, tmp_path
):
    ours = {path: (root / "stacks" / path).read_bytes() for path in ("Cargo.toml", "Cargo.lock")}
    before, copy = contents(checkout), tmp_path / "copy"
    for given in (checkout, checkout / "quinn-proto"):
        crate, found = script._checkout(f"QUINN={given}")
        assert (crate, found) == ("quinn-proto", (checkout / "quinn-proto", "0.12.3"))
        script.write({crate: found}, copy)
    assert contents(checkout) == before, "nothing is written to it"
    for path, text in ours.items():
        assert (root / "stacks" / path).read_bytes() == text
    assert (copy / "Cargo.lock").read_bytes() == ours["Cargo.lock"]
    made = tomllib.loads((copy / "Cargo.toml").read_text())
    assert made["patch"]["crates-io"] == {"quinn-proto": {"path": str(checkout / "quinn-proto")}}
    for member in made["workspace"]["members"]:
        manifest = tomllib.loads((copy / member / "Cargo.toml").read_text())
        for name, asked in manifest.get("dependencies", {}).items():
            if name == "quinn-proto":
                assert asked["version"] == "=0.12.3", member
            elif name in ("noq-proto", "quiche", "smoltcp"):
                assert asked["version"] != "=0.12.3", member
            elif isinstance(asked, dict) and "path" in asked:
                assert (copy / member / asked["path"] / "Cargo.toml").is_file(), name
        for path in (root / "stacks" / member).iterdir():
            if path.name != "Cargo.toml":
                assert (copy / member / path.name).resolve() == path
    if shutil.which("cargo"):
        words = ["cargo", "metadata", "--offline", "--no-deps", "--format-version", "1"]
        reported = subprocess.run(words, cwd=copy, capture_output=True, text=True, check=False)
        assert reported.returncode == 0, reported.stderr
        checkouts = json.loads(reported.stdout)["metadata"]["checkouts"]
        assert checkouts == {"quinn-proto": str(checkout / "quinn-proto")}


def test_what_cargo_added_to_the_lock_is_kept_while_the_workspace_is_the_same(
    script, checkout, tmp_path
):
    copy, one = tmp_path / "copy", {"quinn-proto": (checkout / "quinn-proto", "0.12.3")}
    script.write(one, copy)
    (copy / "Cargo.lock").write_text("of cargo")
    times = {path: path.stat().st_mtime_ns for path in copy.rglob("Cargo.toml")}
    script.write(one, copy)
    assert (copy / "Cargo.lock").read_text() == "of cargo"
    assert {path: path.stat().st_mtime_ns for path in times} == times, "nothing is built anew"
    script.write({"smoltcp": (checkout, "1.0.0")}, copy)
    assert (copy / "Cargo.lock").read_text() != "of cargo"


@pytest.mark.parametrize(
    ("word", "reported"),
    [
        ("QUINN=/no/where", "there is no such directory"),
        ("QUINN=", "there is no such directory"),
        ("NOQ={checkout}", "no crate noq-proto is in it"),
        ("TQUIC={checkout}", "no such stack"),
        ("QUINN={broken}", "cannot be read"),
        (None, "no checkout is named"),
    ],
)
def test_a_bad_path_is_named_with_its_fix(root, checkout, tmp_path, word, reported):
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / "Cargo.toml").write_text("[package")
    words = [] if word is None else [word.format(checkout=checkout, broken=broken)]
    answer = subprocess.run(
        [sys.executable, root / "stacks/checkouts.py", *words],
        capture_output=True,
        text=True,
        check=False,
    )
    assert answer.returncode == 2 and answer.stdout == ""
    assert all(word in answer.stderr for word in words)
    assert reported in answer.stderr and "\n  fix: " in answer.stderr
    assert "Traceback" not in answer.stderr
