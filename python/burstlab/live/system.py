"""System calls that Python lacks: namespaces, mounts, timers, and the end of a machine."""

from __future__ import annotations

import ctypes
import os
import struct

CLONE_NEWNS = 0x00020000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000
MS_REC_PRIVATE = 0x4000 | 0x40000

_ADDR_NO_RANDOMIZE = 0x0040000
_PR_SET_PDEATHSIG = 1
_PR_SET_TIMERSLACK = 29
_POWER_OFF = 0x4321FEDC
_TFD_NONBLOCK_CLOEXEC = 0o4000 | 0o2000000
_TFD_TIMER_ABSTIME = 1
_CLOCK_MONOTONIC = 1
_BILLION = 1_000_000_000

_libc = ctypes.CDLL(None, use_errno=True)


def _called(status: int, what: str) -> int:
    if status < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), what)
    return status


def unshare(flags: int) -> None:
    """Leave namespaces for new ones (unshare(2))."""
    _called(_libc.unshare(flags), "unshare")


def enter_network(namespace: int) -> None:
    """Go into the network namespace of a file descriptor (setns(2))."""
    _called(_libc.setns(namespace, CLONE_NEWNET), "setns")


def mount(source: str, target: str, kind: str | None, flags: int = 0) -> None:
    """Mount a file system (mount(2))."""
    encoded = None if kind is None else kind.encode()
    _called(_libc.mount(source.encode(), target.encode(), encoded, flags, None), target)


def die_with_parent(signal: int) -> None:
    """Be sent a signal when the process ends that started this one."""
    _called(_libc.prctl(_PR_SET_PDEATHSIG, signal, 0, 0, 0), "prctl")


def without_slack() -> None:
    """Have timers of this process go off when they are due, to the nanosecond."""
    _called(_libc.prctl(_PR_SET_TIMERSLACK, 1, 0, 0, 0), "prctl")


def without_random_places() -> None:
    """Have programs that this process becomes lie at the same places of memory in each run.

    Where a container forbids that, they lie elsewhere each time.
    """
    _libc.personality(_ADDR_NO_RANDOMIZE)


def power_off() -> None:
    """End the machine at once; of a user-mode kernel, its process."""
    os.sync()
    _called(_libc.reboot(_POWER_OFF), "reboot")


class Alarm:
    """A timer with a file descriptor that is readable once the timer has gone off."""

    def __init__(self) -> None:
        made = _libc.timerfd_create(_CLOCK_MONOTONIC, _TFD_NONBLOCK_CLOEXEC)
        self.fd = _called(made, "timerfd_create")
        self._room = ctypes.create_string_buffer(32)

    def set(self, at_ns: int) -> None:
        """Go off at a time of the clock CLOCK_MONOTONIC, in ns."""
        struct.pack_into("qqqq", self._room, 0, 0, 0, at_ns // _BILLION, at_ns % _BILLION)
        made = _libc.timerfd_settime(self.fd, _TFD_TIMER_ABSTIME, self._room, None)
        _called(made, "timerfd_settime")
