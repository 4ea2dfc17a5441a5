"""Bulk transfers over TCP, for live hosts: a sender and a receiver that do nothing else.

``python -m burstlab.live.bulk receive PORT`` takes one connection and reads at once what comes;
``... send ADDRESS PORT [BYTES]`` writes so many bytes and closes, or without end. Both print what
they moved as they end.
"""

from __future__ import annotations

import argparse
import select
import socket
import sys

#: Bytes of a write, and of a read.
ROOM = 1 << 16


def send(address: str, port: int, size: int | None) -> int:
    """Send bytes, each time as many as the kernel takes; return how many."""
    data, sent = bytes(ROOM), 0
    with socket.create_connection((address, port)) as connection:
        connection.setblocking(False)
        ready = select.poll()
        ready.register(connection, select.POLLOUT)
        while size is None or sent < size:
            most = ROOM if size is None else min(ROOM, size - sent)
            try:
                sent += connection.send(data[:most])
            except BlockingIOError:
                ready.poll()
    return sent


def receive(port: int, clamp: int | None) -> int:
    """Take one connection to its end; return how many bytes came."""
    taken = 0
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if clamp is not None:
            listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_WINDOW_CLAMP, clamp)
        listener.bind(("", port))
        listener.listen(4)
        connection, _ = listener.accept()
        with connection:
            while data := connection.recv(ROOM):
                taken += len(data)
    return taken


def main() -> None:
    """Do what the arguments say."""
    parser = argparse.ArgumentParser(prog="burstlab.live.bulk")
    ways = parser.add_subparsers(dest="way", required=True)
    sender = ways.add_parser("send")
    sender.add_argument("address")
    sender.add_argument("port", type=int)
    sender.add_argument("bytes", type=int, nargs="?")
    receiver = ways.add_parser("receive")
    receiver.add_argument("port", type=int)
    receiver.add_argument("--clamp", type=int, help="TCP_WINDOW_CLAMP, in bytes")
    given = parser.parse_args()
    if given.way == "send":
        print(f"sent {send(given.address, given.port, given.bytes)} bytes")
    else:
        print(f"received {receive(given.port, given.clamp)} bytes")


if __name__ == "__main__":
    sys.exit(main())
