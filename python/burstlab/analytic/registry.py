"""The interface of a closed form to a command: parameters with units, results with equations."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from burstlab.analytic.arguments import Argument


@dataclass(frozen=True)
class Parameter:
    """A number that a model needs."""

    name: str
    """Name, as in ``--set name=value``."""
    unit: str
    """Unit of the value; empty for a pure number."""
    default: float
    """Value if none is given."""
    description: str
    """Its meaning and range."""


@dataclass(frozen=True)
class Quantity:
    """A result."""

    value: float | str
    """Value of the corrected formula; NaN outside of its range."""
    unit: str
    """Unit of the value; empty for a ratio or a word."""
    equation: str
    """Where the paper has it."""
    description: str
    """Its meaning."""
    as_printed: float | str
    """Value of the formula as printed; the same if the paper has no misprint there."""


def number(
    value: ArrayLike,
    unit: str,
    equation: str,
    description: str,
    as_printed: ArrayLike | None = None,
) -> Quantity:
    """Make a result of a number; without `as_printed` the paper has no misprint there."""
    corrected = float(np.asarray(value))
    printed = corrected if as_printed is None else float(np.asarray(as_printed))
    return Quantity(corrected, unit, equation, description, printed)


def count(settings: Mapping[str, float], name: str, least: int = 1) -> int:
    """Return a parameter that is a count; a ValueError refuses others and less than `least`."""
    return Argument(name, at_least=least).check(name, settings[name], int)


@dataclass(frozen=True)
class Model:
    """A set of closed forms that share their parameters."""

    name: str
    """Name, as in ``burstlab model name``."""
    reference: str
    """The paper."""
    description: str
    """The model, in a sentence."""
    parameters: tuple[Parameter, ...]
    """Every parameter, in the order to show them."""
    compute: Callable[[Mapping[str, float]], dict[str, Quantity]]
    """Results by name, in the order to show them; needs a value for every parameter."""

    def settings(self, given: Mapping[str, str | float] | None = None) -> dict[str, float]:
        """Values of all parameters: the given ones, and defaults for the rest.

        Parameters
        ----------
        given
            Numbers, or texts that hold one, by parameter name.

        Returns
        -------
        dict
            A number for each parameter, in their order.

        Raises
        ------
        ValueError
            If a name is unknown or a value is no number.
        """
        given = given or {}
        names = [parameter.name for parameter in self.parameters]
        for name in given:
            if name not in names:
                raise ValueError(
                    f"{name} is no parameter of the model {self.name}: "
                    f"give some of {', '.join(names)}"
                )
        return {
            parameter.name: _setting(parameter, given.get(parameter.name, parameter.default))
            for parameter in self.parameters
        }

    def evaluate(self, given: Mapping[str, str | float] | None = None) -> dict[str, Quantity]:
        """Evaluate the closed forms.

        Parameters
        ----------
        given
            Parameters that differ from their defaults, as in `settings`.

        Returns
        -------
        dict
            Results by name, in the order to show them.

        Raises
        ------
        ValueError
            If a parameter is unknown, no number, or out of its range.
        """
        return self.compute(self.settings(given))

    def document(self, given: Mapping[str, str | float] | None = None) -> dict[str, Any]:
        """Evaluate the closed forms into what ``json.dumps`` takes; NaN becomes None.

        Parameters
        ----------
        given
            Parameters that differ from their defaults, as in `settings`.

        Returns
        -------
        dict
            "model", "reference", "parameters" (name to value and unit) and "results" (name to
            value, as_printed, unit, equation and description).

        Raises
        ------
        ValueError
            If a parameter is unknown, no number, or out of its range.
        """
        settings = self.settings(given)
        return {
            "model": self.name,
            "reference": self.reference,
            "parameters": {
                parameter.name: {"value": settings[parameter.name], "unit": parameter.unit}
                for parameter in self.parameters
            },
            "results": {
                name: {
                    "value": _plain(quantity.value),
                    "as_printed": _plain(quantity.as_printed),
                    "unit": quantity.unit,
                    "equation": quantity.equation,
                    "description": quantity.description,
                }
                for name, quantity in self.compute(settings).items()
            },
        }


def _setting(parameter: Parameter, value: str | float) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        unit = f" in {parameter.unit}, without the unit" if parameter.unit else ""
        raise ValueError(f"{parameter.name} = {value!r} is no number: give a number{unit}")
    return number


def _plain(value: float | str) -> float | str | None:
    return None if isinstance(value, float) and math.isnan(value) else value
