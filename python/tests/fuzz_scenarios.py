"""Scenarios drawn from the schema: values at the edges, sections combined, valid and not.

Each runs to its end or until Ctrl-C, which it hears, or is refused with the field, its value and
what to write instead; within a bound of memory and time. Nothing else may happen. What a seed
draws is the same everywhere. `test_fuzz.py` runs a few hundred, `make fuzz` as many as it is told:

    python python/tests/fuzz_scenarios.py --cases 100000 --seed 1
"""

from __future__ import annotations

import argparse
import os
import random  # noqa: TID251 - its generators are made from the seed that is printed
import re
import resource
import shutil
import signal
import sys
import tempfile
import time
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import rich.table
import tomli_w

from burstlab.cli import app
from burstlab.documents.schema import scenario_schema
from burstlab.errors import ScenarioError
from burstlab.simulation import resolve

#: Loaded before a process is split off: what every run would load again.
LOADED = (pq, rich.table)

#: Address space of a scenario's process; a run may have half of it.
MEMORY = 6 << 30

#: Seconds until Ctrl-C, and until it has to be heard on a machine that has other things to do; and
#: seconds of processors that may go by from there to the end of the process.
RUNS_S, HEARD_S, HEARD_CPU_S = 0.6, 20.0, 2.0

#: Seconds that a scenario may take to be resolved, whatever it is.
RESOLVED_S = 60.0

#: The warning about a connection that waits for ever: a fault of the engine.
DEAD = "no timer is set"

#: Corrections that a scenario gets before it is run as it is.
_CORRECTIONS = 30

SCHEMA = scenario_schema()

_SPANS = """0 s|1 ps|7 ps|1 ns|1 us|1 ms|5 ms|40 ms|100 ms|1 s|3 s|1000 s|99999 s|100000 s|2000000 s
18446744 s|1e300 s""".replace("\n", "|").split("|")
_SIZES = """0 B|1 B|2 B|40 B|41 B|576 B|1 KB|1500 B|15 KB|64 KB|65535 B|65536 B|700 KB|10 MB|1 GB
1000000 GB|1000001 GB|18446744073709551614 B""".replace("\n", "|").split("|")
_RATES = """1 b/s|99 b/s|100 b/s|101 b/s|1 Kb/s|56 kb/s|1 Mb/s|10 Mb/s|100 Mb/s|1 Gb/s|10 Gb/s
1 Tb/s|100 Tb/s|18000000 Tb/s""".replace("\n", "|").split("|")
_NUMBERS = [0.0, 1.0, 0.5, 0.9, 1.5, 2.0, 10.0, 100.0, 1e3, 1e9, 1e12, 1e-9, 1e-300, 1.7e308, -1.0]
_ODD_NUMBERS = [float("inf"), float("-inf"), float("nan")]
_WHOLE = [0, 1, 2, 3, 4, 8, 16, 31, 64, 100, 255, 1000, 65535, 1000000, 2**31 - 1, 2**32 - 1, 2**64]
_NAMES = ["1", "2", "3", "4", "left1", "right1", "hub", "E1", "E3", "[/b]", "a'b\"c", "💥", ""]
_TOPOLOGIES = ["path", "path", "line", "ring", "star", "dumbbell", "nsfnet", "martinez"]

#: Tables whose entries are drawn alone, and how often each is there.
_TABLES = {
    "flows": 0.6,
    "demand": 0.35,
    "traffic": 0.5,
    "bursts": 0.35,
    "batches": 0.35,
    "wlan": 0.15,
    "ops": 0.1,
    "edge": 0.7,
    "signalling": 0.4,
    "core": 0.5,
    "tcp": 0.5,
    "loss": 0.4,
    "access": 0.8,
}


#: Fields that most networks refuse, and how often each is there.
_SELDOM = {"reverse": 0.1}


class Draw:
    """Draws one scenario.

    Parameters
    ----------
    seed
        The seed of all draws.
    """

    def __init__(self, seed: int) -> None:
        self.random = random.Random(f"scenario {seed}")
        #: How wild it is: the chance of a value at the edges, where there is a usual one.
        self.wild = self.random.choice([0.05, 0.15, 0.5, 1.0])

    def scenario(self) -> dict[str, Any]:
        """Return a scenario, as nested dictionaries."""
        pick = self.random
        found: dict[str, Any] = {"network": self._table(SCHEMA["properties"]["network"], 0.15)}
        if pick.random() < 0.9:
            found["network"]["topology"] = pick.choice(_TOPOLOGIES)
        for name, chance in _TABLES.items():
            if pick.random() < chance:
                share = 0.15 if name in ("tcp", "ops") else 0.3
                found[name] = self._value(SCHEMA["properties"][name], share, name)
        found["run"] = {"duration": pick.choice(["1 us", "1 ms", "100 ms", "1 s", "3 s"])}
        if pick.random() < self.wild:
            found["run"] |= self._table(SCHEMA["properties"]["run"], 0.3)
        return found

    def _value(self, schema: dict[str, Any], share: float, name: str = "") -> Any:
        schema = followed(schema)
        pick = self.random
        options = [one for one in schema.get("anyOf", []) if one.get("type") != "null"]
        if options:
            return self._value(options[0], share, name)
        if "oneOf" in schema or "enum" in schema:
            words = schema.get("enum") or [
                word for one in schema["oneOf"] for word in words_of(one)
            ]
            return pick.choice(words) if pick.random() < 0.98 else "no such choice"
        kinds = schema.get("type", "object")
        kind = kinds if isinstance(kinds, str) else next(one for one in kinds if one != "null")
        if kind == "object":
            return self._table(schema, share)
        if kind == "array":
            return self._list(schema, share, name)
        if kind == "boolean":
            return pick.random() < 0.5
        if kind == "integer":
            usual = pick.choice([1, 2, 3, 4, 8, 10])
            return pick.choice(_WHOLE) if pick.random() < self.wild else usual
        if kind == "number":
            if schema.get("title") == "probability":
                return pick.choice([0.0, 0.001, 0.02, 0.5, 1.0])
            if pick.random() < 0.05 * self.wild:
                return pick.choice(_ODD_NUMBERS)
            usual_number = pick.choice([0.5, 1.0, 2.0])
            return pick.choice(_NUMBERS) if pick.random() < self.wild else usual_number
        return self._text(schema.get("title", ""))

    def _text(self, title: str) -> str:
        edges, usual = {
            "time": (_SPANS, ["10 us", "1 ms", "5 ms", "40 ms"]),
            "size": (_SIZES, ["1 KB", "1500 B", "15 KB", "64 KB"]),
            "rate": (_RATES, ["1 Mb/s", "10 Mb/s", "1 Gb/s"]),
        }.get(title, (_NAMES, _NAMES[:4]))
        return self.random.choice(edges if self.random.random() < self.wild else usual)

    def _list(self, schema: dict[str, Any], share: float, name: str) -> list[Any]:
        pick = self.random
        if (pair := schema.get("prefixItems")) is not None:
            return [self._value(one, share) for one in pair]
        count = pick.choice([1, 1, 1, 2, 3] if name in _TABLES else [0, 1, 2, 3])
        return [self._value(schema.get("items", {}), share) for _ in range(count)]

    def _table(self, schema: dict[str, Any], share: float) -> dict[str, Any]:
        schema = followed(schema)
        needed = schema.get("required", [])
        return {
            name: self._value(one, share, name)
            for name, one in schema.get("properties", {}).items()
            if name in needed or self.random.random() < _SELDOM.get(name, share)
        }


def followed(schema: dict[str, Any]) -> dict[str, Any]:
    while "$ref" in schema:
        found: Any = SCHEMA
        for step in schema["$ref"].removeprefix("#/").split("/"):
            found = found[step]
        schema = {**found, **{key: value for key, value in schema.items() if key != "$ref"}}
    return schema


def words_of(schema: dict[str, Any]) -> list[Any]:
    return schema.get("enum") or ([schema["const"]] if "const" in schema else [])


def corrected(document: dict[str, Any], error: ScenarioError) -> bool:
    """Do what an error says, or take the field away; return whether anything changed."""
    steps = [step for step in re.split(r"[.\[\]]+", error.path) if step]
    here: Any = document
    for depth, step in enumerate(steps):
        last = depth == len(steps) - 1
        key: Any = int(step) if isinstance(here, list) and step.isdigit() else step
        try:
            inner = here[key]
        except (KeyError, IndexError, TypeError):
            inner = None
        if last and isinstance(here, (dict, list)):
            return _mend(here, key, error)
        if inner is None and isinstance(here, dict):
            inner = here.setdefault(key, {})
        here = inner
    return False


def _mend(here: Any, key: Any, error: ScenarioError) -> bool:
    said = re.match(r"(?:add|write) (\w+ = .+?)(?:,? or .*)?$", error.fix)
    if isinstance(here, dict) and said:
        try:
            added = tomllib.loads(said[1])
        except tomllib.TOMLDecodeError:
            added = {}
        if any(name not in here or here[name] != value for name, value in added.items()):
            here.update(added)
            return True
    try:
        del here[key]
    except (KeyError, IndexError, TypeError):
        return False
    return True


@dataclass(frozen=True)
class Outcome:
    """The outcome of a scenario.

    Attributes
    ----------
    kind
        ``"ran"``, ``"stopped"``, ``"refused"``; or what is wrong, as text.
    told
        The end of what it said.
    scenario
        It, as TOML.
    fine
        Whether that is as it should be.
    """

    kind: str
    told: str
    scenario: str
    fine: bool


def outcome(given: int | Path, where: Path, runs_s: float = RUNS_S) -> Outcome:
    """See what becomes of a scenario, in a process of its own.

    Parameters
    ----------
    given
        The seed that draws it, or its file.
    where
        Directory to work in.
    runs_s
        Seconds until Ctrl-C.
    """
    where.mkdir(parents=True, exist_ok=True)
    file, said, began = where / "drawn.toml", where / "said.txt", where / "began"
    for old in (file, said, began):
        old.unlink(missing_ok=True)
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if child == 0:
        _child(given, where)
    status, late = _watched(child, began, runs_s)
    text = said.read_text(encoding="utf-8", errors="replace") if said.exists() else ""
    scenario = file.read_text(encoding="utf-8") if file.exists() else ""
    kind, fine = _judged(status, late, text)
    return Outcome(kind, text[-2000:], scenario, fine)


def _watched(child: int, began: Path, runs_s: float) -> tuple[int, str]:
    """Wait for a child, with Ctrl-C where it takes long; return its status, and what was late."""
    start = time.monotonic()
    began_at = stopped_at = before_s = 0.0
    while True:
        found, status, used = os.wait4(child, os.WNOHANG)
        if found:
            after_s = used.ru_utime + used.ru_stime - before_s
            late = stopped_at and after_s > HEARD_CPU_S
            return status, f"Ctrl-C was heard after {after_s:.2f} s of work" if late else ""
        now = time.monotonic()
        if stopped_at == 0.0 and began.exists():
            began_at = began_at or now
            if now - began_at > runs_s:
                before_s = _work_s(child)
                os.kill(child, signal.SIGINT)
                stopped_at = now
        late = ""
        if stopped_at and now - stopped_at > HEARD_S:
            late = f"Ctrl-C was not heard for {HEARD_S} s"
        elif not stopped_at and now - start > RESOLVED_S:
            late = f"nothing happened for {RESOLVED_S} s"
        if late:
            os.kill(child, signal.SIGKILL)
            _, status = os.waitpid(child, 0)
            return status, late
        time.sleep(0.005)


def _work_s(child: int) -> float:
    """Return how long processors have worked for a process, in s."""
    fields = Path(f"/proc/{child}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")


def _judged(status: int, late: str, text: str) -> tuple[str, bool]:
    if late:
        return late, False
    if os.WIFSIGNALED(status):
        return f"killed by signal {os.WTERMSIG(status)}", False
    if DEAD in " ".join(text.split()):
        return "a connection is dead", False
    code = os.WEXITSTATUS(status)
    # Python reports a Ctrl-C that came in the middle of its own book-keeping, and continues.
    traced = "panicked" in text or (
        "Traceback (most recent call last)" in text and "Exception ignored in" not in text
    )
    if code == 0 and not traced:
        return "ran", True
    if code == 130 and not traced:
        return "stopped", True
    if code == 2 and not traced:
        errors = text[text.rfind("error: ") :]
        fine = errors.startswith("error: ") and "fix: " in errors
        return ("refused" if fine else "refused without a fix"), fine
    return f"exit status {code}", False


def _child(given: int | Path, where: Path) -> None:
    """Run a scenario in this process, which ends here."""
    status = 99
    try:
        said = os.open(where / "said.txt", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(said, 1)
        os.dup2(said, 2)
        # Whoever calls may have put something else in their place.
        assert sys.__stdout__ is not None and sys.__stderr__ is not None
        sys.stdout, sys.stderr = sys.__stdout__, sys.__stderr__
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        signal.signal(signal.SIGINT, signal.default_int_handler)
        if isinstance(given, Path):
            flags, text = ["--out"], given.read_text(encoding="utf-8", errors="replace")
        else:
            document, flags = _prepared(given)
            text = f"# seed {given}, {' '.join(flags)}\n{tomli_w.dumps(document)}"
        (where / "drawn.toml").write_text(text, encoding="utf-8")
        out = where / "out"
        shutil.rmtree(out, ignore_errors=True)
        if "--out" in flags:
            flags = [*flags, str(out)]
        (where / "began").touch()
        try:
            app.main(["run", str(where / "drawn.toml"), *flags])
        except SystemExit as left:
            status = left.code if isinstance(left.code, int) else 1
        except KeyboardInterrupt:
            status = 130
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def _prepared(seed: int) -> tuple[dict[str, Any], list[str]]:
    """Return a scenario, corrected where it is to be valid, and flags to run it with."""
    draw = Draw(seed)
    document = draw.scenario()
    pick = draw.random
    flags = pick.choice(
        [
            [],
            ["--json"],
            ["--trace", "packets,bursts,cwnd,ledger"],
            ["--trace", "bursts,ledger", "--out"],
            ["--replications", "2", "--jobs", "2"],
            ["--seed", "9223372036854775807", "--out"],
        ]
    )
    for _ in range(_CORRECTIONS if pick.random() < 0.9 else 0):
        try:
            resolve(document)
        except ScenarioError as error:
            if not corrected(document, error):
                break
        else:
            break
    return document, flags


def failures(
    seeds: range, where: Path, *, runs_s: float = RUNS_S, tell: bool = False
) -> tuple[dict[str, int], list[str]]:
    """Return what became of the scenarios of some seeds, and what failed.

    Parameters
    ----------
    seeds
        The seeds.
    where
        Directory to work in; scenarios that fail are kept there as ``failed-SEED.toml``.
    runs_s
        Seconds until Ctrl-C.
    tell
        Whether each failure is printed as it is found.
    """
    counts: dict[str, int] = {}
    failed: list[str] = []
    for seed in seeds:
        found = outcome(seed, where / "work", runs_s)
        counts[found.kind] = counts.get(found.kind, 0) + 1
        if not found.fine:
            kept = where / f"failed-{seed}.toml"
            kept.write_text(found.scenario, encoding="utf-8")
            last = "\n".join(found.told.strip().splitlines()[-4:])
            failed.append(f"seed {seed}: {found.kind}; the scenario is {kept}\n{last}")
            if tell:
                print(failed[-1], flush=True)
    return counts, failed


def main() -> None:
    """Run as many scenarios as are asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1, help="of the first")
    parser.add_argument("--out", default=None, help="where scenarios that fail are kept")
    given = parser.parse_args()
    first = given.seed
    where = Path(given.out or tempfile.mkdtemp(prefix="burstlab-fuzz-"))
    where.mkdir(parents=True, exist_ok=True)
    print(f"{given.cases} scenarios from seed {first}; those that fail are kept in {where}")
    counts, failed = failures(range(first, first + given.cases), where, tell=True)
    print(", ".join(f"{kind}: {count}" for kind, count in sorted(counts.items())))
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
