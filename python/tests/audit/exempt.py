"""Numbers that no trace determines: they are bounded, or conserved, with the reason."""

from __future__ import annotations

_GIVEN = "what was given, or is measured by the clock of the machine"
_WORK = "the work that was done, which tracing changes: no more in the core than in all"
_TAKEN = "the work that was done, which tracing changes: no more than packets were delivered"
_NOTICES = "messages to senders have no trace: no more lost than sent"
_BATCHES = "packets of batches that wait in queues: conserved; those in bursts are computed"
_FRAMES = "frames on the air have no trace: at least one a packet, no more failures than frames"
_AIR = "packets have no time at the base station: at most what lies between egress and host"
_ADMISSION = "negotiations and notifications have no trace: no more than intervals and drops"
_SLOTS = (
    "slots have no trace of their own: conserved at each output and switch, none over the buffer"
)
_MARKS = "marks have no trace: no more packets marked than sent"
_ROUTES = "routes without a burst have no trace: no more than all data on one fibre"
_EXTRA = "notifications have no trace: no more than the backlog, which is computed"

#: By the place in the summary: why it is bounded alone.
BOUNDED: dict[str, str] = {
    **dict.fromkeys(("seed", "simulated_s", "wall_s"), _GIVEN),
    **dict.fromkeys(("counters.events", "counters.core_events"), _WORK),
    "counters.packets_one_by_one": _TAKEN,
    "flows[].packets_marked": _MARKS,
    "demand[].offered_load_fibre": _ROUTES,
    **dict.fromkeys(("counters.notices_sent", "counters.notices_lost"), _NOTICES),
    **{
        f"counters.batch{name}": _BATCHES
        for what in (
            "es_sent es_delivered es_lost es_in_flight",
            "_packets_sent _packets_in_flight",
        )
        for name in (*what.split(), "_bytes_sent", "_bytes_in_flight")
    },
    **{
        f"wlan[].{side}.{name}": _FRAMES
        for side in ("down", "up")
        for name in ("data_frames", "rts_frames", "answers", "collisions", "errors", "duplicates")
    },
    **{
        f"wlan[].{side}.{name}": _AIR
        for side in ("down", "up")
        for name in ("given_up", "wait_s", "mac_delay_s")
    },
    **{f"ops.edges[].{name}": _ADMISSION for name in ("requests", "refused", "frozen", "cuts")},
    **{
        f"ops.{name}": _SLOTS
        for name in (
            "slots_delivered",
            "switches[].buffer_max",
            "switches[].buffer_mean",
            "ports[].arrived",
            "ports[].carried",
            "ports[].utilisation",
            "ports[].dropped_contention",
            "ports[].dropped_congestion",
            "measured.sent",
            "measured.delivered",
            "measured.dropped",
        )
    },
    **{
        f"ops.{name}": _EXTRA
        for name in (
            "extra_buffer_mean_bits",
            "extra_buffer_whole_bits",
            "extra_buffer_max_bits",
        )
    },
}
