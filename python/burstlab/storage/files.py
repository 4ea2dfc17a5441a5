"""Files that are whole at any instant, and outlive the machine."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeAlias

from burstlab.errors import InputError, ScenarioError

#: The hidden file that is locked while a process writes to a directory.
LOCK = ".lock"

#: Directories of devices and of open files: ``/dev/stdout`` is a link, to a file at times.
STREAMS = (Path("/dev"), Path("/dev/fd"), Path("/proc/self/fd"))


#: Returns the content of a file that a scenario names, by its path.
Reader: TypeAlias = "Callable[[Path], bytes]"


def refuse_endless(where: Path) -> None:
    """Refuse a pipe, a socket or a device in place of a file: to read one may take for ever.

    Raises
    ------
    OSError
        If it is none of the files that have an end, or is not there.
    """
    if not (where.is_file() or where.is_dir()) and where.exists():
        raise OSError(errno.EINVAL, "it is a pipe, a socket or a device, not a file")


def stored_text(path: Path) -> str:
    """Return the text of a file that a command has stored.

    Raises
    ------
    OSError
        If it cannot be read, or is no file.
    ValueError
        If it is no text.
    """
    refuse_endless(path)
    return path.read_text(encoding="utf-8")


def named_bytes(where: Path, field: str = "") -> bytes:
    """Read a file that a scenario names, in a field or given as it is; or refuse it."""
    try:
        refuse_endless(where)
        return where.read_bytes()
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        fix = "give a file that exists; in a scenario its path counts from the scenario's file"
        raise _refused(where, field, f"cannot be read ({reason})", fix) from None


def named_text(where: Path, field: str = "") -> str:
    """Read a text that a scenario names, as `named_bytes` does."""
    return decoded(named_bytes(where, field), where, field)


def decoded(content: bytes, where: Path, field: str = "") -> str:
    """Return the content of a file that a scenario names as text; or refuse it."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        problem = f"not UTF-8 text (byte {error.start})"
        raise _refused(where, field, problem, "save it as UTF-8") from None


def _refused(where: Path, field: str, problem: str, fix: str) -> ScenarioError:
    return ScenarioError(field or str(where), str(where) if field else "", problem, fix)


@contextmanager
def whole(path: Path, *, wait: bool = False) -> Iterator[Path]:
    """Have a file written under a hidden name, which takes the place of the file when it is whole.

    Whoever writes the same file meanwhile is refused: both would write to one hidden file. A pipe
    or a device, such as ``/dev/null``, is written to as it is, and never replaced.

    Parameters
    ----------
    path
        The file.
    wait
        Wait for the other in place of that.
    """
    if _is_stream(path):
        yield path
        return
    part = path.with_name(f".{path.name}.part")
    with _alone(part, path, wait=wait):
        try:
            yield part
            part.replace(path)
        except BaseException:
            part.unlink(missing_ok=True)
            raise


def _is_stream(path: Path) -> bool:
    """Whether a path names a pipe or a device, also through a link."""
    named = path.absolute().parent in STREAMS or not (path.is_file() or path.is_dir())
    return named and path.exists()


@contextmanager
def _alone(part: Path, path: Path, *, wait: bool) -> Iterator[None]:
    """Have a hidden file, which may be left of a process that has ended, for oneself."""
    handle = _held(part, f"{path}: another process is writing it", "file", wait=wait)
    try:
        yield
    finally:
        if handle is not None:
            os.close(handle)


def put(path: Path, data: bytes) -> None:
    """Write a file in place of the one of that name; at any instant one of the two is whole.

    Parameters
    ----------
    path
        The file; it is written under a hidden name in the same directory, and then renamed.
    data
        Its content.
    """
    with whole(path, wait=True) as part, part.open("wb") as file:
        file.write(data)
        file.flush()
        if part == path:
            return
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
        The directory; a hidden file in it is locked meanwhile.
    writer
        The error while another process has the lock, such as ``"another run is being written
        there"``.
    wait
        Wait for the other process instead.
    name
        The hidden file; locks of two names are independent.
    """

    def __init__(
        self, directory: Path, writer: str, *, wait: bool = False, name: str = LOCK
    ) -> None:
        self._path = directory / name
        self._handle = _held(self._path, f"{directory}: {writer}", "directory", wait=wait)

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


def _held(path: Path, refusal: str, what: str, *, wait: bool) -> int | None:
    """Open a file and hold it alone; None where the system has no such locks."""
    try:
        import fcntl
    except ImportError:
        return None
    while True:
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            os.close(handle)
            raise InputError(f"{refusal}\n  fix: wait for its end, or use another {what}") from None
        except OSError:
            return handle  # a file system without locks
        with suppress(FileNotFoundError):
            if path.stat().st_ino == os.fstat(handle).st_ino:
                return handle
        os.close(handle)  # who had it before has removed or renamed this file since
