"""Whether a document that is read has the types that it was written with."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints, is_typeddict

from burstlab.errors import InputError

#: This many entries of a list are checked; the entries of a list that a program wrote are alike.
_ENTRIES = 1000

_PLAIN: Mapping[Any, tuple[type, ...]] = {
    float: (float, int),
    int: (int,),
    str: (str,),
    bool: (bool,),
    type(None): (type(None),),
}


def misfit(value: Any, hint: Any, path: str) -> str | None:
    """Return the path to the first value of another type than its hint says, or None.

    Parameters
    ----------
    value
        A value that was read from a JSON file.
    hint
        A ``TypedDict``, a list of something, a choice, or a plain type. Missing keys are allowed,
        since an older version may have written the file. Further keys are allowed too, since a
        newer one may have. Both at once are refused.
    path
        Where the value is.
    """
    if get_origin(hint) in (Union, UnionType):
        fits = any(misfit(value, one, path) is None for one in get_args(hint))
        return None if fits else path
    if is_typeddict(hint):
        known = _hints(hint).keys()
        if not isinstance(value, dict) or not value or (value.keys() - known and known - value):
            return path
        parts = ((name, _hints(hint).get(name)) for name in value)
        within = (misfit(value[name], one, f"{path}.{name}") for name, one in parts if one)
        return next(filter(None, within), None)
    if get_origin(hint) is list:
        if not isinstance(value, list):
            return path
        (of,) = get_args(hint)
        entries = enumerate(value[:_ENTRIES])
        return next(filter(None, (misfit(one, of, f"{path}[{n}]") for n, one in entries)), None)
    plain = _PLAIN.get(hint)
    if plain is None:
        return None
    fits = isinstance(value, plain) and (hint is bool or not isinstance(value, bool))
    return None if fits else path


@cache
def _fits(hint: Any) -> Callable[[Any], bool]:
    """Return a check whether a value fits, as `misfit` does, but without the place."""
    if get_origin(hint) in (Union, UnionType):
        options = [_fits(one) for one in get_args(hint)]
        plain = [_PLAIN[one] for one in get_args(hint) if one in _PLAIN]
        if len(plain) == len(options):
            kinds = frozenset(kind for one in plain for kind in one)
            return lambda value: type(value) in kinds
        return lambda value: any(fits(value) for fits in options)
    if is_typeddict(hint):
        return _fits_table(hint)
    if get_origin(hint) is list:
        of = _fits(get_args(hint)[0])
        return lambda value: type(value) is list and all(map(of, value[:_ENTRIES]))
    kinds = frozenset(_PLAIN.get(hint, ()))
    return (lambda value: type(value) in kinds) if kinds else (lambda _: True)


def _fits_table(hint: Any) -> Callable[[Any], bool]:
    parts = {name: _fits(one) for name, one in _hints(hint).items()}

    def fits(value: Any) -> bool:
        if type(value) is not dict or not value:
            return False
        others = False
        for name, one in value.items():
            part = parts.get(name)
            if part is None:
                others = True
            elif not part(one):
                return False
        return not others or parts.keys() <= value.keys()

    return fits


@cache
def _hints(hint: Any) -> Mapping[str, Any]:
    return get_type_hints(hint)


#: The texts that are part of the path of a metric, by their keys.
_IN_PATHS = ("cause", "class", "name", "label")

#: Shapes of summaries that are as a run writes them.
_known: set[Any] = set()


def looks(value: Any, key: str = "") -> Any:
    """Return what a summary looks like: keys, types and the texts that name parts, but no numbers.

    Two that look alike have the same metrics, and both are as a run writes them, or neither is.

    Parameters
    ----------
    value
        The summary, or a part of it.
    key
        The key of the part.
    """
    if type(value) is list:
        # All flows have the shape of the first ones.
        entries = value[:_ENTRIES] if key == "flows" else value
        return tuple([looks(one, key) for one in entries])
    if type(value) is not dict:
        return type(value)
    names = () if key == "flows" else tuple([repr(value.get(name)) for name in _IN_PATHS])
    inner = [looks(one, name) for name, one in value.items() if type(one) in (dict, list)]
    return tuple(value), tuple(map(type, value.values())), names, tuple(inner)


def check_summaries(file: Path, summaries: Sequence[Any]) -> Any:
    """Refuse summaries that were changed so that a number is none, or a table.

    Answers what the first of them looks like.

    Parameters
    ----------
    file
        Where they were read.
    summaries
        Those of the replications.

    Raises
    ------
    InputError
        With the path to the first that is of another type.
    """
    from burstlab.summaries import Summary

    first = None
    for index, summary in enumerate(summaries):
        found = looks(summary)
        first = first or found
        if found in _known:
            continue
        if _fits(Summary)(summary):
            _known.add(found)
            continue
        name = "summary" if len(summaries) == 1 else f"replications[{index}]"
        wrong = misfit(summary, Summary, name)
        if wrong is not None:
            raise InputError(
                f"{file}: {wrong.removeprefix('summary.')} differs from what a run writes there\n"
                "  fix: restore the file, or run the scenario again"
            )
    return first
