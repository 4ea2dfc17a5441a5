"""The papers that can be reproduced, and their files."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import burstlab.papers
from burstlab import _core
from burstlab.errors import unknown
from burstlab.loading import Document, read_toml

if TYPE_CHECKING:
    from burstlab.reproduce.bands import Measure
    from burstlab.reproduce.claims import Claim


@dataclass(frozen=True)
class Paper:
    """One paper.

    Attributes
    ----------
    directory
        Where its plans, values and claims are.
    plans
        The content of ``plans*.toml``: a table ``paper`` and one table per target.
    """

    directory: Path
    plans: Document

    @property
    def key(self) -> str:
        """Short name, first half of the name of a target."""
        return self.plans["paper"]["key"]

    @property
    def about(self) -> Mapping[str, Any]:
        """Authors, title, venue and year, and where it has errata."""
        return self.plans["paper"]

    @property
    def targets(self) -> list[str]:
        """Names of its figures and tables, in the order of the paper."""
        return [name for name in self.plans if name != "paper"]

    def title(self, target: str) -> str:
        """Return the title of a figure or table."""
        return self.plans[target]["title"]

    @cached_property
    def _expected(self) -> Sequence[Mapping[str, str]]:
        with (self.directory / "expected.csv").open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(line for line in file if not line.startswith("#")))

    @property
    def published(self) -> Mapping[tuple[str, str], float]:
        """Published values by target and label."""
        return {(row["target"], row["label"]): float(row["published"]) for row in self._expected}

    @property
    def tolerances(self) -> Mapping[tuple[str, str], float]:
        """How far a measured value may be from the published one, in its unit."""
        found: dict[tuple[str, str], float] = {}
        for row in self._expected:
            text = row.get("within") or ""
            if text:
                share = text.endswith("%")
                scale = abs(float(row["published"])) / 100.0 if share else 1.0
                found[row["target"], row["label"]] = scale * float(text.rstrip("%"))
        return found

    @cached_property
    def coverage(self) -> Sequence[Mapping[str, Any]]:
        """Every printed statement with its judge, the ``items`` of ``coverage.toml``."""
        path = self.directory / "coverage.toml"
        return read_toml(path)["items"] if path.exists() else ()

    @cached_property
    def recorded(self) -> Mapping[str, Any] | None:
        """The report of the full run that was made for this version, where there is one.

        Its file lacks the sentences of claims that stand in ``claims.toml`` as they stood then.
        """
        path = self.directory / "full.json"
        if not path.exists():
            return None
        report = json.loads(path.read_text(encoding="utf-8"))
        for one in report["targets"]:
            texts = self.texts(one["target"].partition("/")[2])
            one["claims"] = [
                {**texts.get(claim.get("id", ""), {}), **claim} for claim in one["claims"]
            ]
            for claim in one["claims"]:
                why = claim.pop("why", "")
                if claim.get("explanation") == "":
                    claim["explanation"] = why
        return report

    def texts(self, target: str) -> dict[str, dict[str, str]]:
        """Return the sentences of the claims of a target, by their ids: ``claim`` and ``why``."""
        entries = [claim.entry for claim in self.claims(target)]
        return {
            entry["id"]: {
                "claim": entry["claim"],
                "why": entry.get("differs", {}).get("why", ""),
            }
            for entry in entries
            if "id" in entry
        }

    def measured(self, target: str) -> dict[str, Measure]:
        """Return the measures that the full run of a target has recorded.

        Measures of the other targets are there too, each with ``"TARGET: "`` before its name: a
        claim may be explained by the runs of another target.
        """
        from burstlab.reproduce.bands import restored

        found: dict[str, Measure] = {}
        own: dict[str, Measure] = {}
        for one in (self.recorded or {"targets": ()})["targets"]:
            name = one["target"].partition("/")[2]
            for label, value in one["measures"].items():
                found[f"{name}: {label}"] = restored(value)
                if name == target:
                    own[label] = restored(value)
        return {**found, **own}

    def early(self, target: str, effort: str) -> str:
        """Say that an effort measures a target before its steady state; empty where it does not.

        ``steady_from`` of a plan is when the process becomes steady, in seconds.
        """
        plan: Mapping[str, Any] = self.plans.get(target, {})
        steady, begins = plan.get("steady_from"), plan.get(effort, {}).get("warmup")
        if steady is None or begins is None or _core.seconds(begins) >= _core.seconds(steady):
            return ""
        return f"it is measured from {begins} on, and steady from {steady} on"

    def claims(self, target: str) -> Sequence[Claim]:
        """Return the claims of a target."""
        from burstlab.reproduce.claims import Claim

        return [Claim(entry) for entry in self._claims.get(target, {}).get("claims", [])]

    @cached_property
    def _claims(self) -> Document:
        return _together(self.directory, "claims")


def papers() -> list[Paper]:
    """List every paper of the package."""
    found: list[Paper] = []
    for root in burstlab.papers.__path__:
        for plans in sorted(Path(root).glob("*/plans.toml")):
            found.append(Paper(plans.parent, _together(plans.parent, "plans")))
    return found


def _together(directory: Path, name: str) -> Document:
    """Read ``name.toml`` and the files ``name_*.toml`` that continue it, in that order."""
    document: Document = {}
    for path in [directory / f"{name}.toml", *sorted(directory.glob(f"{name}_*.toml"))]:
        document.update(read_toml(path))
    return document


def select(names: Sequence[str]) -> list[tuple[Paper, str]]:
    """Find the targets that are named.

    Parameters
    ----------
    names
        ``"yu2004/table1"``, ``"yu2004"`` for a whole paper, or ``"all"``.

    Raises
    ------
    InputError
        If one is unknown; the error names the nearest that exists.
    """
    every = [(paper, target) for paper in papers() for target in paper.targets]
    wanted: list[tuple[Paper, str]] = []
    for name in names:
        found = [
            (paper, target)
            for paper, target in every
            if name in ("all", paper.key, f"{paper.key}/{target}")
        ]
        if not found:
            known = [f"{paper.key}/{target}" for paper, target in every]
            raise unknown("target", name, ["all", *dict.fromkeys(p.key for p, _ in every), *known])
        wanted.extend(item for item in found if item not in wanted)
    return wanted
