"""The page: its server answers nobody else, its data are those of the tables."""

from __future__ import annotations

import hashlib
import json
import re
import signal
import socket
import subprocess
import sys
import tomllib
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pages import MESH, PATH, about, ask, data, recorded, serving, unpack

import burstlab as bl
from burstlab.page import Server, player, viewer
from burstlab.page.columns import pack
from burstlab.page.controls import CONTROLS, applied, controls
from burstlab.page.controls import START as PLAYED
from burstlab.page.flow import AGAIN, GONE, thinned
from burstlab.page.serving import SCRIPTS, START, Body
from burstlab.page.serving import STATIC as SERVED
from burstlab.page.slices import ROWS
from burstlab.plot import theme
from burstlab.storage import sums

STATIC = files("burstlab.page").joinpath("static")


@pytest.fixture(scope="module")
def path(tmp_path_factory) -> Path:
    where = tmp_path_factory.mktemp("page") / "path"
    recorded(PATH, where)
    return where


@pytest.fixture(scope="module")
def mesh(tmp_path_factory) -> Path:
    where = tmp_path_factory.mktemp("page") / "mesh"
    recorded(MESH, where)
    return where


@pytest.fixture(scope="module")
def server(path):
    with serving(viewer(path)) as running:
        yield running


# The server.


@pytest.mark.parametrize("target", ["http://[x/", "//[x/", "/%zz", "/[", "*"])
def test_an_address_that_is_none_is_answered(server, target):
    host = f"127.0.0.1:{server.server_port}"
    request = f"GET {target} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"
    with socket.create_connection(server.server_address[:2], timeout=20) as connection:
        connection.sendall(request.encode())
        assert connection.makefile("rb").readline().split()[1] in (b"400", b"403", b"404")


def test_a_query_of_too_many_fields_is_answered(server):
    fields = "&".join(f"a{number}=1" for number in range(100))
    answer, body = ask(server, f"/{server.token}/data/about?{fields}")
    assert (answer.status, body) == (400, b"the address has too many fields\n")


def test_it_listens_on_the_loopback_interface_alone(server):
    assert server.server_address[0] == "127.0.0.1"
    assert server.address == f"http://127.0.0.1:{server.server_port}/{server.token}/"
    assert len(server.token) >= 32


def test_two_servers_have_two_tokens(path):
    page = viewer(path)
    with Server(page) as a, Server(page) as b:
        assert a.token != b.token


@pytest.mark.parametrize(
    "host",
    ["evil.example", "127.0.0.1", "127.0.0.1:1", "localhost", "[::1]:PORT", "", "0.0.0.0:PORT"],
)
def test_another_host_is_refused(server, host):
    host = host.replace("PORT", str(server.server_port))
    answer, body = ask(server, f"/{server.token}/", headers={"Host": host})
    assert answer.status == 421
    assert b"<" not in body


def test_both_names_of_the_host_are_answered(server):
    for name in ("127.0.0.1", "localhost", "LOCALHOST"):
        host = f"{name}:{server.server_port}"
        answer, _ = ask(server, f"/{server.token}/", headers={"Host": host})
        assert answer.status == 200


def test_two_hosts_are_refused(server):
    request = (
        f"GET /{server.token}/ HTTP/1.1\r\nHost: 127.0.0.1:{server.server_port}\r\n"
        "Host: evil.example\r\nConnection: close\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", server.server_port)) as connection:
        connection.sendall(request.encode())
        assert b" 421 " in connection.makefile("rb").readline()


@pytest.mark.parametrize("asked", ["/", "/data/about", "/x/data/about", "//", "/TOKENx/", "/TOKE/"])
def test_without_the_token_there_is_nothing(server, asked):
    asked = asked.replace("TOKEN", server.token).replace("TOKE", server.token[:-1])
    answer, body = ask(server, asked)
    assert answer.status == 403
    assert server.token.encode() not in body


@pytest.mark.parametrize(
    "asked",
    [
        "../serving.py",
        "js/../../serving.py",
        "js/..%2f..%2fserving.py",
        "..%2f..%2f..%2f..%2fetc%2fpasswd",
        "/etc/passwd",
        "//etc/passwd",
        "js",
        "js/",
        "view.html",
        "page.html",
        "presets.toml",
        "data",
        "data/",
        "data/nothing",
        "vendor/../style.css",
        "style.css%00.js",
        "STYLE.CSS",
    ],
)
def test_there_is_nothing_beside_what_is_listed(server, asked):
    answer, body = ask(server, f"/{server.token}/{asked}")
    assert answer.status == 404
    assert body == b"there is no such thing\n"


@pytest.mark.parametrize(
    "method", ["POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "CONNECT"]
)
def test_other_methods_are_refused(server, method):
    answer, _ = ask(server, f"/{server.token}/data/about", method=method)
    assert answer.status == 501
    assert answer.getheader("X-Content-Type-Options") == "nosniff"


def test_other_sites_are_refused(server):
    for site, status in (("cross-site", 403), ("same-site", 403), ("same-origin", 200)):
        answer, _ = ask(server, f"/{server.token}/data/about", headers={"Sec-Fetch-Site": site})
        assert answer.status == status


def test_every_answer_has_the_headers(server):
    for path in (f"/{server.token}/", f"/{server.token}/data/about", "/", f"/{server.token}/x"):
        answer, _ = ask(server, path)
        policy = answer.getheader("Content-Security-Policy") or ""
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "http" not in policy
        assert answer.getheader("X-Content-Type-Options") == "nosniff"
        assert answer.getheader("Cache-Control") == "no-store"
        assert answer.getheader("Referrer-Policy") == "no-referrer"
        assert answer.getheader("Access-Control-Allow-Origin") is None
        assert "Python" not in (answer.getheader("Server") or "")


def test_a_request_with_a_body_ends_the_connection(server):
    request = (
        f"GET /{server.token}/ HTTP/1.1\r\nHost: 127.0.0.1:{server.server_port}\r\n"
        "Content-Length: 4\r\n\r\nabcd"
    )
    with socket.create_connection(("127.0.0.1", server.server_port)) as connection:
        connection.sendall(request.encode())
        said = connection.makefile("rb").read()
    assert said.startswith(b"HTTP/1.1 400 ")
    assert said.count(b"HTTP/1.1") == 1


def test_head_has_no_body(server):
    answer, body = ask(server, f"/{server.token}/style.css", method="HEAD")
    assert (answer.status, body) == (200, b"")
    assert answer.getheader("Content-Length") == str(len(STATIC.joinpath("style.css").read_bytes()))


@pytest.mark.parametrize("query", ["", "from=x&to=1", "from=nan&to=1", "from=0&to=1e300", "from=0"])
def test_a_bad_query_is_answered(server, query):
    answer, body = ask(server, f"/{server.token}/data/bursts?{query}")
    assert answer.status == 400
    assert body.endswith(b"\n")


def test_a_flow_that_is_not_there_has_no_segments(path):
    assert len(data(viewer(path), "flow", flow=77)[1]["seq"]) == 0


def test_what_is_served_is_in_the_package():
    for name in SERVED:
        assert STATIC.joinpath(*name.split("/")).is_file(), name
    scripts = {f"js/{part.name}" for part in STATIC.joinpath("js").iterdir()}
    assert scripts == set(SCRIPTS), "what is there is served"


def test_pages_ask_for_nothing_from_elsewhere():
    for name in (START, "style.css", "layout.css"):
        text = STATIC.joinpath(name).read_text("utf-8")
        assert "http:" not in text
        assert "https:" not in text
        assert not re.search(r"<script>|<style|\son\w+=|style=", text), "the policy forbids these"


def test_every_script_is_asked_for_at_once():
    page = STATIC.joinpath(START).read_text("utf-8")
    asked = re.findall(r'<link rel="modulepreload" href="([^"]+)">', page)
    assert [*asked, "js/main.js"] == list(SCRIPTS)


def test_scripts_import_only_what_stands_before_them():
    known: set[str] = set()
    for name in SCRIPTS:
        text = STATIC.joinpath(*name.split("/")).read_text("utf-8")
        assert set(re.findall(r'from "\./([^"]+)"', text)) <= known, name
        known.add(name.removeprefix("js/"))


def test_scripts_are_short():
    for part in (*STATIC.iterdir(), *STATIC.joinpath("js").iterdir()):
        if part.is_file():
            lines = part.read_text("utf-8").splitlines()
            assert len(lines) <= 400, part.name
            assert part.name == "favicon.svg" or max(map(len, lines)) <= 100, part.name


def test_the_light_colours_are_those_of_the_figures():
    style = STATIC.joinpath("style.css").read_text("utf-8")
    light = style[: style.index("}")]
    for name in ("INK", "MUTED", "GRID", "FIRST", "AGAIN", "LOST", "TIMEOUT", "CUT"):
        assert f"--{name.lower()}: {getattr(theme, name)};" in light


def test_the_library_comes_with_its_licence():
    assert "MIT" in STATIC.joinpath("vendor", "uPlot-LICENSE.txt").read_text("utf-8")


def test_columns_come_as_they_were():
    columns = {
        "a": np.array([1.5, np.nan]),
        "b": np.arange(3, dtype=np.uint8),
        "c": np.array([], np.int16),
        "d": np.array([7], np.uint32),
    }
    said, found = unpack(pack(columns, {"x": "ü"}).content)
    assert said == {"x": "ü"}
    for name, column in columns.items():
        assert found[name].dtype == column.dtype
        np.testing.assert_array_equal(found[name], column)


# The data.


def test_bursts_of_a_mesh_are_the_hops_that_were_recorded(mesh):
    page, result = viewer(mesh), bl.read(mesh)
    hops = result.table("bursts_hops").to_arrow().to_pylist()
    fates = {row["burst"]: row for row in result.bursts.to_pylist()}
    fibres = about(page)["network"]["fibres"]
    reach = max(fibre["delay_s"] for fibre in fibres)
    for begin, end in ((0.0, 0.4), (0.1, 0.13)):
        said, found = data(page, "bursts", **{"from": begin, "to": end})
        expected = sorted(
            (hop["burst"], hop["from"] - 1, hop["to"] - 1, hop["wavelength"], hop["end_ps"])
            for hop in hops
            if hop["departed_ps"] <= end * 1e12 and hop["end_ps"] >= (begin - reach) * 1e12
        )
        got = []
        for i, number in enumerate(found["burst"]):
            fibre = fibres[found["fibre"][i]]
            wavelength = None if found["wavelength"][i] < 0 else int(found["wavelength"][i])
            end_ps = round(found["end_s"][i] * 1e12)
            got.append((int(number), fibre["from"], fibre["to"], wavelength, end_ps))
            assert found["lost"][i] == (fates[number]["fate"] == "lost")
            assert found["kind"][i] == ["data", "ack", "background"].index(
                fates[number]["direction"]
            )
        assert said == {"every": 1}
        assert sorted(got, key=str) == sorted(expected, key=str)
        assert (np.diff(found["left_s"]) >= 0).all()


def test_there_were_losses_to_look_at(mesh, path):
    for where in (mesh, path):
        lost = bl.read(where).bursts.where(fate="lost")
        _, found = data(viewer(where), "losses")
        np.testing.assert_allclose(found["t_s"], np.sort(lost.seconds("lost_ps")), rtol=1e-12)
        assert len(found["t_s"]) > 2


@pytest.mark.parametrize("hops", [10_000_000, 1000])
def test_the_delays_of_a_mesh_are_found_from_its_bursts(mesh, monkeypatch, hops):
    monkeypatch.setattr("burstlab.page.slices._SEEN", hops)
    for fibre in about(viewer(mesh))["network"]["fibres"]:
        assert fibre["delay_s"] == pytest.approx(200 * 5e-6)


@pytest.mark.parametrize("name", ["deflection", "nsfnet"])
def test_the_delays_are_found_whatever_nodes_do_about_contention(root, tmp_path, name):
    scenario = bl.load(root / "examples" / f"{name}.toml")
    scenario["run"] = {"duration": "300 ms", "seed": 1}
    recorded(scenario, tmp_path / "r", trace="bursts")
    drawn = about(viewer(tmp_path / "r"))["network"]
    names = [node["name"] for node in drawn["nodes"]]
    for fibre in drawn["fibres"]:
        ends = {names[fibre["from"]], names[fibre["to"]]}
        km = 100 if name == "deflection" else NSFNET_KM.get(frozenset(ends))
        if km is not None:
            assert fibre["delay_s"] == pytest.approx(km * 5e-6), ends


NSFNET_KM = {
    frozenset(("1", "2")): 1100,
    frozenset(("4", "11")): 2400,
    frozenset(("8", "9")): 700,
    frozenset(("12", "13")): 300,
}


def test_every_refusal_is_a_lost_burst_where_it_was_lost(mesh):
    page = viewer(mesh)
    _, found = data(page, "bursts", **{"from": 0, "to": 1})
    fibres = about(page)["network"]["fibres"]
    node = {
        row["burst"]: row["node"] - 1 for row in bl.read(mesh).bursts.where(fate="lost").to_pylist()
    }
    refused = np.flatnonzero(found["wavelength"] < 0)
    assert len(refused)
    for i in refused:
        assert fibres[found["fibre"][i]]["from"] == node[found["burst"][i]]


def test_bursts_of_a_path_arrive_when_they_did(path):
    page, result = viewer(path), bl.read(path)
    _, found = data(page, "bursts", **{"from": 0, "to": 5})
    for row in result.bursts.to_pylist():
        back = row["direction"] == "ack"
        mine = found["burst"] == row["burst"] * 2 + back
        if row["fate"] == "delivered":
            assert sorted(found["fibre"][mine]) == ([3, 4, 5] if back else [0, 1, 2])
            last = found["end_s"][mine].max() + 5e-3
            assert last == pytest.approx(row["arrived_ps"] * 1e-12, abs=1e-9)
        elif row["fate"] == "lost":
            assert found["wavelength"][mine].min() < 0
            assert found["left_s"][mine].max() == pytest.approx(row["lost_ps"] * 1e-12, abs=1e-5)


def test_a_flow_is_its_rows(mesh):
    result, page = bl.read(mesh), viewer(mesh)
    for number in (0, 4):
        _, found = data(page, "flow", flow=number)
        packets = result.packets.where(flow=number, kind="data")
        np.testing.assert_allclose(found["sent_s"], packets.seconds("sent_ps"), rtol=1e-12)
        np.testing.assert_array_equal(found["seq"], packets["seq"])
        lost = packets["fate"] == "lost"
        np.testing.assert_array_equal(found["flags"] & GONE > 0, lost)
        np.testing.assert_array_equal(found["flags"] & AGAIN > 0, packets["transmission"] > 1)
        cwnd = result.cwnd.where(flow=number)
        np.testing.assert_array_equal(found["cwnd"], cwnd["cwnd"].astype(np.float32))
        np.testing.assert_array_equal(found["acked"], cwnd["ack"])
        assert set(found["carrier"]) <= set(result.bursts["burst"])


def test_time_outs_have_their_truth(path):
    result = bl.read(path)
    _, found = data(viewer(path), "flow", flow=0)
    flow = result.flows.to_pylist()[0]
    timeouts = found["event"] == 0
    assert timeouts.sum() == flow["timeouts"] > 0
    for code, name in ((1, "false"), (2, "true"), (3, "spurious")):
        assert (found["truth"][timeouts] == code).sum() == flow[f"{name}_timeouts"]


def test_thinning_keeps_what_is_not_plain(path):
    found = viewer(path).data["data/flow"]({"flow": "0"})
    columns = dict(unpack(found.content)[1])
    thin, every = thinned(columns, 100)
    assert every > 1
    assert len(thin["seq"]) < len(columns["seq"])
    assert (thin["flags"] > 0).sum() == (columns["flags"] > 0).sum()
    assert len(thin["event"]) == len(columns["event"])
    assert thin["cwnd"].min() == columns["cwnd"].min()


def test_too_many_bursts_are_thinned_as_wholes(mesh, monkeypatch):
    monkeypatch.setattr("burstlab.page.slices.ROWS", 50)
    assert ROWS > 50
    said, found = data(viewer(mesh), "bursts", **{"from": 0, "to": 1})
    assert said["every"] > 1
    assert (found["burst"] % said["every"] == 0).all()


def test_flows_with_most_time_outs_come_first(path, mesh):
    for where in (path, mesh):
        flows = about(viewer(where))["flows"]
        outs = [flow["timeouts"] for flow in flows]
        assert outs == sorted(outs, reverse=True)
        assert len(flows) == len(bl.read(where).flows)


def test_nodes_stand_where_a_map_says(mesh, tmp_path):
    places = {str(n): (10.0 + n, 20.0 - 3 * n) for n in range(1, 7)}
    nodes = [{"id": name, "latitude": a, "longitude": b} for name, (a, b) in places.items()]
    links = [{"source": "1", "target": name} for name in list(places)[1:]]
    map_file = tmp_path / "map.json"
    map_file.write_text(json.dumps({"nodes": nodes, "links": links}))
    drawn = about(viewer(mesh, map_file=map_file))["network"]["nodes"]
    xs, ys = [node["x"] for node in drawn], [node["y"] for node in drawn]
    assert xs == sorted(xs, reverse=True), "each is farther west"
    assert ys == sorted(ys, reverse=True), "and farther north"


def test_each_topology_can_be_drawn(tmp_path):
    for name in ("nsfnet", "nsfnet-8e6c", "star", "dumbbell", "line"):
        scenario: dict[str, Any] = {
            "network": {"topology": name},
            "bursts": [{"erlangs": 0.05, "length": {"distribution": "fixed", "mean": "12 KB"}}],
            "run": {"duration": "5 ms"},
        }
        where = tmp_path / name
        recorded(scenario, where, trace="bursts")
        drawn = about(viewer(where))
        nodes = drawn["network"]["nodes"]
        assert len({(node["x"], node["y"]) for node in nodes}) == len(nodes)
        assert all(fibre["delay_s"] > 0 for fibre in drawn["network"]["fibres"])
        assert drawn["missing"] == ["packets", "cwnd", "ledger"]


# Playing.


def test_sliders_change_the_scenario_they_name():
    wanted = {"timer": "20 ms", "loss": 0.1, "window": 8, "variant": "sack", "detector": "ble"}
    changed = applied(PLAYED, {**wanted, "seed": 4, "delay": "1 ms", "access": "1 Mb/s"})
    assert changed["edge"]["timer"] == "20 ms"
    assert changed["loss"]["data"] == {"process": "bernoulli", "probability": 0.1}
    assert changed["tcp"] == {**PLAYED["tcp"], "variant": "sack", "window": 8, "detector": "ble"}
    assert (changed["run"]["seed"], changed["network"]["link_delay"]) == (4, "1 ms")
    assert PLAYED["edge"]["timer"] == "5 ms", "the start is left alone"


def test_controls_begin_where_a_scenario_is(root):
    found = {control.name: control for control in controls(bl.resolve(PLAYED))[0]}
    for control in CONTROLS:
        value = found[control.name].value
        assert value in found[control.name].values
        assert value == (control.value if control.name != "seed" else 1)
        assert value in control.values
    other, note = controls(bl.resolve(root / "examples" / "one_burst.toml"))
    assert note == ""
    values = {control.name: control.value for control in other}
    assert values["timer"] == "40 ms"
    assert values["loss"] == "as given", "its losses are a script"
    assert values["variant"] == "sack"
    half = applied(PLAYED, {"timer": "500 us", "access": "3 Mb/s"})
    moved = {control.name: control for control in controls(bl.resolve(half))[0]}
    assert moved["timer"].value == "0.5 ms"
    assert moved["access"].values[1:4] == ["2 Mb/s", "3 Mb/s", "5 Mb/s"]


def test_what_is_played_is_what_a_run_gives():
    page = player()
    said, found = data(page, "play", loss=0.02, window=32, detector="back", seed=7)
    document = tomllib.loads(said["toml"])
    for index, detector in enumerate(("none", "back")):
        document["tcp"]["detector"] = detector
        result = bl.run(document, trace="packets")
        assert result.fingerprint == said["fingerprints"][index]
        flow = result.flows.to_pylist()[0]
        assert said["drawn"][index]["goodput_bps"] == flow["goodput_bps"]
        assert said["drawn"][index]["timeouts"] == flow["timeouts"]
        sent = result.packets.where(kind="data").seconds("sent_ps")
        np.testing.assert_allclose(found[f"{index}/sent_s"], sent, rtol=1e-12)


def test_the_bars_and_the_gain_are_of_the_same_runs():
    page = player()
    said, _ = data(page, "play", loss=0.03, duration="5 s")
    from burstlab.statistics import mean_ci95, paired_ratio

    document = applied(PLAYED, {"duration": "5 s", "loss": 0.03, "detector": "none"})
    goodputs = []
    for detector in ("none", "bnak"):
        document["tcp"]["detector"] = detector
        result = bl.run(document, replications=20)
        goodputs.append([one.summary["flows"][0]["goodput_bps"] for one in result.replications])
    assert said["runs"] == 20
    for side, runs in zip(said["sides"], goodputs, strict=True):
        mean = mean_ci95(runs)
        assert (side["goodput_bps"], side["goodput_ci95"]) == (mean.mean, mean.ci95)
    ratio = paired_ratio(goodputs[1], goodputs[0])
    assert (said["gain"], said["interval"]) == (ratio.mean - 1, ratio.ci95)
    # The one that is drawn is the first of them.
    assert [one["goodput_bps"] for one in said["drawn"]] == [runs[0] for runs in goodputs]
    several = page.data["data/several"]({"runs": "4", "loss": "0.03", "duration": "5 s"})
    ratio = paired_ratio(goodputs[1][:4], goodputs[0][:4])
    found = json.loads(several.content)
    assert (found["runs"], found["gain"]) == (4, ratio.mean - 1)
    page.close()


def test_a_full_window_of_the_start_leaves_in_one_burst():
    page = player()
    said, found = data(page, "play")
    assert "the window leaves in one burst" in said["spread"]
    assert found["1/packets"].max() == PLAYED["tcp"]["window"]
    said, found = data(page, "play", timer="1 ms")
    assert "the window leaves in 2 bursts" in said["spread"]
    assert found["1/packets"].max() < PLAYED["tcp"]["window"]
    page.close()


def test_the_start_is_the_story_of_the_tutorial(root):
    """Each lost burst is a false time-out of Reno, and none of Burst TCP."""
    text = (root / "docs" / "tutorial.md").read_text()
    first = tomllib.loads(
        text[text.index("# first.toml") : text.index("```", text.index("# first"))]
    )
    first["tcp"]["detector"] = "bnak"
    first["loss"] = {"data": {"process": "bernoulli", "probability": 0.03}}
    assert bl.resolve(PLAYED) == bl.resolve(first)
    page = player()
    said, found = data(page, "play")
    page.close()
    assert [one["false_timeouts"] for one in said["drawn"]] == [4, 0]
    assert round(said["gain"], 2) == 0.56
    assert said["paired"] == "both runs of a pair lose the same bursts"
    # As far as both send them, both runs lose the bursts of the same numbers.
    sent, lost = [], []
    for side in (0, 1):
        burst, gone = found[f"{side}/burst"], found[f"{side}/gone"]
        sent.append(burst.max())
        lost.append(burst[gone == 1].tolist())
    assert len(lost[0]) == 4
    assert [one for one in lost[1] if one <= min(sent)] == lost[0]


@pytest.mark.parametrize(
    ("loss", "said"),
    [
        ({"process": "none"}, "no burst is lost in them"),
        ({"process": "outages", "mean_up": "1 s", "mean_down": "20 ms"}, "at the same times"),
        ({"process": "script", "carrying": [40]}, "lose the same bursts"),
    ],
)
def test_what_a_pair_has_in_common_is_said_of_each_process(loss, said):
    from burstlab.page.spread import paired

    assert said in paired(bl.resolve({**PLAYED, "loss": {"data": loss}}))


def test_what_the_detector_took_time_outs_for_is_said():
    page = player()
    said, found = data(page, "play", loss=0.05, detector="ble", seed=2, duration="20 s")
    outs = found["1/event"] == 0
    truth, verdict = found["1/truth"][outs], found["1/verdict"][outs]
    judged = said["judged"]
    assert judged["false"] == (truth == 1).sum() > 0
    assert judged["true"] == (truth == 2).sum()
    assert judged["false_recognised"] == ((truth == 1) & (verdict == 1)).sum()
    assert judged["true_recognised"] == ((truth == 2) & (verdict == 2)).sum()
    page.close()


def test_a_scenario_without_losses_begins_with_some(root, tmp_path):
    (tmp_path / "first.toml").write_text('[run]\nduration = "5 s"\n')
    page = player(str(tmp_path / "first.toml"))
    shown = json.loads(page.data["data/controls"]({"preset": ""}).content)
    loss = next(one for one in shown["controls"] if one["name"] == "loss")
    assert (loss["value"], loss["values"][0]) == (0.03, "as given")
    assert "first.toml loses no burst by itself; Burst loss stands at 3 %" in shown["note"]
    said, _ = data(page, "play")
    assert "probability = 0.03" in said["toml"]
    assert sum(one["retransmissions"] for one in said["sides"]) > 0
    page.close()


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("timer=soon", 200),
        ("window=0", 200),
        ("window=many", 400),
        ("colour=blue", 400),
    ],
)
def test_a_slider_out_of_range_is_answered(query, status):
    with serving(player()) as running:
        answer, body = ask(running, f"/{running.token}/data/play?{query}")
    assert answer.status == status
    assert b"fix" in body if status == 200 else body.endswith(b"\n")


# The commands.


@pytest.mark.parametrize("command", ["view", "play"])
def test_a_taken_port_is_an_error(burstlab, path, command):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        given = [path] if command == "view" else []
        answer = burstlab(command, *given, "--port", port, "--no-open")
    assert answer.status == 2
    assert f"--port {port}: cannot be used" in answer.err
    assert "fix: give another port" in answer.err


@pytest.mark.parametrize("port", ["-1", "65536", "1.5", "http"])
def test_a_port_that_is_none_is_an_error(burstlab, path, port):
    assert burstlab("view", path, "--port", port, "--no-open").status == 2


def test_a_point_of_what_is_no_study_is_an_error(burstlab, path):
    answer = burstlab("view", path, "--point", 1, "--no-open")
    assert answer.status == 2
    assert "--point works only with a study" in answer.err


def test_a_directory_without_a_result_is_an_error(burstlab, tmp_path):
    for where, why in ((tmp_path / "no", "no such directory"), (tmp_path, "holds no result")):
        answer = burstlab("view", where, "--no-open")
        assert answer.status == 2
        assert why in answer.err
        assert "fix: give a directory that burstlab run --out wrote" in answer.err


def test_a_result_without_bursts_says_how_to_record_them(burstlab, tmp_path):
    recorded(PATH, tmp_path / "r", trace=("packets",))
    answer = burstlab("view", tmp_path / "r", "--no-open")
    assert answer.status == 2
    assert "the table bursts was not recorded" in answer.err
    assert "--trace packets,bursts,cwnd,ledger" in answer.err


def test_a_result_of_another_version_is_an_error(burstlab, tmp_path):
    recorded(PATH, tmp_path / "r")
    summary = tmp_path / "r" / "summary.json"
    document = json.loads(summary.read_text())
    summary.write_text(json.dumps({**document, "burstlab": "0.0.1"}))
    answer = burstlab("view", tmp_path / "r", "--no-open")
    assert answer.status == 2
    assert f"a result of burstlab 0.0.1, and this is {bl.__version__}" in answer.err


@pytest.mark.parametrize("content", ["", "{", "[]", "{}", '{"seed": 1}', "\x00"])
def test_a_damaged_result_is_an_error(burstlab, tmp_path, content):
    recorded(PATH, tmp_path / "r")
    (tmp_path / "r" / "summary.json").write_text(content)
    assert burstlab("view", tmp_path / "r", "--no-open").status == 2


def test_a_damaged_table_is_an_error(burstlab, tmp_path):
    recorded(PATH, tmp_path / "r")
    (tmp_path / "r" / "bursts.parquet").write_bytes(b"PAR1 and no more")
    assert burstlab("view", tmp_path / "r", "--no-open").status == 2


def test_a_replication_that_is_not_there_is_an_error(burstlab, path):
    answer = burstlab("view", path, "--replication", 1, "--no-open")
    assert answer.status == 2
    assert "use 0 to 0" in answer.err


def test_a_mesh_cannot_be_played_with(burstlab, root):
    answer = burstlab("play", root / "examples" / "nsfnet.toml", "--no-open")
    assert answer.status == 2
    assert "or burstlab view" in answer.err


def test_a_wrong_scenario_cannot_be_played_with(burstlab, tmp_path):
    (tmp_path / "s.toml").write_text('[edge]\ntimer = "soon"\n')
    assert burstlab("play", tmp_path / "s.toml", "--no-open").status == 2


def test_a_result_without_bursts_of_its_own_is_an_error(burstlab, tmp_path):
    recorded(PATH, tmp_path / "r")
    scenario = tmp_path / "r" / "scenario.toml"
    scenario.write_text(scenario.read_text().replace('topology = "path"', 'topology = "line"'))
    summary = tmp_path / "r" / "summary.json"
    found = json.loads(summary.read_text())
    found["scenario_sha256"] = hashlib.sha256(scenario.read_bytes()).hexdigest()
    summary.write_text(json.dumps(sums.sealed(found)))
    answer = burstlab("view", tmp_path / "r", "--no-open")
    assert answer.status == 2
    assert "no bursts or slots to draw" in answer.err


def test_ctrl_c_ends_it(path):
    command = [sys.executable, "-m", "burstlab", "view", str(path), "--no-open"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as one:
        assert one.stdout is not None
        assert "http://127.0.0.1:" in one.stdout.readline()
        one.send_signal(signal.SIGINT)
        _, err = one.communicate(timeout=30)
    assert (one.returncode, err) == (0, "")


def test_a_body_is_what_was_asked_for(server):
    answer, body = ask(server, f"/{server.token}/data/about")
    assert answer.getheader("Content-Type") == "application/json"
    assert json.loads(body)["title"] == "path"
    assert Body(b"", "x").content == b""
