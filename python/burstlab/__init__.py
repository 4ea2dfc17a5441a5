"""Burstlab: a laboratory for TCP over optical burst-switched networks.

>>> import burstlab as bl
>>> result = bl.run("scenario.toml", seed=1)  # doctest: +SKIP
>>> result.flows.to_pandas()  # doctest: +SKIP
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from burstlab import statistics
    from burstlab._core import __version__, schema
    from burstlab.errors import (
        ControlError,
        EngineError,
        InputError,
        Interrupted,
        MemoryExceeded,
        PlanError,
        ScenarioError,
        StudyInterrupted,
    )
    from burstlab.loading import to_document
    from burstlab.results import Result, read
    from burstlab.scenario import (
        Access,
        AccessSide,
        Batches,
        Bursts,
        Congestion,
        Core,
        Deflection,
        DelayLines,
        Demand,
        Dlcc,
        Edge,
        EdgeAck,
        Flow,
        Injection,
        Loss,
        LossRule,
        Network,
        NetworkLink,
        NetworkNode,
        NetworkRoute,
        NodeWeight,
        Ops,
        PairWeight,
        PythonClass,
        Retransmission,
        Run,
        Scenario,
        Segmentation,
        Signalling,
        Size,
        Smoothing,
        Tcp,
        Traffic,
        Wlan,
        Write,
    )
    from burstlab.simulation import load, resolve, run
    from burstlab.studies import Study, study
    from burstlab.studies import read as read_study
    from burstlab.tables import Table

__all__ = [
    "Access",
    "AccessSide",
    "Batches",
    "Bursts",
    "Congestion",
    "ControlError",
    "Core",
    "Deflection",
    "DelayLines",
    "Demand",
    "Dlcc",
    "Edge",
    "EdgeAck",
    "EngineError",
    "Flow",
    "Injection",
    "InputError",
    "Interrupted",
    "Loss",
    "LossRule",
    "MemoryExceeded",
    "Network",
    "NetworkLink",
    "NetworkNode",
    "NetworkRoute",
    "NodeWeight",
    "Ops",
    "PairWeight",
    "PlanError",
    "PythonClass",
    "Result",
    "Retransmission",
    "Run",
    "Scenario",
    "ScenarioError",
    "Segmentation",
    "Signalling",
    "Size",
    "Smoothing",
    "Study",
    "StudyInterrupted",
    "Table",
    "Tcp",
    "Traffic",
    "Wlan",
    "Write",
    "__version__",
    "load",
    "read",
    "read_study",
    "resolve",
    "run",
    "schema",
    "statistics",
    "study",
    "to_document",
]

# Imported on first use: the command line answers --help without numpy and pyarrow.
_HOMES = {
    "ControlError": "burstlab.errors",
    "EngineError": "burstlab.errors",
    "InputError": "burstlab.errors",
    "Interrupted": "burstlab.errors",
    "MemoryExceeded": "burstlab.errors",
    "PlanError": "burstlab.errors",
    "Result": "burstlab.results",
    "ScenarioError": "burstlab.errors",
    "Study": "burstlab.studies",
    "StudyInterrupted": "burstlab.errors",
    "Table": "burstlab.tables",
    "__version__": "burstlab._core",
    "load": "burstlab.simulation",
    "read": "burstlab.results",
    "resolve": "burstlab.simulation",
    "run": "burstlab.simulation",
    "schema": "burstlab._core",
    "study": "burstlab.studies",
    "to_document": "burstlab.loading",
    **dict.fromkeys(
        (
            "Access",
            "AccessSide",
            "Batches",
            "Bursts",
            "Congestion",
            "Core",
            "Deflection",
            "DelayLines",
            "Demand",
            "Dlcc",
            "Edge",
            "EdgeAck",
            "Flow",
            "Injection",
            "Loss",
            "LossRule",
            "Network",
            "NetworkLink",
            "NetworkNode",
            "NetworkRoute",
            "NodeWeight",
            "Ops",
            "PairWeight",
            "PythonClass",
            "Retransmission",
            "Run",
            "Scenario",
            "Segmentation",
            "Signalling",
            "Size",
            "Smoothing",
            "Tcp",
            "Traffic",
            "Wlan",
            "Write",
        ),
        "burstlab.scenario",
    ),
}


def __getattr__(name: str) -> Any:
    if name == "statistics":
        return importlib.import_module("burstlab.statistics")
    if name == "read_study":
        return importlib.import_module("burstlab.studies").read
    if name not in _HOMES:
        raise AttributeError(f"module 'burstlab' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)
