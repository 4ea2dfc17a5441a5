"""Files that are whole at any instant, and outlive the machine."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeAlias

from burstlab.errors import InputError, ScenarioError

#: The hidden file that is held while somebody writes to a directory.
LOCK = ".lock"


#: Answers what a file that a scenario names holds, by its path.
Reader: TypeAlias = "Callable[[Path], bytes]"


def named_bytes(where: Path, field: str = "") -> bytes:
    """Read a file that a scenario names, in a field or given as it is; or refuse it."""
    try:
        return where.read_bytes()
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        fix = "give a file that exists; in a scenario its path counts from the scenario's file"
        raise _refused(where, field, f"cannot be read ({reason})", fix) from None


def named_text(where: Path, field: str = "") -> str:
    """Read a text that a scenario names, as `named_bytes` does."""
    return decoded(named_bytes(where, field), where, field)


def decoded(content: bytes, where: Path, field: str = "") -> str:
    """Return what a file that a scenario names holds as text; or refuse it."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        problem = f"not UTF-8 text (byte {error.start})"
        raise _refused(where, field, problem, "save it as UTF-8") from None


def _refused(where: Path, field: str, problem: str, fix: str) -> ScenarioError:
    return ScenarioError(field or str(where), str(where) if field else "", problem, fix)


@contextmanager
def whole(path: Path) -> Iterator[Path]:
    """Have a file written under a hidden name, which takes the place of the file when it is whole.

    Parameters
    ----------
    path
        The file.
    """
    part = path.with_name(f".{path.name}.part")
    try:
        yield part
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def put(path: Path, data: bytes) -> None:
    """Write a file in place of the one of that name; at any instant one of the two is whole.

    Parameters
    ----------
    path
        The file; it is written under a hidden name beside it, and then renamed.
    data
        What it holds.
    """
    with whole(path) as part, part.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    sync(path.parent)


def sync(path: Path) -> None:
    """See to it that a file, or the names in a directory, outlive the machine."""
    if os.name != "posix":
        return  # elsewhere a directory cannot be asked
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


class Lock:
    """Keeps others from writing to a directory; the system lets go if this process ends.

    Parameters
    ----------
    directory
        The directory; a hidden file in it is held meanwhile.
    writer
        What is refused while another has it, such as ``"another run is being written there"``.
    wait
        Wait for the other in place of that.
    """

    def __init__(self, directory: Path, writer: str, *, wait: bool = False) -> None:
        self._path = directory / LOCK
        self._handle = self._held(writer, wait=wait)

    def close(self) -> None:
        """Let others write there."""
        if self._handle is not None:
            # First the name: who opens it now makes a file of its own.
            self._path.unlink(missing_ok=True)
            os.close(self._handle)
            self._handle = None

    def __enter__(self) -> Lock:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _held(self, writer: str, *, wait: bool) -> int | None:
        try:
            import fcntl
        except ImportError:
            return None
        while True:
            handle = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o644)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            except BlockingIOError:
                os.close(handle)
                raise InputError(
                    f"{self._path.parent}: {writer}\n"
                    "  fix: wait for its end, or use another directory"
                ) from None
            except OSError:
                return handle  # a file system without locks
            with suppress(FileNotFoundError):
                if self._path.stat().st_ino == os.fstat(handle).st_ino:
                    return handle
            os.close(handle)  # who had it before has removed this file since
