"""Arguments of the closed forms: what is declared is what is checked and what is documented."""

from __future__ import annotations

import doctest
import importlib
import inspect
import math
import pkgutil
from collections.abc import Callable
from typing import Annotated, Any, Literal

import numpy as np
import pytest
from numpy.typing import ArrayLike

import burstlab.analytic
from burstlab.analytic import (
    cubic,
    erlang,
    lu_hunter,
    padhye,
    ramantas,
    shihada,
    wlan,
    yu2004,
)
from burstlab.analytic.arguments import Argument, FloatArray, Relation, arrays
from burstlab.analytic.declared import declared

Loss = Annotated[ArrayLike, Argument("Loss ratio", above=0, below=1)]
Size = Annotated[ArrayLike, Argument("Size", "bits", at_least=2, because="two bits are a pair")]
Rate = Annotated[
    ArrayLike,
    Argument("Rate", "bit/s", above=0, relation=Relation("<=", "limit", "give less"), note="Mean."),
]
Word = Annotated[Literal["even", "odd"], Argument("Which numbers")]
Sign = Annotated[str, Argument("Which sign", words=("plus", "minus"))]
Whole = Annotated[ArrayLike, Argument("Servers", at_least=1, at_most=9, whole=True)]

UNITS = {"_s": "s", "_bps": "bit/s", "_bits": "bits", "_pps": "packets/s"}
MODULES = (cubic, erlang, lu_hunter, padhye, ramantas, shihada, wlan, yu2004)
FUNCTIONS = [
    pytest.param(function, id=f"{module.__name__.rsplit('.', 1)[-1]}.{name}")
    for module in MODULES
    for name, function in inspect.getmembers(module, inspect.isfunction)
    if not name.startswith("_") and function.__module__.startswith(module.__name__)
]


@declared("Sum; NaN never", "Nowhere, (1)", loss="Here and nowhere else.", flag="A flag.")
def example(
    loss: Loss,
    size: Size = 2,
    rate: Rate = 1,
    limit: Annotated[ArrayLike, Argument("Limit", "bit/s", above=0)] | None = None,
    *,
    count: Annotated[int, Argument("Flows", at_least=1, at_most=5)] = 1,
    share: Annotated[float, Argument("Share", at_least=0, at_most=1)] = 0.5,
    most: Annotated[float, Argument("Most", finite=False)] = math.inf,
    word: Word = "even",
    sign: Sign = "plus",
    servers: Whole = 1,
    flag: bool = False,
) -> FloatArray:
    """Add.

    More of it.

    Examples
    --------
    >>> 1 + 1
    2
    """
    assert isinstance(count, int) and isinstance(share, float) and isinstance(most, float)
    return sum(arrays(loss, size, rate, servers), start=np.asarray(0.0))


@pytest.mark.parametrize("function", FUNCTIONS)
def test_every_argument_of_every_function_is_documented_with_its_unit(function):
    text = inspect.getdoc(function) or ""
    for title in ("Parameters", "Returns", "Raises"):
        assert text.count(f"\n{title}\n{'-' * len(title)}\n") == 1
    assert max(map(len, text.splitlines())) <= 96
    entries = text.split("Parameters\n----------\n")[1].split("\n\nReturns\n")[0]
    described: dict[str, str] = {}
    for line in entries.splitlines():
        if line.startswith("    "):
            described[[*described][-1]] += line
        else:
            described[line] = ""
    assert [*described] == [*inspect.signature(function).parameters]
    for name, description in described.items():
        assert description.rstrip().endswith((".", '"'))
        for ending, unit in UNITS.items():
            if name.endswith(ending) and not name.endswith("per_s"):
                assert f" in {unit}" in " ".join(description.split()), (name, description)


@pytest.mark.parametrize(
    "module",
    [one.name for one in pkgutil.walk_packages(burstlab.analytic.__path__, "burstlab.analytic.")],
)
def test_the_examples_give_what_they_say(module):
    assert doctest.testmod(importlib.import_module(module)).failed == 0


def test_there_are_examples():
    """The check above finds those of functions that are declared."""
    assert doctest.testmod(importlib.import_module("burstlab.analytic.padhye")).attempted >= 3


@pytest.mark.parametrize("function", FUNCTIONS)
def test_readers_of_a_signature_see_plain_types(function):
    assert "Argument(" not in str(inspect.signature(function))


def test_the_docstring_of_a_declared_function():
    assert inspect.getdoc(example) == inspect.cleandoc(
        """Add.

        More of it.

        Parameters
        ----------
        loss
            Loss ratio, 0 < loss < 1. Here and nowhere else.
        size
            Size in bits, at least 2; default 2.
        rate
            Rate in bit/s, above 0 and at most `limit`; default 1. Mean.
        limit
            Limit in bit/s, above 0.
        count
            Flows, 1 <= count <= 5; default 1.
        share
            Share, 0 <= share <= 1; default 0.5.
        most
            Most; default inf.
        word
            Which numbers, one of "even", "odd"; default "even".
        sign
            Which sign, one of "plus", "minus"; default "plus".
        servers
            Servers, whole and 1 <= servers <= 9; default 1.
        flag
            A flag.

        Returns
        -------
        numpy.ndarray
            Sum, in the shape of the arguments broadcast together; NaN never.

        Raises
        ------
        ValueError
            If an argument is out of its range.

        References
        ----------
        Nowhere, (1).

        Examples
        --------
        >>> 1 + 1
        2
        """
    )


def test_numbers_become_arrays_and_results_scalars():
    assert example(0.5) == 4.5
    assert isinstance(example(0.5), float)
    assert example([[0.25], [0.5]], [2, 3]).tolist() == [[4.25, 5.25], [4.5, 5.5]]
    assert example(0.5, limit=1, rate=1, most=-math.inf, count=5, share=1) == 4.5


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"loss": 0}, "loss = 0 is out of range: give a probability with 0 < p < 1"),
        ({"loss": [0.5, 1]}, "loss = 1 is out of range: give a probability with 0 < p < 1"),
        ({"loss": math.nan}, "loss = nan is out of range: give a probability with 0 < p < 1"),
        ({"loss": "x"}, "loss = 'x' is no number: give a number or an array"),
        ({"loss": None}, "loss = nan is out of range: give a probability with 0 < p < 1"),
        ({"size": 1}, "size = 1 is below 2: two bits are a pair"),
        ({"size": math.inf}, "size = inf is out of range: give a finite number of at least 2"),
        ({"rate": 0}, "rate = 0 is out of range: give a finite number above 0"),
        ({"rate": [1, 3], "limit": 2}, "rate = 3 is above limit = 2: give less"),
        ({"rate": 1, "limit": [2, 0.5]}, "rate = 1 is above limit = 0.5: give less"),
        ({"limit": -1}, "limit = -1 is out of range: give a finite number above 0"),
        ({"count": 0}, "count = 0 is no count: give a whole number of at least 1"),
        ({"count": 1.5}, "count = 1.5 is no count: give a whole number of at least 1"),
        ({"count": math.inf}, "count = inf is no count: give a whole number of at least 1"),
        ({"count": "x"}, "count = 'x' is no count: give a whole number of at least 1"),
        ({"count": 6}, "count = 6 is out of range: give at most 5"),
        ({"share": 1.5}, "share = 1.5 is out of range: give a number with 0 <= share <= 1"),
        ({"share": [0.5]}, "share = [0.5] is no number: give one number"),
        ({"most": math.nan}, "most = nan is out of range: give a finite number"),
        ({"word": "both"}, "word = 'both' is not known: give one of even, odd"),
        ({"sign": "none"}, "sign = 'none' is not known: give one of plus, minus"),
        ({"servers": 1.5}, "servers = 1.5 is no count: give a whole number from 1 to 9"),
        ({"servers": [1, 10]}, "servers = 10 is no count: give a whole number from 1 to 9"),
    ],
)
def test_errors_name_argument_value_and_fix(given, says):
    arguments: dict[str, Any] = {"loss": 0.5, **given}
    with pytest.raises(ValueError) as error:
        example(**arguments)
    assert str(error.value) == says


@pytest.mark.parametrize(
    ("positional", "named", "says"),
    [
        ((), {}, r"example\(\) missing 1 required positional argument: 'loss'"),
        ((0.5, 2, 1, 3, 4), {}, r"example\(\) takes from 1 to 4 positional arguments but 5"),
        ((0.5,), {"loss": 0.5}, r"example\(\) got multiple values for argument 'loss'"),
        ((0.5,), {"los": 0.5}, r"example\(\) got an unexpected keyword argument 'los'"),
    ],
)
def test_a_call_that_does_not_fit_the_signature_is_refused_as_any_other(positional, named, says):
    with pytest.raises(TypeError, match=says):
        example(*positional, **named)


@pytest.mark.parametrize("notes", [{}, {"loss": "Text.", "size": "A typing error."}])
def test_an_argument_without_a_word_or_a_word_without_an_argument_is_refused(notes):
    def silent(loss: float) -> float:
        """Return it."""
        return loss

    complete: Callable[..., Any] = declared("The same", **notes)
    with pytest.raises(TypeError, match="silent"):
        complete(silent)
