"""Closed forms of the literature, independent of the engine that they judge.

Nothing here imports anything of the rest of the package.
"""

from burstlab.analytic import yu2004
from burstlab.analytic.registry import Model, Parameter, Quantity
from burstlab.analytic.yu2004.model import MODEL as _YU2004

MODELS: dict[str, Model] = {model.name: model for model in (_YU2004,)}
"""Every model, by its name on the command line."""

__all__ = ["MODELS", "Model", "Parameter", "Quantity", "yu2004"]
