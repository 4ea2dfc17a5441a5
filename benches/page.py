"""How long the page takes in a Chromium: a frame of ``view``, an answer to a slider of ``play``.

    make browser && .venv/bin/python benches/page.py [--images DIR]

A result of 800 flows in NSFNET is simulated first. ``drawing`` is what the page's script spends on
a frame, ``between`` the time from one frame to the next (16.7 ms at 60 Hz), ``slider`` the time
from the move of a slider until the bars of 20 runs on each side and the drawn run are there, of
which ``answer`` is the server's part. What a machine does beside it stands in ``load``.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import burstlab as bl
from burstlab.page import Page, Server, player, viewer

if TYPE_CHECKING:
    from playwright.sync_api import Browser
    from playwright.sync_api import Page as Tab

NODES = range(1, 15)
FLOWS = 800
SIZE = {"width": 1440, "height": 900}
MOMENTS_S = (0.35, 0.56, 1.2)


def nsfnet() -> dict[str, Any]:
    """Return a scenario of long flows between all pairs of nodes, some pairs with one more."""
    pairs = [(a, b) for a in NODES for b in NODES if a != b]
    each, more = divmod(FLOWS, len(pairs))
    flows = [
        {
            "label": f"{a} to {b}",
            "from": str(a),
            "to": str(b),
            "count": each + (place < more),
            "start": f"{place % 40} ms",
            "stagger": "7 ms",
        }
        for place, (a, b) in enumerate(pairs)
    ]
    return {
        "network": {"topology": "nsfnet", "wavelengths": 2, "link_rate": "1 Gb/s"},
        "signalling": {"guard": "10 us"},
        "access": {"rate": "100 Mb/s", "delay": "1 ms"},
        "edge": {
            "assembly": "hybrid",
            "timer": "5 ms",
            "size": "125 KB",
            "ack": {"with_data": True},
        },
        "tcp": {"variant": "sack", "window": 64},
        "flows": flows,
        "run": {"duration": "2 s", "seed": 1},
    }


@contextmanager
def serving(page: Page) -> Iterator[Server]:
    """Serve a page meanwhile."""
    with Server(page) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
            page.close()


def tab(browser: Browser, server: Server) -> Tab:
    """Open a page and wait until it is there."""
    found = browser.new_page(viewport=SIZE)  # pyright: ignore[reportArgumentType]
    found.goto(server.address)
    found.wait_for_selector("body[data-ready]", timeout=60_000)
    found.wait_for_timeout(1000)
    return found


def spread(name: str, values: Sequence[float]) -> dict[str, Any]:
    """Say how values in milliseconds are spread."""
    ordered = sorted(values)
    answer = {
        "what": name,
        "n": len(ordered),
        "median_ms": round(statistics.median(ordered), 1),
        "p95_ms": round(ordered[int(0.95 * (len(ordered) - 1))], 1),
        "max_ms": round(ordered[-1], 1),
    }
    print(json.dumps(answer), flush=True)
    return answer


def frames(browser: Browser, where: Path, images: Path | None) -> None:
    """Play a result for some seconds, and take pictures of three moments."""
    with serving(viewer(where)) as server:
        page = tab(browser, server)
        for speed in ("default", "0.1"):
            page.evaluate("burstlab.view.transport.seek(0.3); burstlab.view.frames.length = 0")
            if speed != "default":
                page.evaluate(f"burstlab.view.transport.setSpeed({speed})")
            page.wait_for_timeout(1500)
            page.evaluate("burstlab.view.frames.length = 0; burstlab.view.transport.toggle()")
            page.wait_for_timeout(8000)
            page.evaluate("burstlab.view.transport.toggle()")
            rows = page.evaluate("burstlab.view.frames.slice(1)")
            shown = page.evaluate("document.getElementById('speed').selectedOptions[0].text")
            moving = page.inner_text("#under-way")
            print(f"{FLOWS} flows at {shown}: {moving}")
            spread("drawing", [row[0] for row in rows])
            spread("between", [row[1] for row in rows])
        page.evaluate("burstlab.view.transport.setSpeed(burstlab.view.about.speed)")
        for number, moment in enumerate(MOMENTS_S, 1):
            page.evaluate(f"burstlab.view.transport.seek({moment})")
            page.wait_for_timeout(1000)
            if images is not None:
                page.screenshot(path=images / f"nsfnet-{number}.png")


def sliders(browser: Browser, images: Path | None) -> None:
    """Move sliders one after the other, each when the answer before is drawn."""
    with serving(player()) as server:
        page = tab(browser, server)
        page.wait_for_timeout(2000)
        if images is not None:
            page.screenshot(path=images / "play.png")
        page.evaluate("burstlab.play.latencies.length = 0")
        answers: list[float] = []
        runs: list[int] = []
        for control in ("loss", "timer", "window", "seed"):
            page.focus(f"#control-{control}")
            for key in ("ArrowLeft", "ArrowRight", "ArrowRight", "ArrowLeft") * 3:
                before = page.evaluate("burstlab.play.latencies.length")
                moved = page.evaluate(f"document.getElementById('control-{control}').value")
                page.keyboard.press(key)
                if page.evaluate(f"document.getElementById('control-{control}').value") == moved:
                    continue
                while page.evaluate("burstlab.play.latencies.length") == before:
                    page.wait_for_timeout(5)
                answers.append(page.evaluate("burstlab.play.found.about.milliseconds"))
                runs.append(page.evaluate("burstlab.play.found.about.runs"))
        spread("slider", page.evaluate("burstlab.play.latencies"))
        spread("answer", answers)
        print(json.dumps({"runs": sorted(set(runs)), "load": os.getloadavg()[0]}), flush=True)


def main() -> None:
    """Measure."""
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--images", type=Path)
    parser.add_argument("--result", type=Path, help="one that is there already")
    options = parser.parse_args()
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    with tempfile.TemporaryDirectory() as room, sync_playwright() as driver:
        where = options.result or Path(room) / "nsfnet"
        if not where.exists():
            bl.run(nsfnet(), trace=("bursts", "packets", "cwnd", "ledger"), out=where)
        flags = ["--no-sandbox", "--disable-background-networking"]
        browser = driver.chromium.launch(executable_path=chromium, args=flags)
        frames(browser, where, options.images)
        sliders(browser, options.images)
        browser.close()


if __name__ == "__main__":
    main()
