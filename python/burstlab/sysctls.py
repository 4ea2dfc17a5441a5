"""What settings of a Linux kernel are called in the parameters of an endpoint."""

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

#: Congestion controls of the kernel that we have, and what ``tcp.window_law`` calls them.
LAWS: Mapping[str, str] = {
    "reno": "aimd",
    "cubic": "cubic",
    "bbr": "bbr",
    "dctcp": "dctcp",
    "vegas": "vegas",
}
