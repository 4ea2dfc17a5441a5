"""Results and a running server for the tests of the page."""

from __future__ import annotations

import json
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from typing import Any

import numpy as np

import burstlab as bl
from burstlab.page import Page, Server
from burstlab.results import TRACES

PATH = {
    "network": {"core_nodes": 2, "link_rate": "10 Gb/s", "link_delay": "5 ms"},
    "access": {"rate": "20 Mb/s", "delay": "1 ms"},
    "edge": {"assembly": "timer", "timer": "5 ms"},
    "tcp": {"variant": "reno", "window": 64},
    "loss": {"data": {"process": "bernoulli", "probability": 0.03}},
    "run": {"duration": "5 s", "seed": 3},
}

MESH = {
    "network": {
        "topology": "ring",
        "nodes": 6,
        "wavelengths": 2,
        "link_rate": "1 Gb/s",
        "link_length_km": 200,
    },
    "access": {"rate": "100 Mb/s", "delay": "1 ms"},
    "signalling": {"guard": "10 us"},
    "edge": {"assembly": "timer", "timer": "2 ms", "ack": {"with_data": True}},
    "tcp": {"variant": "sack", "window": 64},
    "flows": [
        {"label": "across", "from": "1", "to": "3", "count": 3},
        {"label": "on", "from": "2", "to": "4", "count": 3},
    ],
    "bursts": [{"erlangs": 0.1, "length": {"distribution": "exponential", "mean": "125 KB"}}],
    "run": {"duration": "400 ms", "seed": 1},
}

#: Slots of which a core drops some.
SLOTS = {
    "network": {
        "topology": "custom",
        "link_rate": "55 Mb/s",
        "node": [
            {"name": "in", "role": "edge"},
            {"name": "udp", "role": "edge"},
            {"name": "core", "role": "core"},
            {"name": "out", "role": "edge"},
        ],
        "link": [
            {"from": "in", "to": "core", "delay": "1 ms"},
            {"from": "udp", "to": "core", "delay": "500 us"},
            {"from": "core", "to": "out", "delay": "1 ms"},
        ],
    },
    "access": {"rate": "100 Mb/s", "delay": "2 ms"},
    "ops": {"buffer": 1, "smoothing": {"enabled": False}},
    "tcp": {"variant": "reno", "segment_size": "576 B", "window": 1000},
    "flows": [{"count": 4, "from": "in", "to": "out", "stagger": "100 ms"}],
    "traffic": [
        {
            "pattern": "periodic",
            "period": "500 ms",
            "rate": "16.5 Mb/s",
            "packet_size": "576 B",
            "from": "udp",
            "to": "out",
        }
    ],
    "run": {"duration": "2 s", "seed": 1},
}


def recorded(scenario: dict[str, Any], where: Path, trace: Any = TRACES) -> bl.Result:
    """Run a scenario with its tables, and read it back."""
    bl.run(scenario, trace=trace, out=where)
    return bl.read(where)


@contextmanager
def serving(page: Page) -> Iterator[Server]:
    """Serve a page meanwhile."""
    with Server(page) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
            page.close()


def ask(
    server: Server,
    path: str,
    *,
    method: str = "GET",
    headers: dict[str, str] | None = None,
) -> tuple[HTTPResponse, bytes]:
    """Ask for a path as it stands, without what a client would tidy."""
    connection = HTTPConnection("127.0.0.1", server.server_port, timeout=30)
    connection.putrequest(method, path, skip_host=headers is not None and "Host" in headers)
    for name, value in (headers or {}).items():
        connection.putheader(name, value)
    connection.endheaders()
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return answer, body


def unpack(content: bytes) -> tuple[Any, dict[str, np.ndarray]]:
    """Read what `burstlab.page.columns.pack` wrote, as the browser does."""
    (size,) = struct.unpack_from("<I", content)
    head = json.loads(content[4 : 4 + size])
    begin = -(-(4 + size) // 8) * 8
    found = {}
    for column in head["columns"]:
        kind = column["type"].removesuffix("Array").lower()
        start = begin + column["start"]
        found[column["name"]] = np.frombuffer(
            content, np.dtype(kind).newbyteorder("<"), column["length"], start
        )
    return head["about"], found


def data(page: Page, name: str, **query: Any) -> tuple[Any, dict[str, np.ndarray]]:
    """Return what a page serves, without a server."""
    body = page.data[f"data/{name}"]({key: str(value) for key, value in query.items()})
    return unpack(body.content)


def about(page: Page) -> Any:
    """Return what a page is about."""
    return json.loads(page.data["data/about"]({}).content)
