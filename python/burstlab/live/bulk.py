"""Bulk transfers over TCP, for live hosts: a sender and a receiver that do nothing else.

``python -m burstlab.live.bulk receive PORT`` takes one connection and reads at once what comes;
``... send ADDRESS PORT [BYTES]`` writes so many bytes and closes, or without end. With ``--writes
MS:BYTES,...`` it writes at times after its SYN and keeps the connection open. With ``--back`` the
receiver writes too. All print what they moved as they end.
"""

from __future__ import annotations

import argparse
import select
import socket
import sys
import time

#: Bytes of a write, and of a read.
ROOM = 1 << 16

#: Milliseconds after the SYN, and bytes, of each write.
Writes = list[tuple[int, int]]


def exchange(connection: socket.socket, size: int | None) -> tuple[int, int]:
    """Send bytes and close; read meanwhile what comes, to its end; return how many of both.

    Parameters
    ----------
    connection
        The connection.
    size
        Bytes to send; ``None``: without end.
    """
    data, sent, taken, is_open = bytes(ROOM), 0, 0, True
    connection.setblocking(False)
    ready = select.poll()
    ready.register(connection, select.POLLIN | select.POLLOUT)
    while is_open or size is None or sent < size:
        try:
            while size is None or sent < size:
                sent += connection.send(data[: ROOM if size is None else min(ROOM, size - sent)])
                if sent == size:
                    connection.shutdown(socket.SHUT_WR)
                    ready.modify(connection, select.POLLIN)
        except BlockingIOError:
            pass
        try:
            while is_open:
                came = len(connection.recv(ROOM))
                taken, is_open = taken + came, came > 0
        except BlockingIOError:
            pass
        if is_open or size is None or sent < size:
            ready.poll()
    return sent, taken


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


def write_at(address: str, port: int, writes: Writes) -> None:
    """Send bytes at times after the SYN, and keep the connection open until the run ends."""
    begun_s = time.monotonic()
    with socket.create_connection((address, port)) as connection:
        for at_ms, count in writes:
            time.sleep(max(0.0, begun_s + at_ms / 1e3 - time.monotonic()))
            connection.sendall(bytes(count))
        select.poll().poll()


def receive(port: int, clamp: int | None, back: int | None) -> tuple[int, int]:
    """Take one connection to its end; return how many bytes went back, and how many came.

    Parameters
    ----------
    port
        Where it listens.
    clamp
        ``TCP_WINDOW_CLAMP``, in bytes.
    back
        Bytes to send meanwhile; 0: without end; ``None``: none.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if clamp is not None:
            listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_WINDOW_CLAMP, clamp)
        listener.bind(("", port))
        listener.listen(4)
        connection, _ = listener.accept()
        with connection:
            if back is not None:
                return exchange(connection, back or None)
            taken = 0
            while data := connection.recv(ROOM):
                taken += len(data)
    return 0, taken


def main() -> None:
    """Run the command of the arguments."""
    parser = argparse.ArgumentParser(prog="burstlab.live.bulk")
    roles = parser.add_subparsers(dest="role", required=True)
    sender = roles.add_parser("send")
    sender.add_argument("address")
    sender.add_argument("port", type=int)
    sender.add_argument("bytes", type=int, nargs="?")
    sender.add_argument("--writes", help="MS:BYTES,... after the SYN, in place of BYTES")
    sender.add_argument("--both", action="store_true", help="read what comes, too")
    receiver = roles.add_parser("receive")
    receiver.add_argument("port", type=int)
    receiver.add_argument("--clamp", type=int, help="TCP_WINDOW_CLAMP, in bytes")
    receiver.add_argument("--back", type=int, help="bytes to send, too; 0: without end")
    given = parser.parse_args()
    if given.role == "send" and given.writes is not None:
        pairs = (one.split(":") for one in given.writes.split(","))
        write_at(given.address, given.port, [(int(at), int(count)) for at, count in pairs])
    elif given.role == "send" and given.both:
        with socket.create_connection((given.address, given.port)) as connection:
            sent, taken = exchange(connection, given.bytes)
        print(f"sent {sent} bytes, received {taken} bytes")
    elif given.role == "send":
        print(f"sent {send(given.address, given.port, given.bytes)} bytes")
    else:
        sent, taken = receive(given.port, given.clamp, given.back)
        print(f"received {taken} bytes" + (f", sent {sent} bytes" if sent else ""))


if __name__ == "__main__":
    sys.exit(main())
