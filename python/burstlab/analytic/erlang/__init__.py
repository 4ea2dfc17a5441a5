"""Loss without buffers: Erlang B, Engset, and the reduced-load approximation of a network.

A link of W wavelengths with full conversion and no delay lines is Erlang's loss system: bursts that
find W others in transmission are lost. Lengths of bursts enter by their mean alone (insensitivity,
Sevast'yanov 1957), so that the formulas hold for fixed and for exponential lengths alike.

Limitations: bursts arrive as a Poisson process (`engset` excepted) and do not depend on earlier
losses, as those of TCP do; offsets are equal, so that the burst that comes first also reserves
first; no deflection, no delay lines, no segmentation. `docs/models/erlang.md` has the validation.
"""

from burstlab.analytic.erlang.converters import ConverterLoss, converter_pool
from burstlab.analytic.erlang.link import engset, erlang_b, erlang_b_load
from burstlab.analytic.erlang.network import ReducedLoad, reduced_load

__all__ = [
    "ConverterLoss",
    "ReducedLoad",
    "converter_pool",
    "engset",
    "erlang_b",
    "erlang_b_load",
    "reduced_load",
]
