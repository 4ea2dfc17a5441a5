"""``burstlab check`` and ``burstlab schema``."""

from __future__ import annotations

from burstlab.cli.flags import Switch


def check(scenario: str, /, *, resolve: Switch = False) -> int:
    """Validate a scenario: an error names the field, its value and the fix.

    Says what memory and time a run is foreseen to take, where that is more than a moment.

    Parameters
    ----------
    scenario
        The TOML file of the scenario.
    resolve
        Print the scenario with every field that it uses, defaults included, and nothing else: what
        a result stores as scenario.toml.
    """
    import tomli_w

    from burstlab import simulation
    from burstlab.cli.printing import say, warn
    from burstlab.results import without_none
    from burstlab.simulation import announcements, estimate

    resolved = simulation.resolve(scenario)
    if resolve:
        print(tomli_w.dumps(without_none(resolved)), end="")
    else:
        say(f"{scenario}: no error found")
        memory, time_s = estimate(resolved)
        if memory > _MUCH or time_s > _LONG:
            say(f"a run takes about {_size(memory)} of memory and {_span(time_s)}")
    for line in announcements(resolved):
        warn(f"warning: {line}")
    return 0


#: Bytes and seconds that are worth a word.
_MUCH, _LONG = 1e8, 10.0


def _size(size: float) -> str:
    return f"{size / 1e9:.3g} GB" if size >= 1e9 else f"{size / 1e6:.3g} MB"


def _span(time_s: float) -> str:
    for unit, length in (("h", 3600.0), ("min", 60.0)):
        if time_s >= 2 * length:
            return f"{time_s / length:.2g} {unit}"
    return f"{time_s:.2g} s"


def schema() -> int:
    """Print the JSON schema of a scenario, for editors and other tools."""
    from burstlab import _core

    print(_core.schema())
    return 0
