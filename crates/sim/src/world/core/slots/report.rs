//! The numbers of a slotted network. Counts and what is the most are of the whole run, means of the
//! time after the warm-up.

use std::collections::BTreeSet;

use burstlab_units::Time;

use super::SlotNetwork;
use super::pair::Pair;
use crate::measure::{MeasuredSlots, OpsSummary, PairSummary, PortSummary, SwitchSummary};
use crate::world::packet::Packet;

impl SlotNetwork {
    /// Data packets of flows, ACKs, and packets of cross-traffic that wait at an edge or are in
    /// slots.
    pub(super) fn in_flight(&self) -> [u64; 3] {
        let mut in_flight = [0; 3];
        let kind = |packet: &Packet| match packet {
            Packet::Data(packet) if packet.is_cross() => 2,
            Packet::Data(_) => 0,
            Packet::Ack(_) => 1,
        };
        in_flight[0] += self.ingress.packets();
        for load in self.pairs.iter().flat_map(|pair| pair.buffer.waiting()) {
            in_flight[kind(load)] += 1;
        }
        // A packet may travel in several slots. Some parts have arrived, and others are still to
        // leave.
        let mut parts: BTreeSet<(u32, u64)> = BTreeSet::new();
        for (flying, piece) in
            self.cells.values().flat_map(|flying| flying.left().map(move |p| (flying, p)))
        {
            let whole = &self.pairs[flying.pair as usize].whole;
            let counts = piece.parts == 1
                || !whole.is_damaged(piece.number) && parts.insert((flying.pair, piece.number));
            in_flight[kind(&piece.datagram)] += u64::from(counts);
        }
        for (number, pair) in (0..).zip(&self.pairs) {
            if let Some((load, id)) = pair.buffer.begun()
                && !pair.whole.is_damaged(id)
                && parts.insert((number, id))
            {
                in_flight[kind(load)] += 1;
            }
        }
        in_flight[1] += self.home.iter().map(|lane| lane.iter().count() as u64).sum::<u64>();
        in_flight
    }

    /// Measuring begins.
    pub(super) fn measures_from(&mut self, now: Time) {
        self.nodes.iter_mut().for_each(|node| node.switch.measures());
        self.fibres.iter_mut().for_each(|fibre| fibre.tally.early = fibre.tally.carried);
        self.pairs.iter_mut().for_each(|pair| pair.tally.backlog = 0.0);
        let tally = &mut self.tally;
        tally.backlog = 0.0;
        tally.extra_early = std::mem::take(&mut tally.extra);
        // The slot that begins now is still to come.
        tally.from = (self.clock.from(now), self.units);
        self.tally.early = (now, self.counts());
    }

    /// Slots sent, delivered and dropped so far.
    fn counts(&self) -> [u64; 3] {
        let dropped = self.fibres.iter().flat_map(|fibre| fibre.tally.dropped).sum();
        [self.numbered, self.tally.delivered, dropped]
    }

    fn measured_slots(&self, now: Time) -> MeasuredSlots {
        let (from, early) = self.tally.early;
        let [sent, delivered, dropped] = self.counts();
        MeasuredSlots {
            time_s: now.since(from).as_secs_f64(),
            sent: sent - early[0],
            delivered: delivered - early[1],
            dropped: dropped - early[2],
        }
    }

    /// The numbers of the run without its drain; it ends at `now`.
    pub(super) fn summary(&self, now: Time) -> OpsSummary {
        match &self.measured {
            Some(measured) => (**measured).clone(),
            None => self.summary_now(now),
        }
    }

    fn summary_now(&self, now: Time) -> OpsSummary {
        let (first, before) = self.tally.from;
        let slots = self.clock.after(now) - first;
        let units = (self.units - before).max(1) as f64;
        let extra_whole = self.tally.extra_early + self.tally.extra;
        let graph = &self.fixed.graph;
        let name = |node: u32| graph.name(node).to_string();
        let switches: Vec<SwitchSummary> = (0..)
            .zip(&self.nodes)
            .map(|(node, state)| {
                let [arrived, left, dropped] = state.switch.counts();
                let (buffer_mean, buffer_max) = state.switch.occupancy(slots);
                let waiting = u64::from(state.switch.occupied());
                let node = name(node);
                SwitchSummary { node, arrived, left, dropped, waiting, buffer_mean, buffer_max }
            })
            .collect();
        let ports = self.port_summaries(slots);
        let edges = self.pairs.iter().map(|pair| PairSummary {
            from: name(pair.ends.0),
            to: name(pair.ends.1),
            route: pair.place + 1,
            slots: pair.tally.slots,
            requests: pair.tally.requests,
            refused: pair.tally.refused,
            frozen: pair.tally.frozen,
            cuts: pair.tally.cuts,
            backlog_mean_bits: pair.tally.backlog / units,
            backlog_max_bits: pair.tally.most,
        });
        let largest = |of: fn(&SwitchSummary) -> f64| switches.iter().map(of).fold(0.0, f64::max);
        let in_flight =
            |kind| self.cells.values().filter(|flying| flying.kind() == kind).count() as u64;
        OpsSummary {
            slot_s: self.clock.slot().as_secs_f64(),
            slots_sent: self.numbered,
            slots_delivered: self.tally.delivered,
            slots_dropped_contention: ports.iter().map(|port| port.dropped_contention).sum(),
            slots_dropped_congestion: ports.iter().map(|port| port.dropped_congestion).sum(),
            slots_killed: self.tally.kinds.iter().map(|kind| kind.killed).sum(),
            slots_in_flight: self.cells.values().count() as u64,
            measured: self.measured_slots(now),
            data: self.tally.kinds[0].summary(in_flight(0)),
            acks: self.tally.kinds[1].summary(in_flight(1)),
            padding_bytes: self.tally.padding,
            notifications: self.tally.notifications,
            ack_sets: self.tally.ack_sets,
            ack_retransmissions: self.tally.retransmissions,
            acks_filtered: self.tally.filtered,
            copies: self.tally.copies,
            rerouted: self.detours.packets,
            buffer_mean: largest(|switch| switch.buffer_mean),
            buffer_max: switches.iter().map(|switch| switch.buffer_max).max().unwrap_or(0),
            backlog_mean_bits: self.tally.backlog / units,
            backlog_max_bits: self.tally.most,
            extra_buffer_mean_bits: self.tally.extra / units,
            extra_buffer_whole_bits: extra_whole / self.units.max(1) as f64,
            extra_buffer_max_bits: self.tally.extra_most,
            switches,
            ports,
            edges: edges.collect(),
        }
    }

    /// Probable mistakes: more least rates than a fibre carries, buffers that get nothing.
    pub(super) fn warnings(&self) -> Vec<String> {
        let graph = &self.fixed.graph;
        let smoothing = &self.fixed.rules.smoothing;
        let least = smoothing.min_rate.unwrap_or_default();
        let smoothed = || self.pairs.iter().filter(|pair| pair.smooth.is_some());
        let mut buffers = vec![0u32; graph.links.len()];
        for &link in smoothed().flat_map(|pair| &pair.route) {
            buffers[link as usize] += 1;
        }
        let fibres = graph.links.iter().zip(buffers);
        let shares = fibres.map(|(link, count)| {
            let width = f64::from(link.wavelengths);
            (f64::from(count) * least / width, link, count)
        });
        let most = shares.max_by(|(one, ..), (other, ..)| one.total_cmp(other));
        let beyond = most.filter(|&(share, ..)| share > 1.0).map(|(share, link, count)| {
            let most = f64::from(link.wavelengths) / f64::from(count);
            format!(
                "the least rates of the {count} buffers that send over the fibre from {} to {} are \
                 {share:.2} times what it carries, so that no more is granted of it; write a lower \
                 ops.smoothing.min_rate than {least}, such as {:.2e}",
                graph.name(link.from),
                graph.name(link.to),
                most / 10.0
            )
        });
        let starved = |pair: &&Pair| {
            let tally = &pair.tally;
            tally.requests > 1 && tally.refused == tally.requests
        };
        let mut refused = smoothed().filter(starved);
        let starves = refused.next().map(|pair| {
            format!(
                "the buffer from {} to {}{} never got what it asked for ({} times) and sends at \
                 the least rate, {least}: others came first and keep what they have; lower \
                 the load, or write ops.smoothing.refusal = \"partial\" to get what is left",
                graph.name(pair.ends.0),
                graph.name(pair.ends.1),
                match refused.count() {
                    0 => String::new(),
                    more => format!(" (and {more} more)"),
                },
                pair.tally.requests
            )
        });
        beyond.into_iter().chain(starves).collect()
    }

    /// Each output, over the slots since measuring began.
    fn port_summaries(&self, slots: u64) -> Vec<PortSummary> {
        let graph = &self.fixed.graph;
        let name = |node: u32| graph.name(node).to_string();
        let ports = graph.links.iter().zip(&self.fibres).map(|(link, fibre)| PortSummary {
            from: name(link.from),
            to: name(link.to),
            arrived: fibre.tally.arrived,
            carried: fibre.tally.carried,
            dropped_contention: fibre.tally.dropped[0],
            dropped_congestion: fibre.tally.dropped[1],
            utilisation: (fibre.tally.carried - fibre.tally.early) as f64
                / (slots.max(1) as f64 * f64::from(link.wavelengths)),
        });
        ports.collect()
    }
}
