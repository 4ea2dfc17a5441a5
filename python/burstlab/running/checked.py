"""A scenario that the engine holds: read and resolved once, for its check, stored form and runs."""

from __future__ import annotations

import json
from functools import cached_property

from burstlab import _core, classes
from burstlab.loading import Document
from burstlab.running.engine import fault, heard, memory_allowed, scenario_error

#: Bytes of memory, bytes of all numbers, notices, and the number of events.
_Needs = tuple[float, float, list[str], float]


class Checked:
    """A scenario that was checked.

    Parameters
    ----------
    document
        The scenario, without names of files. Classes that it names become text in it.

    Attributes
    ----------
    engine
        The scenario as written, which the engine holds.

    Raises
    ------
    ScenarioError
        If a field is wrong; the error names the field and the fix.
    """

    def __init__(self, document: Document) -> None:
        self._document = document
        try:
            classes.expand(document)
            text = json.dumps(document)
            self.engine = heard(lambda monitor: _core.Scenario(text, monitor))
        except _core.InvalidScenario as error:
            raise scenario_error(error) from None
        except _core.EngineFault as error:
            raise self._fault(error) from None

    @cached_property
    def resolved(self) -> Document:
        """The scenario with every field that it uses, defaults included."""
        try:
            return json.loads(heard(lambda _: self.engine.document()))
        except _core.EngineFault as error:
            raise self._fault(error) from None

    @cached_property
    def stored(self) -> _core.Scenario:
        """The stored form, which is run; it lacks fields without effect and their warnings."""
        if not self.doubts():
            return self.engine
        text = json.dumps(self.resolved)
        return heard(lambda monitor: _core.Scenario(text, monitor))

    def dropped(self) -> list[str]:
        """Return warnings about TCP parameters that no sender has, and others that a run lacks."""
        if not self.engine.dropped():
            return []
        known = set(_core.warnings(self.stored))
        return [line for line in self.doubts() if line not in known]

    def announcements(self) -> list[str]:
        """Return the notices about a long or a large run, for the user to read before it begins.

        Raises
        ------
        ScenarioError
            If the run certainly needs more than the allowed memory.
        """
        return self._needs(_core.Monitor(memory_allowed(self.resolved)))[2]

    def doubts(self) -> list[str]:
        """Return warnings about settings that are allowed but probably not meant."""
        return _core.warnings(self.engine)

    def estimate(self) -> tuple[float, float]:
        """Return the expected cost of a run: bytes of memory, and seconds, as `estimate` does."""
        memory, kept, _, events = self._needs(_core.Monitor())
        return memory + kept, events * 1e-6

    def that_fit(self, workers: int) -> int:
        """Return how many workers, up to some, have room for their runs in the memory there is."""
        allowed = memory_allowed(self.resolved)
        each, numbers, *_ = self._needs(_core.Monitor())
        if allowed is None or each <= 0.0:
            return workers
        return max(1, min(workers, int((allowed - numbers) / each)))

    def _needs(self, monitor: _core.Monitor) -> _Needs:
        try:
            return heard(lambda _: _core.needs(self.engine, monitor))
        except _core.InvalidScenario as error:
            raise scenario_error(error) from None
        except _core.EngineFault as error:
            raise self._fault(error) from None

    def _fault(self, error: _core.EngineFault) -> Exception:
        return fault(self._document, error.args, "as it was checked")
