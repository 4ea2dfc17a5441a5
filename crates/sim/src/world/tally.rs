//! The totals of a world. What is in flight is counted where it is, not worked out from the rest.

use super::flow::Tally;
use super::{Access, World};
use crate::measure::Counters;

pub(super) fn counters(world: &World) -> Counters {
    let sum = |of: fn(&Tally) -> u64| world.flows.iter().map(|flow| of(&flow.tally)).sum();
    let (data, ack) = (&world.data_core, &world.ack_core);
    let delivered = sum(|tally| tally.delivered);
    let reached_egress = delivered + on_links(&world.data_down) + world.receiver_drops;
    Counters {
        packets_sent: sum(|tally| tally.sent),
        packets_delivered: sum(|tally| tally.delivered),
        packets_lost: sum(|tally| tally.lost),
        packets_in_flight: on_links(&world.data_up) + data.aboard() + on_links(&world.data_down),
        acks_sent: sum(|tally| tally.acks_sent),
        acks_delivered: sum(|tally| tally.acks_delivered),
        acks_lost: sum(|tally| tally.acks_lost),
        acks_in_flight: on_links(&world.ack_up) + ack.aboard() + on_links(&world.ack_down),
        bursts_sent: data.bursts_sent,
        bursts_delivered: data.bursts_delivered,
        bursts_lost: data.bursts_lost,
        bursts_in_flight: data.bursts_in_flight(),
        ack_bursts_sent: ack.bursts_sent,
        ack_bursts_delivered: ack.bursts_delivered,
        ack_bursts_lost: ack.bursts_lost,
        ack_bursts_in_flight: ack.bursts_in_flight(),
        other_sent: world.others.sent,
        other_delivered: world.others.delivered,
        other_lost: world.others.lost,
        other_in_flight: world.others.in_flight(),
        access_offered: sum(|tally| tally.sent) + reached_egress + world.others.sent,
        access_lost: world.sender_drops + world.receiver_drops + world.others.lost,
        notices_sent: world.context.notices.sent,
        notices_lost: world.context.notices.lost,
        events: world.events,
    }
}

fn on_links<P>(links: &[Access<P>]) -> u64 {
    links.iter().map(|link| link.lane.iter().count() as u64).sum()
}
