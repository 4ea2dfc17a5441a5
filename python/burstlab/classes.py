"""Python classes that scenarios name: from files into scenarios, and from there into runs.

A file is read and parsed without being executed. Each run executes the text that the resolved
scenario holds.
"""

from __future__ import annotations

import itertools
import json
import linecache
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from burstlab.documents.named_files import NamedFiles
from burstlab.documents.parameters import needs_classes
from burstlab.errors import ScenarioError
from burstlab.running import waking

#: Fields of ``tcp`` that name a class.
FIELDS = ("window_law_class", "detector_class")

METHODS = ("on_ack", "on_loss", "on_timeout")

#: Methods that get reports of nodes about bursts.
ON_BURSTS = ("on_burst_left", "on_burst_arrived", "on_burst_lost")

#: All that a detector may have, and all that a law may have, in the order of the engine.
OF_A_DETECTOR = (*METHODS, *ON_BURSTS)
OF_A_LAW = (
    *OF_A_DETECTOR,
    *("on_mark", "on_timer", "pacing_rate", "next_timer", "on_feedback", "excuses"),
    "on_excused",
)

#: The result of `load`: a function that makes an instance, which methods the class has, and whether
#: it rules slow start.
Loaded = tuple[Callable[[], Any], list[bool], bool]


#: Numbers of modules, so that runs side by side do not share one.
_NUMBERS = itertools.count()


def place(document: dict[str, Any], files: NamedFiles) -> None:
    """Write the full paths of files, or the text of a file that came with a result or a study.

    For the files of a plan the text is written too. Code inside a scenario is executed only with
    permission. Changes the document.

    Parameters
    ----------
    document
        A scenario.
    files
        The files that it names.
    """
    for path, given in _given(document):
        name = given.get("file")
        if not isinstance(name, str):
            continue
        if files.keeps or files.is_foreign(name):
            _expand(path, given, files)
        else:
            given["file"] = files.where(name).absolute().as_posix()


def expand(document: dict[str, Any]) -> None:
    """Put the text of each file in its place, checked as far as that is possible unexecuted.

    Parameters
    ----------
    document
        A scenario; changed in place. Left alone where the engine has to refuse it anyway.

    Raises
    ------
    ScenarioError
        If a file cannot be read, is not Python, or has no such class; it names the classes that
        are there.
    """
    for path, given in _given(document):
        _expand(path, given, NamedFiles(Path()))


def _expand(path: str, given: dict[str, Any], files: NamedFiles) -> None:
    """Put the text of the file of one class in its place."""
    file, name = given.get("file"), given.get("class")
    if not isinstance(file, str) or not isinstance(name, str):
        return
    del given["file"]
    where, text = files.where(file), files.text(file, f"{path}.file")
    _look(path, where, text, name)
    given["source"], given["name"] = text, where.name


def used(resolved: Mapping[str, Any]) -> bool:
    """Whether a resolved scenario names Python classes."""
    return needs_classes(resolved)


def written(document: Any) -> str | None:
    """Return where code is stored in a scenario or a plan itself, if it is."""
    return next(_code(document, ""), None)


def named_in(value: Any, path: str = "") -> bool:
    """Whether a class is named anywhere in a scenario, a plan, or settings by dotted paths."""
    if isinstance(value, Mapping):
        return any(named_in(inner, f"{path}.{key}") for key, inner in value.items())
    if isinstance(value, (list, tuple)):
        return any(named_in(inner, path) for inner in value)
    return any(f"tcp.{field}" in path for field in FIELDS)


def brief(path: str, value: Any) -> Any:
    """Return the value of a field; a text of a class or of a file in one line, by its hash."""
    import hashlib

    if not (isinstance(value, str) and (path.endswith("_class.source") or _is_file(path))):
        return value
    digest = hashlib.sha256(value.encode()).hexdigest()[:12]
    return f"{len(value.splitlines())} lines, sha256 {digest}"


def _is_file(path: str) -> bool:
    """Whether a field is one of the files that a plan holds."""
    return path.startswith("files.")


def refuse(where: str | None, *, allow: bool) -> None:
    """Refuse code that was `written` in a scenario or a plan itself, unless it is allowed.

    A file that a scenario names is one that whoever runs it has, and can look at; the text within
    a scenario, and what lies in a result, may come from anybody. Of files there `place` writes the
    text into the scenario.
    """
    if where is not None and not allow:
        raise ScenarioError(
            where,
            "",
            "it is code, which would be executed",
            "read the code, then allow it with --allow-code (allow_code=True), or name your file",
        )


def load(kind: str, file: str, source: str, name: str, options: str) -> Loaded:
    """Execute the text of a file and return a function that makes instances of a class in it.

    Parameters
    ----------
    kind
        ``"law"`` or ``"detector"``.
    file
        Name of the file, for messages.
    source
        Its text.
    name
        The class.
    options
        The arguments of its constructor, as JSON.

    Raises
    ------
    ClassError
        If the text has no such class; the engine passes the error on.
    """
    from burstlab import control
    from burstlab._core import ClassError

    try:
        found = _executed(file, source).get(name)
    except BaseException as error:
        raise ClassError(*failure(error, file, "", "")) from None
    if found is None:
        raise ClassError(f"{file}: there is no class {name}", "name a class of the file")
    if not isinstance(found, type):
        raise ClassError(f"{file}: {name} is not a class", "name a class of the file")
    base = control.CongestionControl if kind == "law" else control.Detector
    _check_methods(found, file, name, kind)
    methods = _methods(kind)
    own = [getattr(found, method, None) for method in methods]
    usual = [getattr(base, method) for method in methods]
    has = [mine is not None and mine is not one for mine, one in zip(own, usual, strict=True)]
    _check_timer(dict(zip(methods, has, strict=True)), file, name)
    # The engine itself does the work of missing methods, and of those of the base class.
    slow = bool(getattr(found, "rules_slow_start", False))

    def make() -> Any:
        return found(**json.loads(options))

    try:
        make()
    except BaseException as error:
        raise ClassError(*failure(error, file, name, "__init__")) from None
    return make, has, slow


def failure(
    error: BaseException,
    file: str,
    name: str,
    method: str,
    now_s: float | None = None,
    function: object = None,
) -> tuple[str, str]:
    """Return the exception of a class in one line, with the fix."""
    line = _line(error, file)
    what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    if isinstance(error, WrongAnswer):
        what = str(error)
        line = getattr(getattr(function, "__code__", None), "co_firstlineno", 0)
    text = linecache.getline(_label(file), line).strip() if line else ""
    where = f"{file}, line {line}" if line else file
    head = f"{where}, {name}.{method}" if name else where
    quoted = f" (`{text}`)" if text else ""
    when = "" if now_s is None else f", at {now_s:.9g} s of simulated time"
    fix = "correct the class" if now_s is not None else "correct it, or the options it is given"
    return f"{head}: {what}{quoted}{when}", fix


class WrongAnswer(Exception):
    """A method returned a value that is not allowed."""


def wrong_answer(answer: object, wanted: str) -> WrongAnswer:
    """Return the error for a returned value that is not allowed."""
    shown = repr(answer)
    return WrongAnswer(f"it answered {shown[:80]}, and {wanted} was wanted")


def _given(document: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Return each table that names a class, with its path."""
    places: list[tuple[str, Any]] = [("", document)]
    for table in ("flows", "demand"):
        entries = document.get(table)
        for index, entry in enumerate(entries if isinstance(entries, list) else []):
            # Few of many flows have parameters of their own.
            if isinstance(entry, dict) and "tcp" in entry:
                places.append((f"{table}[{index}].", entry))
    for path, entry in places:
        tcp = entry.get("tcp")
        for field in FIELDS:
            given = tcp.get(field) if isinstance(tcp, Mapping) else None
            if isinstance(given, dict):
                yield f"{path}tcp.{field}", given


#: Values that hold no others; most values of a scenario with many flows are such.
_PLAIN = (str, int, float, type(None))


def _code(value: Any, path: str) -> Iterator[str]:
    """Return the paths of code, dotted names of fields counted as tables."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if isinstance(inner, _PLAIN) and not str(key).endswith("source"):
                continue
            here = f"{path}.{key}" if path else str(key)
            if here.endswith(tuple(f"{field}.source" for field in FIELDS)):
                yield here
            yield from _code(inner, here)
    elif isinstance(value, (list, tuple)):
        for inner in value:
            if not isinstance(inner, _PLAIN):
                yield from _code(inner, path)


def _look(path: str, where: Path, text: str, name: str) -> None:
    """Look for a class without executing anything."""
    import ast  # loaded only where there is a file to read
    import difflib

    try:
        body = ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError) as error:
        line = f"line {error.lineno}: " if isinstance(error, SyntaxError) and error.lineno else ""
        message = error.msg if isinstance(error, SyntaxError) else str(error)
        problem = f"not Python ({line}{message})"
        raise ScenarioError(f"{path}.file", str(where), problem, "correct it") from None
    classes = [one.name for one in body if isinstance(one, ast.ClassDef)]
    imported = any(isinstance(one, (ast.ImportFrom, ast.If, ast.Try, ast.Assign)) for one in body)
    if name in classes or (imported and name in text and name.isidentifier()):
        return
    there = f"the classes of {where.name} are {', '.join(classes)}"
    near = difflib.get_close_matches(name, classes, n=1, cutoff=0.5)
    fix = f"did you mean {near[0]!r}? {there}" if near else f"{there if classes else 'write it'}"
    problem = f"{where.name} has no such class" if classes else f"{where.name} has no class"
    raise ScenarioError(f"{path}.class", name, problem, fix)


def _label(file: str) -> str:
    """Return the name under which Python knows the text, so that its lines can be shown."""
    return f"<{file}>"


def _executed(file: str, source: str) -> dict[str, Any]:
    label = _label(file)
    waking.note(label)
    linecache.cache[label] = (len(source), None, source.splitlines(keepends=True), label)
    module = ModuleType(f"{Path(file).stem}_{next(_NUMBERS)}")
    # Dataclasses look for their module while they are made.
    sys.modules[module.__name__] = module
    try:
        exec(compile(source, label, "exec"), module.__dict__)
    finally:
        del sys.modules[module.__name__]
    return module.__dict__


def _check_methods(found: type, file: str, name: str, kind: str) -> None:
    import difflib

    from burstlab._core import ClassError

    methods = _methods(kind)
    events = [method for method in methods if method.startswith("on_")]
    for method in dir(found):
        if method.startswith("on_") and method not in events:
            near = difflib.get_close_matches(method, events, n=1, cutoff=0.5)
            fix = f"did you mean {near[0]}?" if near else f"use {', '.join(events)}"
            raise ClassError(f"{file}: {name}.{method}: there is no such event", fix)
    for method in methods:
        if not callable(getattr(found, method, found)):
            raise ClassError(f"{file}: {name}.{method} is not a function", "make it one")
    # A class that only paces is allowed; the message names the methods that most classes have.
    enough, needed = (methods, METHODS) if kind == "law" else (METHODS[2:], METHODS[2:])
    if not any(hasattr(found, method) for method in enough):
        fix = f"write def {needed[-1]}(self, event)"
        raise ClassError(f"{file}: {name} has no {' or '.join(needed)}", fix)


def _methods(kind: str) -> tuple[str, ...]:
    return OF_A_LAW if kind == "law" else OF_A_DETECTOR


def _check_timer(has: Mapping[str, bool], file: str, name: str) -> None:
    """Refuse a timer that no method sets, or that no method handles."""
    from burstlab._core import ClassError

    one, other = has.get("next_timer", False), has.get("on_timer", False)
    if one != other:
        there, absent = ("next_timer", "on_timer") if one else ("on_timer", "next_timer")
        problem = f"{file}: {name} has {there} and no {absent}: a timer needs both"
        raise ClassError(problem, f"write def {absent}(self, event)")


def _line(error: BaseException, file: str) -> int:
    """Return the innermost line of the file that an error came through."""
    import traceback

    if isinstance(error, SyntaxError) and error.filename == _label(file):
        return error.lineno or 0
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno or 0 for frame in frames if frame.filename == _label(file)]
    return lines[-1] if lines else 0
