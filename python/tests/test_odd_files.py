"""Files that no reader expects: endless ones, endless numbers, endless depth, a changed list."""

from __future__ import annotations

import copy
import json
import os

import pytest

import burstlab as bl
from burstlab.errors import InputError
from burstlab.reproduce.coverage import reports
from burstlab.reproduce.paper import papers
from burstlab.storage.sums import sealed


@pytest.mark.parametrize("depth", [65, 600, 900, 5000])
@pytest.mark.parametrize(
    "text", ["[network]\n{keys} = 1\n", "[{keys}]\nb = 1\n", "a = {lists}\n", "a = {tables}\n"]
)
def test_tables_within_tables_within_tables(tmp_path, burstlab, depth, text):
    keys, lists = ".".join("a" * depth), "[" * depth + "]" * depth
    tables = "{a=" * depth + "1" + "}" * depth
    file = tmp_path / "deep.toml"
    file.write_text(text.format(keys=keys, lists=lists, tables=tables))
    answer = burstlab("run", file)
    assert answer.status == 2 and "nested too deeply" in answer.err, answer.err[:300]
    assert "\n  fix: " in answer.err and len(answer.err) < 400


def test_a_dictionary_within_itself_is_refused():
    endless: dict[str, object] = {}
    endless["network"] = endless
    with pytest.raises(bl.ScenarioError, match="nested too deeply"):
        bl.run(endless)


@pytest.mark.parametrize("number", ["9" * 5000, f"-{'9' * 5000}", f"0x{'f' * 5000}", "9" * 400])
def test_a_number_of_5000_digits(tmp_path, burstlab, number):
    file = tmp_path / "long.toml"
    file.write_text(f"[run]\n\nseed = {number}\n")
    flags = ["--set", f"run.seed={number}"]
    for answer in (burstlab("run", file), burstlab("check", file), burstlab("size", file, *flags)):
        assert answer.status == 2 and len(answer.err) < 400, answer.err[:300]
        assert "\n  fix: " in answer.err
    assert "line 3" in burstlab("run", file).err or "run.seed" in burstlab("run", file).err


def test_a_pipe_in_place_of_a_file_is_refused(tmp_path, burstlab, small):
    out = tmp_path / "out"
    bl.run(small, trace="packets", out=out)
    for name in ("packets.parquet", "flows.parquet"):
        (out / name).rename(tmp_path / name)
        os.mkfifo(out / name)
        commands = [
            ("results", out, "--sql", f"select * from {name.partition('.')[0]}"),
            ("export", out, "--format", "csv", "--force"),
            ("plot", out, "sequence", "--out", tmp_path / "one.svg"),
        ]
        for command in commands:
            answer = burstlab(*command)
            assert answer.status == 2 and "it is a pipe, a socket or a device" in answer.err, (
                answer.err
            )
        assert burstlab("results", out, "--verify").status == 1
        (out / name).unlink()
        (tmp_path / name).rename(out / name)
    os.mkfifo(tmp_path / "net.toml")
    custom = tmp_path / "custom.toml"
    custom.write_text('[network]\ntopology = "custom"\nfile = "net.toml"\n')
    assert "it is a pipe, a socket or a device" in burstlab("run", custom).err
    (out / "summary.json").unlink()
    os.mkfifo(out / "summary.json")
    assert burstlab("results", out).status == 2
    assert burstlab("run", custom, "--out", out).status == 2


def test_a_wrong_time_of_checkpoints_has_a_fix(tmp_path, burstlab, small):
    file = tmp_path / "one.toml"
    file.write_text("[run]\nduration = '1 s'\n")
    for every in ("1e30 s", "0 s", "-1 s", "1", "0.1 ps", "often"):
        flags = ("--checkpoint", tmp_path / "kept", f"--checkpoint-every={every}")
        answer = burstlab("run", file, *flags)
        assert answer.status == 2, every
        assert answer.err.partition("fix: ")[2].startswith(("write", "use one of")), answer.err
    flags = ("--checkpoint", tmp_path / "kept", "--checkpoint-every", "60 s")
    assert burstlab("run", file, *flags).status == 0


def _list() -> dict[str, object]:
    paper = papers()[0]
    row = {"label": "a", "published": 1.0, "measured": 1.0, "ci95": None, "n": 1}
    claim = {"id": "a", "claim": "b", "verdict": "holds", "evidence": "c"}
    name = f"{paper.key}/{paper.targets[0]}"
    shown = {"effort": "quick", "burstlab": "0"}
    return {"targets": [{"target": name, "rows": [row], "claims": [claim], **shown}]}


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("targets", 5),
        ("targets", {}),
        ("targets/0", "target rows claims effort burstlab"),
        ("targets/0", []),
        ("targets/0/target", 5),
        ("targets/0/target", "../../etc/passwd"),
        ("targets/0/target", ""),
        ("targets/0/rows", 7),
        ("targets/0/rows/0", "a"),
        ("targets/0/rows/0/measured", "much"),
        ("targets/0/rows/0/extra", 1),
        ("targets/0/claims", "a"),
        ("targets/0/claims/0", 3),
        ("targets/0/claims/0/verdict", None),
        ("targets/0/effort", 1),
    ],
)
def test_a_list_of_targets_that_was_changed_is_told(tmp_path, burstlab, path, value):
    document = copy.deepcopy(_list())
    here: object = document
    *steps, last = path.split("/")
    for step in steps:
        here = here[int(step)] if isinstance(here, list) else here[step]  # pyright: ignore
    here[int(last) if isinstance(here, list) else last] = value  # pyright: ignore
    for written in (document, sealed(document)):
        (tmp_path / "reproduce.json").write_text(json.dumps(written))
        with pytest.raises(InputError, match=r"not a list of reproduced targets.*\n  fix:"):
            reports(papers()[0], tmp_path)
        for flags in (("--coverage",), ()):
            answer = burstlab("reproduce", "yu2004/fig2a", *flags, "--out", tmp_path)
            assert answer.status == 2 and "reproduce.json" in answer.err
        assert burstlab("results", "--verify", tmp_path).status == 1


def test_a_list_of_targets_has_a_seal(tmp_path, burstlab):
    document = sealed(_list())
    (tmp_path / "reproduce.json").write_text(json.dumps(document))
    assert len(reports(papers()[0], tmp_path)[0]) >= 1
    document["targets"][0]["rows"][0]["measured"] = 2.0
    (tmp_path / "reproduce.json").write_text(json.dumps(document))
    with pytest.raises(InputError, match="damaged, or was changed"):
        reports(papers()[0], tmp_path)
