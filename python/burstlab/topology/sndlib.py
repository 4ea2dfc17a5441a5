"""SNDlib's native format, of networks (Orlowski, Wessäly, Pióro and Tomaszewski, 2010).

```text
NODES ( <name> ( <longitude> <latitude> ) ... )
LINKS ( <name> ( <node> <node> ) <four numbers> ( <capacity> <cost> ... ) ... )
```

Capacities, costs, demands and paths are not used.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from burstlab.topology.parts import Part, Parts, decoded, refuse

_TOKEN = re.compile(r"[()]|[^\s()]+")


def read(file: str, content: bytes) -> Parts:
    """Read a network in SNDlib's native format."""
    text = decoded(file, content)
    if not text.lstrip().startswith("?SNDlib native format"):
        fix = 'begin with "?SNDlib native format; type: network; version: 1.0"'
        raise refuse(file, "line 1", "", "not SNDlib's native format", fix)
    tokens: list[tuple[str, int]] = []
    for line, words in enumerate(text.splitlines(), start=1):
        if not words.lstrip().startswith("?"):
            found = _TOKEN.findall(words.partition("#")[0])
            tokens.extend((word, line) for word in found)
    return _Reader(file, tokens).network()


@dataclass(slots=True)
class _Reader:
    file: str
    tokens: list[tuple[str, int]]
    at: int = 0

    def network(self) -> Parts:
        parts = Parts([], [])
        while self.at < len(self.tokens):
            section = self.word()
            if section == "NODES":
                self.entries(parts.nodes, self.node)
            elif section == "LINKS":
                self.entries(parts.links, self.link)
            else:
                self.skip_group()
        return parts

    def entries(self, into: list[Part], entry: Callable[[], Part]) -> None:
        self.expect("(")
        while self.peek() != ")":
            into.append(entry())
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
        self.expect("(")
        ends = (self.word(), self.word())
        self.expect(")")
        while self.peek() not in ("(", ")", ""):
            self.word()
        self.skip_group()
        return Part(f"line {line}", ends)

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
        return self.tokens[min(self.at, len(self.tokens) - 1)][1]

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
