"""All scripts of a directory, and a matrix of what passes by feature."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from burstlab.errors import InputError
from burstlab.oracle.cases import wrong
from burstlab.oracle.packetdrill.events import Differs, NotModelled
from burstlab.oracle.packetdrill.reading import read_script
from burstlab.oracle.packetdrill.running import run

Outcome = Literal["passed", "differs", "not modelled"]


@dataclass(frozen=True)
class ScriptOutcome:
    """The outcome of one script.

    Attributes
    ----------
    script
        Its path below the directory.
    feature
        Its subject: its folder, or the beginning of its name.
    outcome
        ``"passed"``; ``"differs"``: the model does something else than the script expects;
        ``"not modelled"``: the script needs something that the model does not have. Only the first
        counts.
    events
        Events of the script, if it passed.
    reason
        The place of the difference, or the missing part of the model.
    """

    script: str
    feature: str
    outcome: Outcome
    events: int = 0
    reason: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return it as ``burstlab oracle --packetdrill DIR --json`` prints it."""
        return {
            "script": self.script,
            "feature": self.feature,
            "outcome": self.outcome,
            "events": self.events,
            "reason": self.reason,
        }


def run_scripts(
    directory: str | os.PathLike[str], *, progress: Callable[[float], None] | None = None
) -> list[ScriptOutcome]:
    """Run every script (``*.pkt``) below a directory, or one that is named.

    Parameters
    ----------
    directory
        Where they are, or a file.
    progress
        Called with the share of the scripts that is done.

    Raises
    ------
    InputError
        If there is none, or if a file is no script; the error names file and line.
    """
    root = Path(directory)
    paths = [root] if root.is_file() else sorted(root.rglob("*.pkt"))
    if not paths:
        fix = "give a directory with packetdrill scripts"
        raise wrong(str(root), "there is no file *.pkt", fix)
    outcomes: list[ScriptOutcome] = []
    for path in paths:
        outcomes.append(_run_one(path, root if root.is_dir() else path.parent))
        if progress is not None:
            progress(len(outcomes) / len(paths))
    return outcomes


def _run_one(path: Path, root: Path) -> ScriptOutcome:
    name, feature = str(path.relative_to(root)), _feature(path, root)
    try:
        events = run(read_script(path), path.parent)
    except Differs as found:
        return ScriptOutcome(name, feature, "differs", reason=str(found))
    except NotModelled as found:
        return ScriptOutcome(name, feature, "not modelled", reason=str(found))
    except RecursionError:
        raise InputError(f"{path}: nested too deeply\n  fix: give a packetdrill script") from None
    return ScriptOutcome(name, feature, "passed", events)


def _feature(path: Path, root: Path) -> str:
    """Return the folder of a script, or what the kernel's own scripts have before their name."""
    folders = path.relative_to(root).parts[:-1]
    if folders:
        return "/".join(folders)
    words = path.stem.removeprefix("tcp_").rsplit("_", 1)
    return words[0] if len(words) > 1 else path.resolve().parent.name


def matrix(outcomes: Sequence[ScriptOutcome]) -> dict[str, dict[str, int]]:
    """Count the outcomes of each feature, features in order of their names."""
    features: dict[str, dict[str, int]] = {}
    for one in sorted(outcomes, key=lambda one: one.feature):
        empty = {"passed": 0, "differs": 0, "not modelled": 0}
        features.setdefault(one.feature, empty)[one.outcome] += 1
    return features
