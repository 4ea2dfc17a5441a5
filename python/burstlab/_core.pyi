"""The compiled engine. Use the functions of `burstlab`, which check and wrap these."""

from typing import final

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "InvalidScenario",
    "Monitor",
    "Output",
    "__version__",
    "resolve",
    "schema",
    "simulate",
]

__version__: str

class InvalidScenario(ValueError):
    """Raised with ``args = (path, value, problem, fix)``."""

@final
class Monitor:
    """A handle on a running simulation that another thread may hold."""

    def __new__(cls) -> Monitor: ...
    def progress(self) -> float:
        """Answer the share done, 0 to 1."""
    def cancel(self) -> None:
        """Ask the simulation to end soon; what it has done is kept."""

@final
class Output:
    """What one replication leaves."""

    @property
    def summary(self) -> str:
        """The numbers, as JSON."""
    def tables(
        self,
    ) -> dict[str, dict[str, NDArray[np.generic] | tuple[NDArray[np.uint8], list[str]]]]:
        """Hand over the recorded tables, once: columns by name.

        A category is its codes and their labels; the largest unsigned 64-bit number is no value.
        """

def schema() -> str:
    """Answer the JSON schema of a scenario."""

def resolve(scenario_json: str) -> str:
    """Check a scenario and fill in every default."""

def simulate(
    scenario_json: str, seed: int, replication: int, trace: list[str], monitor: Monitor
) -> Output:
    """Run one replication; the interpreter is free meanwhile."""
