//! The totals of a world. What is in flight is counted where it is, not worked out from the rest.

use super::core::{Network, UnderWay};
use super::transit::Transit;
use crate::measure::Counters;

/// The totals, with what is under way in the mesh, if there is one.
pub(super) fn counters(
    transit: &Transit,
    [events, core_events, packets_one_by_one]: [u64; 3],
    under_way: &UnderWay,
) -> Counters {
    let (access, cross) = (&transit.access, &transit.access.cross);
    let mut all = transit.hosts.demands.gone.clone();
    transit.hosts.live().for_each(|flow| all.add(&flow.tally()));
    let core = transit.core.totals(under_way);
    let (in_bursts, batches, on_links) = (core.in_flight, core.batches, access.in_flight());
    let (on_air, [down, up]) = (access.wireless.in_flight(), access.wireless.kept());
    let link_lost = access.losses.lost;
    let crossed = all.delivered + down;
    let not_taken = access.receiver_drops + access.receiver_not_ect + link_lost[1];
    let reached_egress = crossed + access.going_down() + not_taken;
    let [data, ack, background] = core.bursts;
    let (arrived, waiting) = (under_way.arrived, under_way.batches);
    Counters {
        packets_sent: all.sent,
        packets_delivered: all.delivered,
        packets_lost: all.lost,
        packets_in_flight: on_links[0] + in_bursts[0] + on_air.data,
        acks_sent: all.acks_sent,
        acks_delivered: all.acks_delivered,
        acks_lost: all.acks_lost,
        acks_in_flight: on_links[1] + in_bursts[1] + on_air.acks,
        bursts_sent: data.0.sent,
        bursts_delivered: data.0.delivered,
        bursts_lost: data.0.lost,
        bursts_in_flight: data.1,
        ack_bursts_sent: ack.0.sent,
        ack_bursts_delivered: ack.0.delivered,
        ack_bursts_lost: ack.0.lost,
        ack_bursts_in_flight: ack.1,
        background_bursts_sent: background.0.sent,
        background_bursts_delivered: background.0.delivered,
        background_bursts_lost: background.0.lost,
        background_bursts_in_flight: background.1,
        other_sent: cross.sent,
        other_delivered: cross.delivered,
        other_lost: cross.lost + cross.link_lost + core.cross_lost,
        other_in_flight: cross.in_flight() + in_bursts[2],
        packets_crossed: reached_egress,
        access_offered: all.sent - up + reached_egress + cross.on_access(),
        access_lost: access.sender_drops + access.receiver_drops + cross.lost,
        access_link_lost: link_lost.iter().sum::<u64>() + cross.link_lost,
        packets_not_ect: all.not_ect,
        notices_sent: transit.context.notices.sent,
        notices_lost: transit.context.notices.lost,
        batches_sent: arrived.batches,
        batches_delivered: batches.delivered.batches,
        batches_lost: batches.lost.batches,
        batches_in_flight: waiting.batches,
        batch_packets_sent: arrived.packets,
        batch_packets_delivered: batches.delivered.packets,
        batch_packets_lost: batches.lost.packets,
        batch_packets_in_flight: waiting.packets,
        batch_bytes_sent: arrived.bytes,
        batch_bytes_delivered: batches.delivered.bytes,
        batch_bytes_lost: batches.lost.bytes,
        batch_bytes_in_flight: waiting.bytes,
        events,
        core_events,
        packets_one_by_one,
    }
}
