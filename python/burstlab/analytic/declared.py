"""A function whose arguments declare themselves: checks and docstring follow from its signature."""

from __future__ import annotations

import functools
import inspect
import re
import textwrap
from collections.abc import Callable
from typing import (
    Annotated,
    Any,
    NamedTuple,
    ParamSpec,
    TypeVar,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

import numpy as np
from numpy.typing import ArrayLike

from burstlab.analytic.arguments import Argument

P = ParamSpec("P")
R = TypeVar("R")

# Those of a docstring, in the order of numpy's.
_SECTIONS = ("Parameters", "Returns", "Raises", "Notes", "References", "Examples")
_NAMES = {"FloatArray": "numpy.ndarray", "NDArray[np.str_]": "numpy.ndarray of str"}
_WIDTH = 92


class _Declared(NamedTuple):
    argument: Argument
    kind: Any
    """Type of the value: ``ArrayLike``, int, ..."""
    optional: bool
    """Whether it may be None."""


def declared(
    returns: str, source: str = "", /, **notes: str
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Check the arguments that a function declares by its types, and complete its docstring.

    The function gets its numbers as arrays of float64, whatever the caller gave; a result without
    dimensions becomes a scalar.

    Parameters
    ----------
    returns
        The returned value, for the docstring. Its shape is added after the first clause.
    source
        The place in the literature.
    **notes
        Additions to the docstring of an argument, by its name; the whole text for an argument whose
        type has no declaration.

    Returns
    -------
    Callable
        A decorator. A section that the docstring has already is left unchanged.

    Raises
    ------
    TypeError
        If an argument has no description, or a note names no argument.
    """

    def complete(function: Callable[P, R]) -> Callable[P, R]:
        signature = inspect.signature(function)
        hints = get_type_hints(function, include_extras=True)
        found = {name: _find(hints[name]) for name in signature.parameters}
        known = {name: one for name, one in found.items() if one is not None}
        if wrong := (found.keys() - known.keys() - notes.keys()) | (notes.keys() - found.keys()):
            raise TypeError(f"{function.__name__}: not declared, or no argument: {wrong}")
        # Readers of the signature, such as `help` and the site, see plain types.
        function.__annotations__.update({name: _plain(one) for name, one in known.items()})
        call: Callable[..., Any] = function
        each = signature.parameters.values()
        positions = [one.name for one in each if one.kind is not one.KEYWORD_ONLY]
        defaults = {one.name: one.default for one in each if one.default is not one.empty}

        @functools.wraps(function)
        def checked(*args: P.args, **kwargs: P.kwargs) -> R:
            placed = dict(zip(positions, args, strict=False))
            values: dict[str, Any] = {**defaults, **placed, **kwargs}
            twice = placed.keys() & kwargs.keys()
            if len(args) > len(positions) or twice or values.keys() != found.keys():
                return function(*args, **kwargs)  # Python says what is wrong with the call.
            for name, (argument, kind, optional) in known.items():
                if not (optional and values[name] is None):
                    values[name] = argument.check(name, values[name], kind)
            for name, (argument, _, _) in known.items():
                if argument.relation:
                    argument.relation.check(name, values)
            result = call(**values)
            return cast("R", result[()] if isinstance(result, np.ndarray) else result)

        checked.__doc__ = _docstring(function, signature, known, returns, source, notes)
        return checked

    return complete


def _find(hint: Any) -> _Declared | None:
    """Return the declaration in a type, which may be a union with None."""
    for part in (hint, *get_args(hint)):
        if get_origin(part) is Annotated:
            kind, *extras = get_args(part)
            for extra in extras:
                if isinstance(extra, Argument):
                    return _Declared(extra, kind, part is not hint)
    return None


def _plain(one: _Declared) -> Any:
    """Return the type for a reader, without the declaration."""
    if one.kind == ArrayLike:
        return "ArrayLike | None" if one.optional else "ArrayLike"
    return one.kind | None if one.optional else one.kind


def _docstring(
    function: Callable[..., Any],
    signature: inspect.Signature,
    known: dict[str, _Declared],
    returns: str,
    source: str,
    notes: dict[str, str],
) -> str:
    """Return the docstring as it is written, with the sections that it has not."""
    written = re.split(
        rf"^({'|'.join(_SECTIONS)})\n-+\n", inspect.cleandoc(function.__doc__ or ""), flags=re.M
    )
    entries: list[str] = []
    for name, parameter in signature.parameters.items():
        said = [notes[name]] if name in notes else []
        if one := known.get(name):
            said.insert(0, one.argument.text(name, one.kind, parameter.default))
        entries += [name, _wrapped(" ".join(said))]
    numbers = [name for name, one in known.items() if one.kind == ArrayLike]
    given = str(signature.return_annotation)
    shape = f"`{numbers[0]}`" if len(numbers) == 1 else "the arguments broadcast together"
    if numbers and given in _NAMES and "shape" not in returns.lower():
        returns = re.sub(r"(?=[;.]|$)", f", in the shape of {shape}", returns, count=1)
    fault = f"`{next(iter(known))}` is out of" if len(known) == 1 else "an argument is out of its"
    sections = {
        "Parameters": "\n".join(entries),
        "Returns": f"{_NAMES.get(given, given.split('[')[0])}\n{_wrapped(returns + '.')}",
        "Raises": f"ValueError\n{_wrapped(f'If {fault} range.')}",
        "References": textwrap.fill(f"{source}.", _WIDTH) if source else "",
        **dict(zip(written[1::2], written[2::2], strict=True)),
    }
    bodies = ((title, sections.get(title, "").strip("\n")) for title in _SECTIONS)
    return "\n\n".join(
        [written[0].rstrip()]
        + [f"{title}\n{'-' * len(title)}\n{body}" for title, body in bodies if body]
    )


def _wrapped(text: str) -> str:
    return textwrap.fill(
        text,
        _WIDTH,
        initial_indent="    ",
        subsequent_indent="    ",
        break_long_words=False,
        break_on_hyphens=False,
    )
