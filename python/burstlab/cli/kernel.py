"""``burstlab kernel``: the user-mode Linux kernels of live hosts."""

from __future__ import annotations

import json
from pathlib import Path

from cyclopts import App

from burstlab.cli.epilogues import EPILOGUES
from burstlab.cli.flags import Json, Whole
from burstlab.cli.printing import say

kernel = App(
    name="kernel",
    help="Build and list the Linux kernels of live hosts.",
    help_epilogue=str(EPILOGUES["kernel"]),
    group_commands="Commands",
    suppress_keyboard_interrupt=False,
)


@kernel.command(help_epilogue=str(EPILOGUES["kernel build"]))
def build(*, source: str | None = None, jobs: Whole = None) -> int:
    """Build a user-mode Linux kernel with virtual time, in the cache directory.

    Nothing is downloaded: the source is one that the package manager has installed (Debian:
    apt-get install linux-source).

    Parameters
    ----------
    source
        A tarball, or a directory with the sources of a kernel, which is not changed.
    jobs
        Compilers at a time (default: one per processor).
    """
    from burstlab.live import kernels
    from burstlab.running.progress import bar

    with bar("building") as progress:
        made = kernels.build(Path(source) if source else None, jobs=jobs, progress=progress)
    say(f"built {made.name}: {made.image}")
    return 0


@kernel.command(name="list", help_epilogue=str(EPILOGUES["kernel list"]))
def list_(*, json_: Json = False) -> int:
    """List the kernels that were built, and what a build lacks on this machine.

    Parameters
    ----------
    json_
        Print one JSON document and nothing else.
    """
    from burstlab.live import kernels

    known = kernels.known()
    lacking = {one.name: kernels.lacks(one.image) for one in known}
    missing = kernels.missing()
    if json_:
        found = [
            {
                "name": one.name,
                "version": one.version,
                "path": str(one.image),
                "lacks": lacking[one.name] or None,
                "congestion_controls": kernels.controls(one.image),
            }
            for one in known
        ]
        print(json.dumps({"kernels": found, "missing": missing}))
        return 0
    for one in known:
        usable = lacking[one.name] or f"with {', '.join(kernels.controls(one.image))}"
        say(f"{one.name}  Linux {one.version}, {usable}\n  {one.image}")
    if not known:
        say(f"no kernel was built in {kernels.directory()}\n  fix: burstlab kernel build")
    for line in missing:
        say(f"a build lacks {line}")
    return 0
