"""Instructions of the engine per delivered packet or header, against the counts on record.

Runs `crates/bench` under callgrind, each case with two simulated times: the
difference of the instructions over the difference of the packets is free of start-up. Such counts
are repeatable where times are not. benches/instructions.toml has the fast paths,
benches/cliffs.toml one feature more in each row. A count that differs from them by more than 2 %
either way ends the run with exit code 1: what was gained is recorded too (`--record`).

The counts belong to a version of rustc and a target; with others they are printed and not judged.
Where valgrind is missing it is installed on a CI machine, if that can be done, and nothing is
counted elsewhere. Set BURSTLAB_NO_VALGRIND=1 to count nothing.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from scenario import document

HERE = Path(__file__).parent
RECORDS = (HERE / "instructions.toml", HERE / "cliffs.toml")
ENGINE = HERE.parent / "target" / "release" / "engine"
TOLERANCE = 0.02
# The C library picks its copying loops by processor; these are there on every x86-64.
ENVIRONMENT = {
    "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2,-AVX2_Usable,-AVX512VL,-ERMS,-FSRM,"
    "-AVX_Fast_Unaligned_Load",
    "PATH": os.environ["PATH"],
}


def main() -> None:
    """Print the table; leave with 1 where a count has moved."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--record", action="store_true", help="write the counts into the record")
    options.add_argument("--only", help="one case alone")
    chosen = options.parse_args()
    if reason := missing():
        print(f"NOT COUNTED: instructions per packet: {reason}")
        return
    records = [tomllib.loads(path.read_text()) for path in RECORDS]
    every = {name: case for one in records for name, case in one["cases"].items()}
    names = [name for name in every if chosen.only in (None, name)]
    if not names:
        options.error(f"no case is called {chosen.only}: {', '.join(every)}")
    # Together with the extension, though that is not built, dependencies of both have the same
    # features, and are compiled once.
    packages = ["-p", "burstlab-bench", "-p", "burstlab-python", "--bin", "engine"]
    subprocess.run(["cargo", "build", "-q", "--locked", "--release", *packages], check=True)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        cases = [every[name] for name in names]
        counts = dict(zip(names, pool.map(per_packet, cases), strict=True))
    compiler = version()
    same = all(compiler == {key: one[key] for key in compiler} for one in records)
    moved = report(counts, every)
    if chosen.record:
        for path in RECORDS:
            record(path, counts, compiler)
    elif not same:
        print(f"The record was made with {records[0]['rustc']} for {records[0]['target']};")
        print(f"this is {compiler['rustc']} for {compiler['target']}: nothing is judged.")
    elif moved:
        print(
            f"Moved by more than {TOLERANCE:.0%}: {', '.join(moved)}. If that is meant, record it"
        )
        print("(make instructions RECORD=1) and say why in the commit.")
        sys.exit(1)


def missing() -> str | None:
    """Return why nothing can be counted, having tried to install what is missing."""
    if os.environ.get("BURSTLAB_NO_VALGRIND"):
        return "BURSTLAB_NO_VALGRIND is set"
    if shutil.which("valgrind") is None and os.environ.get("CI"):
        asking = [] if os.geteuid() == 0 else ["sudo", "-n"]
        for words in (["apt-get", "update", "-q"], ["apt-get", "install", "-qy", "valgrind"]):
            print(f"valgrind is missing; trying: {' '.join([*asking, *words])}", flush=True)
            try:
                subprocess.run([*asking, *words], stdout=subprocess.DEVNULL, timeout=300)
            except (OSError, subprocess.TimeoutExpired) as error:
                print(error)
    if shutil.which("valgrind") is None:
        return "valgrind is not installed (Debian: apt install valgrind)"
    return None


def version() -> dict[str, str]:
    """Return the compiler that the counts belong to."""
    lines = subprocess.check_output(["rustc", "-vV"], text=True).splitlines()
    host = next(line.removeprefix("host: ") for line in lines if line.startswith("host: "))
    return {"rustc": lines[0], "target": host}


def per_packet(case: Mapping[str, Any]) -> float:
    """Instructions per delivered packet between the two simulated times of a case.

    With ``of = "headers"`` they are per header that a node has read.
    """
    with tempfile.TemporaryDirectory() as scratch:
        scenario = Path(scratch) / "scenario.json"
        whole = document(case["scenario"], case.get("flows", 0)) | case.get("with", {})
        if "first" in case:
            whole["flows"][0] |= case["first"]
        scenario.write_text(json.dumps(whole))
        runs = [count(scenario, length, case.get("trace", "")) for length in case["durations"]]
    (counts, instructions), (more_counts, more_instructions) = runs
    of = case.get("of", "packets_delivered")
    return (more_instructions - instructions) / (more_counts[of] - counts[of])


def count(scenario: Path, duration: str, trace: str) -> tuple[dict[str, Any], int]:
    """Counts and instructions of one run with these traces."""
    totals = scenario.with_suffix(".out")
    command = ["valgrind", "-q", "--tool=callgrind", f"--callgrind-out-file={totals}"]
    output = subprocess.check_output(
        [*command, str(ENGINE), str(scenario), duration, trace], env=ENVIRONMENT, text=True
    )
    lines = totals.read_text().splitlines()
    summary = next(line for line in lines if line.startswith(("summary:", "totals:")))
    return json.loads(output), int(summary.split()[1])


def report(counts: Mapping[str, float], cases: Mapping[str, Any]) -> list[str]:
    """Print the table; return the cases that have moved."""
    moved = []
    titles = ("recorded", "counted", "change", "times base")
    print(f"{'instructions per delivered packet':<38}" + "".join(f"{one:>11}" for one in titles))
    for name, counted in counts.items():
        before = cases[name]["instructions"]
        change = counted / before - 1
        if abs(change) > TOLERANCE:
            moved.append(name)
        base = cases[name].get("base")
        times = f"{counted / counts[base]:>11.1f}" if base in counts else ""
        print(f"{cases[name]['what']:<38}{before:>11.1f}{counted:>11.1f}{change:>+11.2%}{times}")
    return moved


def record(path: Path, counts: Mapping[str, float], compiler: Mapping[str, str]) -> None:
    """Write the counts in place of those on record; all else in the file stays as it is."""
    text = path.read_text()
    before = tomllib.loads(text)
    for key, value in compiler.items():
        text = text.replace(f'{key} = "{before[key]}"', f'{key} = "{value}"', 1)
    for name in before["cases"].keys() & counts.keys():
        head, body = text.split(f"[cases.{name}]\n", 1)
        old = f"instructions = {before['cases'][name]['instructions']}\n"
        body = body.replace(old, f"instructions = {counts[name]:.1f}\n", 1)
        text = f"{head}[cases.{name}]\n{body}"
    path.write_text(text)


if __name__ == "__main__":
    main()
