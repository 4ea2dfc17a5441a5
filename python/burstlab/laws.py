"""Comparison of window laws: `compare` runs them with the same random numbers."""

from __future__ import annotations

import ast
import html
import inspect
import sys
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, get_args

from burstlab.classes import ON_BURSTS
from burstlab.documents.nearer import ENTRIES
from burstlab.documents.parameters import LAWS_OF_LINUX, SCHEMES
from burstlab.documents.unresolved import unresolved
from burstlab.errors import InputError, unknown
from burstlab.loading import Document, ScenarioLike, admitted
from burstlab.simulation import override, resolve
from burstlab.storage.files import named_text

if TYPE_CHECKING:
    import os

    from burstlab.studies import Study

#: A law: the name of one that is built in, ``"FILE.py:CLASS"``, a class, or fields of ``tcp``.
Law: TypeAlias = "str | type | Mapping[str, Any]"

ASKED_BY_LINUX = ("pacing_rate", "next_timer")

#: Fields that laws have in common, although profiles give them different defaults.
SHARED = ("segment_size", "window")

#: Printed measures of each law, in this order: name, unit, factor, and path in a summary.
MEASURES: tuple[tuple[str, str, float, str], ...] = (
    ("goodput", "Mb/s", 1e-6, "flows.mean.goodput_bps"),
    ("segments sent again", "", 1.0, "flows.mean.retransmissions"),
    ("time-outs", "", 1.0, "flows.mean.timeouts"),
    ("false time-outs", "", 1.0, "flows.mean.false_timeouts"),
    ("mean round trip", "ms", 1e3, "flows.mean.rtt_s"),
)


@dataclass(frozen=True, repr=False)
class Laws:
    """Laws that were compared.

    Attributes
    ----------
    study
        Their runs, as a study with one scheme per law; it has all other numbers and the tables.
    names
        The laws, in the given order.
    """

    study: Study
    names: Sequence[str]

    def estimates(self) -> list[dict[str, Any]]:
        """Return a row for each law and measure.

        Returns
        -------
        list of dict
            Each has ``law``, ``measure``, ``unit``, ``mean``, ``ci95`` (half the width of the 95 %
            interval; None with one replication) and ``n``. ``ratio`` and ``ratio_ci95`` compare
            with the first law, paired run by run; they are None for the first law, and where the
            first law's value is 0 or missing.
        """
        table = self.study.estimates.to_pylist()
        found = {(row["scheme"], row["metric"]): row for row in table}
        ratios = {
            (row["scheme"], row["metric"]): row
            for row in self.study.differences.to_pylist()
            if row["over"] == self.names[0]
        }
        rows: list[dict[str, Any]] = []
        for measure, unit, factor, path in MEASURES:
            for law in self.names:
                row = found.get((law, path))
                if row is None or row["mean"] is None:
                    continue
                half, ratio = row["ci95"], ratios.get((law, path), {})
                rows.append(
                    {
                        "law": law,
                        "measure": measure,
                        "unit": unit,
                        "mean": row["mean"] * factor,
                        "ci95": None if half is None else half * factor,
                        "n": row["n"],
                        "ratio": ratio.get("ratio"),
                        "ratio_ci95": ratio.get("ratio_ci95"),
                    }
                )
        return rows

    def plot(
        self, measures: Sequence[str] = ("goodput", "segments sent again", "time-outs")
    ) -> Any:
        """Draw each measure with 95 % intervals: one row and one colour per law.

        Parameters
        ----------
        measures
            Names of measures in `estimates`.

        Returns
        -------
        altair.Chart
            The figure.
        """
        import altair as alt

        from burstlab.plot import theme
        from burstlab.plot.named import Named, named_panel

        rows = self.estimates()
        known = list(dict.fromkeys(row["measure"] for row in rows))
        for name in measures:
            if name not in known:
                raise unknown("measure", name, known)
        panels = []
        for index, name in enumerate(measures):
            of = [row for row in rows if row["measure"] == name]
            unit = of[0]["unit"]
            values = [
                Named(row["law"], row["mean"], row["ci95"], row["n"], least=0.0) for row in of
            ]
            title = f"{name} ({unit})" if unit else name
            panels.append(named_panel(values, title, each=True, named=index == 0, width=230))
        return theme.configured(alt.hconcat(*panels, spacing=26))

    def __repr__(self) -> str:
        """Return a line for each law: its goodput, and the ratio to the first law's."""
        rows = [row for row in self.estimates() if row["measure"] == MEASURES[0][0]]
        width = max(map(len, self.names))
        lines = [f"{row['law']:{width}}  {_told(row)}{_over(row, self.names[0])}" for row in rows]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        rows = self.estimates()
        measures = list(dict.fromkeys(row["measure"] for row in rows))
        head = "".join(f"<th>{html.escape(name)}</th>" for name in ("", *measures))
        body = ""
        for law in self.names:
            of = {row["measure"]: row for row in rows if row["law"] == law}
            cells = "".join(f"<td>{_told(of[name])}</td>" for name in measures if name in of)
            body += f"<tr><th>{html.escape(law)}</th>{cells}</tr>"
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def compare(
    laws: Sequence[Law] | Mapping[str, Law],
    scenario: ScenarioLike,
    *,
    replications: int = 10,
    seed: int | None = None,
    jobs: int | None = None,
    out: str | os.PathLike[str] | None = None,
    progress: bool = False,
    allow_code: bool = False,
) -> Laws:
    """Run window laws on one scenario. Losses and all other random numbers are equal for each law.

    Parameters
    ----------
    laws
        At least two. Each is the name of a law or variant (``"reno"``, ``"sack"``, ``"cubic"``,
        ``"bbr"``), a class as in `burstlab.control`, the place of one
        (``"laws/scalable.py:Scalable"``), or fields of ``tcp`` such as
        ``{"variant": "sack", "window": 64}``. A dictionary gives them names. A class runs in the
        sender of the scenario. It runs in the Linux sender if another law is one that only the
        Linux sender has, such as ``"cubic"``, or if it has `pacing_rate` or `next_timer`.
        If only some laws have the profile ``"linux"``, all laws use its ``segment_size`` (1500 B)
        and its receiver's ``window`` (8192), unless the scenario or a law sets them. So ratios
        compare laws and not segment sizes.
    scenario
        A `Scenario`, a dictionary, or the path of a TOML file; the laws replace its own law. The
        scenario of a result stores every parameter: parameters that depend on the law are derived
        again for each law. A flow that sets its own law keeps it. If every flow has its own, `laws`
        would
        have no effect, and is refused.
    replications
        Runs of each, 1 to 10^6; from 2 on there are intervals.
    seed
        0 to 2^63 - 1; by default that of the scenario.
    jobs
        Runs at a time; by default the number of processors. It changes no number.
    out
        Directory to store the study in.
    progress
        Whether a bar is shown, on a terminal as in Jupyter.
    allow_code
        Execute Python code that came with the scenario or a law, or is stored in a result; see
        `burstlab.run`.

    Returns
    -------
    Laws
        The runs of all laws, with their estimates and figure.

    Raises
    ------
    InputError
        If something given is not a law, or two laws have one name.
    ScenarioError
        If a field of the scenario is wrong, or does not fit a law.

    Examples
    --------
    >>> laws = compare(["reno", "sack"], "examples/one_burst.toml")  # doctest: +SKIP
    >>> laws.plot()  # doctest: +SKIP
    """
    from burstlab.studies import study

    named = laws if isinstance(laws, Mapping) else _by_name(laws)
    if len(named) < 2:
        raise InputError(f"{len(named)} law: there is nothing to compare\n  fix: give at least two")
    document = unresolved(admitted(scenario, allow_code=allow_code))
    override(document, seed=seed, replications=None)
    schemes = _alike(_schemes(named, allow_code=allow_code), document)
    _give_way(document, schemes)
    run = document.get("run")
    given = run.pop("seed", 1) if isinstance(run, dict) else 1
    if isinstance(run, dict):
        run.pop("replications", None)
    plan = {
        "scenario": document,
        "seed": given,
        "replications": replications,
        "metrics": [path for *_, path in MEASURES],
        "schemes": {name: {"tcp": fields} for name, fields in schemes.items()},
    }
    # The code in the scenario and in the laws was admitted above.
    found = study(plan, out=out, jobs=jobs, progress=progress, allow_code=True)
    return Laws(found, list(named))


def _by_name(laws: Sequence[Law]) -> dict[str, Law]:
    named: dict[str, Law] = {}
    for law in laws:
        name = _name(law)
        if name in named:
            raise InputError(
                f"two laws are called {name!r}\n  fix: give names, in a dictionary: "
                "{'one': ..., 'other': ...}"
            )
        named[name] = law
    return named


def _name(law: Law) -> str:
    if isinstance(law, str):
        return law.rpartition(":")[2] if ".py:" in law else law
    if isinstance(law, type):
        return law.__name__
    return ", ".join(f"{key} = {value}" for key, value in law.items())


def _schemes(named: Mapping[str, Law], *, allow_code: bool) -> dict[str, dict[str, Any]]:
    """Return the fields of ``tcp`` of each law; a class uses the sender that the others need."""
    linux = any(isinstance(law, str) and law in LAWS_OF_LINUX for law in named.values())
    schemes: dict[str, dict[str, Any]] = {}
    for name, law in named.items():
        fields = _fields(name, law)
        if not isinstance(law, type):
            # The caller's own class needs no permission; a name or fields may lead to stored code.
            admitted({"tcp": fields}, allow_code=allow_code)
        if not isinstance(law, Mapping) and fields.get("window_law") == "python":
            given = fields["window_law_class"]
            source = given.get("source") or named_text(Path(given["file"]), name)
            methods = _methods(source, given["class"])
            fields |= _judging(methods)
            if linux or not methods.isdisjoint(ASKED_BY_LINUX):
                fields = {"variant": "linux", "profile": "linux", **fields}
        schemes[name] = fields
    return schemes


def _give_way(document: Document, schemes: Mapping[str, Mapping[str, Any]]) -> None:
    """Remove the scenario's own window law, if each of the laws replaces it."""
    tcp = document.get("tcp")
    if isinstance(tcp, dict) and all(
        {"variant", "window_law"} & set(one) for one in schemes.values()
    ):
        for name in ("window_law", "window_law_class"):
            tcp.pop(name, None)


def _alike(schemes: dict[str, dict[str, Any]], document: Document) -> dict[str, dict[str, Any]]:
    """Give all laws the segment size and window of Linux, if only some have its profile."""
    tcp = document.get("tcp")
    entries = [one for table in ENTRIES for one in document.get(table) or ()]
    base = tcp if isinstance(tcp, Mapping) else {}
    others = [
        fields
        for fields in schemes.values()
        if fields.get("profile", base.get("profile")) != "linux"
    ]
    if not 0 < len(others) < len(schemes):
        return schemes
    linux = resolve({"tcp": {"profile": "linux"}})["tcp"]
    for fields in others:
        for name in SHARED:
            own = [name in (entry.get("tcp") or {}) for entry in entries]
            if name not in base and not (own and all(own)):
                fields.setdefault(name, linux[name])
    return schemes


def _methods(source: str, name: str) -> set[str]:
    """Return the methods of a class in a text, and of its bases there."""
    try:
        body = ast.parse(source).body
    except SyntaxError:
        return set()  # It is refused, with its line, as the scenario is read.
    classes = {one.name: one for one in body if isinstance(one, ast.ClassDef)}
    found: set[str] = set()
    names = [name]
    while names:
        one = classes.pop(names.pop(), None)
        if one is not None:
            found |= {part.name for part in one.body if isinstance(part, ast.FunctionDef)}
            names += [base.id for base in one.bases if isinstance(base, ast.Name)]
    return found


def _judging(methods: set[str]) -> dict[str, str]:
    """Return the fields of a class that is law and detector, if it is one."""
    if methods.isdisjoint(("excuses", "on_feedback", *ON_BURSTS)):
        return {}
    acks, naks = not methods.isdisjoint(ON_BURSTS[:2]), ON_BURSTS[2] in methods
    notices = "all" if acks and naks else "acks" if acks else "naks" if naks else None
    return {"detector": "law"} | ({"class_notices": notices} if notices else {})


def _fields(name: str, law: Law) -> dict[str, Any]:
    """Return the fields of ``tcp`` that select a law."""
    from burstlab import scenario

    if isinstance(law, Mapping):
        return dict(law)
    if isinstance(law, type):
        given = {"source": _source(law), "name": f"{law.__name__}.py", "class": law.__name__}
        return {"window_law": "python", "window_law_class": given}
    if ".py:" in law:
        file, _, of = law.rpartition(":")
        given = {"file": str(Path(file).absolute()), "class": of}
        return {"window_law": "python", "window_law_class": given}
    variants, windows = get_args(scenario.Variant), get_args(scenario.WindowLaw)
    if law in variants:
        return {"variant": law}
    if law in LAWS_OF_LINUX:
        return {"variant": "linux", "profile": "linux", "window_law": law}
    if law in SCHEMES:
        return {"window_law": law, "detector": "law"}
    if law in windows and law != "python":
        return {"window_law": law}
    raise unknown("law", name, [*variants, *(one for one in windows if one != "python")])


def _source(law: type) -> str:
    """Return the text of a class, after the imports of its module."""
    try:
        text = textwrap.dedent(inspect.getsource(law))
    except (OSError, TypeError):
        raise InputError(
            f"the text of class {law.__name__} cannot be found in a file\n"
            "  fix: write it into a file, and give 'FILE.py:CLASS'"
        ) from None
    module = sys.modules.get(law.__module__)
    imports = ["from burstlab.control import *"]
    try:
        whole = inspect.getsource(module) if module is not None else ""
    except (OSError, TypeError):
        whole = ""
    if whole:
        imports += [
            ast.unparse(node)
            for node in ast.parse(whole).body
            if isinstance(node, (ast.Import, ast.ImportFrom))
            and getattr(node, "module", "") != "__future__"
        ]
    return "\n".join(["from __future__ import annotations", *imports, "", "", text])


def _told(row: Mapping[str, Any]) -> str:
    half = "" if row["ci95"] is None else f" ± {row['ci95']:.2g}"
    return f"{row['mean']:.4g}{half} {row['unit']}".strip()


def _over(row: Mapping[str, Any], first: str) -> str:
    if row["ratio"] is None or row["law"] == first:
        return ""
    half = "" if row["ratio_ci95"] is None else f" ± {row['ratio_ci95']:.2g}"
    return f"  ({row['ratio']:.3g}{half} times {first})"
