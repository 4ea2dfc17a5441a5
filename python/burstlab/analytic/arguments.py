"""An argument of a closed form, declared once: what it means, its unit, its range, and why.

A declaration is part of a type, and the type is all that a function says of its argument::

    Loss = Annotated[ArrayLike, Argument("Probability of a loss", above=0, below=1)]

`declared` checks the values by it and writes the sections of the docstring from it.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import Any, Literal, get_args, get_origin

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray = NDArray[np.float64]
"""Result of a closed form. For scalar arguments it is a numpy scalar, as with numpy's own
functions; shape, ``float()``, formatting and arithmetic work alike."""

_SIGNS = {
    "<": (operator.lt, "below", "not below"),
    "<=": (operator.le, "at most", "above"),
    ">=": (operator.ge, "at least", "below"),
    ">": (operator.gt, "above", "not above"),
}
"""The relation that a sign stands for, how it is read, and the fault of a value that fails it."""


@dataclass(frozen=True)
class Relation:
    """The relation of an argument to another one of the same function."""

    sign: Literal["<", "<=", ">=", ">"]
    """How it compares with the other."""
    other: str
    """Name of the other argument; where that is None nothing is compared."""
    because: str
    """The end of the error, after the two values: the assumption, or the value to give."""

    def check(self, name: str, values: Mapping[str, Any]) -> None:
        """Refuse a value that is on the wrong side of the other argument's."""
        if values[self.other] is None or values[name] is None:
            return
        holds, _, fault = _SIGNS[self.sign]
        value, other = np.broadcast_arrays(values[name], values[self.other])
        if (wrong := ~holds(value, other)).any():
            raise ValueError(
                f"{name} = {value[wrong].flat[0]:g} is {fault} "
                f"{self.other} = {other[wrong].flat[0]:g}: {self.because}"
            )


@dataclass(frozen=True)
class Argument:
    """Numbers, a count, a word, or what is taken as it is: its type says which."""

    meaning: str
    """Its meaning, without the full stop."""
    unit: str = ""
    """Unit of the value; empty for a pure number."""
    _: KW_ONLY
    above: float | None = None
    at_least: float | None = None
    """One of these two is the lower bound; of a count the second."""
    below: float | None = None
    at_most: float | None = None
    """One of these two is the upper bound; of a count the second."""
    relation: Relation | None = None
    """A bound that is another argument."""
    because: str = ""
    """The assumption behind the bounds, for the error; without it the error gives the range."""
    note: str = ""
    """Further sentences for the docstring."""
    finite: bool = True
    """Whether infinity is refused."""
    whole: bool = False
    """Whether numbers of an array are counts; those of an int are."""
    words: tuple[str, ...] = ()
    """Words that a str may be; those of a Literal are in the type."""

    def check(self, name: str, value: Any, kind: Any = ArrayLike) -> Any:
        """Return the value as the type `kind` says: numbers as an array of float64.

        Parameters
        ----------
        name
            Name of the argument, for the error.
        value
            The value given.
        kind
            ``ArrayLike``, float, int for a count, a Literal or str for a word; the value of any
            other type is returned as it is.

        Raises
        ------
        ValueError
            If it is no number, no count, no word that is known, or out of range.
        """
        if kind is int:
            return self._count(name, value)
        if kind in (ArrayLike, float) or self._bounds:
            numbers = self._numbers(name, value)
            if kind is float and numbers.ndim:
                raise ValueError(f"{name} = {value!r} is no number: give one number")
            return float(numbers) if kind is float else numbers
        words = self._words(kind)
        return choice(name, value, words) if words else value

    def text(self, name: str, kind: Any, default: object) -> str:
        """Describe the argument for a docstring: meaning, unit, range, default, notes."""
        within = ("whole and " if self.whole else "") + self.range(name)
        if words := self._words(kind):
            within = "one of " + ", ".join(f'"{word}"' for word in words)
        if self.relation:
            related = f"{_SIGNS[self.relation.sign][1]} `{self.relation.other}`"
            within = f"{within} and {related}" if within else related
        usual = f"{default:g}" if isinstance(default, int | float) else f'"{default}"'
        said = isinstance(default, int | float | str) and not isinstance(default, bool)
        return (
            self.meaning
            + (f" in {self.unit}" if self.unit else "")
            + (f", {within}" if within else "")
            + (f"; default {usual}" if said else "")
            + "."
            + (f" {self.note}" if self.note else "")
        )

    def range(self, name: str) -> str:
        """Say the range as a docstring does: "above 0", or "0 < p < 1"."""
        bounds = self._bounds
        if len(bounds) == 2:
            (low, least), (high, most) = bounds
            return f"{least:g} {low.replace('>', '<')} {name} {high} {most:g}"
        return " ".join(f"{_SIGNS[sign][1]} {bound:g}" for sign, bound in bounds)

    def _words(self, kind: Any) -> tuple[str, ...]:
        return get_args(kind) if get_origin(kind) is Literal else self.words

    @cached_property
    def _bounds(self) -> list[tuple[str, float]]:
        """Return the lower bound, then the upper one, each with its sign."""
        bounds = ((">", self.above), (">=", self.at_least), ("<", self.below), ("<=", self.at_most))
        return [(sign, bound) for sign, bound in bounds if bound is not None]

    def _numbers(self, name: str, value: Any) -> FloatArray:
        try:
            array = np.asarray(value, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"{name} = {value!r} is no number: give a number or an array"
            ) from error
        if array.ndim == 0 and self._holds(float(array)):
            return array
        wrong = ~np.isfinite(array) if self.finite else np.isnan(array)
        if np.any(wrong):
            self._refuse(name, array[wrong].flat[0])
        for sign, bound in self._bounds:
            holds, _, fault = _SIGNS[sign]
            if np.any(wrong := ~holds(array, bound)):
                self._refuse(name, array[wrong].flat[0], f"is {fault} {bound:g}")
        if self.whole and np.any(wrong := array != np.floor(array)):
            self._refuse(name, array[wrong].flat[0])
        return array

    def _holds(self, number: float) -> bool:
        """Whether a single number is in the range: a faster `_numbers`."""
        return (
            (math.isfinite(number) or (not self.finite and number == number))
            and all(_SIGNS[sign][0](number, bound) for sign, bound in self._bounds)
            and (not self.whole or number.is_integer())
        )

    def _refuse(self, name: str, value: float, fault: str = "") -> None:
        if self.because and fault:
            raise ValueError(f"{name} = {value:g} {fault}: {self.because}")
        bounds = self._bounds
        if self.whole:
            ends = " to ".join(f"{bound:.0f}" for _, bound in bounds)
            raise ValueError(f"{name} = {value:g} is no count: give a whole number from {ends}")
        if bounds == [(">", 0), ("<", 1)]:
            fix = "a probability with 0 < p < 1"
        elif len(bounds) == 2:
            fix = f"a number with {self.range(name)}"
        else:
            fix = f"a finite number {self.range(name)}".replace("at ", "of at ").rstrip()
        raise ValueError(f"{name} = {value:g} is out of range: give {fix}")

    def _count(self, name: str, value: Any) -> int:
        least = int(self.at_least or 0)
        try:
            count = int(value)
        except (OverflowError, TypeError, ValueError):
            count = None
        if count is None or count != value or count < least:
            shown = f"{value:g}" if isinstance(value, int | float) else repr(value)
            raise ValueError(
                f"{name} = {shown} is no count: give a whole number of at least {least}"
            )
        if self.at_most is not None and count > self.at_most:
            raise ValueError(f"{name} = {count} is out of range: give at most {self.at_most:.0f}")
        return count


def arrays(*values: ArrayLike) -> tuple[FloatArray, ...]:
    """Return checked numbers as the arrays that they are, which the type checker cannot know."""
    return tuple(np.asarray(value, dtype=np.float64) for value in values)


def choice(name: str, value: str, allowed: tuple[str, ...]) -> str:
    """Return `value` if it is one of the words `allowed`; a ValueError names those otherwise."""
    if value not in allowed:
        raise ValueError(f"{name} = {value!r} is not known: give one of {', '.join(allowed)}")
    return value
