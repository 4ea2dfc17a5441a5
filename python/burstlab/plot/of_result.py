"""The figures of one result, as its attribute ``plot``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from burstlab.results import Result


class Plots:
    """Figures of a result (Altair charts); `burstlab.plot.write` makes files of them.

    Parameters
    ----------
    result
        The result.
    """

    def __init__(self, result: Result) -> None:
        self._result = result

    def sequence(self, flow: int = 0, **how: Any) -> Any:
        """Draw a time-sequence diagram: `burstlab.plot.sequence_chart`; needs ``packets``."""
        from burstlab.plot import sequence_chart

        return sequence_chart(self._result, flow, **how)

    def window(self, flow: int = 0, **how: Any) -> Any:
        """Draw window and round trips: `burstlab.plot.window_chart`; needs ``cwnd``."""
        from burstlab.plot import window_chart

        return window_chart(self._result, flow, **how)

    def distribution(self, **how: Any) -> Any:
        """Draw how bursts vary: `burstlab.plot.distribution_chart`; needs ``bursts``."""
        from burstlab.plot import distribution_chart

        return distribution_chart(self._result, **how)

    def occupancy(self, fibre: tuple[int, int] | None = None, **how: Any) -> Any:
        """Draw the wavelengths of a fibre: `burstlab.plot.occupancy_chart`; needs ``bursts``."""
        from burstlab.plot import occupancy_chart

        return occupancy_chart(self._result, fibre, **how)

    def __repr__(self) -> str:
        """Name the figures."""
        return "<Plots: sequence(), window(), distribution(), occupancy()>"
