"""Read the language of packetdrill (Cardwell et al., USENIX ATC 2013; its own ``syntax.md``)."""

from __future__ import annotations

import re
from pathlib import Path

from burstlab.errors import InputError
from burstlab.loading import read_text
from burstlab.oracle.cases import wrong
from burstlab.oracle.packetdrill.events import (
    CallEvent,
    CodeEvent,
    CommandEvent,
    Event,
    NotModelled,
    Option,
    Packet,
    PacketEvent,
    Script,
    When,
)

_NUMBER = r"\d+(?:\.(?!\.)\d*)?|\.(?!\.)\d+"
_TIME = re.compile(
    rf"(?P<any>\*)|(?P<plus>\+)?(?P<start>{_NUMBER})"
    rf"(?:\s*(?P<how>~|\.\.\.)\s*\+?(?P<end>{_NUMBER}))?"
)
_PACKET = re.compile(
    r"(?:\[(?P<ip>[^\]]*)\]\s*)?(?:\((?P<other>[^)]*)\)\s*)?"
    r"(?P<flags>[SFRPEWCAU.0-9]+|-)\s+(?P<seq>\d+):(?P<end>\d+)\s*\((?P<length>\d+)\)"
    r"(?:\s+ack\s+(?P<ack>\d+))?(?:\s+win\s+(?P<win>\d+))?(?:\s+urg\s+(?P<urg>\d+))?"
    r"\s*(?:<(?P<options>.*)>)?\s*$"
)
_CALL = re.compile(r"([a-zA-Z_]\w*)\s*\(")
_OPTION = re.compile(r"--(\w+)(?:=(\S*))?")
#: Kinds of packets that are not of TCP over IPv4 or IPv6.
_OTHERS = re.compile(r"(?:\([^)]*\)\s*)?(icmp|udp|gre|mpls|ipv4|ipv6)\b")


def read_script(path: Path) -> Script:
    """Read one script.

    Raises
    ------
    InputError
        If the file is none; the error names file and line.
    NotModelled
        If it has a packet of a kind that the model has not.
    """
    return _Reader(str(path), read_text(path)).script(path.stem)


class _Reader:
    """Goes through the text of a script once."""

    def __init__(self, where: str, text: str) -> None:
        self.where = where
        self.text = text
        self.at = 0

    def script(self, name: str) -> Script:
        options: dict[str, str] = {}
        setup: list[str] = []
        events: list[Event] = []
        while self._skip():
            if found := self._match(_OPTION):
                options[found[1]] = found[2] or ""
            elif self.text[self.at] == "`":
                text = self._until("`", "`", "a shell line ends with `")
                if not events:
                    setup.append(text)
            else:
                events.append(self._event())
        if not events:
            raise self._wrong("there is no event", "give a packetdrill script")
        return Script(name, options, "\n".join(setup), tuple(events))

    def _event(self) -> Event:
        line = self._line()
        when = self._when()
        self._skip()
        rest = self.text[self.at : self.at + 2]
        if rest[:1] in ("<", ">"):
            return self._packet(line, when)
        if rest == "%{":
            text = self._until("%{", "}%", "code ends with }%")
            return CodeEvent(line, when, text)
        if rest[:1] == "`":
            return CommandEvent(line, when, self._until("`", "`", "a shell line ends with `"))
        return self._call(line, when)

    def _when(self) -> When:
        found = self._match(_TIME)
        if not found:
            problem = f"{self._rest()!r} does not begin with a time"
            raise self._wrong(problem, "write a time such as +.1 before each event")
        if found["any"]:
            return When("any")
        kind = "relative" if found["plus"] else "absolute"
        end = None if found["end"] is None else _us(found["end"])
        return When(kind, _us(found["start"]), end, found["how"] == "...")

    def _packet(self, line: int, when: When) -> PacketEvent:
        inbound = self.text[self.at] == "<"
        self.at += 1
        end = self.text.find("\n", self.at)
        end = len(self.text) if end < 0 else end
        text = self.text[self.at : end].split("//")[0].strip()
        self.at = end
        if found := _OTHERS.match(text):
            raise NotModelled(f"a packet of {found[1]} (line {line})")
        found = _PACKET.match(text)
        if not found:
            fix = "write flags, first:end(length), ack, win and options"
            raise self._wrong(f"{text!r} is no packet", fix, line)
        seq, length = int(found["seq"]), int(found["length"])
        if found["other"]:
            raise NotModelled(f"a packet with ({found['other']}) (line {line})")
        if seq + length != int(found["end"]):
            raise self._wrong(f"{text!r} has the wrong length", "let first + length be end", line)
        if found["urg"] or "U" in found["flags"]:
            raise NotModelled("urgent data")
        flags, window = found["flags"], found["win"]
        options = _options(found["options"], line)
        return PacketEvent(
            line,
            when,
            inbound,
            Packet(
                "".join(sorted(set(flags) - {".", "-"})),
                seq,
                length,
                None if found["ack"] is None else int(found["ack"]),
                None if window is None else int(window),
                options,
                _mark(found["ip"] or ""),
            ),
        )

    def _call(self, line: int, when: When) -> CallEvent:
        found = self._match(_CALL)
        if not found:
            problem = f"{self._rest()!r} is neither packet, call, command nor code"
            raise self._wrong(problem, "write one of them after the time", line)
        arguments = self._arguments(line)
        end = self.text.find("\n", self.at)
        end = len(self.text) if end < 0 else end
        text = self.text[self.at : end].split("//")[0].strip()
        self.at = end
        result = re.match(r"=\s*(\S+)\s*([A-Z]\w*)?", text)
        if not result:
            raise self._wrong(f"{found[1]}() returns nothing", "write = and a value", line)
        return CallEvent(line, when, found[1], arguments, result[1], result[2] or "")

    def _arguments(self, line: int) -> tuple[str, ...]:
        """Split what is between the brackets at the commas that are in no others."""
        depth, start, parts = 0, self.at, []
        quoted = False
        while self.at < len(self.text):
            letter = self.text[self.at]
            if letter == '"':
                quoted = not quoted
            elif quoted:
                pass
            elif letter in "([{":
                depth += 1
            elif letter in ")]}" and depth > 0:
                depth -= 1
            elif letter in ",)" and depth == 0:
                parts.append(" ".join(self.text[start : self.at].split()))
                start = self.at + 1
                if letter == ")":
                    self.at += 1
                    return tuple(part for part in parts if part)
            self.at += 1
        raise self._wrong("the arguments of a call do not end", "write the bracket )", line)

    def _skip(self) -> bool:
        """Go on to what is neither space nor comment; return whether there is something."""
        space = re.compile(r"(?:\s+|//[^\n]*|#[^\n]*|/\*.*?\*/)*", re.DOTALL)
        found = space.match(self.text, self.at)
        self.at = found.end() if found else self.at
        return self.at < len(self.text)

    def _match(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        found = pattern.match(self.text, self.at)
        if found:
            self.at = found.end()
        return found

    def _until(self, begin: str, end: str, fix: str) -> str:
        start = self.at + len(begin)
        stop = self.text.find(end, start)
        if stop < 0:
            raise self._wrong(f"what begins with {begin} does not end", fix)
        self.at = stop + len(end)
        return self.text[start:stop]

    def _line(self) -> int:
        return self.text.count("\n", 0, self.at) + 1

    def _rest(self) -> str:
        return self.text[self.at :].split("\n")[0][:40]

    def _wrong(self, problem: str, fix: str, line: int | None = None) -> InputError:
        return wrong(f"{self.where}: line {line or self._line()}", problem, fix)


def _us(seconds: str) -> int:
    return round(float(seconds) * 1_000_000)


def _mark(text: str) -> str:
    words = {word.strip() for word in text.split(",") if word.strip()}
    for word in words - {"noecn", "ect0", "ect1", "ce"}:
        raise NotModelled(f"the IP field {word!r}")
    return next(iter(words), "")


def _options(text: str | None, line: int) -> tuple[Option, ...] | None:
    if text is None:
        return ()
    if text.strip() == "...":
        return None
    return tuple(_option(part.strip(), line) for part in text.split(",") if part.strip())


def _option(text: str, line: int) -> Option:
    try:
        return _known_option(text.split(), line)
    except (ValueError, IndexError):
        raise NotModelled(f"the TCP option {text!r} (line {line})") from None


def _known_option(words: list[str], line: int) -> Option:
    name = words[0]
    if name in ("nop", "eol", "sackOK"):
        return Option(name)
    if name in ("mss", "wscale"):
        return Option(name, (int(words[1]),))
    if name == "TS" and len(words) == 5:
        return Option("TS", (int(words[2]), int(words[4])))
    if name == "sack":
        pairs = [pair.split(":") for pair in words[1:]]
        return Option(
            "sack", tuple(int(number) for left, right in pairs for number in (left, right))
        )
    raise NotModelled(f"the TCP option {name!r} (line {line})")
