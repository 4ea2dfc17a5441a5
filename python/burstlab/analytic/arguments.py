"""Arguments of the closed forms: conversion to arrays and errors that say what to do."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray = NDArray[np.float64]
"""Result of a closed form. For scalar arguments it is a numpy scalar, as with numpy's own
functions; shape, ``float()``, formatting and arithmetic work alike."""


def probability(name: str, value: ArrayLike) -> FloatArray:
    """Return `value` as an array of probabilities inside (0, 1).

    Parameters
    ----------
    name
        Name of the argument, for the error.
    value
        Numbers of any shape.

    Raises
    ------
    ValueError
        If a number is not finite or not strictly between 0 and 1.
    """
    array = _numbers(name, value)
    _refuse(name, array, ~((array > 0) & (array < 1)), "give a probability with 0 < p < 1")
    return array


def at_least(name: str, value: ArrayLike, minimum: float) -> FloatArray:
    """Return `value` as an array of finite numbers that are not below `minimum`.

    Parameters
    ----------
    name
        Name of the argument, for the error.
    value
        Numbers of any shape.
    minimum
        Smallest number allowed.

    Raises
    ------
    ValueError
        If a number is not finite or below `minimum`.
    """
    array = _numbers(name, value)
    wrong = ~(np.isfinite(array) & (array >= minimum))
    _refuse(name, array, wrong, f"give a finite number of at least {minimum:g}")
    return array


def positive(name: str, value: ArrayLike) -> FloatArray:
    """Return `value` as an array of finite numbers above zero.

    Parameters
    ----------
    name
        Name of the argument, for the error.
    value
        Numbers of any shape.

    Raises
    ------
    ValueError
        If a number is not finite or not above zero.
    """
    array = _numbers(name, value)
    _refuse(name, array, ~(np.isfinite(array) & (array > 0)), "give a finite number above 0")
    return array


def choice(name: str, value: str, allowed: tuple[str, ...]) -> str:
    """Return `value` if it is one of the words `allowed`.

    Parameters
    ----------
    name
        Name of the argument, for the error.
    value
        The word.
    allowed
        Words that have a meaning.

    Raises
    ------
    ValueError
        If the word is not one of them.
    """
    if value not in allowed:
        raise ValueError(f"{name} = {value!r} is not known: give one of {', '.join(allowed)}")
    return value


def whole(name: str, value: float, minimum: int) -> int:
    """Return `value` if it is a whole number of at least `minimum`.

    Parameters
    ----------
    name
        Name of the argument, for the error.
    value
        The number.
    minimum
        Smallest number allowed.

    Raises
    ------
    ValueError
        If it is not a whole number, or below `minimum`.
    """
    if int(value) != value or value < minimum:
        raise ValueError(f"{name} = {value} is no count: give a whole number of at least {minimum}")
    return int(value)


def _numbers(name: str, value: ArrayLike) -> FloatArray:
    try:
        return np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} = {value!r} is no number: give a number or an array") from error


def _refuse(name: str, array: FloatArray, wrong: NDArray[np.bool_], mend: str) -> None:
    if np.any(wrong):
        raise ValueError(f"{name} = {array[wrong].flat[0]:g} is out of range: {mend}")
