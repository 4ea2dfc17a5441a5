"""``burstlab view``, ``burstlab play`` and ``burstlab demo``: the page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from burstlab.cli.flags import Settings, Switch, Whole

if TYPE_CHECKING:
    from burstlab.page import Page


def view(
    result: str,
    /,
    *,
    port: Whole = None,
    token: str | None = None,
    replication: Whole = None,
    point: Whole = None,
    scheme: str | None = None,
    set_: Settings = None,
    map_: str | None = None,
    export: str | None = None,
    force: Switch = False,
    allow_code: Switch = False,
    no_open: Switch = False,
) -> int:
    """Open the page of a run in a browser: bursts in the network, and a flow, over time.

    Parameters
    ----------
    result
        The directory that burstlab run --out wrote, with --trace bursts,packets,cwnd,ledger; that
        of a study, whose runs are made again as they are chosen; or the TOML file of a scenario,
        which is run.
    port
        Port on 127.0.0.1 (default: any that is free).
    token
        Part of the address, 16 to 128 letters, digits, - and _; with --port, links can be kept
        (default: one is drawn).
    replication
        Which repetition to show, from 0 (the default).
    point
        For a study, the point to show first (default: 0).
    scheme
        For a study, the scheme to show first.
    set_
        For a scenario, change a field: path=value. Repeatable.
    map_
        A topology file with latitudes and longitudes, to place the nodes that it names.
    export
        Write the page to this file, with all that it shows, in place of serving it.
    force
        Replace that file.
    allow_code
        For a study or a scenario, execute Python code that is stored in it or came with a result;
        read it before.
    no_open
        Print the address, and do not open the browser.
    """
    from burstlab.page import viewer

    page = viewer(
        result,
        replication=replication or 0,
        map_file=map_,
        point=point,
        scheme=scheme,
        settings=set_ or [],
        allow_code=allow_code,
    )
    return _show(page, port, token, export, force, no_open)


def play(
    scenario: str | None = None,
    /,
    *,
    port: Whole = None,
    token: str | None = None,
    export: str | None = None,
    force: Switch = False,
    allow_code: Switch = False,
    no_open: Switch = False,
) -> int:
    """Open a page with sliders that rerun a path as they move: TCP compared with Burst TCP.

    Parameters
    ----------
    scenario
        The TOML file of a path to start from (default: that of the tutorial, with losses).
    port
        Port on 127.0.0.1 (default: any that is free).
    token
        Part of the address, as in burstlab view.
    export
        Write the page to this file, with the answers to some of its controls.
    force
        Replace that file.
    allow_code
        Execute Python code that is stored in the scenario, or came with a result; read it before.
    no_open
        Print the address, and do not open the browser.
    """
    from burstlab.page import player

    return _show(player(scenario, allow_code=allow_code), port, token, export, force, no_open)


def demo(
    *,
    port: Whole = None,
    token: str | None = None,
    export: str | None = None,
    force: Switch = False,
    no_open: Switch = False,
) -> int:
    """Open a guided tour: a burst dies, TCP reacts, and then Burst TCP does.

    Parameters
    ----------
    port
        Port on 127.0.0.1 (default: any that is free).
    token
        Part of the address, as in burstlab view.
    export
        Write the tour to this file, to be opened without Burstlab.
    force
        Replace that file.
    no_open
        Print the address, and do not open the browser.
    """
    from burstlab.page import demonstration

    return _show(demonstration(), port, token, export, force, no_open)


def _show(
    page: Page, port: int | None, token: str | None, file: str | None, force: bool, no_open: bool
) -> int:
    from contextlib import closing

    from burstlab.cli.printing import say
    from burstlab.errors import InputError
    from burstlab.page import export, serve

    if file is None:
        if force:
            raise InputError("--force works only with --export\n  fix: leave out --force")
        serve(page, port=port or 0, browse=not no_open, token=token)
        return 0
    from burstlab.running.progress import bar

    with closing(page), bar("recording") as progress:
        written = export(page, file, force=force, progress=progress or bool)
    say(f"{written}: {written.stat().st_size / 1e6:.1f} MB; open it in any browser")
    return 0
