"""Write the data, the figures and ``report.html`` of reproduced targets.

The report of a directory has all targets that were reproduced there, by any call. For each target
``PAPER/TARGET.json`` has its part of the report, of one run, with version, seed and effort.
It lies with the target's data and figures. New files are written aside, and replace the old ones
together.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from burstlab import _core
from burstlab.errors import InputError
from burstlab.plot.saving import save, specification, write_csv
from burstlab.report import titles
from burstlab.report.errata import errata
from burstlab.report.rendering import Chart, render
from burstlab.reproduce.claims import VERDICTS
from burstlab.reproduce.engine import Options, TargetReport
from burstlab.reproduce.listed import LIST, listed
from burstlab.storage.directories import REPRODUCTION, vacant
from burstlab.storage.files import Lock, put, stored_text
from burstlab.storage.parquet import writing
from burstlab.storage.sums import FIELD, is_intact, sealed, sum_of

#: The next steps after a first report: a command, and its effect.
#: Pages to open next, with their content.
NEXT = (
    ("burstlab demo", "a guided tour in the browser: a burst is lost, step by step"),
    ("burstlab play", "sliders: TCP and Burst TCP lose the same bursts"),
)

PAGE = "report.html"

#: Goes up with every change of the stored form of a target.
FORMAT = 3

#: The fix if nothing can be added.
_BEGIN_ANEW = f"give another --out, or remove {LIST} and {PAGE} to begin anew"

#: How the names of the files of a target end.
_KINDS = re.compile(r"(-.*)?\.(json|csv|png|svg)")

#: The part of the report about a target.
Section = Mapping[str, Any]


class Report:
    """Writes the reports of targets, each as soon as it is finished.

    Targets of earlier calls stay; one that is done again takes the place of the one before.

    Parameters
    ----------
    out
        A directory that exists; each paper gets its own within.
    options
        How the targets are run, for the command that repeats them.
    order
        Their names in the order of the report, in whichever they are done.

    Raises
    ------
    InputError
        If the directory holds a study, or a reproduction to which nothing can be added.
    """

    def __init__(self, out: Path, options: Options, order: Sequence[str] = ()) -> None:
        self._out = out
        self._options = options
        self._order = order
        vacant(out, REPRODUCTION)
        with self._alone():
            _refuse_others(out, _sections(out), order)

    def add(self, report: TargetReport) -> None:
        """Write the data and figures of a target, and ``reproduce.json`` with all until now."""
        with self._alone(), writing(self._out):
            others = _sections(self._out)
            names = [one["name"] for one in others]
            if report.name not in names:
                before, place = None, self._place(report.name, names)
            else:
                place = names.index(report.name)
                before = others.pop(place)
            others.insert(place, self._put(report, others, before))
            self._list(others, {}, interrupted=True)

    def _place(self, name: str, there: Sequence[str]) -> int:
        """Return where a new target belongs: behind all, but for those that follow it."""
        later = self._order[self._order.index(name) + 1 :] if name in self._order else ()
        following = [place for place, other in enumerate(there) if other in later]
        return min(following, default=len(there))

    def _put(
        self, report: TargetReport, others: Sequence[Section], before: Section | None
    ) -> Section:
        """Replace the files of a target; return its part of the report."""
        directory = self._out / report.paper.key
        directory.mkdir(exist_ok=True)
        aside = directory / f".{report.target}"
        shutil.rmtree(aside, ignore_errors=True)
        aside.mkdir()
        try:
            section = _section(report, aside, self._options)
            if before is not None:
                # The report names no target whose files are of two runs, at any instant.
                self._write(others, interrupted=True)
                (directory / f"{report.target}.json").unlink(missing_ok=True)
                for name in before["files"]:
                    (directory / Path(name).name).unlink(missing_ok=True)
            for file in sorted(aside.iterdir()):
                file.replace(directory / file.name)
            text = json.dumps(sealed(section), indent=1)
            put(directory / f"{report.target}.json", f"{text}\n".encode())
            return section
        finally:
            shutil.rmtree(aside, ignore_errors=True)

    def finish(self, *, interrupted: bool = False) -> Path:
        """Write ``report.html``; return where it is.

        Parameters
        ----------
        interrupted
            Whether targets are missing because the run was stopped.
        """
        with self._alone():
            sections = _sections(self._out)
            self._write(sections, interrupted=interrupted)
        return self._out / PAGE

    def _alone(self) -> Lock:
        """Wait for other calls that write there, so that none loses what another adds."""
        with writing(self._out):
            return Lock(self._out, "another reproduction is being written there", wait=True)

    def _write(self, sections: Sequence[Section], *, interrupted: bool) -> None:
        """Write the list of targets, which has the sum of the page, and then the page."""
        content = _render(sections, interrupted).encode() if sections else None
        known = {} if content is None else {PAGE: hashlib.sha256(content).hexdigest()}
        self._list(sections, known, interrupted=interrupted)
        with writing(self._out / PAGE):
            if content is None:
                (self._out / PAGE).unlink(missing_ok=True)
            else:
                put(self._out / PAGE, content)

    def _list(
        self, sections: Sequence[Section], sums: Mapping[str, str], *, interrupted: bool
    ) -> None:
        document = {
            "burstlab": _core.__version__,
            "effort": self._options.effort,
            "interrupted": interrupted,
            "targets": [one["report"] for one in sections],
            FIELD: sums,
        }
        with writing(self._out / LIST):
            put(self._out / LIST, f"{json.dumps(sealed(document), indent=2)}\n".encode())


def _sections(out: Path) -> list[Section]:
    """Return the report of a directory, target by target."""
    path = out / LIST
    if not path.exists():
        if (out / PAGE).exists():
            raise InputError(
                f"{out / PAGE}: does not belong to a reproduction, which would overwrite it\n"
                "  fix: give another --out, or move this file away"
            )
        return []
    return [_stored(out, one["target"]) for one in listed(path, _BEGIN_ANEW)]


def _refuse_others(out: Path, sections: Sequence[Section], targets: Sequence[str]) -> None:
    """Refuse to overwrite foreign files that have names of a target's files."""
    ours = {str(file) for one in sections for file in one["files"]}
    ours |= {f"{one['name']}.json" for one in sections}
    for name in targets:
        paper, _, target = name.partition("/")
        if (out / paper / f".{target}").is_dir():
            continue  # what a run that was killed has put there of this target
        for file in sorted((out / paper).glob(f"{target}*")):
            if f"{paper}/{file.name}" not in ours and _KINDS.fullmatch(file.name[len(target) :]):
                raise InputError(
                    f"{file}: does not belong to a reproduction, which would overwrite it\n"
                    "  fix: give another --out, or move this file away"
                )


def _stored(out: Path, name: str) -> Section:
    paper, _, target = name.partition("/")
    path = out / paper / f"{target}.json"
    try:
        found = json.loads(stored_text(path))
    except FileNotFoundError:
        raise _unreadable(path, f"is not there, so nothing can be added to {LIST}") from None
    except (OSError, ValueError, RecursionError) as error:
        raise _unreadable(path, f"damaged ({error})") from None
    if not isinstance(found, dict) or not is_intact(found):
        raise _unreadable(path, "damaged, or was changed")
    if found.get("format") != FORMAT or found.get("name") != name:
        raise _unreadable(path, "of another version of burstlab, or of another target")
    return found


def _unreadable(path: Path, problem: str) -> InputError:
    return InputError(f"{path}: {problem}\n  fix: {_BEGIN_ANEW}")


def _section(report: TargetReport, aside: Path, options: Options) -> Section:
    """Write the files of a target; return its part of the report."""
    findings, key = report.findings, report.paper.key
    charts: list[dict[str, Any]] = []
    for name, chart in findings.charts.items():
        rows = findings.data.get(name, ())
        spec = titles.titled(specification(chart), report, options, rows)
        drawn = Chart.of(f"{key}-{name}", spec)
        paths = save(spec, rows, aside / name, column=options.column)
        charts.append(
            {
                "id": drawn.id,
                "spec": drawn.spec,
                "zooms": '"bind":"scales"' in drawn.spec,
                "caption": _caption(report),
                "files": [f"{key}/{path.name}" for path in paths],
            }
        )
    values = [row.to_json() for row in findings.rows]
    if values:
        write_csv(values, aside / f"{report.target}-values.csv")
    common = {"burstlab": _core.__version__, "effort": options.effort}
    return {
        "format": FORMAT,
        "name": report.name,
        "id": report.name.replace("/", "-"),
        "paper": {"key": key, "errata": [], **report.paper.about},
        "title": report.paper.title(report.target),
        "charts": charts,
        "files": sorted(f"{key}/{path.name}" for path in aside.iterdir()),
        FIELD: {f"{key}/{path.name}": sum_of(path) for path in sorted(aside.iterdir())},
        "rows": values,
        "notes": list(findings.notes),
        "claims": [
            {
                "source": one.source,
                "why": one.why,
                "limit": "",
                "wrong_models": {},
                **one.to_json(),
            }
            for one in report.claims
        ],
        "fingerprint": report.fingerprint,
        "seed": report.seed,
        "wall_s": report.wall_s,
        "parameters": _parameters(report, options),
        "command": command(report.name, options),
        "again": {"seed": options.seed, **common},
        "report": {**report.to_json(), **common},
    }


def _caption(report: TargetReport) -> str:
    """Return the caption of a figure: that of the target's plan, or its title."""
    plan = report.paper.plans[report.target]
    about = plan.get("caption") or plan.get("picture") or plan["title"]
    return f"{titles.place(report.target, plan)} of the paper: {about}"


def command(target: str, options: Options) -> str:
    """Return the command that repeats a target."""
    seed = "" if options.seed is None else f" --seed {options.seed}"
    return f"burstlab reproduce {target} --{options.effort}{seed}"


def _render(sections: Sequence[Section], interrupted: bool) -> str:
    papers = {one["paper"]["key"]: one["paper"] for one in sections}
    verdicts = [claim["verdict"] for one in sections for claim in one["claims"]]
    commands: dict[tuple[str, str, int | None], list[str]] = {}
    for one in sections:
        again = one["again"]
        kind = (again["burstlab"], again["effort"], again["seed"])
        commands.setdefault(kind, []).append(one["name"])
    prefixes = dict.fromkeys(one["name"].partition("/")[0] for one in sections)
    return render(
        "reproduction.html.j2",
        [Chart(chart["id"], chart["spec"]) for one in sections for chart in one["charts"]],
        papers=papers,
        errata={key: errata(about) for key, about in papers.items()},
        sections=sections,
        lead=next((one for one in sections if one["charts"] and one["claims"]), None),
        next_steps=[
            *NEXT,
            *((f"burstlab reproduce {one} --quick", f"all of {one}") for one in prefixes),
        ],
        counts={name: verdicts.count(name) for name in VERDICTS},
        versions=list(dict.fromkeys(version for version, _, _ in commands)),
        quick=any(effort == "quick" for _, effort, _ in commands),
        interrupted=interrupted,
        commands=[
            command(" ".join(names), Options(effort, seed))
            for (_, effort, seed), names in commands.items()
        ],
    )


def _parameters(report: TargetReport, options: Options) -> list[dict[str, str]]:
    """Return the parameters of a target: its table of the plan, and the scenario."""
    import tomli_w

    plan = report.paper.plans[report.target]
    kept = {name: value for name, value in plan.items() if name not in (*_WORDS, *_EFFORTS)}
    if options.effort in plan:
        kept[options.effort] = plan[options.effort]
    found = [{"title": "Parameters of this target", "text": tomli_w.dumps(kept)}]
    if "scenario" in plan:
        text = (report.paper.directory / plan["scenario"]).read_text(encoding="utf-8")
        title = f"The scenario they change, {plan['scenario']}; defaults: burstlab schema"
        found.append({"title": title, "text": text})
    return found


_WORDS = ("title", "caption", "picture")
_EFFORTS = ("quick", "full")
