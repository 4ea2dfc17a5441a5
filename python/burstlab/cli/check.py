"""``burstlab check`` and ``burstlab schema``."""

from __future__ import annotations


def check(scenario: str, /) -> int:
    """Validate a scenario: an error names the field, its value and the fix.

    Parameters
    ----------
    scenario
        The TOML file of the scenario.
    """
    from burstlab.cli.printing import say
    from burstlab.simulation import resolve

    resolve(scenario)
    say(f"{scenario}: no error found")
    return 0


def schema() -> int:
    """Print the JSON schema of a scenario, for editors and other tools."""
    from burstlab import _core

    print(_core.schema())
    return 0
