"""The network of live hosts: a namespace each, with one device and the settings of its kernel."""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import socket
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from burstlab import _core
from burstlab.errors import InputError, ScenarioError
from burstlab.live import system
from burstlab.live.tcp_info import Diagnosis

TUN = Path("/dev/net/tun")
DEVICE = "live0"

_TUNSETIFF = 0x400454CA
_IFF_TUN_NO_PI = 0x0001 | 0x1000
_SIOCADDRT = 0x890B
_SIOCSIFFLAGS = 0x8914
_SIOCSIFADDR = 0x8916
_SIOCSIFMTU = 0x8922
_SIOCSIFTXQLEN = 0x8943
_UP_RUNNING = 0x41
_RTF_UP = 1

_RTM_NEWLINK = 16
_ACKNOWLEDGED = 5
_IFLA_GSO_MAX_SEGS = 40

#: Packets that may wait in the device: it is emptied before any time passes.
_QUEUE = 20_000


class Host:
    """A live host: its namespace, its device, and a socket to ask for its connections.

    Parameters
    ----------
    number
        Its place in the scenario.
    given
        Its table there, with every default.

    Raises
    ------
    ScenarioError
        If its kernel does not take a setting.
    """

    def __init__(self, number: int, given: Mapping[str, Any]) -> None:
        self.number = number
        self.address = str(given["address"])
        self.packed = socket.inet_aton(self.address)
        before = os.open("/proc/self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
        system.unshare(system.CLONE_NEWNET)
        try:
            self.namespace = os.open("/proc/self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
            self._settings([("net.ipv6.conf.all.disable_ipv6=1", "")], optional=True)
            self.device = _device()
            _configure(self.address, _bytes(str(given["mtu"])))
            if not given.get("grouping", True):
                _one_segment_at_a_time()
            at = f"live[{number}]"
            control = given.get("congestion_control")
            if control is not None:
                one = f"net.ipv4.tcp_congestion_control={control}"
                self._settings([(one, f"{at}.congestion_control")])
            self._settings([(one, f"{at}.sysctls") for one in given.get("sysctls", ())])
            self.diagnosis = Diagnosis()
        finally:
            system.enter_network(before)
            os.close(before)

    def _settings(self, settings: list[tuple[str, str]], *, optional: bool = False) -> None:
        for setting, path in settings:
            name, _, value = setting.partition("=")
            file = Path("/proc/sys") / name.strip().replace(".", "/")
            try:
                file.write_text(value.strip(), encoding="ascii")
            except OSError as error:
                if optional:
                    continue
                reason = "has no such setting"
                if error.errno != errno.ENOENT:
                    reason = f"refuses that ({error.strerror})"
                fix = "write a setting and a value that this kernel has"
                raise ScenarioError(path, setting, f"the kernel {reason}", fix) from None


def _device() -> int:
    try:
        device = os.open(TUN, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        fcntl.ioctl(device, _TUNSETIFF, struct.pack("16sH22x", DEVICE.encode(), _IFF_TUN_NO_PI))
    except OSError as error:
        raise InputError(
            f"{TUN}: {error.strerror}\n  fix: load the module tun (modprobe tun), and allow this "
            "machine to use it"
        ) from None
    return device


def _bytes(size: str) -> int:
    """Return the bytes of a size with its unit, such as ``"9 KB"``."""
    found = _core.quantity(size)
    assert found is not None, size
    return int(found[0])


def _configure(address: str, mtu: int) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:

        def ask(what: int, fields: bytes, name: str = DEVICE) -> None:
            fcntl.ioctl(control, what, struct.pack("16s24s", name.encode(), fields))

        ask(_SIOCSIFFLAGS, struct.pack("H", _UP_RUNNING), "lo")
        ask(_SIOCSIFADDR, struct.pack("HH4s", socket.AF_INET, 0, socket.inet_aton(address)))
        ask(_SIOCSIFMTU, struct.pack("i", mtu))
        ask(_SIOCSIFTXQLEN, struct.pack("i", _QUEUE))
        ask(_SIOCSIFFLAGS, struct.pack("H", _UP_RUNNING))
        name = ctypes.create_string_buffer(DEVICE.encode())
        anywhere = struct.pack("H14x", socket.AF_INET)
        route = struct.pack(
            "L16s16s16sHhLPhPLLH",
            0,
            anywhere,
            anywhere,
            anywhere,
            _RTF_UP,
            0,
            0,
            0,
            0,
            ctypes.addressof(name),
            0,
            0,
            0,
        )
        fcntl.ioctl(control, _SIOCADDRT, route)


def _one_segment_at_a_time() -> None:
    """Have the kernel hand single segments to the device, as ``gso_max_segs 1`` does."""
    index = socket.if_nametoindex(DEVICE)
    body = struct.pack("=BxHiII", socket.AF_UNSPEC, 0, index, 0, 0)
    body += struct.pack("=HHI", 8, _IFLA_GSO_MAX_SEGS, 1)
    head = struct.pack("=IHHII", 16 + len(body), _RTM_NEWLINK, _ACKNOWLEDGED, 1, 0)
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) as control:
        control.send(head + body)
        number = struct.unpack_from("=i", control.recv(4096), 16)[0]
    if number:
        raise OSError(-number, os.strerror(-number), "gso_max_segs")
