"""SNDlib's native format (Orlowski, Wessäly, Pióro and Tomaszewski, 2010).

```text
NODES ( <name> ( <longitude> <latitude> ) ... )
LINKS ( <name> ( <node> <node> ) <four numbers> ( <capacity> <cost> ... ) ... )
DEMANDS ( <name> ( <node> <node> ) <routing unit> <value> <longest path> ... )
```

Capacities, costs and paths are not used.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from burstlab.topology.parts import Part, Parts, decoded, number, refuse

_TOKEN = re.compile(r"[()]|[^\s()]+")


def is_native(content: bytes) -> bool:
    """Whether a file is in this format."""
    return content.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"?SNDlib native format")


def read(file: str, content: bytes) -> Parts:
    """Read a network; coordinates beyond those of the globe are of a plane."""
    found = _reader(file, content).document()
    flat = any(_beyond(file, node) for node in found.nodes)
    return Parts(found.nodes, found.links, plane=flat)


def demands(file: str, content: bytes) -> list[tuple[str, str, float]]:
    """Read from where to where how much is asked for."""
    return _reader(file, content).document().demands


def _beyond(file: str, node: Part) -> bool:
    longitude, latitude = (
        number(file, f"{node.where}, {name}", node.attributes[name])
        for name in ("longitude", "latitude")
    )
    return abs(latitude) > 90.0 or abs(longitude) > 180.0


def _reader(file: str, content: bytes) -> _Reader:
    text = decoded(file, content)
    if not is_native(content):
        fix = 'begin with "?SNDlib native format; type: network; version: 1.0"'
        raise refuse(file, "line 1", "", "not SNDlib's native format", fix)
    tokens: list[tuple[str, int]] = []
    for line, words in enumerate(text.splitlines(), start=1):
        if not words.lstrip().startswith("?"):
            found = _TOKEN.findall(words.partition("#")[0])
            tokens.extend((word, line) for word in found)
    return _Reader(file, tokens)


@dataclass(slots=True)
class _Found:
    nodes: list[Part] = field(default_factory=list)
    links: list[Part] = field(default_factory=list)
    demands: list[tuple[str, str, float]] = field(default_factory=list)


@dataclass(slots=True)
class _Reader:
    file: str
    tokens: list[tuple[str, int]]
    at: int = 0

    def document(self) -> _Found:
        found = _Found()
        while self.at < len(self.tokens):
            section = self.word()
            if section == "NODES":
                self.entries(lambda: found.nodes.append(self.node()))
            elif section == "LINKS":
                self.entries(lambda: found.links.append(self.link()))
            elif section == "DEMANDS":
                self.entries(lambda: found.demands.append(self.demand()))
            else:
                self.skip_group()
        return found

    def entries(self, entry: Callable[[], None]) -> None:
        self.expect("(")
        while self.peek() != ")":
            entry()
        self.expect(")")

    def node(self) -> Part:
        line, name = self.line(), self.word()
        self.expect("(")
        longitude, latitude = self.word(), self.word()
        self.expect(")")
        position = {"longitude": longitude, "latitude": latitude}
        return Part(f"line {line}", (name,), position)

    def link(self) -> Part:
        line, _ = self.line(), self.word()
        ends = self.ends()
        while self.peek() not in ("(", ")", ""):
            self.word()
        self.skip_group()
        return Part(f"line {line}", ends)

    def demand(self) -> tuple[str, str, float]:
        _ = self.word()
        ends = self.ends()
        _, line = self.word(), self.line()
        value = number(self.file, f"line {line}", self.word())
        _ = self.word()
        return *ends, value

    def ends(self) -> tuple[str, str]:
        self.expect("(")
        ends = (self.word(), self.word())
        self.expect(")")
        return ends

    def skip_group(self) -> None:
        self.expect("(")
        depth = 1
        while depth > 0:
            if not self.peek():
                raise self.surprise('")"')
            depth += {"(": 1, ")": -1}.get(self.peek(), 0)
            self.at += 1

    def peek(self) -> str:
        return self.tokens[self.at][0] if self.at < len(self.tokens) else ""

    def line(self) -> int:
        return self.tokens[min(self.at, len(self.tokens) - 1)][1] if self.tokens else 0

    def word(self) -> str:
        found = self.peek()
        if found in ("(", ")", ""):
            raise self.surprise("a name or a number")
        self.at += 1
        return found

    def expect(self, sign: str) -> None:
        if self.peek() != sign:
            raise self.surprise(f'"{sign}"')
        self.at += 1

    def surprise(self, wanted: str) -> Exception:
        found = self.peek() or "the end of the file"
        where = f"line {self.line()}" if self.tokens else ""
        return refuse(self.file, where, found, f"{wanted} should stand here", f"write {wanted}")
