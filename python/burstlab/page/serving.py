"""Serve one page on the loopback interface.

The page can request only names in a table: a few files of the package, and functions that return
data. No path of a request ever becomes a path of the file system. `http.server` of the standard
library is enough for one reader on one machine; a framework would add its dependencies and replace
none of these checks.
"""

from __future__ import annotations

import hmac
import re
import secrets  # noqa: TID251 - a token that could be guessed from a seed would be none
import signal
import threading
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from typing import Any, cast
from urllib.parse import parse_qs, urlsplit

from burstlab.errors import EngineError, InputError
from burstlab.printable import shown
from burstlab.running.interrupts import came, say_nothing

HOST = "127.0.0.1"
PORT_MAX = 65535

#: How long it takes at most until Ctrl-C is heard.
_HEARD_S = 0.2

_TYPES = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
    "txt": "text/plain; charset=utf-8",
}

_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}

#: The document at the root.
START = "page.html"

#: The modules of the page; none imports one that stands behind it.
SCRIPTS = (
    "js/search.js",
    "js/file.js",
    "js/data.js",
    "js/link.js",
    "js/theme.js",
    "js/terms.js",
    "js/tip.js",
    "js/point.js",
    "js/telling.js",
    "js/marks.js",
    "js/chart.js",
    "js/burstchart.js",
    "js/bursts.js",
    "js/network.js",
    "js/gantt.js",
    "js/chosen.js",
    "js/transport.js",
    "js/spared.js",
    "js/view.js",
    "js/controls.js",
    "js/bars.js",
    "js/side.js",
    "js/play.js",
    "js/svg.js",
    "js/axes.js",
    "js/picture.js",
    "js/save.js",
    "js/tour.js",
    "js/main.js",
)

STYLES = ("vendor/uPlot.min.css", "style.css", "layout.css")
LIBRARY = "vendor/uPlot.iife.min.js"

#: All files that are served.
STATIC = (START, "favicon.svg", *STYLES, *SCRIPTS, LIBRARY, "vendor/uPlot-LICENSE.txt")

#: A token that can be kept: too long to be guessed, and usable in an address.
_KEPT = re.compile(r"[A-Za-z0-9_-]{16,128}")


@dataclass(frozen=True)
class Body:
    """An answer: its bytes and their type."""

    content: bytes
    kind: str


Answer = Callable[[Mapping[str, str]], Body]


class BadRequest(ValueError):
    """A request that makes no sense; the message says why."""


@dataclass(frozen=True)
class Page:
    """The answers of a page.

    Attributes
    ----------
    title
        The subject of the page, for the line that is printed.
    data
        Answers by name; each takes the query of the request.
    close
        Lets go of what the answers hold, such as a temporary directory.
    """

    title: str
    data: Mapping[str, Answer]
    close: Callable[[], object] = lambda: None

    def answer(self, path: str, query: Mapping[str, str]) -> Body | None:
        """Return what lies at a path, or nothing.

        Parameters
        ----------
        path
            Below the token, without a slash in front.
        query
            The last value of each name of the query.
        """
        if path in self.data:
            return self.data[path](query)
        name = path or START
        if path and (path == START or path not in STATIC):
            return None
        return Body(content(name), _TYPES[name.rsplit(".", 1)[1]])


def content(name: str) -> bytes:
    """Read a file of the page.

    Parameters
    ----------
    name
        One of `STATIC`.
    """
    return files("burstlab.page").joinpath("static", *name.split("/")).read_bytes()


class _Handler(BaseHTTPRequestHandler):
    """One request. Everything but GET and HEAD of a known name with the token is refused."""

    server_version = "burstlab"
    sys_version = ""
    protocol_version = "HTTP/1.1"
    timeout = 60
    error_content_type = "text/plain; charset=utf-8"
    error_message_format = "%(code)d %(message)s\n"

    def do_GET(self) -> None:
        """Return with a body."""
        self._answer()

    def do_HEAD(self) -> None:
        """Return without a body."""
        self._answer()

    def _answer(self) -> None:
        server = cast(Server, self.server)
        hosts = self.headers.get_all("Host") or []
        if len(hosts) != 1 or hosts[0].lower() not in server.hosts:
            # A name that leads here from elsewhere (DNS rebinding) is not ours.
            return self._refuse(HTTPStatus.MISDIRECTED_REQUEST, "not this host")
        if self.headers.get("Sec-Fetch-Site", "none") not in ("none", "same-origin"):
            return self._refuse(HTTPStatus.FORBIDDEN, "asked for by another site")
        if "Content-Length" in self.headers or "Transfer-Encoding" in self.headers:
            # A body is not read; the rest of it would be taken for the next request.
            self.close_connection = True
            return self._refuse(HTTPStatus.BAD_REQUEST, "a request has no body")
        try:
            target = urlsplit(self.path)
        except ValueError:
            return self._refuse(HTTPStatus.BAD_REQUEST, "the address is none")
        token, _, path = target.path.removeprefix("/").partition("/")
        if not hmac.compare_digest(token.encode(), server.token.encode()):
            return self._refuse(HTTPStatus.FORBIDDEN, "the address lacks its token")
        if target.path == f"/{token}":
            return self._refuse(HTTPStatus.NOT_FOUND, "the address ends with a slash")
        try:
            query = parse_qs(target.query, max_num_fields=64, keep_blank_values=True)
        except ValueError:
            return self._refuse(HTTPStatus.BAD_REQUEST, "the address has too many fields")
        try:
            body = server.page.answer(path, {name: v[-1] for name, v in query.items()})
        except (BadRequest, InputError) as error:
            return self._refuse(HTTPStatus.BAD_REQUEST, str(error))
        except EngineError as error:
            return self._refuse(HTTPStatus.INTERNAL_SERVER_ERROR, str(error))
        if body is None:
            return self._refuse(HTTPStatus.NOT_FOUND, "there is no such thing")
        self._send(HTTPStatus.OK, body)

    def _refuse(self, status: HTTPStatus, why: str) -> None:
        self._send(status, Body(f"{why}\n".encode(), _TYPES["txt"]))

    def _send(self, status: HTTPStatus, body: Body) -> None:
        self.send_response(status)
        self.send_header("Content-Type", body.kind)
        self.send_header("Content-Length", str(len(body.content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body.content)

    def end_headers(self) -> None:
        """Write the headers that every answer has, errors included, before the end."""
        for name, value in _HEADERS.items():
            self.send_header(name, value)
        super().end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: the terminal belongs to the command."""


class Server(ThreadingHTTPServer):
    """A page at an address that works only with the token.

    Parameters
    ----------
    page
        The page.
    port
        Where; 0 takes any that is free.
    token
        Part of the address: 16 to 128 letters, digits, ``-`` and ``_``. By default one is drawn.

    Raises
    ------
    InputError
        If the port cannot be had, or the token is none.
    """

    daemon_threads = True
    # Two servers on one port would answer alternately.
    allow_reuse_address = False
    allow_reuse_port = False

    def __init__(self, page: Page, port: int = 0, token: str | None = None) -> None:
        if token is not None and not _KEPT.fullmatch(token):
            raise InputError(
                f"--token {token}: is not valid\n"
                "  fix: use 16 to 128 letters, digits, - and _ that nobody can guess"
            )
        if not 0 <= port <= PORT_MAX:
            raise InputError(f"--port {port}: there is no such port\n  fix: use 0 to {PORT_MAX}")
        self.page = page
        self.token = token or secrets.token_urlsafe(24)
        try:
            super().__init__((HOST, port), _Handler)
        except OSError as error:
            raise InputError(
                f"--port {port}: cannot be used ({error.strerror})\n"
                "  fix: give another port, or leave out --port to get a free one"
            ) from None
        self.hosts = {f"{name}:{self.server_port}" for name in (HOST, "localhost")}

    @property
    def address(self) -> str:
        """The address to open in a browser."""
        return f"http://{HOST}:{self.server_port}/{self.token}/"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Keep silent about readers that have gone; let bugs be seen."""
        import sys

        if not isinstance(sys.exc_info()[1], (ConnectionError, TimeoutError)):
            super().handle_error(request, client_address)


def serve(page: Page, *, port: int, browse: bool, token: str | None = None) -> None:
    """Serve a page until Ctrl-C.

    Parameters
    ----------
    page
        The page.
    port
        Where; 0 takes any that is free.
    browse
        Whether to open a browser.
    token
        Part of the address; by default one is drawn.
    """
    with closing(page), Server(page, port, token) as server:
        worker = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.1})
        try:
            worker.start()
            say_nothing()
            print(f"{shown(page.title)}: {server.address}\nCtrl-C ends it.", flush=True)
            if browse:
                import webbrowser

                webbrowser.open(server.address)
            # Ctrl-C that comes just before a wait without an end is heard at its end.
            while worker.is_alive():
                worker.join(_HEARD_S)
        except KeyboardInterrupt:
            if came() not in (None, signal.SIGINT):
                raise
            print()
        finally:
            server.shutdown()
            worker.join()
