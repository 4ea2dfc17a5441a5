"""A run in virtual time: a user-mode Linux kernel whose first process is `burstlab.live.inside`."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable
from pathlib import Path

from burstlab.live.kernels import Kernel
from burstlab.live.watching import watched

#: Memory that the kernel takes at most, as it calls it.
MEMORY = "2G"

#: Where files are that are memory.
_MEMORY_FILES = "/dev/shm"


def boot(
    kernel: Kernel, directory: Path, patience_s: float, progress: Callable[[float], None] | None
) -> list[str]:
    """Run the job of a directory in a kernel; return the last lines of its console.

    Parameters
    ----------
    kernel
        The kernel.
    directory
        Where the job is; what the kernel needs of the machine is put there too.
    patience_s
        How long nothing may happen, in s of the wall clock.
    progress
        Told the share of the run that is done.

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
    command = [
        str(kernel.image),
        f"mem={MEMORY}",
        "root=/dev/root",
        "rootfstype=hostfs",
        "rw",
        f"init={init}",
        "time-travel=inf-cpu",
        "con=null",
        "con0=null,fd:1",
        "quiet",
        "panic=-1",
        f"uml_dir={directory}/",
        "umid=kernel",
    ]
    # The memory of the kernel is a file without a name, which is to be on no disk.
    memory = {"TMPDIR": _MEMORY_FILES} if os.access(_MEMORY_FILES, os.W_OK) else {}
    return watched(command, directory, {**os.environ, **memory}, patience_s, progress)
