"""The content of a packetdrill script: packets, calls, commands and assertions, each timed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

#: A microsecond in the unit of time of a run.
NS_PER_US = 1_000


class NotModelled(Exception):
    """A script needs what the model has not; the message says what."""


class Differs(Exception):
    """The model does not do what a script expects; the message says where they part."""


@dataclass(frozen=True)
class When:
    """When an event happens.

    Attributes
    ----------
    kind
        ``"absolute"``, ``"relative"`` (to the event before) or ``"any"``.
    start_us
        The time in microseconds.
    end_us
        Its end, where it is a range, or by when a call that blocks returns.
    blocks
        Whether ``end_us`` is of a call that blocks.
    """

    kind: Literal["absolute", "relative", "any"]
    start_us: int = 0
    end_us: int | None = None
    blocks: bool = False


@dataclass(frozen=True)
class Option:
    """A TCP option: its name, and its numbers or text."""

    name: str
    values: tuple[int, ...] = ()
    text: str = ""


@dataclass(frozen=True)
class Packet:
    """A TCP segment.

    Attributes
    ----------
    flags
        Letters of the flags that are set, without the point for ACK, sorted.
    seq, length
        Its first number, counted from the SYN's, and its bytes of data.
    ack
        The cumulative ACK, if it has one.
    window
        As it is in the header; None: not looked at.
    options
        In order; None: not looked at.
    ecn
        ``"noecn"``, ``"ect0"``, ``"ect1"`` or ``"ce"``; empty: not looked at.
    """

    flags: str
    seq: int
    length: int
    ack: int | None = None
    window: int | None = None
    options: tuple[Option, ...] | None = ()
    ecn: str = ""

    def option(self, name: str) -> Option | None:
        """Return the option of that name."""
        return next((one for one in self.options or () if one.name == name), None)

    def __str__(self) -> str:
        """Write it as a script does."""
        flags = self.flags + ("." if self.ack is not None else "")
        text = f"{flags or '-'} {self.seq}:{self.seq + self.length}({self.length})"
        if self.ack is not None:
            text += f" ack {self.ack}"
        if self.options:
            text += f" <{','.join(_written(option) for option in self.options)}>"
        return text


def _written(option: Option) -> str:
    if option.name == "TS":
        return f"TS val {option.values[0]} ecr {option.values[1]}"
    if option.name == "sack":
        pairs = zip(option.values[::2], option.values[1::2], strict=True)
        return "sack " + " ".join(f"{left}:{right}" for left, right in pairs)
    return " ".join([option.name, *map(str, option.values), *filter(None, [option.text])])


@dataclass(frozen=True)
class PacketEvent:
    """A packet that arrives, or that is expected."""

    line: int
    when: When
    inbound: bool
    packet: Packet


@dataclass(frozen=True)
class CallEvent:
    """A system call: its name, the text of each argument, and what it returns."""

    line: int
    when: When
    name: str
    arguments: tuple[str, ...]
    returns: str
    error: str = ""


@dataclass(frozen=True)
class CommandEvent:
    """Lines for a shell."""

    line: int
    when: When
    text: str


@dataclass(frozen=True)
class CodeEvent:
    """Assertions in Python on the state of a connection."""

    line: int
    when: When
    text: str


Event: TypeAlias = PacketEvent | CallEvent | CommandEvent | CodeEvent


@dataclass(frozen=True)
class Script:
    """A script: its options, the shell lines before and after, and its events in order."""

    name: str
    options: dict[str, str]
    setup: str
    events: tuple[Event, ...]
