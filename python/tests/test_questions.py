"""The page on three questions says what the runs of its example give, to the digits it has."""

from __future__ import annotations

import csv
import runpy
import warnings
from collections import defaultdict
from math import inf
from pathlib import Path
from statistics import median

import pytest

import burstlab as bl

ROOT = Path(__file__).parents[2]
CUBIC = ("quinn cubic", "noq cubic")
THREE = (*CUBIC, "noq bbr3")


def _known() -> bool:
    """Whether the engine knows the stacks."""
    try:
        bl.resolve({"flows": [{"stack": "quinn"}, {"stack": "noq"}]})
    except bl.ScenarioError:
        return False
    return True


if not _known():
    warnings.warn(
        "no third-party stacks: the page of three questions is not looked at (make stacks)",
        stacklevel=1,
    )
    pytest.skip("this engine was built without third-party stacks", allow_module_level=True)


@pytest.fixture(scope="module")
def times():
    """Times by question, series, place and sender, the shortest first."""
    example = runpy.run_path(str(ROOT / "examples/questions.py"))
    found = defaultdict(list)
    for asked in example["QUESTIONS"]:
        for question, series, x, sender, _, time, *_, ended, _ in csv.reader(
            example["lines"](asked)
        ):
            assert not ended, "no connection dies, as the page says"
            found[question, series, float(x), sender].append(float(time or inf))
    return {key: sorted(all_times) for key, all_times in found.items()}


@pytest.fixture(scope="module")
def page():
    return " ".join((ROOT / "docs/howto/questions.md").read_text(encoding="utf-8").split())


def test_jitter(times, page):
    assembly = sorted({x for question, _, x, _ in times if question == "jitter"})
    for ms in assembly:
        clean = [median(times["jitter", "0 % of bursts lost", ms, one]) for one in THREE]
        assert max(clean) / min(clean) < 1.06
    assert "within 6 % of each other" in page

    def lost(ms, sender):
        return times["jitter", "0.5 % of bursts lost", ms, sender]

    bbr = [median(lost(ms, "noq bbr3")) for ms in assembly]
    assert f"BBRv3 needs {min(bbr):.1f} to {max(bbr):.1f} s" in page
    alone = {f"{median(lost(0, one)):.0f}" for one in CUBIC}
    assert len(alone) == 1
    assert f"CUBIC needs {alone.pop()} s if each packet" in page
    for ms in (2, 5, 10):
        assert all(median(lost(ms, one)) < 1.05 * median(lost(ms, "noq bbr3")) for one in CUBIC)
    worst = [lost(ms, one)[-1] for ms in (2, 5, 10) for one in CUBIC]
    assert f"one seed in five takes {min(worst):.1f} to {max(worst):.1f} s" in page


def test_spells(times, page):
    lengths = (0, 2, 4, 8, 16)

    def of(length, sender):
        return times["spells", "2 % lost", length, sender]

    def three(sender):
        return [f"{median(of(length, sender)):.1f}" for length in (0, 2, 16)]

    one, two, last = three("quinn cubic")
    assert f"CUBIC of quinn needs {one} s with single losses, {two} s with" in page
    assert f"outages of 2 ms, and {last} s with outages of 16 ms" in page
    one, two, last = three("noq cubic")
    assert f"CUBIC of noq needs {one}, {two} and {last} s" in page
    one, two, last = three("quinn new-reno")
    assert f"New-Reno {one}, {two} and {last} s" in page
    slowest = max(times[key][-1] for key in times if key[0] == "spells" and key[2] > 0)
    assert slowest < inf and f"The slowest transfer with outages needs {slowest:.1f} s" in page
    both = [median(of(length, one)) for length in lengths for one in ("quinn bbr", "noq bbr3")]
    assert f"BBR and BBRv3 need {min(both):.1f} to {max(both):.1f} s throughout" in page


def test_satellite(times, page):
    def of(series, sender):
        (key,) = (key for key in times if key[1] == series and key[3] == sender)
        return times[key]

    single, spells = "each burst by itself", "outages of 16.7 ms"
    clean = [median(of("no loss", one)) for *_, series, _, one in times if series == "no loss"]
    assert f"Without losses all senders need {min(clean):.0f} to {max(clean):.0f} s" in page

    def each(series):
        return [f"{median(of(series, one)):.0f}" for one in CUBIC]

    one, other = each(spells)
    assert f"In outages CUBIC of quinn needs {one} s, and CUBIC of noq {other} s" in page
    one, other = each(single)
    assert f"one by one, they need {one} s and {other} s" in page
    reno = [f"{median(of(series, 'quinn new-reno')):.0f}" for series in (spells, single)]
    assert f"New-Reno needs {reno[0]} s and {reno[1]} s" in page
    assert all(time < inf for key in times if key[0] == "satellite" for time in times[key])
    bbr = [f"{median(of(series, 'quinn bbr')):.0f}" for series in (spells, single)]
    assert f"BBR {bbr[0]} and {bbr[1]} s" in page
    bbr3 = [f"{median(of(series, 'noq bbr3')):.0f}" for series in (spells, single)]
    assert f"BBRv3 {bbr3[0]} and {bbr3[1]} s." in page
