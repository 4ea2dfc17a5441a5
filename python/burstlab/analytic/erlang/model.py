"""Entries of the loss formulas in the list of models."""

from __future__ import annotations

from collections.abc import Mapping

from burstlab.analytic.arguments import Argument
from burstlab.analytic.erlang.converters import WAVELENGTHS_MAX, converter_pool
from burstlab.analytic.erlang.link import SERVERS_MAX, engset, erlang_b
from burstlab.analytic.erlang.network import reduced_load
from burstlab.analytic.registry import Model, Parameter, Quantity, count, number

_LOAD = Parameter("load", "Erlang", 0.6, "load offered per wavelength of a link, at least 0")
_WAVELENGTHS = Parameter("wavelengths", "", 8, "wavelengths of a link, whole, at least 1")

HOPS_MAX = 100
LOAD = Argument("Load offered per wavelength of a link", "Erlang", at_least=0)
WAVELENGTHS = Argument("Wavelengths of a link", at_least=1, at_most=SERVERS_MAX)
HOPS = Argument("Links of a route", at_least=1, at_most=HOPS_MAX)


def _one_link(settings: Mapping[str, float]) -> dict[str, Quantity]:
    """Evaluate a link under Poisson bursts."""
    load, wavelengths = _link(settings)
    offered = load * wavelengths
    loss = float(erlang_b(offered, wavelengths))
    erlang = "Erlang 1917"
    return {
        "offered": number(offered, "Erlang", "A = load W", "load offered to the link"),
        "loss": number(loss, "", erlang, "bursts lost, with full conversion, no buffers"),
        "carried": number(offered * (1 - loss), "Erlang", "A (1 - B)", "mean wavelengths in use"),
        "utilisation": number(load * (1 - loss), "", "A (1 - B)/W", "share of capacity in use"),
        "loss_unconverted": number(
            float(erlang_b(load, 1)),
            "",
            f"{erlang}, W = 1",
            "bursts lost if each is bound to a wavelength, chosen at random",
        ),
    }


def _finite_sources(settings: Mapping[str, float]) -> dict[str, Quantity]:
    """Evaluate a link that a finite number of sources share."""
    load, wavelengths = _link(settings)
    sources = count(settings, "sources")
    offered = load * wavelengths
    if offered >= sources:
        raise ValueError(
            f"load = {load:g} on {wavelengths} wavelengths needs more than {sources} sources: "
            "a source sends one burst at a time, less than 1 Erlang; give more sources"
        )
    # Without losses a source sends a/(1 + a) of the time.
    idle = offered / (sources - offered)
    return {
        "offered": number(offered, "Erlang", "A = load W", "load if nothing were lost"),
        "load_silent": number(idle, "Erlang", "a = A/(S - A)", "load of a source while silent"),
        "loss": number(float(engset(idle, wavelengths, sources)), "", "Engset 1918", "bursts lost"),
        "time_congestion": number(
            float(engset(idle, wavelengths, sources, seen="time")),
            "",
            "Engset 1918",
            "share of the time with all wavelengths in use",
        ),
        "loss_erlang": number(
            float(erlang_b(offered, wavelengths)), "", "Erlang 1917", "bursts lost if Poisson"
        ),
    }


def _converters(settings: Mapping[str, float]) -> dict[str, Quantity]:
    """Evaluate an output with a pool of converters."""
    load, wavelengths = _link(settings)
    pool = count(settings, "converters", 0)
    loss = converter_pool(load * wavelengths, wavelengths, pool)
    chain = "Markov chain"
    return {
        "loss": number(loss.contention + loss.no_converter, "", chain, "bursts lost"),
        "loss_contention": number(loss.contention, "", chain, "no wavelength was free"),
        "loss_no_converter": number(loss.no_converter, "", chain, "no converter was free"),
        "loss_full": number(
            float(erlang_b(load * wavelengths, wavelengths)),
            "",
            "Erlang 1917",
            "bursts lost if there is a converter for each wavelength",
        ),
    }


def _ring(settings: Mapping[str, float]) -> dict[str, Quantity]:
    """Evaluate the reduced-load approximation where all links are alike."""
    load, wavelengths = _link(settings)
    hops = HOPS.check("hops", settings["hops"], int)
    routes = [[(first + hop) % hops for hop in range(hops)] for first in range(hops)]
    loads = [load * wavelengths / hops] * hops
    capacities = dict.fromkeys(range(hops), wavelengths)
    burst = reduced_load(routes, loads, capacities)
    circuit = reduced_load(routes, loads, capacities, thinning="both")
    bound = reduced_load(routes, loads, capacities, conversion="none")
    rosberg, kelly = "Rosberg et al. 2003", "Kelly 1986"
    return {
        "link_load": number(
            burst.link_load[0], "Erlang", rosberg, "load of a link, thinned by the links before"
        ),
        "link_loss": number(burst.link_blocking[0], "", rosberg, "bursts that a link loses"),
        "route_loss": number(
            float(burst.route_blocking[0]), "", rosberg, "bursts lost on a route, full conversion"
        ),
        "route_loss_unconverted": number(
            float(bound.route_blocking[0]), "", rosberg, "the same without conversion"
        ),
        "route_loss_circuit": number(
            float(circuit.route_blocking[0]), "", kelly, "circuits blocked, thinned by all links"
        ),
        "error": number(burst.error, "", "", "how far link_loss is from Erlang B of link_load"),
    }


ERLANG_B = Model(
    name="erlang-b",
    reference="A. K. Erlang, 1917; insensitive to lengths: B. A. Sevast'yanov, 1957",
    description="Loss of a link without buffers under Poisson bursts of any lengths",
    parameters=(_LOAD, _WAVELENGTHS),
    compute=_one_link,
)

ENGSET = Model(
    name="engset",
    reference="T. O. Engset, 1918",
    description="Loss of a link without buffers under a finite number of sources",
    parameters=(
        _LOAD,
        _WAVELENGTHS,
        Parameter("sources", "", 16, "sources that share the link, above load x wavelengths"),
    ),
    compute=_finite_sources,
)

CONVERTERS = Model(
    name="converters",
    reference="A Markov chain; the limits are Erlang's loss, 1917",
    description="Loss of an output with few wavelength converters under exponential bursts",
    parameters=(
        _LOAD,
        Parameter("wavelengths", "", 8, f"wavelengths, whole, 1 to {WAVELENGTHS_MAX}"),
        Parameter("converters", "", 2, "converters of the output, whole, at most wavelengths"),
    ),
    compute=_converters,
)

REDUCED_LOAD = Model(
    name="reduced-load",
    reference=(
        "F. P. Kelly, Adv. Appl. Prob. 18, 1986; Z. Rosberg, H. L. Vu, M. Zukerman, J. White, "
        "IEEE JSAC 21(7), 2003"
    ),
    description="Loss on a ring where each node sends alike to the node some hops further",
    parameters=(
        _LOAD,
        _WAVELENGTHS,
        Parameter("hops", "", 3, f"links of a route, whole, 1 to {HOPS_MAX}"),
    ),
    compute=_ring,
)


def _link(settings: Mapping[str, float]) -> tuple[float, int]:
    load = LOAD.check("load", settings["load"], float)
    return load, WAVELENGTHS.check("wavelengths", settings["wavelengths"], int)
