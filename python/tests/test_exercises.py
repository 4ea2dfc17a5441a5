"""The exercises print what their page shows, and their answers follow from the runs."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

import burstlab as bl

ROOT = Path(__file__).parents[2]
SCENARIOS = ROOT / "examples/exercises"
PAGE = (ROOT / "docs/exercises.md").read_text(encoding="utf-8")
PARTS = re.split(r"\n## ", PAGE)[1:]


def plain(text: str) -> list[str]:
    lines = (" ".join(line.split()) for line in text.splitlines())
    return [line for line in lines if line]


@pytest.fixture
def directory(burstlab, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert burstlab("examples", "exercises").status == 0


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.split("\n")[0])
def test_the_outputs_of_an_exercise_are_those_of_its_commands(directory, burstlab, part):
    printed: list[str] = []
    shown = 0
    for language, text in re.findall(r"```(sh|text)\n(.*?)```", part, re.DOTALL):
        if language == "text":
            assert set(plain(text)) <= set(printed)
            shown += 1
            continue
        for line in text.splitlines():
            answer = burstlab(*shlex.split(line, comments=True)[1:])
            assert answer.status == 0, answer.err
            printed += plain(answer.out)
    assert shown >= 1
    # The answer is hidden, and its blocks with it.
    assert part.count("<details>") == part.count("</details>") == 1
    assert part.index("**Question.**") < part.index("<details>")


def test_the_scenarios_of_the_exercises_are_written_alone(directory):
    written = sorted(path.name for path in Path("exercises").iterdir())
    assert written == sorted(path.name for path in SCENARIOS.glob("*.toml"))
    assert len(written) == len(PARTS) == 6
    assert all(f"exercises/{name}" in PAGE for name in written)


def goodput(name: str, **tcp: object) -> float:
    scenario = bl.load(SCENARIOS / name)
    scenario["tcp"].update(tcp)
    return bl.run(scenario, replications=5).flows["goodput_bps"].mean()


def test_the_prediction_of_the_third_exercise_is_that_of_its_answer():
    predicted = []
    for milliseconds in (1, 5, 20):
        scenario = bl.load(SCENARIOS / "assembly_delay.toml")
        scenario["edge"]["timer"] = f"{milliseconds} ms"
        (flow,) = bl.run(scenario).flows.to_pylist()
        model = 20 * 960 * 8 / (0.1002 + milliseconds / 1e3)
        assert flow["goodput_bps"] == pytest.approx(model, rel=2e-3)
        predicted.append(f"{model / 1e6:.2f}")
    assert f"{predicted[0]}, {predicted[1]} and {predicted[2]} Mb/s" in PAGE


def test_the_gains_of_the_fifth_exercise_are_those_of_its_answer():
    reno = goodput("detection.toml")
    gain = {
        name: round(100 * (goodput("detection.toml", detector=name) / reno - 1))
        for name in ("ble", "bnak", "oracle")
    }
    text = " ".join(PAGE.split())
    assert f"BLE delivers {gain['ble']} % more than Reno, and BNAK {gain['bnak']} % more" in text
    assert f"delivers {gain['oracle']} % more: hardly more than BNAK" in text
    scenario = bl.load(SCENARIOS / "detection.toml")
    scenario["tcp"]["detector"] = "ble"
    runs = bl.run(scenario, replications=5).flows
    excused = runs["detector_false_excused"].sum()
    assert excused / runs["false_timeouts"].sum() > 0.9


def test_the_reductions_of_the_sixth_exercise_are_to_seven_tenths():
    result = bl.run(SCENARIOS / "today.toml", trace="ledger")
    for row in result.ledger.where(kind="fast-retransmit").to_pylist():
        assert row["reduction"] == "one-burst"
        assert row["cost"] == pytest.approx(0.3 * row["cwnd"], abs=1)
