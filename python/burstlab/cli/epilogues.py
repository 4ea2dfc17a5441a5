"""The end of each ``--help``: an example, the page to read, and the exit statuses."""

from __future__ import annotations

from typing import NamedTuple

#: The meaning of each exit status; signals, which can end every command, have their own.
STATUSES = {
    0: "done",
    1: "a check or a claim failed",
    2: "bad input",
    70: "the engine failed by a fault of its own",
}

#: Exit statuses of a command that a signal ended, which hold for all.
SIGNALS = "129, 130 or 143: ended by SIGHUP, by Ctrl-C or by SIGTERM, and what was done is kept"

_MORE_MEMORY = "bad input, or more memory needed than run.max_memory"


class Epilogue(NamedTuple):
    """The end of a help text.

    Attributes
    ----------
    example
        A command line.
    page
        The page of the documentation that explains it.
    ends
        Exit statuses of this command, with their meaning.
    """

    example: str
    page: str
    ends: dict[int, str]

    def __str__(self) -> str:
        """Return it as paragraphs."""
        ends = [f"{status} {meaning}" for status, meaning in self.ends.items()]
        return (
            f"Example: {self.example}\n\nRead: {self.page}\n\n"
            f"Exit status: {', '.join(ends)}; {SIGNALS}."
        )


def _ends(*statuses: int, **other: str) -> dict[int, str]:
    """Return statuses with their meanings; ``s1="..."`` replaces the usual meaning of status 1."""
    return {one: other.get(f"s{one}", STATUSES[one]) for one in statuses}


def _runs(**other: str) -> dict[int, str]:
    """Return the statuses of a command that simulates."""
    statuses = (0, 1, 2, 70) if "s1" in other else (0, 2, 70)
    return _ends(*statuses, **{"s2": _MORE_MEMORY, **other})


_CLI = "docs/reference/cli.md"
_PAGE = "docs/howto/page.md"

#: By the name of a command.
EPILOGUES = {
    "run": Epilogue(
        "burstlab run one_burst.toml --replications 5 --trace packets,bursts --out out/one",
        _CLI,
        _runs(),
    ),
    "examples": Epilogue("burstlab examples", "docs/tutorial.md", _ends(0, 2)),
    "list": Epilogue("burstlab list", _CLI, _ends(0)),
    "reproduce": Epilogue(
        "burstlab reproduce yu2004/fig1 --quick --out out/yu",
        _CLI,
        _runs(s1="a claim failed"),
    ),
    "dataset": Epilogue("burstlab dataset today/stacks --quick --out out/set", _CLI, _runs()),
    "study": Epilogue(
        "burstlab study plan.toml --out out/study --jobs 4", "docs/howto/study.md", _runs()
    ),
    "size": Epilogue(
        "burstlab size nsfnet.toml --for 'burst loss < 1e-3' --over network.wavelengths=1..32",
        "docs/howto/size.md",
        _runs(s1="no value is shown to meet the goal"),
    ),
    "results": Epilogue(
        "burstlab results out/one out/two",
        _CLI,
        _ends(0, 1, 2, s1="with --verify: a file is damaged or missing"),
    ),
    "what-if": Epilogue(
        "burstlab what-if one_burst.toml --spare 8", "docs/models/surgery.md", _runs()
    ),
    "blame": Epilogue("burstlab blame one_burst.toml --top 5", "docs/models/surgery.md", _runs()),
    "export": Epilogue(
        "burstlab export out/one --format pcapng --at egress", "docs/howto/export.md", _ends(0, 2)
    ),
    "plot": Epilogue(
        "burstlab plot out/one sequence --out one.svg", "docs/howto/plots.md", _ends(0, 2)
    ),
    "check": Epilogue(
        "burstlab check one_burst.toml --resolve",
        _CLI,
        _runs(s1="with --ties: a number depends on the order of one instant"),
    ),
    "schema": Epilogue("burstlab schema", "docs/reference/scenario.md", _ends(0)),
    "topology": Epilogue(
        "burstlab topology net.gml --lengths hop --out net.toml",
        "docs/models/topology.md",
        _ends(0, 2),
    ),
    "oracle": Epilogue(
        "burstlab oracle cases/",
        _CLI,
        _ends(0, 1, 2, s1="a trace differs from what is simulated"),
    ),
    "model": Epilogue("burstlab model yu2004", "docs/models/erlang.md", _ends(0, 2)),
    "live": Epilogue(
        "burstlab live web.toml --out out/web",
        "docs/live.md",
        _runs(s1="a program ended with a status other than 0"),
    ),
    "kernel": Epilogue("burstlab kernel list", "docs/live.md", _ends(0, 2)),
    "kernel build": Epilogue("burstlab kernel build --jobs 4", "docs/live.md", _ends(0, 2)),
    "kernel list": Epilogue("burstlab kernel list --json", "docs/live.md", _ends(0, 2)),
    "view": Epilogue("burstlab view out/one --port 8000", _PAGE, _runs()),
    "play": Epilogue("burstlab play one_burst.toml", _PAGE, _runs()),
    "demo": Epilogue("burstlab demo --export tour.html", _PAGE, _runs()),
    "version": Epilogue("burstlab version", _CLI, _ends(0)),
}

#: That of ``burstlab --help``.
ALL = str(Epilogue("burstlab demo", "docs/tutorial.md", STATUSES))
