"""Closed forms of the literature, independent of the engine that they judge.

Nothing here imports anything of the rest of the package.

Over all of the range that its arguments declare, a form is right to a relative error of 1e-9, or
to the precision of its arguments: the tests compare each with arithmetic of 60 digits. Fixed points
of networks are as exact as their `tolerance`. A result below 1e-300 may be 0.
"""

from burstlab.analytic import cubic, erlang, lu_hunter, padhye, ramantas, shihada, wlan, yu2004
from burstlab.analytic.erlang.model import CONVERTERS as _CONVERTERS
from burstlab.analytic.erlang.model import ENGSET as _ENGSET
from burstlab.analytic.erlang.model import ERLANG_B as _ERLANG_B
from burstlab.analytic.erlang.model import REDUCED_LOAD as _REDUCED_LOAD
from burstlab.analytic.lu_hunter.model import MODEL as _LU_HUNTER
from burstlab.analytic.padhye import MODEL as _PADHYE
from burstlab.analytic.ramantas.model import MODEL as _RAMANTAS
from burstlab.analytic.registry import Model, Parameter, Quantity
from burstlab.analytic.shihada.model import MODEL as _SHIHADA
from burstlab.analytic.wlan.model import LOSS as _WLAN_LOSS
from burstlab.analytic.wlan.model import SATURATION as _WLAN_SATURATION
from burstlab.analytic.wlan.model import TCP as _WLAN_TCP
from burstlab.analytic.yu2004.model import MODEL as _YU2004

MODELS: dict[str, Model] = {
    model.name: model
    for model in (
        _YU2004,
        _SHIHADA,
        _LU_HUNTER,
        _RAMANTAS,
        _PADHYE,
        _ERLANG_B,
        _ENGSET,
        _CONVERTERS,
        _REDUCED_LOAD,
        _WLAN_SATURATION,
        _WLAN_TCP,
        _WLAN_LOSS,
    )
}
"""Every model, by its name on the command line."""

__all__ = [
    "MODELS",
    "Model",
    "Parameter",
    "Quantity",
    "cubic",
    "erlang",
    "lu_hunter",
    "padhye",
    "ramantas",
    "shihada",
    "wlan",
    "yu2004",
]
