"""The compiled engine. Use the functions of `burstlab`, which check and wrap these."""

import numpy as np
from numpy.typing import NDArray

__version__: str

class InvalidScenario(ValueError):
    """Raised with ``args = (path, value, problem, fix)``."""

class Monitor:
    """A handle on a running simulation that another thread may hold."""

    def __init__(self) -> None: ...
    def progress(self) -> float: ...
    def cancel(self) -> None: ...

class Output:
    """What one replication left behind."""

    summary: str
    def tables(
        self,
    ) -> dict[str, dict[str, NDArray[np.generic] | tuple[NDArray[np.uint8], list[str]]]]: ...

def schema() -> str: ...
def resolve(scenario_json: str) -> str: ...
def simulate(
    scenario_json: str, seed: int, replication: int, trace: list[str], monitor: Monitor
) -> Output: ...
