"""``burstlab view`` and ``burstlab play``: the page."""

from __future__ import annotations

from burstlab.cli.flags import Switch, Whole


def view(
    result: str,
    /,
    *,
    port: Whole = None,
    replication: Whole = None,
    point: Whole = None,
    scheme: str | None = None,
    map_: str | None = None,
    allow_code: Switch = False,
    no_open: Switch = False,
) -> int:
    """Open the page of a result in a browser: bursts in the network, and a flow, over time.

    Parameters
    ----------
    result
        The directory that burstlab run --out wrote, with --trace bursts,packets,cwnd,ledger; or
        that of a study, whose runs are made again as they are chosen.
    port
        Port on 127.0.0.1 (default: any that is free).
    replication
        Which repetition to show, from 0 (the default).
    point
        Of a study, the point to show first (default: 0).
    scheme
        Of a study, the scheme to show first.
    map_
        A topology file with latitudes and longitudes, to place the nodes that it names.
    allow_code
        Of a study, execute Python code that stands in it, as runs are made again; read it before.
    no_open
        Print the address, and leave the browser alone.
    """
    from burstlab.page import serve, viewer

    page = viewer(
        result,
        replication=replication or 0,
        map_file=map_,
        point=point,
        scheme=scheme,
        allow_code=allow_code,
    )
    serve(page, port=port or 0, browse=not no_open)
    return 0


def play(
    scenario: str | None = None,
    /,
    *,
    port: Whole = None,
    no_open: Switch = False,
) -> int:
    """Open a page with sliders that rerun a path as they move: TCP beside Burst TCP.

    Parameters
    ----------
    scenario
        The TOML file of a path to start from (default: three fibres that lose bursts).
    port
        Port on 127.0.0.1 (default: any that is free).
    no_open
        Print the address, and leave the browser alone.
    """
    from burstlab.page import player, serve

    serve(player(scenario), port=port or 0, browse=not no_open)
    return 0
