"""The same flows in Burstlab, ns-2 and ns-3, in turns.

Each program's start-up, measured by a run of no length, is shown apart. ns-3 takes so long that its
runs are shorter; rates are per packet.
"""

import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import mesh
from measuring import NOTHING, Cost, alternate, burstlab, counting

HERE = Path(__file__).parent
# At most so many runs of programs that take half a minute a run.
FEW, ONE = 3, 1
NS3 = (
    "ns3-applications", "ns3-nix-vector-routing", "ns3-traffic-control", "ns3-point-to-point",
    "ns3-internet", "ns3-network", "ns3-core",
)  # fmt: skip


def has_ns2() -> bool:
    """Whether ns-2 is here; says so if not."""
    found = shutil.which("ns") is not None
    if not found:
        print("ns-2 is not installed (Debian: apt install ns2): it is left out.")
    return found


def built_ns3(to: Path, source: str = "ns3.cc") -> Path | None:
    """Compile `source` of this folder; return the program, or nothing, with a word why."""
    if (
        shutil.which("pkg-config") is None
        or subprocess.run(["pkg-config", "--exists", *NS3], check=False).returncode
    ):
        print("ns-3 is not installed (Debian: apt install libns3-dev g++): it is left out.")
        return None
    words = subprocess.check_output(["pkg-config", "--cflags", "--libs", *NS3], text=True).split()
    # Other words name libraries that ns-3 was built with and nothing here calls.
    used = [word for word in words if word.startswith(("-I/", "-L", "-l", "-D"))]
    program = to / Path(source).stem
    compiler = ["g++", "-std=c++17", "-O2", str(HERE / source), "-o", str(program)]
    if subprocess.run([*compiler, *used], check=False).returncode:
        print(f"{source} was not compiled: ns-3 is left out.")
        return None
    return program


def path(seconds: int, runs: int, ns2: bool, ns3: Path | None) -> None:
    """One flow over the path."""

    def ours(setting: str) -> Cost:
        return burstlab(HERE / "path.toml", setting, fibres=[5])

    programs = {
        "burstlab": (lambda: ours(f'run.duration="{seconds} s"'), lambda: ours(NOTHING), runs)
    }
    if ns2:
        words = ("ns", str(HERE / "path.tcl"))
        programs["ns-2"] = (
            lambda: counting(*words, str(seconds)),
            lambda: counting(*words, "0"),
            runs,
        )
    if ns3:
        other, short = (str(ns3), "path"), str(seconds / 10)
        programs["ns-3"] = (lambda: counting(*other, short), lambda: counting(*other, "0"), FEW)
    print(f"\nOne flow over the path, {seconds} s:")
    alternate(programs, runs)


def network(flows: int, seconds: float, runs: int, ns2: bool, ns3: Path | None, to: Path) -> None:
    """`flows` flows over NSFNET."""
    scenario, script, listing = to / "mesh.toml", to / "mesh.tcl", to / "mesh.txt"
    mesh.burstlab(flows, HERE / "mesh.toml", scenario)
    mesh.ns2(flows, script)
    mesh.ns3(flows, listing)
    fibres = mesh.fibres(flows)

    def ours(setting: str) -> Cost:
        return burstlab(scenario, setting, fibres=fibres)

    programs = {
        "burstlab": (lambda: ours(f'run.duration="{seconds} s"'), lambda: ours(NOTHING), runs)
    }
    if ns2:
        words: Sequence[str] = ("ns", str(HERE / "mesh.tcl"), str(script))
        programs["ns-2"] = (
            lambda: counting(*words, str(seconds)), lambda: counting(*words, "0"), FEW,
        )  # fmt: skip
    if ns3:
        other, short = (str(ns3), "mesh"), str(min(seconds, 0.6))
        programs["ns-3"] = (
            lambda: counting(*other, short, str(listing)),
            lambda: counting(*other, "0", str(listing)),
            ONE,
        )
    print(f"\n{flows} flows over NSFNET, {seconds} s:", flush=True)
    alternate(programs, runs)
    sys.stdout.flush()
