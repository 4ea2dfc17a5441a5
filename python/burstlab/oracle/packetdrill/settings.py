"""Shell lines of a script, as settings of the model: nothing of them is executed."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from burstlab.documents.sysctls import LAWS
from burstlab.loading import read_text
from burstlab.oracle.packetdrill.events import NotModelled

_SYSCTL = re.compile(r"net[./]ipv4[./](\w+)=(\"[^\"]*\"|\S+)")
_PROC = re.compile(r"/proc/sys/net/ipv4/(\w+)=(\"[^\"]*\"|\S+)")
_ARITHMETIC = re.compile(r"\$\(\(([\d*\s]+)\)\)")


@dataclass
class Settings:
    """The settings of a host; defaults are Linux 6.12's.

    Attributes
    ----------
    law
        The congestion control.
    sack, d_sack, timestamps, rack, probes, f_rto
        Whether each is switched on.
    ecn
        0 no, 1 asks for it and agrees, 2 agrees.
    reordering
        Segments by which the network is taken to reorder at first.
    restart_after_idle
        Whether the window begins anew after a time-out without data.
    receive_most
        Most bytes of the receive buffer, which set the window scale.
    send_buffer
        Bytes of the send buffer: at first, and at most.
    paced
        Whether the queue of the device paces (``fq``).
    group_least, group_divisor
        Segments of a group at least, and the part of the window that must be free for one that
        could be larger to go.
    unsent_most
        Bytes that may wait unsent, if that is bounded.
    """

    law: str = "cubic"
    sack: bool = True
    d_sack: bool = True
    timestamps: bool = True
    rack: bool = True
    probes: bool = True
    f_rto: bool = True
    ecn: int = 2
    reordering: int = 3
    restart_after_idle: bool = True
    receive_most: int = 6_291_456
    send_buffer: tuple[int, int] = (16_384, 4_194_304)
    paced: bool = False
    group_least: int = 2
    group_divisor: int = 3
    unsent_most: int | None = None

    def read(self, text: str, directory: Path) -> None:
        """Take the lines of a shell; files that they run are looked for from ``directory``.

        Raises
        ------
        NotModelled
            If a line does what the model cannot.
        """
        for line in text.replace("\\\n", " ").splitlines():
            self._line(line.split("#")[0].strip(), directory)

    def _line(self, line: str, directory: Path) -> None:
        settings = [*_SYSCTL.findall(line), *_PROC.findall(line)]
        for name, value in settings:
            self._set(name, value.strip('"'))
        if settings or not line:
            return
        words = line.split()
        if words[0].endswith(".sh") and len(words) == 1:
            # The script itself writes the one that restores the settings afterwards.
            if "restore" not in words[0]:
                self._include(directory / words[0])
        elif words[0] == "tc":
            self._queue(words)
        elif words[0].endswith("hystart_detect") or "hystart_detect" in line:
            if words[:2] != ["echo", "3"]:
                raise NotModelled("one of the two criteria of HyStart alone")
        elif words[0] not in HARMLESS:
            raise NotModelled(f"the shell line {line!r}")

    def _include(self, path: Path) -> None:
        if not path.is_file():
            raise NotModelled(f"{path.name}, which is not there")
        self.read(read_text(path), path.parent)

    def _queue(self, words: list[str]) -> None:
        """Take a queue discipline of the device."""
        if "fq" in words:
            self.paced = True
        elif "limit" in words:
            raise NotModelled("a device that takes no packet")
        elif "pfifo" not in words:
            raise NotModelled(f"the queue discipline of {' '.join(words)!r}")

    def _set(self, name: str, value: str) -> None:
        value = _ARITHMETIC.sub(lambda found: str(_product(found[1])), value)
        if name in SETTERS:
            try:
                SETTERS[name](self, value)
            except (ValueError, IndexError):
                raise NotModelled(f"{name} = {value!r}") from None
        elif name not in INDIFFERENT:
            raise NotModelled(f"the setting {name}")


def _product(text: str) -> int:
    product = 1
    for factor in text.split("*"):
        product *= int(factor)
    return product


def _flag(field: str) -> Callable[[Settings, str], None]:
    return lambda settings, value: setattr(settings, field, int(value) != 0)


def _number(field: str) -> Callable[[Settings, str], None]:
    return lambda settings, value: setattr(settings, field, int(value))


def _set_law(settings: Settings, value: str) -> None:
    if value not in LAWS:
        raise NotModelled(f"the congestion control {value}")
    settings.law = value


def _set_receive(settings: Settings, value: str) -> None:
    settings.receive_most = int(value.split()[2])


def _set_send(settings: Settings, value: str) -> None:
    words = value.split()
    settings.send_buffer = (int(words[1]), int(words[2]))


def _set_unsent(settings: Settings, value: str) -> None:
    most = int(value)
    settings.unsent_most = most if most < 2**31 else None


#: The effect of each setting below net.ipv4.
SETTERS: Mapping[str, Callable[[Settings, str], None]] = {
    "tcp_congestion_control": _set_law,
    "tcp_rmem": _set_receive,
    "tcp_wmem": _set_send,
    "tcp_sack": _flag("sack"),
    "tcp_dsack": _flag("d_sack"),
    "tcp_timestamps": _flag("timestamps"),
    "tcp_recovery": _flag("rack"),
    "tcp_early_retrans": _flag("probes"),
    "tcp_frto": _flag("f_rto"),
    "tcp_ecn": _number("ecn"),
    "tcp_reordering": _number("reordering"),
    "tcp_slow_start_after_idle": _flag("restart_after_idle"),
    "tcp_min_tso_segs": _number("group_least"),
    "tcp_tso_win_divisor": _number("group_divisor"),
    "tcp_notsent_lowat": _set_unsent,
}

#: Settings that change nothing in a script that otherwise runs: of Fast Open, of SYN cookies and
#: retries, of what the kernel no longer has, and what are its defaults.
INDIFFERENT = frozenset(
    {
        "tcp_fack",
        "tcp_syn_retries",
        "tcp_synack_retries",
        "tcp_syncookies",
        "tcp_fastopen",
        "tcp_fastopen_key",
        "tcp_ecn_option",
        "tcp_pacing_ss_ratio",
        "tcp_pacing_ca_ratio",
        "tcp_no_metrics_save",
    }
)

#: Commands that make files, or that clear what the model does not keep.
HARMLESS = frozenset({"ip", "/bin/rm", "/bin/dd", "set", "sysctl"})
