"""A lecture with the page, in a real Chromium: the tour, links, pictures, a file."""

from __future__ import annotations

import json
import re
import struct
import subprocess
import sys
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from chromium import needs_chromium, quiet_tab, ready, start, until
from pages import MESH, PATH, recorded, serving

from burstlab.page import Server, demonstration, export, player, viewer
from burstlab.page.touring import SCENES, STEPS

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [needs_chromium, pytest.mark.slow]

VIEW = "window.burstlab.view"


@pytest.fixture(scope="module")
def demo() -> Iterator[Server]:
    with serving(demonstration()) as server:
        yield server


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


# The lecturer's task: one command, and a lecture.


def test_one_command_and_the_lecture_begins(browser):
    command = [sys.executable, "-m", "burstlab", "demo", "--no-open"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        address = running.stdout.readline().split()[-1]
        try:
            with quiet_tab(browser) as tab:
                tab.goto(address)
                ready(tab)
                assert tab.inner_text("#tour-title") == "A burst is about to die"
                doomed = "1 burst on fibres, 1 of which will be lost"
                until(tab, f"document.getElementById('under-way').textContent === '{doomed}'")
                burst = tab.evaluate(f"{VIEW}.transport.losses.t_s[0]")
                assert 0 < burst - tab.evaluate(f"{VIEW}.transport.time") < 0.01
                tab.click("#play")
                until(tab, f"{VIEW}.transport.time > {burst}")
        finally:
            running.terminate()
            running.wait(30)


def test_each_step_of_the_tour_is_a_state_that_a_link_opens(tab, demo):
    start(tab, demo)
    assert tab.is_disabled("#tour-back")
    seen: list[tuple[Any, ...]] = []
    for number in range(1, STEPS + 1):
        until(tab, f"document.body.dataset.step === '{number}'")
        assert tab.inner_text("#tour-place") == f"step {number} of {STEPS}"
        assert tab.locator(".looked").count() == 1
        tab.wait_for_timeout(400)
        seen.append((tab.inner_text("#tour-title"), state(tab)))
        tab.click("#tour-next")
    until(tab, "!document.body.dataset.step")
    assert len({title for title, _ in seen}) == STEPS
    runs = [found["run"] for _, found in seen]
    assert runs == ["one-burst"] * 3 + ["burst-tcp", "nsfnet", None]
    for number, (title, found) in enumerate(seen, 1):
        start(tab, demo, f"#step={number}")
        assert (tab.inner_text("#tour-title"), state(tab)) == (title, found)


#: The card of the tour, its text, the button, what is highlighted, and the bar of time.
SEEN = """(() => {
  const box = (part) => {
    const { top, bottom } = part.getBoundingClientRect();
    return [top, bottom];
  };
  const bar = document.querySelector(".transport");
  const text = document.getElementById("tour-text");
  return {
    card: box(document.getElementById("tour")),
    next: box(document.getElementById("tour-next")),
    text: box(text),
    whole: text.scrollHeight <= text.clientHeight + 1,
    looked: box(document.querySelector(".looked")),
    end: bar.offsetParent ? bar.getBoundingClientRect().top : innerHeight,
  };
})()"""


@pytest.mark.parametrize(("width", "height"), [(1440, 900), (1280, 720), (1024, 700), (420, 800)])
def test_text_and_next_stay_in_view_and_what_a_step_is_about_is_seen(browser, demo, width, height):
    with quiet_tab(browser, viewport={"width": width, "height": height}) as tab:
        start(tab, demo)
        for number in range(1, STEPS + 1):
            until(tab, f"document.body.dataset.step === '{number}'")
            tab.wait_for_timeout(200)
            seen = tab.evaluate(SEEN)
            (above, below), end = seen["card"], seen["end"]
            for part in ("text", "next"):
                assert above <= seen[part][0] < seen[part][1] <= below, (number, part)
            assert above >= 0 and below <= end, number
            assert seen["whole"], (number, "the text is scrolled in its card")
            assert below <= height / 2 - 80, (number, "the card leaves room for what it is about")
            first, last = seen["looked"]
            assert first >= below - 1, number
            if last - first <= end - below - 16:
                assert last <= end + 3, number
            else:
                assert first <= below + 40, number
            if number < STEPS:
                tab.click("#tour-next")


def state(tab: Page) -> dict[str, Any]:
    if tab.get_attribute("body", "data-tab") == "play":
        return {"run": None, **tab.evaluate("burstlab.play.controls.values")}
    return {
        "run": tab.evaluate(f"{VIEW}.choice.run"),
        "time": tab.evaluate(f"{VIEW}.transport.time"),
        "range": tab.evaluate(f"{VIEW}.stretch.range"),
        "flow": tab.evaluate(f"{VIEW}.shownFlow"),
    }


def test_the_tour_tells_what_the_ledger_has(tab, demo):
    start(tab, demo, "#step=3")
    text = tab.inner_text("#tour-text")
    assert re.search(r"cwnd falls from \d+ to 1", text)
    assert "false time-out" in text
    (event,) = tab.evaluate(f"[...{VIEW}.flow.event]")
    assert event == 0
    begin, end = tab.evaluate(f"{VIEW}.stretch.range")
    assert begin < tab.evaluate(f"{VIEW}.flow.event_s[0]") < end
    start(tab, demo, "#step=4")
    assert tab.evaluate(f"[...{VIEW}.flow.event].filter((one) => one === 0).length") == 0


def test_papers_are_there_to_watch_and_to_play_with(tab, demo):
    start(tab, demo, "#run=yu2004-fig3")
    assert "loses its whole window" in tab.inner_text("#title")
    tab.select_option("#run", "shihada-fast-flow")
    until(tab, f"{VIEW}.choice.run === 'shihada-fast-flow' && {VIEW}.settled && {VIEW}.flow")
    assert "Shortened: run.duration = 20 s" in tab.inner_text("#facts")
    tab.click("#tab-play")
    until(tab, "burstlab.play?.found")
    tab.select_option("#preset", "yu2004-table4")
    until(tab, "burstlab.play.preset === 'yu2004-table4' && !burstlab.play.busy")
    assert "Yu, Qiao and Liu (2004)" in tab.inner_text("#played-note")
    assert 'rto_fixed = "360 ms"' in tab.inner_text("#toml")
    until(tab, "location.hash.includes('preset=yu2004-table4')")


# Words, and what is pointed at.


@pytest.mark.parametrize("where", ["#tab=watch&run=nsfnet", "#tab=play", "#step=1"])
def test_every_word_is_explained_by_pointer_focus_and_touch(browser, demo, where):
    with quiet_tab(browser, has_touch=True) as tab:
        start(tab, demo, where)
        words = tab.evaluate(
            """[...document.querySelectorAll(".term")].filter((one) => one.offsetParent)
               .map((one) => one.dataset.term)"""
        )
        assert len(set(words)) > 10
        button = tab.locator(".term:visible").first
        for act in (button.hover, button.focus, button.tap):
            tab.keyboard.press("Escape")
            tab.mouse.move(1, 1)
            tab.evaluate("document.activeElement.blur()")
            assert not tab.is_visible("#tip")
            act()
            assert tab.is_visible("#tip")
            assert button.get_attribute("aria-describedby") == "tip"
        tab.keyboard.press("Escape")
        assert not tab.is_visible("#tip")
        tab.evaluate("document.activeElement.blur()")
        for button in tab.locator(".term:visible").all():
            button.focus()
            name, meaning = tab.inner_text("#tip").split("\n")[:2]
            assert name == button.get_attribute("data-term")
            assert len(meaning) > 20


#: Controls that lie under the explanation, and how much of it is outside the window.
UNDER = """(() => {
  const tip = document.getElementById("tip").getBoundingClientRect();
  const under = [...document.querySelectorAll("button:not(.term), select, input, summary")]
    .filter((part) => part.offsetParent).filter((part) => {
      const box = part.getBoundingClientRect();
      return box.left < tip.right && box.right > tip.left
        && box.top < tip.bottom && box.bottom > tip.top;
    }).map((part) => part.id || part.textContent);
  const out = Math.max(-tip.left, -tip.top, tip.right - innerWidth, tip.bottom - innerHeight);
  return { under, out };
})()"""


@pytest.mark.parametrize(("width", "height"), [(1280, 720), (420, 800)])
@pytest.mark.parametrize("where", ["#tab=watch&run=nsfnet", "#step=2"])
def test_an_explanation_covers_no_button(browser, demo, where, width, height):
    with quiet_tab(browser, viewport={"width": width, "height": height}) as tab:
        start(tab, demo, where)
        for button in tab.locator(".term:visible").all():
            button.hover()
            found = tab.evaluate(UNDER)
            assert (found["under"], found["out"] <= 0) == ([], True)
        for canvas in ("#bursts", "#sequence .u-over", "#window .u-over"):
            place = tab.locator(canvas)
            place.scroll_into_view_if_needed()
            box: Any = place.bounding_box()
            for across in (0.02, 0.3, 0.6, 0.98):
                for down in (0.05, 0.5, 0.95):
                    tab.mouse.move(
                        box["x"] + across * box["width"], box["y"] + down * box["height"]
                    )
                    if tab.is_visible("#tip"):
                        found = tab.evaluate(UNDER)
                        assert (found["under"], found["out"] <= 0) == ([], True)


#: Texts that are drawn on a canvas, each with its ends; `paint` draws on the context it is given.
WRITTEN = """(paint, canvas) => {
  const real = canvas.getContext("2d");
  const found = [];
  const shares = { left: 0, start: 0, center: 0.5, right: 1, end: 1 };
  const watched = new Proxy(real, {
    get: (_, name) => {
      if (name === "fillText") return (text, x) => {
        const { width } = real.measureText(text);
        const begin = x - shares[real.textAlign] * width;
        found.push([text, begin, begin + width]);
      };
      const value = real[name];
      return typeof value === "function" ? value.bind(real) : value;
    },
    set: (_, name, value) => { real[name] = value; return true; },
  });
  paint(watched);
  return { texts: found, width: canvas.clientWidth };
}"""


@pytest.mark.parametrize(("width", "height"), [(1280, 720), (420, 800)])
def test_no_label_at_the_edge_of_a_chart_is_cut(browser, demo, width, height):
    with quiet_tab(browser, viewport={"width": width, "height": height}) as tab:
        for run in ("one-burst", "nsfnet"):
            start(tab, demo, f"#tab=watch&run={run}")
            for time in (0.1, 0.73, 1.001, 2.337):
                tab.evaluate(f"{VIEW}.transport.seek({time})")
                tab.wait_for_timeout(100)
                for paint, canvas in (
                    (f"{VIEW}.gantt.paint(context)", "gantt"),
                    (f"{VIEW}.network.paintStill(context)", "fibres"),
                ):
                    drawn = tab.evaluate(
                        f"({WRITTEN})((context) => {paint}, document.getElementById('{canvas}'))"
                    )
                    assert drawn["texts"], canvas
                    for text, begin, end in drawn["texts"]:
                        assert begin >= 0 and end <= drawn["width"], (run, time, canvas, text)


def test_a_mark_at_the_edge_of_a_chart_is_whole(tab, demo):
    start(tab, demo, "#step=3")
    found = tab.evaluate(
        f"""() => {{
          const {{ sequence, stretch, flow }} = {VIEW};
          const out_s = flow.event_s[0];
          stretch.show(out_s, out_s + 1);
          const {{ plot }} = sequence;
          const ratio = devicePixelRatio;
          const x = plot.valToPos(out_s, "x", true);
          const y = plot.valToPos(flow.event_seq[0], "y", true);
          const colour = (left) => [...plot.ctx.getImageData(left, y, 1, 1).data].join();
          // The left half of the diamond, and as far from the axis where there is none.
          const half = Array.from({{ length: 8 }}, (_, i) => colour(x - (i + 1) * ratio));
          return half.filter((one) => one !== colour(x - 12 * ratio)).length;
        }}"""
    )
    assert found >= 5
    # The library draws the grid anew with the state in which it left the context.
    kept = tab.evaluate(
        f"""() => {{
          const {{ plot, hooks }} = {VIEW}.sequence;
          const state = () => [plot.ctx.strokeStyle, plot.ctx.fillStyle, plot.ctx.lineWidth].join();
          const before = state();
          hooks.draw[0](plot);
          return state() === before;
        }}"""
    )
    assert kept


def test_pointing_shows_values_of_bursts_refusals_fibres_and_points(tab, mesh):
    start(tab, mesh)
    speed = tab.evaluate(f"{VIEW}.transport.speed")
    tab.evaluate(f"{VIEW}.transport.seek({VIEW}.transport.losses.t_s[0] - {speed} * 0.1)")
    until(tab, f"{VIEW}.network.drawn && {VIEW}.gantt.drawn?.stretches.length")
    tab.wait_for_timeout(100)
    places = tab.evaluate(
        """(() => {
          const { network, gantt } = burstlab.view;
          const { time, found } = network.drawn;
          const [under] = [...network.under(time, found)].slice(-1);
          const line = network.lines[found.fibre[under.i]];
          const off = line.gap + (found.wavelength[under.i] + 0.5) * line.lane;
          const [from, to] = network.extent(line, under.head, under.tail);
          const at = (from + to) / 2;
          const { x, high } = gantt.drawn;
          let refused = null;
          for (const [all] of gantt.parts()) {
            const i = all.wavelength.findIndex((w, n) => w < 0 && all.fibre[n] === gantt.fibre
              && all.left_s[n] > time);
            if (i >= 0) refused = { x: x((all.left_s[i] + all.end_s[i]) / 2),
              y: (gantt.wavelengths + 0.5) * high, burst: all.burst[i] };
          }
          return {
            burst: { x: line.x + line.dx * at + line.nx * off,
              y: line.y + line.dy * at + line.ny * off, number: found.burst[under.i] },
            refused,
          };
        })()"""
    )
    burst = places["burst"]
    tab.hover("#bursts", position={"x": burst["x"], "y": burst["y"]})
    shown = tab.inner_text("#tip")
    assert re.search(r"^burst \d+ · (data|ACKs|others)\n", shown)
    assert re.search(r"\n(\d+ packets, )?[\d,]+ B\n", shown)
    refused = places["refused"]
    tab.hover("#gantt", position={"x": refused["x"], "y": refused["y"]})
    shown = tab.inner_text("#tip")
    assert f"burst {refused['burst']} " in shown
    assert "refused at" in shown
    assert "cause: " in shown
    over: Any = tab.locator("#window .u-over").bounding_box()
    tab.mouse.move(over["x"] + over["width"] * 0.8, over["y"] + over["height"] / 2)
    assert re.match(r"cwnd [\d.]+ segments\nssthresh", tab.inner_text("#tip"))
    tab.mouse.move(2, 2)
    assert not tab.is_visible("#tip")


def test_pointing_at_a_fibre_and_at_a_time_out(tab, path):
    start(tab, path)
    tab.evaluate(f"{VIEW}.transport.seek(0)")
    tab.wait_for_timeout(100)
    place = tab.evaluate(
        """(() => {
          const line = burstlab.view.network.lines[1];
          const off = line.gap + line.wide / 2;
          return { x: line.x + line.length / 2 + line.nx * off, y: line.y + line.ny * off };
        })()"""
    )
    tab.hover("#bursts", position=place)
    assert tab.inner_text("#tip").startswith("fibre core 1 → core 2\n5 ms · 1 wavelength")
    point = tab.evaluate(
        """(() => {
          const { plot } = burstlab.view.sequence;
          const { flow } = burstlab.view;
          const i = flow.event.findIndex((one) => one === 0);
          return { x: plot.valToPos(flow.event_s[i], "x"), y: plot.valToPos(flow.event_seq[i], "y"),
            packets: flow.event_packets[i], truth: flow.truth[i] };
        })()"""
    )
    tab.hover("#sequence .u-over", position={"x": point["x"], "y": point["y"]})
    shown = tab.inner_text("#tip")
    assert shown.startswith(("", "false ", "true ", "spurious ")[point["truth"]] + "time-out")
    assert f"{point['packets']} lost packet" in shown


def test_a_burst_is_chosen_and_something_is_done_with_it(tab, mesh):
    start(tab, mesh)
    until(tab, f"{VIEW}.network.drawn")
    place = tab.evaluate(
        """(() => {
          const { network, transport } = burstlab.view;
          const { found, time } = network.drawn;
          const doomed = [...network.under(time, found)].find(({ i }) => found.lost[i]);
          const line = network.lines[found.fibre[doomed.i]];
          const off = line.gap + (found.wavelength[doomed.i] + 0.5) * line.lane;
          const [from, to] = network.extent(line, doomed.head, doomed.tail);
          const at = (from + to) / 2;
          return { x: line.x + line.dx * at + line.nx * off,
            y: line.y + line.dy * at + line.ny * off, burst: found.burst[doomed.i] };
        })()"""
    )
    tab.click("#bursts", position={"x": place["x"], "y": place["y"]})
    assert f"burst {place['burst']} " in tab.inner_text("#chosen-text")
    tab.click("#chosen-actions button >> nth=0")
    losses = tab.evaluate(f"[...{VIEW}.transport.losses.burst]")
    died = tab.evaluate(f"{VIEW}.transport.losses.t_s[{losses.index(place['burst'])}]")
    speed = tab.evaluate(f"{VIEW}.transport.speed")
    assert tab.evaluate(f"{VIEW}.transport.time") == pytest.approx(max(0, died - 0.8 * speed))
    tab.click("text=Let go")
    assert not tab.is_visible("#chosen")


# Links.


def test_a_link_brings_back_time_flow_fibre_and_stretch(browser, tab, mesh):
    start(tab, mesh)
    flows = tab.evaluate(f"{VIEW}.about.flows.map((one) => one.id)")
    tab.select_option("#flow", str(flows[2]))
    tab.select_option("#fibre", "7")
    tab.evaluate(f"{VIEW}.stretch.show(0.1, 0.2); {VIEW}.transport.seek(0.15)")
    tab.keyboard.press("+")
    until(tab, "location.hash.includes('time=0.15') && location.hash.includes('speed=')")
    with quiet_tab(browser) as other:
        start(other, mesh, "#" + tab.url.split("#")[1])
        assert other.evaluate(f"{VIEW}.transport.time") == 0.15
        assert other.evaluate(f"{VIEW}.stretch.range") == [0.1, 0.2]
        assert other.input_value("#fibre") == "7"
        assert other.input_value("#flow") == str(flows[2])
        assert other.evaluate(f"{VIEW}.transport.speed") == tab.evaluate(f"{VIEW}.transport.speed")
        assert not other.is_visible("#wrong")
        # A link that is put into the page that is open.
        other.evaluate("location.hash = 'time=0.05&fibre=2'")
        until(other, f"{VIEW}.transport.time === 0.05 && {VIEW}.gantt.fibre === 2")


@pytest.mark.parametrize(
    ("fragment", "shown"),
    [
        ("#fibre=99", "fibre = 99: a number from 0 to 11"),
        ("#flow=none", "flow = none: there is "),
        ("#time=-1", "time = -1: a number from 0 to 0.4"),
        ("#colour=blue", "colour = blue: means nothing here"),
    ],
)
def test_a_wrong_link_is_told(tab, mesh, fragment, shown):
    start(tab, mesh, fragment)
    assert shown.replace("colour = blue", "colour") in tab.inner_text("#wrong")
    assert tab.is_visible("#sequence canvas")


def test_a_wrong_slider_in_a_link_is_told(tab):
    with serving(player()) as server:
        start(tab, server, "#loss=0.7&window=4")
        assert "loss = 0.7: there is 0, 0.0001" in tab.inner_text("#wrong")
        assert "window = 4" in tab.inner_text("#toml")
        tab.click("#reset")
        until(tab, "burstlab.play.controls.values.window === 20 && !burstlab.play.busy")
        assert not tab.is_visible("#wrong")


def test_reset_is_as_it_was_at_the_beginning(tab, mesh):
    start(tab, mesh)
    before = state(tab)
    tab.evaluate(f"{VIEW}.stretch.show(0.1, 0.2); {VIEW}.transport.seek(0.3)")
    tab.click("#reset")
    until(tab, f"{VIEW}.settled && {VIEW}.transport.time !== 0.3")
    assert state(tab) == before


# Sizes.

OVERFLOW = """() => {
  const wide = document.documentElement.clientWidth;
  const found = [];
  if (document.scrollingElement.scrollWidth > wide) found.push("the page is wider");
  for (const part of document.querySelectorAll("body *")) {
    const box = part.getBoundingClientRect();
    if (!box.width || part.closest("[hidden], .menu, pre")) continue;
    if (box.right > wide + 1 || box.left < -1) found.push(`${part.tagName}#${part.id} sticks out`);
    const { overflowX } = getComputedStyle(part);
    const cut = overflowX !== "visible" && part.scrollWidth > part.clientWidth + 1;
    if (cut && !part.closest(".uplot, select, input")) {
      found.push(`${part.tagName}#${part.id} is cut off`);
    }
  }
  return found;
}"""


@pytest.mark.parametrize(
    ("width", "height", "ratio", "large"),
    [(420, 860, 1, ""), (1024, 700, 1, ""), (640, 400, 2, ""), (1440, 900, 1, "&large=1")],
)
@pytest.mark.parametrize("where", ["tab=watch&run=one-burst", "tab=watch&run=nsfnet", "tab=play"])
def test_nothing_is_cut_off(browser, demo, width, height, ratio, large, where):
    size = {"width": width, "height": height}
    with quiet_tab(browser, viewport=size, device_scale_factor=ratio) as tab:
        start(tab, demo, f"#{where}{large}")
        assert tab.evaluate(OVERFLOW) == []
        heights = tab.evaluate(
            """[...document.querySelectorAll(".chart, .stage")].filter((one) => one.offsetParent)
               .map((one) => one.clientHeight)"""
        )
        assert min(heights) >= 85
        least = tab.evaluate(
            """[...document.querySelectorAll("#sequence, .chart.sequence")]
               .filter((one) => one.offsetParent).map((one) => one.clientHeight)"""
        )
        assert min(least) >= 140


def test_large_type_is_larger_and_kept_in_the_link(tab, demo):
    start(tab, demo, "#tab=play")
    size = "parseFloat(getComputedStyle(document.getElementById('why')).fontSize)"
    before = tab.evaluate(size)
    tab.click("#large")
    assert tab.evaluate(size) > 1.3 * before
    until(tab, "location.hash.includes('large=1')")
    assert tab.evaluate("burstlab.play.sides[0].window.plot.axes[0].font[0]").startswith("400 17px")


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize(
    "where", ["tab=watch&run=one-burst", "tab=watch&run=nsfnet", "tab=play", "step=2"]
)
def test_axe_finds_nothing_serious(browser, demo, where, theme):
    axe = files("axe_playwright_python").joinpath("axe.min.js").read_text("utf-8")
    with quiet_tab(browser, color_scheme=theme) as tab:
        start(tab, demo, f"#{where}")
        tab.click("#save summary")
        tab.evaluate(f"{axe};0")
        found = tab.evaluate("axe.run(document, {resultTypes: ['violations']})")
        serious = [
            (one["id"], [node["target"] for node in one["nodes"]])
            for one in found["violations"]
            if one["impact"] in ("serious", "critical")
        ]
        assert len(found["passes"]) > 15
        assert serious == []


# Pictures.


def saved(tab: Page, button: str) -> Path:
    tab.click("#save summary")
    with tab.expect_download() as found:
        tab.click(button)
    return Path(found.value.path())


@pytest.mark.parametrize("where", ["#tab=watch&run=nsfnet", "#step=2", "#tab=play"])
def test_what_is_seen_is_saved_as_a_picture_and_a_drawing(tab, demo, where):
    start(tab, demo, where)
    tab.wait_for_timeout(200)
    png = saved(tab, "#save-png").read_bytes()
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    wide, high = struct.unpack(">II", png[16:24])
    assert wide == 2 * tab.evaluate("document.documentElement.clientWidth")
    assert high > 1000
    svg = saved(tab, "#save-svg").read_text()
    words = set(re.findall(r">([^<]+)</text>", svg))
    title = {"#tab=play": "Goodput"}.get(where, "Network")
    assert {title, "cwnd"} <= words
    assert svg.count("<path") > 100
    assert "NaN" not in svg and "undefined" not in svg
    named = tab.inner_text("#title")
    assert f"<title>Burstlab · {named}</title>" in svg
    assert {"Burstlab", named.split()[0]} <= {part for word in words for part in word.split()}
    # Both are drawn by the same code, and are as high.
    assert high == 2 * int(re.search(r'height="(\d+)"', svg)[1]) // 2 * 2
    tab.goto("about:blank")
    tab.set_content(svg)
    assert tab.evaluate("document.querySelector('svg').getBBox().width") > 600


def test_a_short_video_is_recorded(tab, demo):
    start(tab, demo, "#tab=watch&run=one-burst")
    tab.evaluate("burstlab.recorded = 1.5")
    before = tab.evaluate(f"{VIEW}.transport.time")
    content = b""
    for _ in range(5):
        # On a machine with other work no picture may be drawn in so short a time.
        content = saved(tab, "#save-video").read_bytes()
        assert content[:4] == b"\x1aE\xdf\xa3", "EBML, as WebM begins"
        if len(content) > 10_000:
            break
        tab.evaluate("burstlab.recorded *= 2")
    assert len(content) > 10_000
    assert tab.evaluate(f"{VIEW}.transport.time") > before, "the run played meanwhile"
    assert tab.inner_text("#play") == "Play", "and stands again"


# A file.


#: Bursts on fibres at an instant, and those that will be lost.
COUNTED = f"{VIEW}.network.draw(0.1, {VIEW}.transport.speed, {VIEW}.bursts.at(0.1))"


def from_file(tab: Page, file: Path, fragment: str = "") -> None:
    tab.goto(f"file://{file}{fragment}")
    ready(tab)


def test_a_result_is_a_file_that_works_without_a_server(tab, tmp_path):
    recorded(MESH, tmp_path / "mesh")
    with serving(viewer(tmp_path / "mesh")) as server:
        start(tab, server, "#time=0.1")
        served = (tab.inner_text("#facts"), state(tab))
        seen = tab.evaluate(
            f"{VIEW}.network.draw(0.1, {VIEW}.transport.speed, {VIEW}.bursts.at(0.1))"
        )
        page = viewer(tmp_path / "mesh")
        file = export(page, tmp_path / "mesh.html")
    from_file(tab, file, "#time=0.1")
    assert (tab.inner_text("#facts"), state(tab)) == served
    until(tab, f"{VIEW}.bursts.at(0.1)")
    assert tab.evaluate(COUNTED) == seen
    for flow in tab.evaluate(f"{VIEW}.about.flows.map((one) => one.id)"):
        tab.select_option("#flow", str(flow))
        until(tab, f"{VIEW}.shownFlow === '{flow}' && {VIEW}.flow.seq.length")
    assert tab.evaluate(OVERFLOW) == []


def test_the_tour_is_a_file_that_students_open(tab, tmp_path, burstlab, monkeypatch):
    monkeypatch.setattr(
        "burstlab.page.exporting.PLAYED", {"loss": (0.0, 0.03), "detector": ("bnak",)}
    )
    file = tmp_path / "tour.html"
    answer = burstlab("demo", "--export", file)
    assert (answer.status, answer.err) == (0, "")
    assert file.stat().st_size < 5_000_000
    from_file(tab, file)
    listed = tab.locator("#run option").all_inner_texts()
    assert listed == [stop.label for stop in SCENES.values()], "no run that is not in the file"
    for number in range(1, STEPS):
        until(tab, f"document.body.dataset.step === '{number}'")
        tab.click("#tour-next")
    until(tab, f"document.body.dataset.step === '{STEPS}'")
    assert "over 20 pairs of runs" in tab.inner_text("#why")
    text = tab.inner_text("#tour-text")
    assert "access link" not in text and "scenario of a paper" not in text
    assert not tab.is_visible("#presets")
    tab.click("#help-open")
    assert "--port" not in tab.inner_text("#help")
    tab.keyboard.press("Escape")
    gain = tab.inner_text("#gain")
    tab.focus("#control-loss")
    tab.keyboard.press("Home")
    until(tab, f"document.getElementById('gain').textContent !== '{gain}'")
    assert tab.inner_text("#gain").startswith("+0.0 %")
    assert "This file holds the answers to these controls" in tab.inner_text("#played-note")
    assert not tab.is_visible("#error")
    text = file.read_text()
    asked = re.findall(
        r"""(?:src|href)=["'](?!data:)[^"']+""", text.split('<script type="importmap"')[0]
    )
    assert asked == [], "it asks for nothing"
    assert json.loads(re.search(r'id="answers">(.*?)</script>', text, re.DOTALL)[1])["page"]
