"""A process that draws, so that Ctrl-C can end a drawing at once.

The drawing library does not return before it is done, so in this process Ctrl-C would wait for it.
Requests are lines of JSON on the standard input of the process: ``kind``, ``version``, ``spec`` and
``column``. It answers each with a line, ``drawn`` or ``wrong`` and a number of bytes, followed by
these bytes.
"""

from __future__ import annotations

import functools
import json
import signal
import subprocess
import sys
import threading
from typing import IO

from burstlab.errors import InputError
from burstlab.extras import extra
from burstlab.plot.column import in_column
from burstlab.running.interrupts import ENDING

#: Pixels an inch of a PNG for print.
_PRINTED_DPI = 300.0

#: How the process is started.
COMMAND = (sys.executable, "-c", "from burstlab.plot.drawing import main; main()")


class Drawer:
    """A process that draws, from the first drawing on."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()

    def draw(self, spec: str, kind: str, version: str, *, column: bool = False) -> bytes:
        """Return a picture.

        Parameters
        ----------
        spec
            A specification of Vega-Lite, as JSON.
        kind
            ``svg``, ``pdf`` or ``png``.
        version
            Of Vega-Lite, such as ``"6.1"``.
        column
            Whether it is for a column of print.

        Raises
        ------
        ValueError
            If the specification cannot be drawn.
        InputError
            If the process ends before it has answered, as it lacks memory.
        """
        with self._lock:
            try:
                word, content = self._ask(
                    {"kind": kind, "version": version, "spec": spec, "column": column}
                )
            except BaseException:
                # A late answer would belong to this request.
                self.stop()
                raise
        if word != b"drawn":
            raise ValueError(content.decode(errors="replace"))
        return content

    def _ask(self, request: dict[str, str | bool]) -> tuple[bytes, bytes]:
        there = self._process
        if there is None or there.poll() is not None:
            pipe = subprocess.PIPE
            # Messages of the library about its own end help nobody.
            quiet = subprocess.DEVNULL
            there = self._process = subprocess.Popen(COMMAND, stdin=pipe, stdout=pipe, stderr=quiet)
        assert there.stdin is not None and there.stdout is not None
        try:
            there.stdin.write(json.dumps(request).encode() + b"\n")
            there.stdin.flush()
            word, _, size = there.stdout.readline().partition(b" ")
            content = there.stdout.read(int(size)) if size else b""
        except BrokenPipeError:
            raise _ended(there) from None
        if not size or len(content) < int(size):
            raise _ended(there)
        return word, content

    def stop(self) -> None:
        """End the process, whatever it does."""
        there, self._process = self._process, None
        if there is not None:
            there.kill()
            there.wait()


def _ended(process: subprocess.Popen[bytes]) -> InputError:
    """Return the error of a process that has ended before it has answered."""
    from burstlab.running.engine import address_space

    bound = address_space()
    status = process.wait()
    how = f"by signal {-status}" if status < 0 else f"with status {status}"
    lacks, fix = "memory", "free some, or draw on another machine"
    if bound is not None:
        lacks = f"address space, which ulimit -v bounds to {bound / 1e9:.3g} GB"
        fix = "lift that (ulimit -v unlimited): what draws reserves more than it uses"
    return InputError(
        f"no picture: the process that draws has ended {how}; it may lack {lacks}\n  fix: {fix}"
    )


def draw_here(spec: str, kind: str, version: str, column: bool = False) -> bytes:
    """Draw in this process, as `Drawer.draw` does in another."""
    vl_convert = extra("vl_convert", "a picture")
    if column:
        picture = _in_column(spec, version)
        if kind == "svg":
            return picture.encode()
        if kind == "pdf":
            return vl_convert.svg_to_pdf(picture)
        return vl_convert.svg_to_png(picture, scale=_PRINTED_DPI / 96.0)
    if kind == "svg":
        return _as_svg(spec, version).encode()
    if kind == "pdf":
        return vl_convert.vegalite_to_pdf(spec, vl_version=version)
    return vl_convert.svg_to_png(_as_svg(spec, version), scale=2)


@functools.lru_cache(maxsize=1)
def _in_column(spec: str, version: str) -> str:
    """Draw as SVG for a column of print."""
    return in_column(json.loads(spec), lambda one: _as_svg(json.dumps(one), version))


@functools.lru_cache(maxsize=1)
def _as_svg(spec: str, version: str) -> str:
    """Draw as SVG, of which PNG is made too: a figure that is saved as both is laid out once."""
    return extra("vl_convert", "a picture").vegalite_to_svg(spec, vl_version=version)


def answer(requests: IO[bytes], answers: IO[bytes]) -> None:
    """Draw each request, until there are no more."""
    for line in requests:
        request = json.loads(line)
        try:
            word, content = b"drawn", draw_here(**request)
        except ValueError as error:
            word, content = b"wrong", str(error).encode()
        answers.write(b"%s %d\n%s" % (word, len(content), content))
        answers.flush()


def main() -> None:
    """Draw what standard input asks for."""
    # A signal is for whoever asks: that one ends, and there are no more requests.
    for one in ENDING:
        signal.signal(one, signal.SIG_IGN)
    answer(sys.stdin.buffer, sys.stdout.buffer)
