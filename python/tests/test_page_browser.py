"""The page in a real Chromium: it starts, plays, answers sliders and keys, and says so to all.

Skipped where there is no Chromium or no playwright (``make browser``); nothing here is timed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest
from chromium import needs_chromium, start, until
from pages import MESH, PATH, SLOTS, recorded, serving

from burstlab.page import Server, player, viewer

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [needs_chromium, pytest.mark.slow]


@pytest.fixture(scope="module")
def mesh(tmp_path_factory) -> Iterator[Server]:
    where = tmp_path_factory.mktemp("page") / "mesh"
    recorded(MESH, where)
    with serving(viewer(where)) as server:
        yield server


@pytest.fixture(scope="module")
def path(tmp_path_factory) -> Iterator[Server]:
    where = tmp_path_factory.mktemp("page") / "path"
    recorded(PATH, where)
    with serving(viewer(where)) as server:
        yield server


@pytest.fixture(scope="module")
def playground() -> Iterator[Server]:
    with serving(player()) as server:
        yield server


VIEW = "window.burstlab.view"
STRETCHES = f"[...{VIEW}.bursts.stretches.values()]"


def time_of(tab: Page) -> float:
    return tab.evaluate(f"{VIEW}.transport.time")


def picture(tab: Page, canvas: str) -> bytes:
    return tab.locator(canvas).screenshot()


def drawn(tab: Page, canvas: str) -> int:
    """Count the pixels of a canvas that are not clear."""
    return tab.evaluate(
        """(id) => {
          const canvas = document.getElementById(id);
          const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
          let count = 0;
          for (let i = 3; i < data.length; i += 4) count += data[i] > 0;
          return count;
        }""",
        canvas,
    )


def test_a_mesh_is_drawn_where_its_first_burst_dies(tab, mesh):
    start(tab, mesh)
    first = tab.evaluate(f"{VIEW}.transport.losses.t_s[0]")
    assert time_of(tab) == pytest.approx(
        max(0, first - 0.8 * tab.evaluate(f"{VIEW}.transport.speed"))
    )
    for canvas in ("fibres", "bursts", "gantt", "overview"):
        until(tab, f"document.getElementById('{canvas}').width > 100")
        assert drawn(tab, canvas) > 50, canvas
    assert tab.locator("#flow option").count() == 6
    assert tab.locator("#fibre option").count() == 12
    assert tab.locator("#sequence canvas").count() == 1
    assert "6 nodes" in tab.inner_text("#facts")
    # The fibre is the one where the burst dies.
    chosen = tab.evaluate(f"{VIEW}.about.network.fibres[{VIEW}.gantt.fibre].from")
    assert chosen == tab.evaluate(f"{VIEW}.transport.losses.node[0]")


def test_playing_moves_the_bursts_and_pausing_stops_them(tab, mesh):
    start(tab, mesh)
    before, at = picture(tab, "#bursts"), time_of(tab)
    tab.click("#play")
    until(tab, f"{VIEW}.transport.time > {at} + 0.0005")
    tab.click("#play")
    assert tab.inner_text("#play") == "Play"
    after, stopped = picture(tab, "#bursts"), time_of(tab)
    assert before != after
    tab.wait_for_timeout(150)
    assert time_of(tab) == stopped


def test_the_same_moment_is_the_same_picture(tab, mesh):
    start(tab, mesh)
    seek = f"(time) => {VIEW}.transport.seek(time)"
    tab.evaluate(seek, 0.1)
    until(tab, f"!{VIEW}.transport.changed && {VIEW}.bursts.at(0.1)")
    tab.wait_for_timeout(100)
    first = picture(tab, "#bursts")
    tab.evaluate(seek, 0.101)
    tab.wait_for_timeout(100)
    assert picture(tab, "#bursts") != first
    tab.evaluate(seek, 0.1)
    tab.wait_for_timeout(100)
    assert picture(tab, "#bursts") == first


def test_keys_do_what_the_buttons_do(tab, mesh):
    start(tab, mesh)
    at, speed = time_of(tab), tab.evaluate(f"{VIEW}.transport.speed")
    tab.keyboard.press("ArrowRight")
    assert time_of(tab) == pytest.approx(at + 0.05 * speed)
    tab.keyboard.press("Shift+ArrowLeft")
    assert time_of(tab) == pytest.approx(max(0, at - 0.45 * speed))
    tab.keyboard.press("End")
    assert time_of(tab) == tab.evaluate(f"{VIEW}.transport.end")
    tab.keyboard.press("p")
    last = time_of(tab)
    tab.keyboard.press("p")
    assert time_of(tab) < last
    tab.keyboard.press("n")
    assert time_of(tab) == pytest.approx(last)
    tab.keyboard.press("Home")
    assert time_of(tab) == 0
    tab.keyboard.press("+")
    assert tab.evaluate(f"{VIEW}.transport.speed") > speed
    tab.keyboard.press("Space")
    assert tab.inner_text("#play") == "Pause"
    tab.keyboard.press("Space")
    assert tab.inner_text("#play") == "Play"
    tab.keyboard.press("?")
    assert tab.is_visible("#help")
    tab.keyboard.press("Escape")
    assert not tab.is_visible("#help")


def test_everything_is_reached_by_tab_and_has_a_name(tab, mesh):
    start(tab, mesh)
    wanted = [
        *("reset", "large", "theme", "help-open"),
        *("fibre", "flow", "play", "speed", "scrub", "before", "after", "mine"),
    ]
    seen = []
    while "mine" not in seen and len(seen) < 60:
        tab.keyboard.press("Tab")
        seen.append(tab.evaluate("document.activeElement.id"))
    assert [name for name in seen if name in wanted] == wanted
    nameless = tab.evaluate(
        """[...document.querySelectorAll("button, input, select, canvas")].filter((part) => {
          if (part.closest("[hidden]")) return false;
          if (part.closest("[aria-hidden=true], [role=img]") !== null) {
            return part.getAttribute("role") === "img" && !part.ariaLabel;
          }
          const label = part.ariaLabel || part.textContent.trim() || part.labels?.length;
          return !label;
        }).map((part) => part.id)"""
    )
    assert nameless == []


def test_losses_of_the_flow_are_among_all(tab, mesh):
    start(tab, mesh)
    every = tab.evaluate(f"{VIEW}.transport.times.length")
    tab.keyboard.press("f")
    assert tab.is_checked("#mine")
    tab.focus("#mine")
    tab.keyboard.press("Space")
    assert not tab.is_checked("#mine"), "a space is the box's own while it has the focus"
    assert tab.inner_text("#play") == "Play"
    tab.keyboard.press("Space")
    mine = tab.evaluate(f"{VIEW}.transport.times.length")
    assert 0 < mine < every


def test_a_click_on_a_fibre_shows_its_wavelengths(tab, mesh):
    start(tab, mesh)
    for index in (3, 8):
        middle = tab.evaluate(
            f"""(() => {{
              const line = {VIEW}.network.lines[{index}];
              const off = line.gap + line.wide / 2;
              return {{
                x: line.x + line.dx * line.length / 2 + line.nx * off,
                y: line.y + line.dy * line.length / 2 + line.ny * off,
              }};
            }})()"""
        )
        tab.click("#bursts", position=middle)
        assert tab.evaluate("document.getElementById('fibre').selectedIndex") == index
        assert tab.evaluate(f"{VIEW}.gantt.fibre") == index


def test_a_click_into_a_chart_is_a_moment_and_a_drag_a_closer_look(tab, path):
    start(tab, path)
    box: Any = tab.locator("#sequence .u-over").bounding_box()
    middle = box["y"] + box["height"] / 2
    tab.mouse.click(box["x"] + box["width"] / 2, middle)
    assert time_of(tab) == pytest.approx(2.5, abs=0.05)
    tab.mouse.move(box["x"] + box["width"] * 0.2, middle)
    tab.mouse.down()
    tab.mouse.move(box["x"] + box["width"] * 0.4, middle, steps=4)
    tab.mouse.up()
    begin, end = tab.evaluate(f"{VIEW}.stretch.range")
    assert (begin, end) == (pytest.approx(1, abs=0.05), pytest.approx(2, abs=0.05))
    scales = [tab.evaluate(f"{VIEW}.{name}.plot.scales.x.min") for name in ("sequence", "window")]
    assert scales == [begin, begin]
    tab.keyboard.press("0")
    assert tab.evaluate(f"{VIEW}.stretch.range") == [0, 5]


def test_another_flow_is_another_line(tab, mesh):
    start(tab, mesh)
    before = picture(tab, "#sequence")
    flows = tab.evaluate(f"{VIEW}.about.flows")
    other = next(flow["id"] for flow in flows if flow["label"] != flows[0]["label"])
    tab.select_option("#flow", str(other))
    until(tab, f"{VIEW}.shownFlow === '{other}'")
    assert picture(tab, "#sequence") != before


def test_dark_is_dark(tab, mesh):
    start(tab, mesh)
    background = "getComputedStyle(document.body).backgroundColor"
    light = tab.evaluate(background)
    tab.click("#theme")
    assert tab.evaluate(background) != light
    assert tab.inner_text("#theme") == "Light"


def test_a_path_shows_packets_that_wait(tab, path):
    start(tab, path)
    without = tab.evaluate(f"{VIEW}.network.flow.data_sent.length")
    assert without > 100
    moment = tab.evaluate(
        f"""(() => {{
          const {{ data_ingress: at, data_departed: left }} = {VIEW}.network.flow;
          const i = at.findIndex((time, i) => time > 1 && left[i] - time > 0.003);
          return (at[i] + left[i]) / 2;
        }})()"""
    )
    tab.evaluate(f"{VIEW}.transport.seek({moment})")
    until(tab, f"{VIEW}.bursts.at({moment})")
    tab.wait_for_timeout(100)
    with_packets = drawn(tab, "bursts")
    tab.evaluate(f"{VIEW}.network.setFlow(null); {VIEW}.transport.changed = true")
    tab.wait_for_timeout(100)
    assert drawn(tab, "bursts") < with_packets


def counted(tab: Page, side: str, name: str) -> str:
    return tab.inner_text(f"#{side} [data-counted={name}]")


def move(tab: Page, control: str, key: str) -> None:
    """Move a slider by a key, and wait for what comes of it."""
    answers = int(tab.get_attribute("body", "data-drawn") or 0)
    tab.focus(f"#control-{control}")
    tab.keyboard.press(key)
    until(tab, f"Number(document.body.dataset.drawn) > {answers}")


def test_a_slider_changes_the_numbers(tab, playground):
    start(tab, playground)
    plain = tab.inner_text("#bars b >> nth=0")
    assert tab.inner_text("#gain")
    move(tab, "loss", "End")
    assert tab.inner_text("#bars b >> nth=0") != plain
    assert "probability = 0.1" in tab.inner_text("#toml")
    assert tab.get_attribute("#control-loss", "aria-valuetext") == "10 %"
    move(tab, "loss", "Home")
    assert counted(tab, "plain", "false_timeouts") == "0"
    assert tab.inner_text("#gain").startswith("+0.0 %"), "nothing is lost: both are alike"


def test_the_headline_is_of_the_runs_of_the_bars(tab, playground):
    start(tab, playground)
    until(tab, "document.body.dataset.several")
    gain = re.fullmatch(r"\+([\d.]+) % ± ([\d.]+) %", tab.inner_text("#gain"))
    assert gain is not None
    why = tab.inner_text("#why")
    assert "over 20 pairs of runs" in why
    assert "both runs of a pair lose the same bursts" in why
    rows = tab.locator("#bars b").all_inner_texts()
    scales = {"kb/s": 1e3, "Mb/s": 1e6}
    read = [re.match(r"([\d.]+) ± [\d.]+ ([kM]b/s)", row).groups() for row in rows]
    means = [float(value) * scales[unit] for value, unit in read]
    assert means[1] / means[0] - 1 == pytest.approx(float(gain[1]) / 100, abs=0.02)
    assert tab.locator("#bars svg path").count() == 2, "each bar has its interval"
    assert "the window leaves in one burst" in tab.inner_text("#spread")
    move(tab, "timer", "Home")
    assert "the window leaves in 16 bursts" in tab.inner_text("#spread")


def test_sentences_say_what_happened(tab, playground):
    start(tab, playground)
    early = counted(tab, "burst", "early_repairs")
    assert tab.inner_text("#judged") == (
        "In the run below Burst TCP (burst NAKs) had no false or true time-out; "
        f"{early} losses were repaired early."
    )
    answers = int(tab.get_attribute("body", "data-drawn") or 0)
    tab.select_option("#control-detector", "ble")
    until(tab, f"Number(document.body.dataset.drawn) > {answers}")
    falses = counted(tab, "burst", "false_timeouts")
    assert re.fullmatch(
        r"In the run below Burst TCP \(burst length estimation\) recognised "
        rf"\d+ of {falses} false time-outs\.",
        tab.inner_text("#judged"),
    )


def test_runs_that_one_answer_has_no_time_for_follow(tab, playground, monkeypatch):
    monkeypatch.setattr("burstlab.page.playing.PACKETS", 5_000)
    start(tab, playground, "#duration=5 s")
    first = tab.evaluate("burstlab.play.found.about.runs")
    assert 2 <= first < 20
    until(tab, "document.body.dataset.several")
    assert "over 20 pairs of runs" in tab.inner_text("#why")


def test_bursts_are_in_play_too(tab, playground):
    start(tab, playground)
    for side in ("plain", "burst"):
        assert tab.locator(f"#{side} .burst-chart canvas").count() == 1
    lost = tab.evaluate("burstlab.play.sides[0].bursts.bursts.gone.reduce((a, b) => a + b)")
    assert lost > 0
    tab.click("#watch-burst")
    until(tab, "document.body.dataset.tab === 'watch' && burstlab.view.flow")
    assert "played, with bnak" in tab.inner_text("#title")
    assert tab.evaluate(f"{VIEW}.transport.losses.t_s.length") > 0
    tab.click("#tab-play")
    assert tab.is_visible("#bars")


def test_what_is_seen_can_be_shared(tab, browser, playground):
    start(tab, playground)
    move(tab, "window", "Home")
    until(tab, "location.hash.includes('window=4')")
    shared = "#" + tab.url.split("#")[1]
    other = browser.new_page()
    start(other, playground, shared)
    assert other.inner_text("#toml") == tab.inner_text("#toml")
    assert "window = 4" in other.inner_text("#toml")
    other.close()


def test_what_is_shown_can_be_saved(tab, playground):
    start(tab, playground)
    with tab.expect_download() as saved:
        tab.click("#save-toml")
    assert saved.value.suggested_filename == "play.toml"
    assert saved.value.path().read_text() == tab.inner_text("#toml")


def test_the_variant_is_that_of_both_sides(tab, playground):
    start(tab, playground)
    answers = int(tab.get_attribute("body", "data-drawn") or 0)
    tab.select_option("#control-variant", "sack")
    until(tab, f"Number(document.body.dataset.drawn) > {answers}")
    assert tab.inner_text("#plain-name") == "SACK"
    assert tab.inner_text("#burst-name") == "Burst TCP: SACK with burst NAKs"


def test_where_stretches_meet_each_burst_is_drawn_once(tab, mesh):
    start(tab, mesh)
    drawn_bars = """() => {
      const { gantt, bursts, transport } = window.burstlab.view;
      const seam = bursts.span * 2;
      const [begin, end] = gantt.range(seam, transport.speed);
      const stretches = bursts.between(begin, end);
      const { left_s: left, fibre, end_s: stop } = stretches[1];
      const both = [...left].filter((at, i) => at < seam && stop[i] > begin).length;
      const rows = [];
      const draw = gantt.drawBursts;
      gantt.drawBursts = (context, found, first, ...rest) => {
        for (let i = first; i < found.left_s.length && found.left_s[i] < end; i += 1) {
          rows.push(`${found.burst[i]} ${found.fibre[i]} ${found.left_s[i]}`);
        }
      };
      gantt.draw(seam, transport.speed, stretches);
      gantt.drawBursts = draw;
      return { both, rows: rows.length, different: new Set(rows).size };
    }"""
    tab.evaluate(f"{VIEW}.transport.seek({VIEW}.bursts.span * 2)")
    until(tab, f"{VIEW}.bursts.between({VIEW}.bursts.span * 1.9, {VIEW}.bursts.span * 2.1)[1]")
    found = tab.evaluate(drawn_bars)
    assert found["both"] > 0, "the stretches overlap"
    assert found["rows"] == found["different"] > 0


def test_another_run_of_a_study_is_chosen(tab, tmp_path):
    import burstlab as bl

    plan = {
        "scenario": PATH,
        "grid": {"tcp.window": [8, 64]},
        "schemes": {"reno": {}, "sack": {"tcp.variant": "sack"}},
        "replications": 2,
    }
    study = bl.study(plan, out=tmp_path / "study", report=False)
    prints = study.runs.where(point=1, scheme="sack")["fingerprint"].tolist()
    with serving(viewer(tmp_path / "study")) as server:
        start(tab, server)
        assert tab.locator("#point option").all_inner_texts() == [
            "0: tcp.window = 8", "1: tcp.window = 64",
        ]  # fmt: skip
        for name, value in (("point", "1"), ("scheme", "sack"), ("replication", "1")):
            tab.select_option(f"#{name}", value)
            until(tab, f"{VIEW}.choice.{name} == '{value}' && {VIEW}.settled")
            assert tab.input_value(f"#{name}") == value
        assert prints[1] in tab.inner_text("#facts")
        until(tab, "location.hash.includes('replication=1')")
        start(tab, server, "#" + tab.url.split("#")[1])
        assert prints[1] in tab.inner_text("#facts")
        assert (tab.input_value("#point"), tab.input_value("#scheme")) == ("1", "sack")


def test_slots_move_and_are_dropped(tab, tmp_path):
    recorded(SLOTS, tmp_path / "slots")
    with serving(viewer(tmp_path / "slots")) as server:
        start(tab, server)
        assert tab.inner_text("#gantt-name") == "Slots"
        tab.click("#after")
        until(tab, f"{STRETCHES}.some((one) => one.found?.wavelength.some((w) => w < 0))")
        until(tab, "document.getElementById('under-way').textContent.includes('slots of TCP')")
        assert drawn(tab, "bursts") > 50
        chosen = tab.locator("#fibre option:checked").inner_text()
        assert chosen.startswith("core → out")
