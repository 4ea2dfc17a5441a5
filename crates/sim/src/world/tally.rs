//! The totals of a world. What is in flight is counted where it is, not worked out from the rest.

use super::mesh::{BurstCounts, BurstKind, Mesh, UnderWay};
use super::optics::Optics;
use super::{Access, World};
use crate::measure::Counters;

/// The totals, with what is under way in the mesh, if there is one.
pub(super) fn counters(world: &World, under_way: &UnderWay) -> Counters {
    let mut all = world.demands.gone.clone();
    let live = world.flows.iter().filter(|flow| !flow.vacant);
    live.for_each(|flow| all.add(&flow.tally()));
    let (bursts, aboard, others_lost) = in_optics(&world.optics, under_way);
    let others_lost = world.others.lost + others_lost;
    let (on_air, [down, up]) = (world.wireless.aboard(), world.wireless.kept());
    let crossed = all.delivered + down;
    let reached_egress = crossed + on_links(&world.data_down) + world.receiver_drops;
    let [data, ack, background] = bursts;
    let batches = match &world.optics {
        Optics::Ops(_) => Default::default(),
        Optics::Mesh(mesh) => mesh.batches,
    };
    let (arrived, waiting) = (under_way.arrived, under_way.batches);
    Counters {
        packets_sent: all.sent,
        packets_delivered: all.delivered,
        packets_lost: all.lost,
        packets_in_flight: on_wires(&world.data_up, &world.data_down) + aboard[0] + on_air.data,
        acks_sent: all.acks_sent,
        acks_delivered: all.acks_delivered,
        acks_lost: all.acks_lost,
        acks_in_flight: on_wires(&world.ack_up, &world.ack_down) + aboard[1] + on_air.acks,
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
        other_sent: world.others.sent,
        other_delivered: world.others.delivered,
        other_lost: others_lost,
        other_in_flight: world.others.in_flight() + aboard[2],
        packets_crossed: reached_egress,
        access_offered: all.sent - up + reached_egress + world.others.on_access(),
        access_lost: world.sender_drops + world.receiver_drops + world.others.lost,
        notices_sent: world.context.notices.sent,
        notices_lost: world.context.notices.lost,
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
        events: world.events,
        core_events: world.core_events,
    }
}

/// Bursts; data packets of flows, ACKs and packets of other traffic aboard; the latter lost.
fn in_optics(optics: &Optics, under_way: &UnderWay) -> (Bursts, [u64; 3], u64) {
    match optics {
        Optics::Mesh(mesh) => (mesh_bursts(mesh, under_way), under_way.packets, mesh.others_lost),
        Optics::Ops(ops) => (Bursts::default(), ops.aboard(), ops.others_lost),
    }
}

/// Bursts that ended and bursts under way, of data, of ACKs, of others.
type Bursts = [(BurstCounts, u64); 3];

fn mesh_bursts(mesh: &Mesh, under_way: &UnderWay) -> Bursts {
    [BurstKind::Data, BurstKind::Ack, BurstKind::Background]
        .map(|kind| (mesh.counts[kind as usize], under_way.bursts[kind as usize]))
}

fn on_wires<P>(up: &[Access<P>], down: &[Access<P>]) -> u64 {
    on_links(up) + on_links(down)
}

fn on_links<P>(links: &[Access<P>]) -> u64 {
    links.iter().map(|link| link.lane.iter().count() as u64).sum()
}
