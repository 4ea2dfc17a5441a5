"""On the page: a lost burst is clicked, and the run in which it arrived is shown too."""

from __future__ import annotations

import json
from importlib.resources import files

import numpy as np
import pytest
from chromium import needs_chromium, start, until
from pages import MESH, PATH, SLOTS, ask, data, recorded, serving

import burstlab as bl
from burstlab.errors import InputError
from burstlab.page import viewer
from burstlab.page.serving import BadRequest

VIEW = "window.burstlab.view"


def first_lost(result):
    bursts = result.bursts.to_pylist()
    return next(one for one in bursts if one["fate"] == "lost" and one["direction"] == "data")


@pytest.mark.parametrize("scenario", [PATH, MESH], ids=["path", "mesh"])
def test_the_page_has_what_the_command_finds(scenario, tmp_path):
    result = recorded(scenario, tmp_path / "run")
    burst = first_lost(result)["burst"]
    found = bl.what_if(tmp_path / "run", spare=burst)
    page = viewer(tmp_path / "run")
    stated = json.loads(page.data["data/what-if"]({"burst": str(burst)}).content)
    assert stated["fingerprints"] == [found.first.fingerprint, found.other.fingerprint]
    assert stated["totals"] == found.divergence.totals
    assert stated["connections"] == found.connections.to_pylist()[:12]
    assert not stated["same"]
    flow = stated["connections"][0]["connection"]
    query = {"burst": burst, "flow": flow}
    _, first = data(page, "what-if-flow", side="first", **query)
    _, other = data(page, "what-if-flow", side="other", **query)
    _, whole = data(page, "flow", flow=flow)
    # One side is the run that is shown; the other is the whole run of the scenario with surgery.
    for name in ("sent_s", "seq", "flags", "window_s", "cwnd"):
        assert (first[name] == whole[name]).all(), name
    recorded(dict(found.other.scenario), tmp_path / "other")
    _, changed = data(viewer(tmp_path / "other"), "flow", flow=flow)
    for name in ("sent_s", "seq", "flags", "window_s", "cwnd", "event_s", "event"):
        assert other[name] == pytest.approx(changed[name]), name
    assert not np.array_equal(first["sent_s"], other["sent_s"])


def test_slots_can_live_too(tmp_path):
    result = recorded(SLOTS, tmp_path / "run")
    dropped = result.packets.where(fate="lost")["burst"]
    page = viewer(tmp_path / "run")
    stated = json.loads(page.data["data/what-if"]({"burst": str(int(dropped[0]))}).content)
    assert stated["totals"]["connections_different"] > 0


def test_what_is_asked_wrong_is_refused(tmp_path):
    recorded(PATH, tmp_path / "run")
    page = viewer(tmp_path / "run")
    for query in ({}, {"burst": "-1"}, {"burst": "1e3"}, {"burst": "9" * 40}):
        with pytest.raises(BadRequest, match="burst is a whole number"):
            page.data["data/what-if"](query)
    with pytest.raises(InputError, match="there is no such burst"):
        page.data["data/what-if"]({"burst": "999999"})
    with pytest.raises(BadRequest, match="side is first or other"):
        page.data["data/what-if-flow"]({"burst": "1", "flow": "0", "side": "third"})
    with serving(page) as server:
        answer, body = ask(server, f"/{server.token}/data/what-if?burst=999999")
        assert answer.status == 400
        assert b"there is no such burst" in body


@needs_chromium
def test_a_lost_burst_is_clicked_and_both_runs_are_seen(tab, tmp_path):
    recorded(PATH, tmp_path / "run")
    with serving(viewer(tmp_path / "run")) as server:
        start(tab, server)
        until(
            tab, f"[...{VIEW}.bursts.stretches.values()].some((s) => s.found?.lost.some(Boolean))"
        )
        tab.evaluate(
            f"""() => {{
              for (const {{ found }} of {VIEW}.bursts.stretches.values()) {{
                const row = found ? found.lost.findIndex(Boolean) : -1;
                if (row >= 0) return {VIEW}.chosen.choose(found, row);
              }}
            }}"""
        )
        tab.get_by_role("button", name="What if it had arrived?").click()
        until(tab, f"{VIEW}.spared.flows")
        assert "it would be lost at" in tab.inner_text("#what-if-told")
        assert tab.locator("#what-if .chart canvas").count() == 4
        assert tab.locator("#what-if-connections tbody tr").count() == 1
        axe = files("axe_playwright_python").joinpath("axe.min.js").read_text("utf-8")
        tab.evaluate(f"{axe};0")
        found = tab.evaluate("axe.run(document, {resultTypes: ['violations']})")
        assert [one["id"] for one in found["violations"]] == []
        tab.get_by_role("button", name="Let go").click()
        assert tab.locator("#what-if").is_hidden()
