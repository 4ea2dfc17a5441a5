"""The plan of a study: its scenarios, points, numbers of runs, and metrics."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

from burstlab import _core, classes
from burstlab.documents.named_files import NamedFiles, held
from burstlab.documents.paths import without_none
from burstlab.errors import FieldError, PlanError
from burstlab.loading import (
    Document,
    as_written,
    plain,
    read_toml,
    refuse_overridden,
    set_at,
    with_files,
)
from burstlab.simulation import SEED_MAX, resolve
from burstlab.studies import design
from burstlab.studies.fields import Fields, flat
from burstlab.studies.warmup import Warmup

PlanLike: TypeAlias = "Plan | Mapping[str, Any] | str | os.PathLike[str]"

#: The largest number of replications of a point.
MOST = 1_000_000

#: Columns of the tables of a study that a metric or a parameter cannot be called.
RESERVED = ("point", "scheme", "replication", "seed", "fingerprint", "warmup_s", "warmup_found")

#: Fields that a study sets for all its runs.
_OWN = {"run.seed": "seed", "run.replications": "replications"}


@dataclass(frozen=True)
class Stopping:
    """How many replications a point has.

    Attributes
    ----------
    first, batch, most
        Size of the first batch and of each further one, and the largest number.
    relative
        The half-width of the 95 % interval that is wanted, as a share of the mean; None for a
        fixed number.
    metrics
        Whose.
    of
        ``"means"`` of each scheme, or ``"ratios"`` between each two.
    """

    first: int
    batch: int
    most: int
    relative: float | None = None
    metrics: Sequence[str] = ()
    of: str = "means"

    @classmethod
    def read(cls, given: Any, path: str, schemes: int) -> Stopping:
        """Read the table ``precision``."""
        fields = Fields(given, path)
        relative = float(fields.needed("relative", (int, float)))
        if not 0.0 < relative < 1.0:
            fix = "use a share of the mean, such as 0.05"
            raise PlanError(fields.at("relative"), relative, "not between 0 and 1", fix)
        metrics = fields.needed("metrics", list)
        if not metrics or not all(isinstance(one, str) for one in metrics):
            fix = "name metrics, in a list"
            raise PlanError(fields.at("metrics"), str(metrics), "not a list of names", fix)
        of = fields.choice("of", ("means", "ratios"))
        if of == "ratios" and schemes < 2:
            problem = "there are no two schemes to compare"
            raise PlanError(fields.at("of"), of, problem, "name [schemes], or use means")
        least = fields.whole("minimum", least=2, most=MOST, default=5)
        batch = fields.whole("batch", least=1, most=MOST, default=5)
        most = fields.whole("maximum", least=least, most=MOST, default=max(50, least))
        fields.done()
        return cls(least, batch, most, relative, list(metrics), of)

    def to_document(self) -> Document:
        """Return the fields as a plan has them."""
        if self.relative is None:
            return {"replications": self.most}
        table = {
            "relative": self.relative,
            "metrics": list(self.metrics),
            "of": self.of,
            "minimum": self.first,
            "batch": self.batch,
            "maximum": self.most,
        }
        return {"precision": table}


@dataclass(frozen=True)
class Plan:
    """A plan, read and checked field by field; `scenario` checks its scenarios.

    Attributes
    ----------
    base
        The scenario that all runs start from, files read.
    files
        The files that settings name.
    designs
        The designs as written, with their points; the study runs their product.
    points
        The settings of each point.
    schemes
        The schemes that are compared at each point: settings by name. Without schemes there is one
        without a name.
    seed
        The seed, from which the seeds of all runs follow.
    independent
        Whether each point has its own random numbers.
    stopping
        How often each point is run.
    metrics
        Paths by name; None for every single number of a run.
    warmup
        How the warm-up is found, where it is.
    """

    base: Document
    files: NamedFiles
    designs: Mapping[str, Any]
    points: Sequence[design.Point]
    schemes: Mapping[str, Document]
    seed: int
    independent: bool
    stopping: Stopping
    metrics: Mapping[str, str] | None
    warmup: Warmup | None
    #: Where code stands that came with the plan, if there is any.
    code: str | None = None
    _text: str = field(repr=False, compare=False, default="")

    @property
    def names(self) -> list[str]:
        """Names of the schemes; one empty name where there are none."""
        return list(self.schemes)

    @property
    def swept(self) -> list[str]:
        """Paths of the fields that points set, each once."""
        return list(dict.fromkeys(path for point in self.points for path in point))

    @cached_property
    def _base_has_code(self) -> bool:
        return classes.named_in(self.base)

    def has_code(self, point: int, scheme: str) -> bool:
        """Whether a scheme at a point names a class of Python, or the scenario of all does."""
        return self._base_has_code or classes.named_in([self.points[point], self.schemes[scheme]])

    def seed_of(self, point: int) -> int:
        """Return the seed of all runs at a point."""
        if not self.independent:
            return self.seed
        # Keyed by the settings of the point, not by its number.
        text = f"{self.seed} {json.dumps(self.points[point], sort_keys=True)}"
        return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") % (SEED_MAX + 1)

    def scenario(self, point: int, scheme: str, warmup: str = "") -> str:
        """Return the resolved scenario of a scheme at a point, as JSON.

        Parameters
        ----------
        point
            Number of the point.
        scheme
            Name of the scheme.
        warmup
            The warm-up that was found for it, in place of its own.

        Raises
        ------
        PlanError
            If the engine refuses it; the error names the point.
        """
        try:
            document = json.loads(self._text)
            settings = {**self.points[point], **self.schemes[scheme]}
            for path, value in settings.items():
                set_at(document, path, plain(value, path))
            set_at(document, "run.seed", self.seed_of(point))
            if warmup:
                set_at(document, "run.warmup", warmup)
            # As they were when they were first read, however long the study takes.
            with_files(document, self.files)
            refuse_overridden(document, settings)
            return _core.resolve(json.dumps(document))
        except _core.InvalidScenario as error:
            path, value, problem, fix = (*error.args, "", "", "", "")[:4]
        except FieldError as error:
            path, value, problem, fix = error.path, error.value, error.problem, error.fix
        raise PlanError(path, value, f"{problem} ({self._where(point, scheme)})", fix)

    def to_document(self) -> Document:
        """Return the plan with all defaults, as one that reads the same."""
        document: Document = {
            "seed": self.seed,
            "seeds": "independent" if self.independent else "common",
            **self.stopping.to_document(),
        }
        if self.metrics is not None:
            document["metrics"] = dict(self.metrics)
        if self.warmup is not None:
            document["warmup"] = self.warmup.to_document()
        if files := self.files.to_document():
            document["files"] = files
        document.update(self.designs)
        if self.names != [""]:
            document["schemes"] = {name: dict(table) for name, table in self.schemes.items()}
        document["scenario"] = without_none(self.base)
        return document

    def _where(self, point: int, scheme: str) -> str:
        settings = ", ".join(f"{name} = {value!r}" for name, value in self.points[point].items())
        where = f"point {point}" + (f": {settings}" if settings else "")
        return f"{where}; scheme {scheme}" if scheme else where


def picoseconds(time_s: float) -> str:
    """Write a time as a scenario has it, to the picosecond."""
    return f"{time_s * 1e12:.0f} ps"


def read(given: PlanLike) -> Plan:
    """Read a plan from a TOML file or a dictionary; see docs/howto/study.md for its fields.

    Raises
    ------
    PlanError
        If a field is wrong; the error names the field and the fix.
    """
    if isinstance(given, Plan):
        return given
    if isinstance(given, Mapping):
        directory, document = Path(), dict(given)
    else:
        directory, document = Path(given).parent, read_toml(given)
    scenario = document.pop("scenario", None)
    fields = Fields(plain(document), "")
    base, directory = _scenario(scenario, directory)
    fixed = _settings(fields.table("set"), "set")
    for path, value in fixed.items():
        _set(base, path, value)
    files = NamedFiles(directory, held(fields.table("files"), "files"), keep=True)
    # Only texts of the base's classes that came with a result count as foreign code.
    with_files(base, NamedFiles(directory))
    code = classes.written({**document, "scenario": base})
    classes.expand(base)
    _refuse_overridden(base, fixed)
    seed = fields.whole("seed", least=0, most=SEED_MAX, default=_default(base, "seed"))
    seeds = fields.choice("seeds", ("common", "independent"))
    schemes = _schemes(fields.table("schemes"))
    stopping = _stopping(fields, base, len(schemes))
    metrics = _metrics(fields.take("metrics", (list, dict)))
    warmup = fields.take("warmup", (str, dict))
    designs, points = _designs(fields, seed)
    fields.done()
    _check_together(points, schemes, stopping, metrics)
    _check_settings(fixed, points, schemes, warmup is not None)
    return Plan(
        base=base,
        files=files,
        designs=designs,
        points=points,
        schemes=schemes,
        seed=seed,
        independent=seeds == "independent",
        stopping=stopping,
        metrics=metrics,
        warmup=None if warmup is None else Warmup.read(warmup, "warmup"),
        code=code or _take_in(files, points, schemes),
        _text=json.dumps(base),
    )


def _take_in(
    files: NamedFiles, points: Sequence[design.Point], schemes: Mapping[str, Document]
) -> str | None:
    """Read the files that settings name, so that they are stored with the plan.

    Returns the place of code that came with the plan, if there is any. A file that cannot be read
    is refused when a scenario is made of it.
    """
    code: str | None = None
    tables = [(f"schemes.{name}." if name else "", table) for name, table in schemes.items()]
    seen: set[str] = set()
    for at, table in (*tables, *(("", point) for point in points)):
        for path, name in named(table):
            if code is None and any(f"{one}.file" in path for one in classes.FIELDS):
                code = f"{at}{path}" if files.is_foreign(name) else None
            if name not in seen:
                seen.add(name)
                with suppress(FieldError):
                    files.read(name)
    return code


def named(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Return the fields among settings that name a file, by their paths, and its name."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from named(inner, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list):
        for inner in value:
            yield from named(inner, path)
    elif isinstance(value, str) and path.endswith(".file"):
        yield path, value


def _scenario(given: Any, directory: Path) -> tuple[Document, Path]:
    if given is None:
        fix = 'add scenario = "FILE.toml", or a table [scenario]'
        raise PlanError("scenario", "", "is missing", fix)
    if isinstance(given, (str, os.PathLike)):
        base, directory = as_written(directory / given)
    elif isinstance(given, (bool, int, float, list)):
        raise PlanError("scenario", given, "not a file or a table", 'write "FILE.toml"')
    else:
        base, _ = as_written(given)
    return base, directory


def _default(base: Document, name: str) -> int:
    section = base.get("run")
    value = section.get(name) if isinstance(section, dict) else None
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    return int(resolve({})["run"][name])


def _settings(table: Mapping[str, Any], path: str) -> Document:
    found = flat(table, path)
    for name in found:
        if name in _OWN:
            fix = f"use {_OWN[name]} of the plan"
            raise PlanError(f"{path}.{name}", found[name], "the plan says that itself", fix)
    return found


def _set(document: Document, path: str, value: Any) -> None:
    try:
        set_at(document, path, value)
    except FieldError as error:
        raise PlanError(f"set.{path}", value, error.problem, error.fix) from None


def _refuse_overridden(base: Document, fixed: Document) -> None:
    try:
        refuse_overridden(base, fixed)
    except FieldError as error:
        raise PlanError(f"set.{error.path}", error.value, error.problem, error.fix) from None


def _schemes(table: Mapping[str, Any]) -> dict[str, Document]:
    if not table:
        return {"": {}}
    return {name: _settings(given, f"schemes.{name}") for name, given in table.items()}


def _stopping(fields: Fields, base: Document, schemes: int) -> Stopping:
    given = fields.take("precision", dict)
    if given is not None:
        if fields.has("replications"):
            problem = "precision is given too"
            raise PlanError("replications", "", problem, "keep one of the two")
        return Stopping.read(given, "precision", schemes)
    default = max(_default(base, "replications"), 1)
    count = fields.whole("replications", least=1, most=MOST, default=default)
    return Stopping(count, count, count)


def _metrics(given: Any) -> dict[str, str] | None:
    if given is None:
        return None
    pairs = given if isinstance(given, Mapping) else {path: path for path in given}
    for name, path in pairs.items():
        if not (isinstance(path, str) and path):
            fix = "write a path such as flows.mean.goodput_bps"
            raise PlanError(f"metrics.{name}", path, "not the path of a number", fix)
    if not pairs:
        raise PlanError("metrics", "[]", "nothing would be kept", "name one, or leave it out")
    return dict(pairs)


def _designs(fields: Fields, seed: int) -> tuple[Document, list[design.Point]]:
    written: Document = {}
    points: dict[str, list[design.Point]] = {}
    listed = fields.take("list", (list, dict))
    if isinstance(listed, dict):
        written["list"] = flat(listed, "list")
        points["list"] = design.zipped(written["list"], "list")
    elif listed is not None:
        if not listed:
            raise PlanError("list", "[]", "an empty list has no point", "name one, or leave it out")
        tables = [_settings(one, f"list[{index}]") for index, one in enumerate(listed)]
        written["list"], points["list"] = tables, tables
    for name in ("latin_hypercube", "random"):
        table = fields.take(name, dict)
        if table is not None:
            written[name] = {"seed": seed, **table}
            points[name] = design.drawn(table, name, seed, latin=name == "latin_hypercube")
    lists = flat(fields.table("grid"), "grid")
    if lists:
        written["grid"] = lists
        points["grid"] = design.grid(lists, "grid")
    return written, design.crossed(points)


def _check_settings(
    fixed: Document,
    points: Sequence[design.Point],
    schemes: Mapping[str, Document],
    warmed: bool,
) -> None:
    """Refuse settings that others replace at every point."""
    swept = dict.fromkeys(name for point in points for name in point)
    for path, value in fixed.items():
        fix = "keep one of the two"
        if path in swept and all(path in point for point in points):
            raise PlanError(f"set.{path}", value, "it has no effect: it is swept too", fix)
        if all(path in table for table in schemes.values()):
            raise PlanError(f"set.{path}", value, "it has no effect: each scheme sets it", fix)
    for at, names in (("", swept), *((f"schemes.{name}.", one) for name, one in schemes.items())):
        if warmed and "run.warmup" in names:
            problem = "it has no effect: the plan finds the warm-up"
            fix = "remove it, or warmup of the plan"
            raise PlanError(f"{at}run.warmup", names["run.warmup"], problem, fix)


def _check_together(
    points: Sequence[design.Point],
    schemes: Mapping[str, Document],
    stopping: Stopping,
    metrics: Mapping[str, str] | None,
) -> None:
    swept = dict.fromkeys(name for point in points for name in point)
    for path in swept:
        if path in _OWN:
            fix = f"use {_OWN[path]} of the plan"
            raise PlanError(path, "", "the plan says that itself", fix)
    for scheme, settings in schemes.items():
        for path in settings:
            if path in swept:
                fix = "keep one of the two"
                raise PlanError(f"schemes.{scheme}.{path}", settings[path], "is swept too", fix)
    if metrics is None:
        return
    taken = {*RESERVED, *design.columns(points)}
    for name in metrics:
        if name in taken:
            problem = "a column is called so already"
            raise PlanError(f"metrics.{name}", metrics[name], problem, "use another name")
    for name in stopping.metrics:
        if name not in metrics:
            problem = "is not among the metrics of the plan"
            fix = f"add it to metrics, or use one of {', '.join(metrics)}"
            raise PlanError("precision.metrics", name, problem, fix)
