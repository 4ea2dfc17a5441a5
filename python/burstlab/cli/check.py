"""``burstlab check`` and ``burstlab schema``."""

from __future__ import annotations

from typing import Any

from burstlab import cli


def check(
    scenario: str,
    /,
    *,
    resolve: cli.flags.Switch = False,
    ties: cli.flags.Switch = False,
    jobs: cli.flags.Whole = None,
    allow_code: cli.flags.Switch = False,
    json_: cli.flags.Json = False,
) -> int:
    """Validate a scenario: an error names the field, its value and the fix.

    Warns of settings that are allowed but probably not meant, and of timers of assemblers that
    are a whole number of packets, so that bursts end in ties. Estimates memory and time of a run,
    if it takes more than a moment.

    Parameters
    ----------
    scenario
        The TOML file of the scenario.
    resolve
        Print the scenario with every field that it uses, defaults included, and nothing else. A
        result stores the same as scenario.toml.
    ties
        Run it twice, with simultaneous events in a fixed order and in a random one, and list the
        numbers that differ; the exit status is 1 if any does.
    jobs
        With --ties: replications at a time (default: one per processor); it changes no number.
    allow_code
        With --ties: execute Python code that is stored in the scenario itself; read it before.
    json_
        With --ties: print one JSON document and nothing else.
    """
    from burstlab.cli.printing import say, warn
    from burstlab.errors import InputError
    from burstlab.loading import to_document
    from burstlab.running.checked import Checked
    from burstlab.timers import timer_ties

    given = {"--jobs": jobs is not None, "--allow-code": allow_code, "--json": json_}
    for flag in (flag for flag, there in given.items() if there and not ties):
        raise InputError(f"{flag} belongs to --ties\n  fix: add --ties, or leave it out")
    if resolve and ties:
        raise InputError("--resolve prints the scenario alone\n  fix: leave out --ties")
    checked = Checked(to_document(scenario))
    resolved = checked.resolved
    if resolve:
        _print_whole(resolved)
    elif not json_:
        say(f"{scenario}: no error found")
        memory, time_s = checked.estimate()
        if memory > _MUCH or time_s > _LONG:
            say(f"a run takes about {_size(memory)} of memory and {_span(time_s)}")
        for tie in timer_ties(resolved):
            say(f"tie by construction: {tie}; {_FIRST}")
    for line in [*checked.doubts(), *checked.announcements()]:
        warn(f"warning: {line}")
    if not ties:
        return 0
    return _ties(scenario, resolved, jobs, allow_code, json_)


def _print_whole(resolved: dict[str, Any]) -> None:
    import tomli_w

    from burstlab.documents.paths import without_none

    print(tomli_w.dumps(without_none(resolved)), end="")


#: Bytes and seconds that are worth a word.
_MUCH, _LONG = 1e8, 10.0
#: The consequence of a tie of a timer.
_FIRST = "a packet that comes as the timer ends misses the burst, though elsewhere it may not"
#: Numbers that are printed of those that differ.
_SHOWN = 20


def _ties(
    scenario: str, resolved: dict[str, Any], jobs: int | None, allow_code: bool, as_json: bool
) -> int:
    """List the numbers that depend on ties."""
    from burstlab.cli.printing import put_document, say
    from burstlab.ties import compare_ties
    from burstlab.timers import timer_ties

    found = compare_ties(scenario, jobs=jobs, allow_code=allow_code)
    if as_json:
        by_construction = [one.document() for one in timer_ties(resolved)]
        differ = [one.document() for one in found]
        put_document({"differ": differ, "by_construction": by_construction})
        return 1 if found else 0
    if not found:
        say("ties: no number depends on the order of events of one instant")
        return 0
    say(f"ties: {len(found)} numbers depend on the order of events of one instant")
    for one in found[:_SHOWN]:
        share = one.document()["relative"]
        by = "" if share is None else f" ({share:.1%})"
        say(f"  {one.path}: {_value(one.fixed)} in fixed order, {_value(one.drawn)} drawn{by}")
    if len(found) > _SHOWN:
        say(f"  and {len(found) - _SHOWN} more; --json lists all")
    say(
        "  Sources, flows or rounds begin at one instant: give them a phase, a spread or a "
        'stagger, or keep run.tie_break = "random" and take several replications'
    )
    return 1


def _value(value: float | None) -> str:
    return "none" if value is None else f"{value:.6g}"


def _size(size: float) -> str:
    return f"{size / 1e9:.3g} GB" if size >= 1e9 else f"{size / 1e6:.3g} MB"


def _span(time_s: float) -> str:
    for unit, length in (("h", 3600.0), ("min", 60.0)):
        if time_s >= 2 * length:
            return f"{time_s / length:.2g} {unit}"
    return f"{time_s:.2g} s"


def schema() -> int:
    """Print the JSON schema of a scenario, for editors and other tools."""
    from burstlab.documents.schema import schema as text

    print(text(), end="")
    return 0
