"""Draw the picture that moves at the head of the README: a burst dies, and its sender waits.

    python docs/burst_dies.py

It runs SCENARIO, and writes what the run recorded as an SVG that any browser animates.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import burstlab as bl
from burstlab.plot import theme

FILE = Path(__file__).parent / "images/burst-dies.svg"

#: A path slow enough for the eye to follow: 0.54 s a round trip, bursts of up to ten packets.
SCENARIO: Mapping[str, Any] = {
    "network": {"core_nodes": 2, "link_rate": "10 Gb/s", "link_delay": "60 ms"},
    "access": {"rate": "1 Mb/s", "delay": "20 ms"},
    "edge": {"assembly": "timer", "timer": "80 ms"},
    "tcp": {"variant": "reno", "window": 24},
    "loss": {"data": {"process": "script", "carrying": [200]}},
    "run": {"duration": "14 s"},
}

TRACE = ("bursts", "cwnd", "ledger")

#: The part of the run that is shown, in seconds, and how much slower it is.
BEGIN, END, SLOWER = 5.2, 11.2, 2.5
#: After the last instant the picture stands for so many seconds.
HOLD = 2.0
WIDTH, HEIGHT = 860, 330
#: Where the nodes are, from the sender to the receiver, and how high data and ACKs go.
NODES = {"sender": 45, "ingress": 170, "core 1": 345, "core 2": 520, "egress": 695, "receiver": 815}
DATA_Y, ACK_Y = 88, 108
#: The axes of the window.
LEFT, RIGHT, TOP, BOTTOM = 60, 830, 190, 290

Row = dict[str, Any]


def main() -> None:
    """Run, and write the picture."""
    result = bl.run(SCENARIO, trace=TRACE)
    FILE.write_text("\n".join(picture(result)) + "\n", encoding="utf-8")
    print(f"{FILE.name}: {FILE.stat().st_size:,} bytes")


def picture(result: bl.Result) -> Iterator[str]:
    """Give the lines of the file."""
    bursts = result.bursts.to_pylist()
    events = [
        row for row in result.ledger.to_pylist() if row["kind"] in ("fast-retransmit", "timeout")
    ]
    (lost,) = (row for row in bursts if row["fate"] == "lost")
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'font-family="Inter, Helvetica, Arial, DejaVu Sans, sans-serif" fill="{theme.INK}">'
    )
    yield "<title>A burst of ten packets is lost, and TCP Reno waits for its time-out</title>"
    yield f'<rect width="{WIDTH}" height="{HEIGHT}" rx="8" fill="white"/>'
    # All else begins with this one, which begins again when it ends.
    yield (
        f'<rect width="0" height="0"><animate id="loop" attributeName="x" from="0" to="0" '
        f'begin="0s;loop.end" dur="{wall(END) + HOLD:g}s"/></rect>'
    )
    yield from captions(lost, events)
    yield from network()
    for row in bursts:
        yield from burst(row)
    yield from window(result.cwnd.to_pylist(), events)
    yield "</svg>"


def wall(at_s: float) -> float:
    """Seconds of the picture at which an instant of the run is shown."""
    return round((at_s - BEGIN) * SLOWER, 3)


def shown(content: str, begin_s: float, end_s: float) -> str:
    """Show something from one instant of the run to another."""
    dur = round(max((end_s - begin_s) * SLOWER, 0.01), 3)
    return (
        f'<g visibility="hidden">{content}<set attributeName="visibility" to="visible" '
        f'begin="loop.begin+{wall(begin_s):g}s" dur="{dur:g}s"/></g>'
    )


def captions(lost: Row, events: Iterable[Row]) -> Iterator[str]:
    """Say what happens, while it does."""
    repair, timeout = events
    dies, repaired, fires = (at / 1e12 for at in (lost["lost_ps"], repair["t_ps"], timeout["t_ps"]))
    still = timeout["lost_packets"]
    texts = [
        (BEGIN, dies, "TCP Reno sends; an edge node packs its packets into bursts (blue)."),
        (dies, repaired, f"Core 1 drops one burst, and {lost['packets']} packets die at once."),
        (repaired, fires, f"A fast retransmit repairs the first; {still} are still missing."),
        (fires, END + HOLD, "The timer fires: a false time-out. No link was ever congested."),
    ]
    for begin, end, text in texts:
        yield shown(
            f'<text x="30" y="36" font-size="19" font-weight="600">{text}</text>', begin, end
        )


def network() -> Iterator[str]:
    """Draw the nodes, and the fibres between them."""
    places = list(NODES.values())
    for near, far in pairwise(places):
        fibre = near != places[0] and far != places[-1]
        for y in (DATA_Y, ACK_Y):
            yield (
                f'<line x1="{near}" y1="{y}" x2="{far}" y2="{y}" stroke="{theme.GRID}" '
                f'stroke-width="{10 if fibre else 3}"/>'
            )
    middle = (DATA_Y + ACK_Y) / 2
    for name, x in NODES.items():
        shape = (
            f'<rect x="{x - 14}" y="{middle - 20}" width="28" height="40" rx="5"'
            if x in (places[0], places[-1])
            else f'<circle cx="{x}" cy="{middle}" r="21"'
        )
        yield f'{shape} fill="white" stroke="{theme.MUTED}" stroke-width="1.5"/>'
        yield f'<text x="{x}" y="{middle + 42}" font-size="13" text-anchor="middle">{name}</text>'


def burst(row: Row) -> Iterator[str]:
    """Move a burst along the fibres, as far as it comes."""
    began, lost = row["departed_ps"] / 1e12, row["lost_ps"]
    ended = (lost or row["arrived_ps"] or 0) / 1e12
    if not BEGIN < began < ended < END:
        return
    data = row["direction"] == "data"
    first, last = ("ingress", "egress") if data else ("egress", "ingress")
    if lost is not None:
        last = f"core {row['node']}"
    begin, end = NODES[first], NODES[last]
    y = DATA_Y if data else ACK_Y
    colour = theme.LOST if lost is not None else theme.FIRST if data else theme.CUT
    wide, high = (8 + 1.6 * row["packets"], 12) if data else (5, 6)
    yield shown(
        f'<rect y="{y - high / 2:g}" width="{wide:g}" height="{high}" rx="2" fill="{colour}">'
        f'<animate attributeName="x" from="{begin - wide / 2:g}" to="{end - wide / 2:g}" '
        f'begin="loop.begin+{wall(began):g}s" dur="{(ended - began) * SLOWER:g}s"/></rect>',
        began,
        ended,
    )
    if lost is not None:
        cross = f"M{end - 11},{y - 11}l22,22m0,-22l-22,22"
        yield shown(
            f'<path d="{cross}" stroke="{theme.LOST}" stroke-width="6"/>', ended, ended + 0.6
        )


def window(rows: Iterable[Row], events: Iterable[Row]) -> Iterator[str]:
    """Draw the congestion window, with what changed it, and the instant that is shown."""

    def across(at_s: float) -> float:
        return round(LEFT + (at_s - BEGIN) / (END - BEGIN) * (RIGHT - LEFT), 1)

    def up(segments: float) -> float:
        return round(BOTTOM - segments / 28 * (BOTTOM - TOP), 1)

    yield f'<text x="30" y="{TOP - 12}" font-size="13">congestion window (segments)</text>'
    for segments in (0, 12, 24):
        yield f'<path d="M{LEFT},{up(segments)}H{RIGHT}" stroke="{theme.GRID}"/>'
        yield (
            f'<text x="{LEFT - 8}" y="{up(segments) + 4}" font-size="12" text-anchor="end">'
            f"{segments}</text>"
        )
    for second in range(int(BEGIN), int(END) + 1):
        yield (
            f'<text x="{across(second)}" y="{BOTTOM + 18}" font-size="12" text-anchor="middle">'
            f"{second} s</text>"
        )
    steps = [(row["t_ps"] / 1e12, float(row["cwnd"])) for row in rows]
    before = [cwnd for at, cwnd in steps if at <= BEGIN][-1]
    line = f"M{LEFT},{up(before)}"
    line += "".join(f"H{across(at)}V{up(cwnd)}" for at, cwnd in steps if BEGIN < at < END)
    yield (
        f'<clipPath id="past"><rect x="{LEFT}" y="{TOP - 10}" width="{RIGHT - LEFT}" height="120">'
        f'<animate attributeName="width" from="0" to="{RIGHT - LEFT}" begin="loop.begin" '
        f'dur="{wall(END):g}s"/></rect></clipPath>'
    )
    yield (
        f'<path d="{line}H{RIGHT}" fill="none" stroke="{theme.FIRST}" stroke-width="2.5" '
        'clip-path="url(#past)"/>'
    )
    names = {
        "fast-retransmit": (theme.CUT, "fast retransmit"),
        "timeout": (theme.TIMEOUT, "false time-out"),
    }
    for row in events:
        at, (colour, name) = row["t_ps"] / 1e12, names[row["kind"]]
        yield shown(
            f'<path d="M{across(at)},{TOP - 4}V{BOTTOM}" stroke="{colour}" stroke-width="1.5" '
            f'stroke-dasharray="4 3"/><text x="{across(at) + 6}" y="{TOP + 8}" font-size="13" '
            f'fill="{colour}">{name}</text>',
            at,
            END + HOLD,
        )


if __name__ == "__main__":
    main()
