"""Parameters of an endpoint, by the names of settings of a Linux kernel."""

from __future__ import annotations

from collections.abc import Mapping

#: Settings below ``net.ipv4`` that switch a part on or off, and the fields of ``tcp`` that do.
SWITCHES: Mapping[str, str] = {
    "tcp_sack": "sack",
    "tcp_dsack": "d_sack",
    "tcp_timestamps": "timestamps",
    "tcp_recovery": "rack",
    "tcp_early_retrans": "tail_loss_probe",
    "tcp_frto": "f_rto",
    "tcp_window_scaling": "window_scaling",
}

#: Values of ``tcp_early_retrans`` with which the kernel probes the end of a flight.
_PROBING = frozenset({3, 4})


def fields_of(name: str, value: str) -> dict[str, bool | int] | None:
    """Return the fields of ``tcp`` that a setting below ``net.ipv4`` sets.

    Parameters
    ----------
    name, value
        The setting, such as ``tcp_recovery`` and ``1``.

    Returns
    -------
        The fields; None where there is no counterpart, or the value is none.
    """
    try:
        number = int(value.strip(), 0)
    except ValueError:
        return None
    if name == "tcp_recovery":
        # Bits: RACK finds losses; its reordering window is fixed; reports do not end its wait.
        fields: dict[str, bool | int] = {"rack": bool(number & 1)}
        if number & 2:
            fields["rack_adapts"] = False
        if number & 4:
            fields["rack_counts"] = False
        return fields
    if name == "tcp_early_retrans":
        return {"tail_loss_probe": number in _PROBING}
    if name == "tcp_slow_start_after_idle":
        return {} if number else {"idle_restart_window": 0}
    return {SWITCHES[name]: number != 0} if name in SWITCHES else None


#: Congestion controls of the kernel that we have, and what ``tcp.window_law`` calls them.
LAWS: Mapping[str, str] = {
    "reno": "aimd",
    "cubic": "cubic",
    "bbr": "bbr",
    "dctcp": "dctcp",
    "vegas": "vegas",
    "scalable": "scalable",
    "highspeed": "highspeed",
    "htcp": "htcp",
    "illinois": "illinois",
    "veno": "veno",
    "westwood": "westwood",
}
