"""A reader of captures that shares nothing with their writer, and the tools that judge them."""

from __future__ import annotations

import shutil
import struct
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import pytest


@dataclass
class Packet:
    interface: int
    time_ns: int
    data: bytes
    length: int
    comment: str


@dataclass
class File:
    interfaces: list[dict[int, bytes]] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)
    section: dict[int, bytes] = field(default_factory=dict)
    packets: list[Packet] = field(default_factory=list)


def read(path: Path) -> File:
    file, content, at = File(), path.read_bytes(), 0
    while at < len(content):
        kind, total = struct.unpack_from("<II", content, at)
        assert total % 4 == 0
        assert struct.unpack_from("<I", content, at + total - 4)[0] == total
        body = content[at + 8 : at + total - 4]
        if kind == 0x0A0D0D0A:
            assert struct.unpack_from("<IHHq", body) == (0x1A2B3C4D, 1, 0, -1)
            file.section = options(body[16:])
        elif kind == 1:
            assert struct.unpack_from("<HH", body) == (101, 0)
            file.interfaces.append(options(body[8:]))
        elif kind == 4:
            record = body[4 : 4 + struct.unpack_from("<H", body, 2)[0]]
            address = ".".join(map(str, record[:4]))
            file.names[address] = record[4:].rstrip(b"\0").decode()
        elif kind == 6:
            number, high, low, kept, length = struct.unpack_from("<IIIII", body)
            rest = options(body[20 + kept + -kept % 4 :])
            data, comment = body[20 : 20 + kept], rest.get(1, b"").decode()
            file.packets.append(Packet(number, high << 32 | low, data, length, comment))
        else:
            raise AssertionError(f"block {kind}")
        at += total
    return file


def options(content: bytes) -> dict[int, bytes]:
    found, at = {}, 0
    while at < len(content):
        code, length = struct.unpack_from("<HH", content, at)
        if code == 0:
            assert at + 4 == len(content), "the end of options is their end"
            break
        found[code] = content[at + 4 : at + 4 + length]
        at += 4 + length + -length % 4
    return found


def words(content: bytes) -> int:
    """The sum of RFC 1071, word by word."""
    content += b"\0" * (len(content) % 2)
    total = sum(struct.unpack(f">{len(content) // 2}H", content))
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    return total


def check(data: bytes, length: int) -> None:
    """Both checksums of a packet whose payload is zeros are those that its bytes have."""
    whole = data[:length] + bytes(length - len(data))
    assert len(whole) == struct.unpack_from(">H", whole, 2)[0]
    assert words(whole[:20]) == 0xFFFF
    pseudo = whole[12:20] + bytes([0, whole[9]]) + struct.pack(">H", len(whole) - 20)
    assert words(pseudo + whole[20:]) == 0xFFFF


def tool(name: str) -> str:
    """The path of a program that tests use where there is one."""
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not installed: apt-get install {name}")
    return found


def tshark(path: Path, fields: list[str], *options: str) -> list[list[str]]:
    """One line a packet, of the fields asked for."""
    asked = [token for name in fields for token in ("-e", name)]
    command = [tool("tshark"), "-r", str(path), "-T", "fields", "-E", "separator=/t", *asked]
    command += ["-o", "ip.check_checksum:TRUE", "-o", "tcp.check_checksum:TRUE"]
    command += ["-o", "udp.check_checksum:TRUE", *options]
    answer = subprocess.run(command, capture_output=True, text=True, check=True)
    return [line.split("\t") for line in answer.stdout.splitlines()]


def tcptrace(path: Path) -> dict[str, list[int]]:
    """The counts of tcptrace on the path from the senders, one number a connection."""
    command = [tool("tcptrace"), "-l", "-r", str(path)]
    answer = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found: dict[str, list[int]] = {}
    for line in answer.splitlines():
        name, colon, rest = line.strip().partition(":")
        if colon and rest.split() and rest.split()[0].isdigit():
            found.setdefault(name, []).append(int(rest.split()[0]))
    return found
