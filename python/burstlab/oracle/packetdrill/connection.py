"""One TCP connection of the host: its opening and its release (RFC 9293), and what it exchanges.

The sender of the engine (`outgoing`) decides what is sent when, and the state of the window. This
module has the rest: options, the states of a connection, ACKs of arrivals, time stamps.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from burstlab.oracle.packetdrill.events import NotModelled, Option, Packet
from burstlab.oracle.packetdrill.incoming import Incoming
from burstlab.oracle.packetdrill.outgoing import Outgoing, Sent
from burstlab.oracle.packetdrill.settings import Settings

State = Literal[
    "closed",
    "syn-sent",
    "syn-received",
    "established",
    "fin-wait-1",
    "fin-wait-2",
    "close-wait",
    "last-ack",
    "closing",
    "time-wait",
]

#: The largest segment of an interface, and that of a peer that names none (RFC 9293 3.7.1).
_DEVICE_MSS = 1_460
_DEFAULT_MSS = 536
#: A time stamp with its padding (RFC 7323 appendix A).
_STAMP_BYTES = 12
_NS_PER_MS = 1_000_000
_NS_PER_US = 1_000
#: The time stamp of instant 0: any but 0.
_STAMP_BEGIN = 1_000
_NOP = Option("nop")
#: In these a FIN is still to come from the other side.
_RECEIVES = ("established", "fin-wait-1", "fin-wait-2")
#: The first time-out of a SYN in ns (RFC 6298).
_SYN_TIMEOUT_NS = 1_000_000_000


class Connection:
    """A connection; every packet that it sends goes to ``emit``.

    Attributes
    ----------
    state
        Its state in the diagram of RFC 9293.
    incoming
        The receiving side.
    outgoing
        The sending side, once it is open.
    reset
        Whether the other side ended it.
    """

    def __init__(self, settings: Settings, emit: Callable[[int, Packet], None]) -> None:
        self.settings = settings
        self.state: State = "closed"
        self.incoming = Incoming()
        self.outgoing: Outgoing | None = None
        self.mss_limit = _DEVICE_MSS
        self.buffer = settings.send_buffer
        self.nagle = True
        self.corked = False
        self.reset = False
        self.orphan = False
        self.read_shut = False
        self.write_shut = False
        self.last_data_ns = 0
        self._emit = emit
        self._syn_ns = 0
        self._syn_due: int | None = None
        self._syn_wait = _SYN_TIMEOUT_NS
        self._peer: tuple[Option, ...] = ()
        self._scale_in = 0
        self._sack = settings.sack
        self._stamps = settings.timestamps
        self._ecn = False
        self._echo = 0
        self._sent_ack = 0
        self._told_mark = False
        self._held_since = 0
        self._heard_ns = 0

    # Opening.

    def connect(self, now: int) -> None:
        """Send the SYN."""
        self.state = "syn-sent"
        self._syn_ns = now
        self._syn_due = now + self._syn_wait
        flags = "ESW" if self.settings.ecn == 1 else "S"
        self._send(now, Packet(flags, 0, 0, None, None, self._syn_options()))

    def take_syn(self, now: int, packet: Packet) -> None:
        """Return a SYN."""
        self._agree(packet, self.settings.ecn > 0 and {"E", "W"} <= set(packet.flags))
        self.state = "syn-received"
        self._syn_ns = now
        self._syn_due = now + self._syn_wait
        self._send_synack(now)

    def _send_synack(self, now: int) -> None:
        flags = "ES" if self._ecn else "S"
        self._send(now, Packet(flags, 0, 0, 1, None, self._syn_options(answer=True)))

    def _agree(self, packet: Packet, ecn: bool) -> None:
        """Take in the options of the other side's SYN."""
        self._peer = packet.options or ()
        self._sack = self.settings.sack and packet.option("sackOK") is not None
        stamp = packet.option("TS")
        self._stamps = self.settings.timestamps and stamp is not None
        if stamp:
            self._echo = stamp.values[0]
        self._ecn = ecn
        scale = packet.option("wscale")
        self._scale_in = scale.values[0] if scale else 0

    def _syn_options(self, *, answer: bool = False) -> tuple[Option, ...]:
        """Lay out the options of a SYN as Linux does."""
        options = [Option("mss", (self.mss_limit,))]
        stamps, sack = self._stamps, self._sack
        if stamps:
            options += [Option("sackOK")] if sack else [_NOP, _NOP]
            options.append(Option("TS", (0, 0)))
        elif sack:
            options += [_NOP, _NOP, Option("sackOK")]
        if not answer or any(option.name == "wscale" for option in self._peer):
            scale = max(0, min(14, self.settings.receive_most.bit_length() - 16))
            options += [_NOP, Option("wscale", (scale,))]
        return tuple(options)

    def _open(self, now: int, window: int) -> None:
        """Open: the SYN of this side is acknowledged."""
        peer = next((o.values[0] for o in self._peer if o.name == "mss"), _DEFAULT_MSS)
        self.state = "established"
        self._syn_due = None
        self.last_data_ns = now
        self.outgoing = Outgoing(
            self.settings,
            self.mss(peer),
            sack=self._sack,
            stamps=self._stamps,
            ecn=self._ecn,
            buffer=self.buffer,
        )
        self.outgoing.open(self._syn_ns, now, window)

    def mss(self, peer: int | None = None) -> int:
        """Bytes of a full segment."""
        if peer is None:
            peer = next((o.values[0] for o in self._peer if o.name == "mss"), self.mss_limit)
        return min(peer, self.mss_limit) - _STAMP_BYTES * self._stamps

    @property
    def advertised_mss(self) -> int:
        """The segment size that it asks for."""
        return self.mss_limit

    # Arrivals.

    def take(self, now: int, packet: Packet) -> None:
        """Take a packet."""
        if self.state == "syn-sent":
            return self._take_synack(now, packet)
        if "R" in packet.flags:
            self.state, self.reset = "closed", True
            return None
        if "S" in packet.flags:
            return self._take_repeated_syn(now)
        if packet.ack is None or not self._is_in_time(now, packet):
            return None
        if self.state == "syn-received":
            if packet.ack != 1:
                return self._refuse(now, packet)
            self._note_stamp(packet)
            self._open(now, (packet.window or 0) << self._scale_in)
        return self._take_segment(now, packet)

    def _take_repeated_syn(self, now: int) -> None:
        if self.state == "syn-received":
            self._send_synack(now)

    def _take_synack(self, now: int, packet: Packet) -> None:
        if packet.ack != 1 or "S" not in packet.flags:
            return self._refuse(now, packet) if packet.ack not in (None, 1) else None
        self._agree(packet, self.settings.ecn == 1 and "E" in packet.flags)
        self._open(now, packet.window or 0)
        return self._send_ack(now)

    def _refuse(self, now: int, packet: Packet) -> None:
        self._send(now, Packet("R", packet.ack or 0, 0, None, None, ()))

    def _is_in_time(self, now: int, packet: Packet) -> bool:
        """Check for what is older than what came before (PAWS, RFC 7323 section 5)."""
        stamp = packet.option("TS")
        if self._stamps and stamp and stamp.values[0] < self._echo:
            self._send_ack(now)
            return False
        return True

    def _note_stamp(self, packet: Packet) -> None:
        stamp = packet.option("TS")
        if self._stamps and stamp and packet.seq <= self._sent_ack:
            self._echo = stamp.values[0]

    def _take_segment(self, now: int, packet: Packet) -> None:
        outgoing = self._out()
        ack = packet.ack or 0
        if ack > outgoing.next:
            return
        self._note_stamp(packet)
        if self._ecn and packet.ecn == "ce":
            self._told_mark = True
        if "W" in packet.flags:
            self._told_mark = False
        self._hear(now, packet, ack)
        end = packet.seq + packet.length + ("F" in packet.flags)
        if self.orphan and packet.length and end > self.incoming.next:
            self.state = "closed"
            self._flush(now)
            self._refuse(now, packet)
            return
        answers = end > packet.seq and self._take_data(now, packet)
        self._follow_ack(ack)
        if not self._flush(now) and answers:
            self._send_ack(now)
        self._twice = None

    def _hear(self, now: int, packet: Packet, ack: int) -> None:
        """Give the sender what the packet says of it."""
        blocks = packet.option("sack") if self._sack else None
        pairs = blocks.values if blocks else ()
        runs = list(zip(pairs[::2], pairs[1::2], strict=True))
        stamp = packet.option("TS")
        echo = None
        if self._stamps and stamp:
            echo = max(0, stamp.values[1] - _STAMP_BEGIN)
        outgoing = self._out()
        ece = self._ecn and "E" in packet.flags
        window = (packet.window or 0) << self._scale_in
        self._heard_ns = now
        outgoing.hear(now, ack, runs, window, echo, ece=ece)
        if not self.corked:
            outgoing.release_if_due(now, nagle=self.nagle)

    _twice: tuple[int, int] | None = None

    def _take_data(self, now: int, packet: Packet) -> bool:
        """Take data or a FIN; answers whether an ACK is due."""
        before = self.incoming.next
        if self.state not in _RECEIVES:
            return True
        self.last_data_ns = now
        self._twice = self.incoming.take(packet.seq, packet.length, fin="F" in packet.flags)
        self._newest = packet.seq
        if self.incoming.fin:
            follows: dict[State, State] = {
                "established": "close-wait",
                "fin-wait-1": "closing",
                "fin-wait-2": "time-wait",
            }
            self.state = follows[self.state]
            return True
        in_order = self.incoming.next == before + packet.length
        if in_order and not self.incoming.acknowledges_at_once():
            raise NotModelled("delayed ACKs")
        return True

    _newest = 0

    def _follow_ack(self, ack: int) -> None:
        """Go on where the FIN of this side is acknowledged."""
        if self._out().acked <= ack == self._out().written and self.write_shut:
            follows: dict[State, State] = {
                "fin-wait-1": "fin-wait-2",
                "closing": "time-wait",
                "last-ack": "closed",
            }
            self.state = follows.get(self.state, self.state)

    # Departures.

    def write(self, now: int, count: int, *, more: bool = False, record: bool = False) -> int:
        """Write; answers how many bytes there was room for."""
        hold = more or self.corked
        out = self._out()
        accepted = out.write(now, count, nagle=self.nagle, hold=hold, more=more, record=record)
        self._held_since = now
        self._flush(now)
        return accepted

    @property
    def is_writable(self) -> bool:
        """Whether a call that waits for room in the buffer goes on."""
        return self.outgoing is not None and self.outgoing.is_writable

    def uncork(self, now: int) -> None:
        """Send what waits for more, whatever there is."""
        if self.outgoing is not None:
            self.outgoing.release(now)
            self._flush(now)

    def shut_writing(self, now: int) -> None:
        """Send the FIN behind what was written."""
        if self.write_shut or self.outgoing is None:
            return
        self.write_shut = True
        follows: dict[State, State] = {"established": "fin-wait-1", "close-wait": "last-ack"}
        self.state = follows.get(self.state, self.state)
        self.outgoing.close(now)
        self._flush(now)

    def close(self, now: int) -> None:
        """Close, which resets what has data that nobody has read."""
        self.orphan = True
        if self.state in ("syn-sent", "syn-received", "closed"):
            self.state, self._syn_due = "closed", None
        elif self.incoming.waiting:
            self.state = "closed"
            packet = Packet("R", self._out().next, 0, self.incoming.next, None, self._stamp())
            self._send(now, packet)
        else:
            self.shut_writing(now)

    def deadline(self) -> int | None:
        """When a timer runs out."""
        if self.state == "closed":
            return None
        due = [self._syn_due] if self._syn_due is not None else []
        if self.outgoing is not None and (timer := self.outgoing.deadline()) is not None:
            due.append(timer)
        if (held := self._held_until()) is not None:
            due.append(held)
        return min(due, default=None)

    def expire(self, now: int) -> None:
        """Let the timers run out that are due."""
        if self._syn_due is not None and self._syn_due <= now:
            self._syn_wait *= 2
            self._syn_due = now + self._syn_wait
            if self.state == "syn-sent":
                self._send(now, Packet("S", 0, 0, None, None, self._syn_options()))
            else:
                self._send_synack(now)
        if (held := self._held_until()) is not None and held <= now and self.outgoing:
            self.outgoing.release(now, pushed=True)
        if self.outgoing is not None:
            self.outgoing.expire(now)
            self._flush(now)

    def _held_until(self) -> int | None:
        """Until when less than a segment waits where nothing is outstanding: a time-out."""
        out = self.outgoing
        if out is None or not out.held or out.acked < out.next:
            return None
        return max(self._held_since, self._heard_ns) + _NS_PER_US * (out.state()["rto"] or 0)

    def _out(self) -> Outgoing:
        if self.outgoing is None:
            raise NotModelled("data before the connection is open")
        return self.outgoing

    def _flush(self, now: int) -> bool:
        """Send what the sender lets go; answers whether there was anything."""
        sent = self.outgoing.take() if self.outgoing is not None else []
        for one in sent:
            self._send_data(now, one)
        return bool(sent)

    def _send_data(self, now: int, sent: Sent) -> None:
        piece = sent.piece
        flags = ("F" if piece.fin else "") + ("P" if sent.pushes and piece.length else "")
        mark = ""
        if self._ecn and piece.length:
            mark = "noecn" if sent.again else "ect0"
        packet = Packet(
            "".join(sorted(flags)),
            piece.start,
            piece.length,
            self.incoming.next,
            None,
            self._stamp(),
            mark,
        )
        self._send(now, packet)

    def _send_ack(self, now: int) -> None:
        seq = self.outgoing.next if self.outgoing else 1
        options = list(self._stamp())
        if self._sack:
            runs = self.incoming.blocks(self._newest, stamps=self._stamps)
            if self._twice and self.settings.d_sack:
                runs = [self._twice, *runs]
            if runs:
                numbers = tuple(number for run in runs for number in run)
                options += [_NOP, _NOP, Option("sack", numbers)]
        flags = "E" if self._told_mark else ""
        self._send(now, Packet(flags, seq, 0, self.incoming.next, None, tuple(options)))

    def _stamp(self) -> tuple[Option, ...]:
        return (_NOP, _NOP, Option("TS", (0, 0))) if self._stamps else ()

    def _send(self, now: int, packet: Packet) -> None:
        """Send, with the time stamp of now and the echo."""
        if packet.ack is not None:
            self._sent_ack = packet.ack
        stamp = now // _NS_PER_MS + _STAMP_BEGIN
        echo = self._echo if packet.ack is not None else 0
        options = tuple(
            Option("TS", (stamp, echo)) if option.name == "TS" else option
            for option in packet.options or ()
        )
        changed = Packet(
            packet.flags, packet.seq, packet.length, packet.ack, None, options, packet.ecn
        )
        self._emit(now, changed)
