"""The compiled engine. Use the functions of `burstlab`, which check and wrap these."""

from typing import Protocol, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "AbsentBurst",
    "BadCheckpoint",
    "Branches",
    "Cancelled",
    "ClassError",
    "EngineFault",
    "Event",
    "InvalidScenario",
    "LinuxSender",
    "Monitor",
    "Output",
    "Prices",
    "Round",
    "Scenario",
    "__version__",
    "batches",
    "check_checkpoint",
    "needs",
    "part",
    "quantity",
    "replay",
    "resolve",
    "seconds",
    "shape",
    "simulate",
    "simulate_kept",
    "simulate_several",
    "warnings",
]

__version__: str

#: Columns by name. A category is its codes and their labels; the largest unsigned 64-bit number is
#: no value.
_Columns: TypeAlias = dict[str, NDArray[np.generic] | tuple[NDArray[np.uint8], list[str]]]

class InvalidScenario(ValueError):
    """Raised with ``args = (path, value, problem, fix)``."""

class AbsentBurst(ValueError):
    """Raised with ``args = (bursts, bursts back)``: how many the run has, each way of a path."""

class BadCheckpoint(ValueError):
    """Raised with ``args = (problem, fix)``."""

class EngineFault(RuntimeError):
    """Raised where the engine fails by a fault of its own, with ``args = (what, where)``."""

class Cancelled(Exception):
    """Raised where a run was cancelled before it began."""

class ClassError(ValueError):
    """Raised with ``args = (problem, fix)``."""

@final
class Round:
    """A round trip that has ended, as its delay tells it."""

    @property
    def base_over_rtt(self) -> float:
        """The shortest round-trip time over the mean of this round, 0 to 1."""
    @property
    def queued(self) -> float:
        """Segments of this connection that waited in queues, cwnd times (1 - base_over_rtt)."""
    @property
    def used(self) -> bool:
        """Whether the sender made use of its window."""
    @property
    def sent(self) -> int:
        """Segments that went out in it, those sent again included."""
    @property
    def acked(self) -> int:
        """Segments that were acknowledged in it for the first time."""
    @property
    def lost(self) -> int:
        """Segments that went out again in it, having been taken for lost."""
    @property
    def duration(self) -> float:
        """How long it took, in seconds."""

@final
class Event:
    """What is so at a sender: times in s, windows in segments, rates in bit/s without headers."""

    @property
    def now(self) -> float:
        """The instant, since the beginning of the run."""
    @property
    def cwnd(self) -> float:
        """The congestion window, without the inflation of fast recovery."""
    @property
    def ssthresh(self) -> float:
        """The slow-start threshold."""
    @property
    def window(self) -> float:
        """The segments in flight or the window, by ``ssthresh_basis``, for a law to reduce.

        At an ACK, and for a detector, the congestion window within the receiver's; at a loss, for
        a detector, what it was before its reduction.
        """
    @property
    def receiver_window(self) -> int:
        """The receiver's window."""
    @property
    def flight(self) -> int:
        """Segments sent since the last time-out and not acknowledged."""
    @property
    def first(self) -> int:
        """The first segment that is not acknowledged; segment 0 is the SYN."""
    @property
    def next(self) -> int:
        """The next segment to send in order."""
    @property
    def acked(self) -> int:
        """Segments that this ACK acknowledges for the first time; 0 at other events."""
    @property
    def suspects(self) -> tuple[int, int]:
        """Segments ``[first, end)`` that the loss may be about, for `excuses` and a detector.

        With ``variant = "linux"`` those that the sender takes for lost, else all outstanding ones.
        """
    @property
    def sack(self) -> list[tuple[int, int]]:
        """SACK blocks of this ACK, each ``[left, right)``, for `on_feedback` and a detector."""
    @property
    def burst(self) -> int | None:
        """The number of the burst that a node reports on; None at other events."""
    @property
    def segments(self) -> list[int]:
        """Segments of this connection in that burst, rising; empty at other events."""
    @property
    def rtt(self) -> float | None:
        """The round trip that this ACK measured, of a segment that was sent once."""
    @property
    def base_rtt(self) -> float | None:
        """The shortest round trip so far."""
    @property
    def srtt(self) -> float | None:
        """The smoothed round trip (RFC 6298), as the estimator of the time-out has it."""
    @property
    def rttvar(self) -> float | None:
        """Its smoothed deviation."""
    @property
    def rto(self) -> float:
        """The time-out that the timer would be set to now, back-off included."""
    @property
    def round(self) -> Round | None:
        """The round trip that this ACK ended."""
    @property
    def delivery_rate(self) -> float | None:
        """The rate at which data arrive in bit/s, headers not counted; None before it is known.

        With ``variant = "linux"`` the newest sample of draft-cheng-iccrg-delivery-rate-estimation,
        else what was acknowledged in the last whole round trip.
        """
    @property
    def app_limited(self) -> bool:
        """Whether the application limited that sample, with ``variant = "linux"``."""
    @property
    def delivered(self) -> int:
        """Data segments delivered so far, those that SACK blocks report included."""
    @property
    def marked(self) -> int:
        """Segments that this ACK delivers with an echo of a mark; 0 but with ``"linux"``."""
    @property
    def delivered_marked(self) -> int:
        """How many of those there were so far."""
    @property
    def payload(self) -> int:
        """Bytes of data in a full segment."""
    @property
    def in_recovery(self) -> bool:
        """Whether losses are being repaired, or with ``variant = "linux"`` a mark."""
    @property
    def repeated(self) -> bool:
        """Whether the same segment times out again, for a law."""

class _Devices(Protocol):
    def wait(
        self, now_ps: int, until_ps: int, /
    ) -> (
        tuple[
            int,
            list[tuple[int, bool, bytes, tuple[int, ...] | None]],
            bool,
            list[tuple[int, bool, int, int]],
        ]
        | None
    ): ...
    def deliver(
        self, now_ps: int, pair: int, far: bool, packet: bytes, /
    ) -> tuple[int, ...] | None: ...

class _Sink(Protocol):
    """Takes the tables of a run while it goes on: rows and late chunks, as they come."""

    def rows(self, name: str, columns: _Columns, /) -> object:
        """Take rows that are final."""
    def early(self, name: str, columns: _Columns, /) -> object:
        """Take a chunk of which a few rows may change; it comes late when its turn has come."""
    def late(self, name: str, places: NDArray[np.uint32], columns: _Columns, /) -> object:
        """Take the rows that belong in these places of the chunk next in turn that came early."""

class _Keeper(Protocol):
    """Keeps the latest checkpoint of a run."""

    def kept(self) -> bytes | None:
        """Return the checkpoint to go on from; without one the run starts at the beginning."""
    def keep(self, data: bytes, /) -> object:
        """Take a checkpoint; called by the thread that runs."""

@final
class Monitor:
    """A handle on a running simulation that another thread may hold.

    A run that is bound to need more than ``max_memory`` bytes is refused. At the look number
    ``fails_at`` the engine fails, as by a fault of its own: a means to see what becomes of it.
    With ``looked_at_each`` the engine looks at the monitor after so many events: a means to cut a
    run at any of them.
    """

    def __new__(
        cls,
        max_memory: int | None = None,
        fails_at: int | None = None,
        looked_at_each: int | None = None,
    ) -> Monitor: ...
    def progress(self) -> float:
        """Return the share done, 0 to 1."""
    def cancel(self) -> None:
        """Ask the simulation to end soon; what it has done is kept."""
    def keep(self) -> None:
        """Ask a kept simulation for a checkpoint soon."""

@final
class Output:
    """What one replication leaves."""

    @property
    def summary(self) -> str:
        """The numbers, as JSON."""
    @property
    def stuck(self) -> tuple[str, str, str, str] | None:
        """Why the run could not go on, as (path, value, problem, fix); None where it could."""
    @property
    def fault(self) -> tuple[str, str] | None:
        """What failed in the engine, and where; None where nothing did."""
    def tables(self) -> list[tuple[str, _Columns]]:
        """Hand over the recorded tables, once: chunks in order, each a name and its columns."""

@final
class LinuxSender:
    """A sender as Linux has it, driven call by call; times in ns, segments by number from 1 on."""

    def __new__(cls, options_json: str) -> LinuxSender: ...
    def open(self, syn: int, now: int, window: int) -> None:
        """Take the ACK of a SYN that left at ``syn``; ``window`` is the receiver's, in bytes."""
    def write(self, now: int, segments: int, pushes: bool, record: bool) -> int:
        """Write whole segments in one call; answers how many there was room for.

        ``pushes``: the receiver is to hand over what it has; ``record``: nothing is added to them.
        """
    def resize(self, bytes: int) -> None:
        """Set the size of the send buffer, bookkeeping included."""
    def close(self, now: int) -> None:
        """Write nothing more: the FIN goes with what waits, or as a segment of its own."""
    def hear(
        self,
        now: int,
        acked: int,
        blocks: list[tuple[int, int]],
        window: int,
        echo: int | None,
        ece: bool,
    ) -> None:
        """Take an ACK of all below ``acked`` that reports ``blocks`` and echoes ``echo`` ms."""
    def deadline(self) -> int | None:
        """Return when its timer runs out."""
    def expire(self, now: int) -> None:
        """Let the timer run out; nothing happens before its time."""
    def take(self) -> list[tuple[int, bool, bool]]:
        """Take what left: number, whether it was sent before, whether it pushes."""
    def state(self) -> dict[str, int | None]:
        """Return window, counts and times (us); ``min_rtt`` is None before a measurement."""

def replay(case_json: str, trace: str) -> str:
    """Play a recorded connection of Linux to a sender; answers how that went, as JSON."""

@final
class Scenario:
    """A scenario that was read and resolved once, for its check, its stored form and its runs."""

    def __new__(cls, scenario_json: str, monitor: Monitor | None = None) -> Scenario: ...
    def document(self) -> str:
        """Return the scenario with every field that it uses, as JSON."""
    def dropped(self) -> list[str]:
        """Return warnings of TCP parameters that no sender has, and which the document lacks."""

#: A scenario as JSON text, or one that was read before.
_Given: TypeAlias = str | Scenario

@final
class Branches:
    """A run, and the same run with operations on its bursts, where they part."""

    @property
    def parted_ps(self) -> int:
        """Simulated time at which they part."""
    def checkpoint(self) -> bytes:
        """Return a checkpoint of the run where they part."""
    def run(self, operated: bool, trace: list[str], monitor: Monitor) -> tuple[Output, str]:
        """Run one of them to its end; return it, and how far connections came, as JSON."""

def part(
    first: _Given,
    other: _Given,
    random: tuple[int, int],
    monitor: Monitor,
    until_ps: int | None = None,
    kept: bytes | None = None,
) -> Branches:
    """Run to just before the first burst that the surgery of the other scenario names."""

@final
class Prices:
    """The prices of the bursts that a run loses, which is run to its end first."""

    def __new__(cls, scenario: _Given, random: tuple[int, int], monitor: Monitor) -> Prices: ...
    def lost(self) -> str:
        """Return the bursts with packets of connections that were lost, as JSON."""
    def reached(self) -> str:
        """Return how far connections came, as JSON."""
    @property
    def fingerprint(self) -> str:
        """That of the run."""
    def pick(self, places: list[int], horizon_ps: int | None = None) -> None:
        """Pick the bursts to be priced by their place among those lost."""
    def next(self, monitor: Monitor) -> str | None:
        """Return the price of the next burst, as JSON; several threads may ask at once."""
    def all(self, monitor: Monitor) -> str:
        """Return the price of all of them together, as JSON."""

def resolve(scenario_json: str, monitor: Monitor | None = None) -> str:
    """Check a scenario and fill in every default; the interpreter is free meanwhile."""

def needs(
    scenario: _Given, monitor: Monitor | None = None
) -> tuple[float, float, list[str], float]:
    """Return what a run needs: its bytes, those of all numbers, what is to be said, its events."""

def warnings(scenario: _Given) -> list[str]:
    """Return what a scenario says that is allowed but probably not meant."""

def shape(scenario: _Given) -> str:
    """Return the summary of a run that ends before its first event, as JSON."""

def simulate(
    scenario: _Given,
    seed: int,
    replication: int,
    trace: list[str],
    monitor: Monitor,
    sink: _Sink | None = None,
    devices: _Devices | None = None,
) -> Output:
    """Run one replication; the interpreter is free meanwhile.

    A sink takes the tables piece by piece, called by the thread that runs; the output has none
    then. What it raises ends the run. Devices are those of live hosts, and their clock: what
    they raise ends the run too.
    """

def simulate_kept(
    scenario: _Given,
    seed: int,
    replication: int,
    monitor: Monitor,
    keeper: _Keeper,
    sink: _Sink | None = None,
) -> Output:
    """Run one replication from where its keeper says, which takes checkpoints.

    It takes one whenever the monitor is asked to keep, and one at the end or where the run is
    cancelled. A sink takes the tables at the end. What either raises ends the run.
    """

def batches(
    scenario_json: str,
    entry: int,
    start: str,
    end: str,
    random: tuple[int, int],
    count: int,
) -> tuple[NDArray[np.uint64], NDArray[np.uint32]]:
    """Draw the first batches of an entry of a scenario: when they come, in ps, and their bytes."""

def simulate_several(
    scenario: _Given, seed: int, first: int, count: int, monitor: Monitor
) -> list[str]:
    """Run replications from number ``first`` on, one after the other, for their summaries alone.

    Each is JSON text. The interpreter is free meanwhile. Where the monitor cancels one, those after
    it are not begun, and `Cancelled` is raised.
    """

def check_checkpoint(scenario: _Given, seed: int, replication: int, checkpoint: bytes) -> None:
    """Refuse a checkpoint that is damaged, or not of this run."""

def seconds(text: str) -> float:
    """Read a time with its unit, such as ``"60 s"``."""

def quantity(text: str) -> tuple[float, str] | None:
    """Read a time, size or rate in its base unit, ``"s"``, ``"B"`` or ``"b/s"``; else None."""
