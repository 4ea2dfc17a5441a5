"""The host under test: sockets, the calls of an application, and the packets of its network."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

from burstlab.oracle.packetdrill.connection import Connection
from burstlab.oracle.packetdrill.events import CallEvent, Differs, NotModelled, Packet
from burstlab.oracle.packetdrill.settings import Settings

#: The result of a call: a value, and the name of an error.
Answer = tuple[int, str]
#: Tries to finish a call at a time: None while it has to wait.
Attempt = Callable[[int], "Answer | None"]

_NS_PER_US = 1_000
_NS_PER_MS = 1_000_000
_LENGTH = re.compile(r"\{[^{}]*,\s*(\d+)\}")


class Socket:
    """A socket: one that listens, or the end of a connection."""

    def __init__(self, host: Host) -> None:
        self.connection = Connection(host.settings, host.emit)
        self.listens = False
        self.blocks = True


class Host:
    """A host with one interface.

    Attributes
    ----------
    settings
        Its settings.
    sent
        Packets that left and were not yet compared, each with its time in ns.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.sent: deque[tuple[int, Packet]] = deque()
        self.sockets: dict[int, Socket] = {}
        self._opening: list[Connection] = []
        self._accepted: deque[Connection] = deque()
        #: The connection that packets are of.
        self.connection: Connection | None = None

    def emit(self, now: int, packet: Packet) -> None:
        """Take a packet of a connection."""
        self.sent.append((now, packet))

    def deadline(self) -> int | None:
        """When a timer of the host runs out, in ns."""
        return self.connection.deadline() if self.connection else None

    def expire(self, now: int) -> None:
        """Let timers run out."""
        if self.connection:
            self.connection.expire(now)

    def take(self, now: int, packet: Packet) -> None:
        """Take a packet from the network."""
        listener = next((one for one in self.sockets.values() if one.listens), None)
        fresh = self.connection is None or self.connection.state == "closed"
        if packet.flags.replace("E", "").replace("W", "") == "S" and listener and fresh:
            connection = Connection(self.settings, self.emit)
            connection.mss_limit = listener.connection.mss_limit
            connection.buffer = listener.connection.buffer
            self.connection = connection
            self._opening.append(connection)
            connection.take_syn(now, packet)
        elif self.connection is None or self.connection.state == "closed":
            if "R" not in packet.flags:
                seq = packet.ack if packet.ack is not None else 0
                self.emit(now, Packet("R", seq, 0, None, None, ()))
        else:
            self.connection.take(now, packet)
        for connection in [one for one in self._opening if one.outgoing is not None]:
            self._opening.remove(connection)
            self._accepted.append(connection)

    # The calls of an application.

    def call(self, event: CallEvent) -> Attempt:
        """Return what tries to do a call.

        Raises
        ------
        NotModelled
            If the host has no such call.
        """
        handler = self._calls().get(event.name)
        if handler is None:
            raise NotModelled(f"the call {event.name}()")
        return handler(event)

    def socket(self, event: CallEvent) -> Socket:
        """Return the socket of a call's first argument."""
        text = event.arguments[0] if event.arguments else ""
        found = self.sockets.get(int(text)) if text.isdigit() else None
        if found is None:
            raise NotModelled(f"{event.name}() of {text!r}, which is no socket of TCP")
        return found

    def _socket(self, event: CallEvent) -> Attempt:
        if event.arguments[1:3] != ("SOCK_STREAM", "IPPROTO_TCP"):
            raise NotModelled(f"a socket of {event.arguments[1:3]}")
        number = _whole(event.returns)
        self.sockets[number] = Socket(self)
        return _answer(number)

    def _listen(self, event: CallEvent) -> Attempt:
        self.socket(event).listens = True
        return _answer(0)

    def _accept(self, event: CallEvent) -> Attempt:
        listener, number = self.socket(event), _whole(event.returns)

        def attempt(_: int) -> Answer | None:
            if self._accepted:
                self.sockets[number] = socket = Socket(self)
                socket.connection = self._accepted.popleft()
                return number, ""
            return None if listener.blocks else (-1, "EAGAIN")

        return attempt

    def _connect(self, event: CallEvent) -> Attempt:
        socket = self.socket(event)
        begun = False

        def attempt(now: int) -> Answer | None:
            nonlocal begun
            connection = socket.connection
            if not begun:
                begun = True
                self.connection = connection
                connection.connect(now)
                return None if socket.blocks else (-1, "EINPROGRESS")
            return (0, "") if connection.state == "established" else None

        return attempt

    def _close(self, event: CallEvent) -> Attempt:
        socket = self.socket(event)

        def attempt(now: int) -> Answer:
            socket.connection.close(now)
            del self.sockets[int(event.arguments[0])]
            return 0, ""

        return attempt

    def _shutdown(self, event: CallEvent) -> Attempt:
        connection, how = self.socket(event).connection, event.arguments[1]

        def attempt(now: int) -> Answer:
            connection.read_shut |= how in ("SHUT_RD", "SHUT_RDWR")
            if how in ("SHUT_WR", "SHUT_RDWR"):
                connection.shut_writing(now)
            return 0, ""

        return attempt

    def _write(self, event: CallEvent) -> Attempt:
        flags = event.arguments[3] if event.name in ("send", "sendto") else ""
        return self._send(event, event.arguments[1], _whole(event.arguments[2]), flags)

    def _sendmsg(self, event: CallEvent) -> Attempt:
        lengths = [int(length) for length in _LENGTH.findall(event.arguments[1])]
        return self._send(event, "...", sum(lengths), event.arguments[2])

    def _send(self, event: CallEvent, buffer: str, count: int, flags: str) -> Attempt:
        socket = self.socket(event)
        words = {word for word in flags.split("|") if word not in ("0", "")}
        for word in words - {"MSG_MORE", "MSG_ZEROCOPY", "MSG_EOR"}:
            raise NotModelled(f"{word} of {event.name}()")
        left = count

        def attempt(now: int) -> Answer | None:
            nonlocal left
            connection = socket.connection
            if connection.write_shut:
                return -1, "EPIPE"
            if buffer == "NULL":
                return -1, "EFAULT"
            if left < count and not connection.is_writable:
                return None
            more, record = "MSG_MORE" in words, "MSG_EOR" in words
            left -= connection.write(now, left, more=more, record=record) if left else 0
            if left and socket.blocks:
                return None
            return (count - left, "") if left < count or not count else (-1, "EAGAIN")

        return attempt

    def _send_file(self, event: CallEvent) -> Attempt:
        return self._send(event, "...", _whole(event.arguments[3]), "")

    def _read(self, event: CallEvent) -> Attempt:
        socket, most = self.socket(event), _whole(event.arguments[2])

        def attempt(_: int) -> Answer | None:
            connection = socket.connection
            if connection.incoming.waiting:
                if event.arguments[1] == "NULL":
                    return -1, "EFAULT"
                return connection.incoming.read(most), ""
            if connection.incoming.fin or connection.read_shut:
                return 0, ""
            return None if socket.blocks else (-1, "EAGAIN")

        return attempt

    def _receive(self, event: CallEvent) -> Attempt:
        """``recvmsg``, with what is left in the queue as a control message (TCP_INQ)."""
        socket, text = self.socket(event), event.arguments[1]
        if event.arguments[2] != "0":
            raise NotModelled(f"{event.arguments[2]} of recvmsg()")
        most = sum(int(length) for length in _LENGTH.findall(text.split("msg_flags")[0]))
        wanted = re.search(r"cmsg_type=(\w+),\s*cmsg_data=(\d+)", text)
        if wanted and wanted[1] != "TCP_CM_INQ":
            raise NotModelled(f"the control message {wanted[1]}")

        def attempt(_: int) -> Answer | None:
            incoming = socket.connection.incoming
            if not incoming.waiting and not incoming.fin:
                return None if socket.blocks else (-1, "EAGAIN")
            count = incoming.read(most)
            # An end that is known but not read counts as one byte.
            left = incoming.waiting or int(incoming.fin)
            if wanted and int(wanted[2]) != left:
                raise Differs(f"{left} bytes are left to read, not {wanted[2]}")
            return count, ""

        return attempt

    def _fcntl(self, event: CallEvent) -> Attempt:
        socket, command = self.socket(event), event.arguments[1]
        if command == "F_SETFL":
            socket.blocks = "O_NONBLOCK" not in event.arguments[2]
            return _answer(0)
        return _answer(2 | (0 if socket.blocks else 0x800))

    def _ioctl(self, event: CallEvent) -> Attempt:
        if event.arguments[1] != "SIOCINQ":
            raise NotModelled(f"{event.arguments[1]} of ioctl()")
        waiting, wanted = self.socket(event).connection.incoming.waiting, event.arguments[2]
        if wanted != f"[{waiting}]":
            raise Differs(f"{waiting} bytes wait to be read, not {wanted}")
        return _answer(0)

    def _set_option(self, event: CallEvent) -> Attempt:
        connection = self.socket(event).connection
        name = event.arguments[2]
        if name not in SETTABLE:
            raise NotModelled(f"the socket option {name}")

        def attempt(now: int) -> Answer:
            SETTABLE[name](connection, _bracketed(event.arguments[3]), now)
            return 0, ""

        return attempt

    def _get_option(self, event: CallEvent) -> Attempt:
        connection, name = self.socket(event).connection, event.arguments[2]
        if name not in READABLE:
            raise NotModelled(f"the socket option {name}")
        found, wanted = READABLE[name](connection), _bracketed(event.arguments[3])
        if found != wanted:
            raise Differs(f"{name} is {found}, not {wanted}")
        return _answer(0)

    def _calls(self) -> Mapping[str, Callable[[CallEvent], Attempt]]:
        """Return what does each call."""
        return {
            "socket": self._socket,
            "bind": lambda event: _answer(0),
            "listen": self._listen,
            "accept": self._accept,
            "connect": self._connect,
            "close": self._close,
            "shutdown": self._shutdown,
            "write": self._write,
            "send": self._write,
            "sendto": self._write,
            "sendmsg": self._sendmsg,
            "sendfile": self._send_file,
            "open": lambda event: _answer(_whole(event.returns)),
            "read": self._read,
            "recv": self._read,
            "recvfrom": self._read,
            "recvmsg": self._receive,
            "fcntl": self._fcntl,
            "ioctl": self._ioctl,
            "setsockopt": self._set_option,
            "getsockopt": self._get_option,
        }


def _answer(value: int) -> Attempt:
    return lambda now: (value, "")


def _whole(text: str) -> int:
    try:
        return int(text, 0)
    except ValueError:
        raise NotModelled(f"the number {text!r}") from None


def _bracketed(text: str) -> int:
    return _whole(text.strip("[]"))


def _set_cork(connection: Connection, value: int, now: int) -> None:
    connection.corked = value != 0
    if not value:
        connection.uncork(now)


def _set_nodelay(connection: Connection, value: int, now: int) -> None:
    connection.nagle = value == 0
    if value:
        connection.uncork(now)


def _set_buffer(connection: Connection, value: int, now: int) -> None:
    if connection.outgoing is not None:
        connection.outgoing.resize(2 * value)
    connection.buffer = (2 * value, 2 * value)


def _set_mss(connection: Connection, value: int, now: int) -> None:
    connection.mss_limit = value


def _ignore(connection: Connection, value: int, now: int) -> None:
    pass


#: Options of ``setsockopt``; the last ones change nothing that a packet or the state could show.
SETTABLE: Mapping[str, Callable[[Connection, int, int], None]] = {
    "SO_SNDBUF": _set_buffer,
    "TCP_CORK": _set_cork,
    "TCP_MAXSEG": _set_mss,
    "TCP_NODELAY": _set_nodelay,
    "SO_REUSEADDR": _ignore,
    "SO_ZEROCOPY": _ignore,
    "TCP_INQ": _ignore,
}

READABLE: Mapping[str, Callable[[Connection], int]] = {
    "SO_SNDBUF": lambda connection: connection.buffer[1],
    "SO_ERROR": lambda connection: 0,
    "TCP_MAXSEG": lambda connection: (
        connection.mss() if connection.outgoing else connection.mss_limit
    ),
}

_CONSTANTS: Mapping[str, int] = {
    "TCP_CA_Open": 0,
    "TCP_CA_Disorder": 1,
    "TCP_CA_CWR": 2,
    "TCP_CA_Recovery": 3,
    "TCP_CA_Loss": 4,
}

#: ``tcp_info`` of the kernel, and the state of the sender that it is.
_INFO: Mapping[str, str] = {
    "tcpi_snd_cwnd": "cwnd",
    "tcpi_snd_ssthresh": "ssthresh",
    "tcpi_ca_state": "stage",
    "tcpi_rtt": "srtt",
    "tcpi_rttvar": "rttvar",
    "tcpi_rto": "rto",
    "tcpi_min_rtt": "min_rtt",
    "tcpi_unacked": "unacked",
    "tcpi_sacked": "sacked",
    "tcpi_lost": "lost",
    "tcpi_retrans": "retransmitted",
    "tcpi_reordering": "reordering",
    "tcpi_backoff": "backoff",
    "tcpi_retransmits": "timeouts",
    "tcpi_delivered": "delivered",
    "tcpi_total_retrans": "retransmitted_ever",
    "tcpi_pacing_rate": "pacing_rate",
}


def information(host: Host, now: int) -> dict[str, Any]:
    """Return what an assertion may ask for."""
    connection = host.connection
    if connection is None:
        return dict(_CONSTANTS)
    answer: dict[str, Any] = {
        **_CONSTANTS,
        "tcpi_advmss": connection.advertised_mss,
        "tcpi_snd_mss": connection.mss(),
        "tcpi_last_data_recv": (now - connection.last_data_ns) // _NS_PER_MS,
    }
    if connection.outgoing is not None:
        state = connection.outgoing.state()
        answer.update({name: state[ours] for name, ours in _INFO.items()})
    return answer
