"""A run in virtual time: a user-mode Linux kernel whose first process is `burstlab.live.inside`."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from burstlab.live.watching import Hung, watched

#: Memory that the kernel takes at most, as it calls it.
MEMORY = "2G"

#: The variable by which the process of a kernel gets the seed of its random numbers.
SEED = "BURSTLAB_SEED"

#: When the calendar of a kernel begins, the first of January 2026, in ns: that of the machine would
#: go into first sequence numbers, and into what programs write.
DATE_NS = 1_767_225_600_000_000_000

#: Where files are that are memory.
_MEMORY_FILES = "/dev/shm"

#: The word that the first process of a trial prints, and how long the kernel may take for it, in s.
_WORD, _TRIAL_S = "a program runs", 60.0


def boot(
    image: Path,
    directory: Path,
    seed: int,
    patience_s: float,
    progress: Callable[[float], None] | None,
) -> list[str]:
    """Run the job of a directory in a kernel; return the last lines of its console.

    Parameters
    ----------
    image
        The kernel.
    directory
        Holds the job; files that the kernel needs of the machine are written there too.
    seed
        Seed of all random numbers of the kernel and its programs.
    patience_s
        How long nothing may happen, in s of the wall clock.
    progress
        Called with the share of the run that is done.

    Raises
    ------
    Hung
        If nothing happens for so long; the kernel was ended then.
    """
    init = directory / "init"
    path = os.pathsep.join(str(Path(one).resolve()) for one in sys.path if one)
    words = [sys.executable, "-m", "burstlab.live.inside", "kernel", str(directory)]
    environment = {**os.environ, "PYTHONPATH": path, "OPENBLAS_NUM_THREADS": "1"}
    exported = "".join(
        f"export {name}={shlex.quote(value)}\n"
        for name, value in environment.items()
        if name.isidentifier()
    )
    script = f"#!/bin/sh\n{exported}cd {shlex.quote(str(Path.cwd()))}\nexec {shlex.join(words)}\n"
    init.write_text(script, encoding="utf-8")
    init.chmod(0o700)
    command, environment = _command(image, directory, init)
    environment = {**environment, SEED: str(seed)}
    return watched(command, directory, environment, patience_s, progress)


def fails(image: Path, directory: Path) -> list[str]:
    """Have a kernel run one program; return the last lines of its console, none if it does.

    Parameters
    ----------
    image
        The kernel.
    directory
        An empty one, for what it needs meanwhile.
    """
    init = directory / "init"
    init.write_text(f"#!/bin/sh\necho {shlex.quote(_WORD)}\n", encoding="utf-8")
    init.chmod(0o700)
    command, environment = _command(image, directory, init)
    try:
        console = watched(command, directory, environment, _TRIAL_S, None)
    except Hung:
        return [f"nothing came of it for {_TRIAL_S:g} s"]
    return [] if _WORD in console else last_lines(console) or ["it printed nothing"]


def last_lines(console: Sequence[str]) -> list[str]:
    """Return the last messages of a console, without the stack trace that follows a panic."""
    return [line for line in console if not line.startswith(" [<")][-12:]


def _command(image: Path, directory: Path, init: Path) -> tuple[list[str], Mapping[str, str]]:
    """Return the words that start a kernel with its first process, and their environment."""
    words = [
        str(image),
        f"mem={MEMORY}",
        "root=/dev/root",
        "rootfstype=hostfs",
        "rw",
        f"init={init}",
        "time-travel=inf-cpu",
        f"time-travel-start={DATE_NS}",
        "con=null",
        "con0=null,fd:1",
        "quiet",
        "panic=-1",
        f"uml_dir={directory}/",
        "umid=kernel",
    ]
    # The memory of the kernel is a file without a name, which is to be on no disk.
    memory = {"TMPDIR": _MEMORY_FILES} if os.access(_MEMORY_FILES, os.W_OK) else {}
    return words, {**os.environ, **memory}
