"""Every snippet of the documentation is run, but for those of which the page says why not.

A line ``<!-- not run: WHAT: WHY -->`` before a block names the commands in it that are not run
(``python`` for a block of Python), and where they are tested otherwise. A block of text right
behind one that is run is what that prints, or some lines of it; one of TOML that begins with
``# NAME.toml`` is that file. A block of Rust is lines of a test of the third-party stacks.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import burstlab as bl

ROOT = Path(__file__).parents[2]
PAGES = ["README.md", "CONTRIBUTING.md"] + [
    str(path.relative_to(ROOT)) for path in sorted((ROOT / "docs").rglob("*.md"))
]
#: Languages of blocks. Those of Slurm and Kubernetes are run by the tests of clusters.
LANGUAGES = {"sh", "python", "toml", "text", "rust"}
OF_CLUSTERS = {"bash", "yaml"}
#: Commands that begin lines of a shell besides `burstlab`; files that they name have to exist.
OTHERS = {
    ".venv/bin/python",
    "python",
    "apt-get",
    "cargo",
    "dask",
    "make",
    "pip",
    "source",
    "valgrind",
}

#: Commands that do not end by themselves.
SERVERS = {"demo", "play", "view"}

FENCE = re.compile(
    r"(?:^<!-- not run: (?P<what>[a-z, ]+): (?P<why>[^\n]+) -->\n)?"
    r"^```(?P<language>\S*)[^\n]*\n(?P<text>.*?)^```$(?P<behind>\s*(?=```text))?",
    flags=re.DOTALL | re.MULTILINE,
)


@dataclass(frozen=True)
class Block:
    """A block of a page; `behind`: whether it stands right behind the one before it."""

    language: str
    text: str
    skipped: tuple[str, ...]
    why: str
    behind: bool

    def lines(self) -> Iterator[list[str]]:
        """Return the words of each line, without comments."""
        for line in self.text.replace("\\\n", " ").splitlines():
            if words := shlex.split(line, comments=True):
                yield words


def blocks(page: str) -> list[Block]:
    found: list[Block] = []
    behind = False
    for match in FENCE.finditer(page):
        skipped = tuple((match["what"] or "").split(", ")) if match["what"] else ()
        found.append(Block(match["language"], match["text"], skipped, match["why"] or "", behind))
        behind = match["behind"] is not None and match["language"] in {"sh", "python"}
    return found


def plain(text: str) -> list[str]:
    lines = (" ".join(line.split()) for line in text.splitlines())
    return [line for line in lines if line]


class Reader:
    """Who reads a page, and does in one directory what it says."""

    def __init__(self, burstlab: Any, capsys: pytest.CaptureFixture[str]) -> None:
        self.burstlab = burstlab
        self.capsys = capsys
        self.printed = ""
        self.printed_by_python: list[str] = []

    def follow(self, block: Block) -> None:
        if block.behind and block.language == "text":
            rest = iter(plain(self.printed))
            for line in plain(block.text):
                assert line in rest, f"not printed, or not there: {line}\nof:\n{self.printed}"
            return
        self.printed = ""
        unused = set(block.skipped)
        if block.language == "toml" and (name := re.match(r"# (\w+\.toml)\n", block.text)):
            Path(name[1]).write_text(block.text)
        elif block.language == "rust":
            tests = (ROOT / "stacks/net/tests").glob("*.rs")
            assert any(block.text in test.read_text() for test in tests), block.text
        elif block.language == "python" and "python" not in block.skipped:
            self.capsys.readouterr()
            exec(compile(block.text, "page", "exec"), {})
            self.printed = self.capsys.readouterr().out
            self.printed_by_python.append(self.printed)
        elif block.language == "python":
            unused.discard("python")
        elif block.language == "sh":
            for words in block.lines():
                if words[0] != "burstlab":
                    known(words)
                elif words[1] in block.skipped:
                    unused.discard(words[1])
                else:
                    ends = words[1] not in SERVERS or "--export" in words
                    assert ends, f"{words} does not end by itself"
                    answer = self.burstlab(*words[1:])
                    assert answer.status == 0, (words, answer.err)
                    self.printed += answer.out
        assert not unused, f"the page says {unused} is not run, and there is no such line"


def known(words: list[str]) -> None:
    """Look whether a line that is not run names what there is."""
    assert words[0] in OTHERS, words
    assert "burstlab" not in words or words[:2] == ["pip", "install"], words
    if words[0] == "python":
        assert (ROOT / words[1]).is_file(), words
    if words[0] == "make":
        makefile = (ROOT / "Makefile").read_text()
        for target in words[1 : words.index("&&") if "&&" in words else None]:
            assert "=" in target or re.search(rf"^{target}:", makefile, re.MULTILINE), words
    for word in words:
        if re.fullmatch(r"benches/\S+\.(py|sh)", word):
            assert (ROOT / word).exists(), words


@pytest.fixture
def reader(burstlab, capsys, monkeypatch, tmp_path):
    # An empty directory, as a new user has: a page says itself where its files come from.
    monkeypatch.chdir(tmp_path)
    return Reader(burstlab, capsys)


def another_study() -> None:
    path = {"edge": {"assembly": "timer", "timer": "1 ms"}}
    bl.study({"scenario": path}, out="out/other")


def goodputs_of_the_readme(reader: Reader) -> None:
    (printed,) = reader.printed_by_python
    assert [line.split()[0] for line in printed.splitlines()] == ["reno", "new-reno", "sack"]
    goodputs = [float(number) for number in re.findall(r"([\d.]+) kb/s", printed)]
    # One burst of five packets lost: SACK repairs it soonest, Reno waits for its timer.
    assert goodputs[0] < goodputs[1] < goodputs[2] < 1000


def the_same_in_python(_: Reader) -> None:
    stored = bl.read_study("out/study")
    assert stored.runs.to_arrow() == bl.study("examples/study.toml").runs.to_arrow()


def files(*suffixes: str) -> Callable[[Reader], None]:
    def are_there(_: Reader) -> None:
        assert {path.suffix for path in Path("out").rglob("*.*")} >= set(suffixes)

    return are_there


BEFORE = {"docs/howto/study.md": another_study}
AFTER = {
    "README.md": goodputs_of_the_readme,
    "docs/howto/study.md": the_same_in_python,
    "docs/howto/export.md": files(".pcapng", ".qlog", ".xpl", ".csv", ".json"),
    "docs/howto/plots.md": files(".svg", ".pdf", ".png"),
}


@pytest.mark.parametrize("page", PAGES)
def test_the_snippets_of_a_page_run(reader, page):
    if page in BEFORE:
        BEFORE[page]()
    for block in blocks((ROOT / page).read_text()):
        reader.follow(block)
    if page in AFTER:
        AFTER[page](reader)


@pytest.mark.parametrize("page", PAGES)
def test_what_is_not_run_says_why(page):
    text = (ROOT / page).read_text()
    found = blocks(text)
    assert len(found) == text.count("\n```") / 2, "a fence that is not understood"
    assert text.count("<!-- not run") == sum(bool(block.skipped) for block in found)
    for block in found:
        of_clusters = page == "docs/howto/cluster.md" and block.language in OF_CLUSTERS
        directive = block.language.startswith("{")
        assert block.language in LANGUAGES or of_clusters or directive, block
        for name in re.findall(r"\w+\.py", block.why):
            assert (ROOT / "python/tests" / name).exists(), block.why


@pytest.mark.parametrize("page", PAGES)
def test_a_page_writes_the_examples_before_it_names_one(page):
    """Commands that are not run need the files of examples as well."""
    there = False
    for block in blocks((ROOT / page).read_text()):
        if block.language not in {"sh", "python", *OF_CLUSTERS}:
            continue
        for line in block.text.splitlines():
            there = there or re.match(r"burstlab examples\b", line) is not None
            assert there or not re.search(r"(?<![\w/])(?:\./)?examples/", line), line


@pytest.mark.parametrize(
    "page",
    [
        "```sh\nburstlab run examples/one_burst.toml\n```\n",
        "```sh\nburstlab run there-is-none.toml\n```\n",
        "```sh\nburstlab run examples/one_burst.toml \\\n  --seed x\n```\n",
        "```sh\nmake nothing-of-this-name\n```\n",
        "```sh\ncd x && burstlab version\n```\n",
        "```python\nimport burstlab\nburstlab.nothing()\n```\n",
        "```sh\nburstlab version\n```\n\n```text\n0.0.0\n```\n",
        "<!-- not run: play: it serves -->\n```sh\nburstlab version\n```\n",
        "<!-- not run: play -->\n```sh\nburstlab play\n```\n",
    ],
)
def test_a_snippet_that_does_not_work_is_found(reader, page):
    with pytest.raises((AssertionError, AttributeError)):
        for block in blocks(page):
            reader.follow(block)


def test_a_snippet_that_is_left_out_is_left_out(reader):
    page = "<!-- not run: play: it serves -->\n```sh\nburstlab play   # sliders\n```\n"
    (block,) = blocks(page)
    reader.follow(block)
    assert block.why == "it serves"
