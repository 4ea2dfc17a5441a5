//! Cross-traffic: on the shared access links of a path, or through a mesh.

use std::collections::VecDeque;

use burstlab_kernel::{RandomSource, Rank};
use burstlab_units::Time;
use serde::{Deserialize, Serialize};

use super::source::Source;
use crate::measure::{PacketCause, Recorder, SentRow};
use crate::scenario::{Resolved, Side, named};
use crate::world::context::Context;
use crate::world::events::Event;
use crate::world::keys::Keys;
use crate::world::packet::{DataPacket, Owner};
use crate::world::train::Train;

/// The sources of cross-traffic and their totals.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::world) struct Cross {
    sources: Vec<Source>,
    /// Whether their packets cross the optical network, and not an access link alone.
    pub(in crate::world) across: bool,
    pub(in crate::world) sent: u64,
    pub(in crate::world) lost: u64,
    /// Those that `access.loss` took.
    pub(in crate::world) link_lost: u64,
    /// Packets on the senders' link, and on the receivers'.
    on_link: [u64; 2],
    pub(in crate::world) delivered: u64,
    /// Packets handed to access links.
    offered: u64,
    /// Rows of the trace of what is on the links, in order. Not stored: a traced run is not.
    #[serde(skip)]
    rows: [VecDeque<u32>; 2],
}

impl Cross {
    pub(in crate::world) fn new(resolved: &Resolved, random: &RandomSource) -> Self {
        let all = resolved.scenario.traffic.iter().zip(&resolved.traffic_ends);
        let all = all.flat_map(|one| (0..one.0.count).map(move |nth| (nth, one)));
        // Sources of entries without a name so far.
        let mut unnamed = 0;
        let sources = all.map(|(nth, (traffic, &ends))| {
            let stream = match &traffic.name {
                None => random.stream(&format!("traffic/{unnamed}")),
                Some(name) => random.stream(&format!("traffic/{}/{nth}", named(name))),
            };
            let keys = Keys::of("traffic", traffic.name.as_ref());
            let key = keys.key(u64::from(nth), Owner::unnamed_source(u64::from(unnamed)));
            unnamed += u32::from(!keys.are_named());
            Source::new(traffic, (ends, key), stream)
        });
        let sources = (0..).take_while(|&index| resolved.watch.at(index)).zip(sources);
        Self {
            sources: sources.map(|(_, source)| source).collect(),
            across: !resolved.scenario.kind().is_path(),
            sent: 0,
            lost: 0,
            link_lost: 0,
            on_link: [0; 2],
            delivered: 0,
            offered: 0,
            rows: Default::default(),
        }
    }

    /// When each source sends first.
    pub(in crate::world) fn starts(&self) -> Vec<(u32, Time)> {
        self.sources.iter().enumerate().map(|(n, source)| (n as u32, source.next)).collect()
    }

    /// A packet has crossed its link.
    pub(in crate::world) fn arrived(&mut self, now: Time, side: Side, recorder: &mut Recorder) {
        self.on_link[side as usize] -= 1;
        self.delivered += 1;
        if let Some(row) = self.rows[side as usize].pop_front() {
            recorder.delivered(row, now);
        }
    }

    pub(in crate::world) fn in_flight(&self) -> u64 {
        self.on_link.iter().sum()
    }

    /// Packets handed to access links.
    pub(in crate::world) fn on_access(&self) -> u64 {
        self.offered
    }
}

/// A packet that a source sends.
pub(in crate::world) struct CrossPacket {
    pub(in crate::world) side: Side,
    pub(in crate::world) ends: (u32, u32),
    pub(in crate::world) class: u32,
    pub(in crate::world) key: u64,
    pub(in crate::world) packet: DataPacket,
}

impl Cross {
    /// A source is due; returns what it sends.
    pub(in crate::world) fn fire(
        &mut self,
        now: Time,
        index: u32,
        context: &mut Context,
    ) -> Option<CrossPacket> {
        let source = &mut self.sources[index as usize];
        let sends = source.fire();
        context.queue.push(source.next, Rank::Arrival, Event::Cross(index));
        if !sends {
            return None;
        }
        let (side, size, ends) = (source.side, source.size, source.ends);
        let (class, key) = (source.class, source.key);
        let seq = self.sent;
        self.sent += 1;
        let row = context.recorder.sent(now, index, &SentRow::Other(seq, size));
        let (owner, size) = (Owner::source(index), size.get() as u32);
        let packet = DataPacket { owner, nth: 1, cwnd: 0, size, row, seq };
        Some(CrossPacket { side, ends, class, key, packet })
    }

    /// A packet is handed to an access link, which loses it.
    pub(in crate::world) fn loses(&mut self, sent: &CrossPacket, context: &mut Context) {
        (self.offered, self.link_lost) = (self.offered + 1, self.link_lost + 1);
        context.recorder.lost(sent.packet.row, PacketCause::Link);
    }

    /// A packet is handed to an access link, over which it is at the far end at `at`; `None`: the
    /// queue is full.
    pub(in crate::world) fn loads(
        &mut self,
        at: Option<Time>,
        sent: &CrossPacket,
        context: &mut Context,
    ) {
        self.offered += 1;
        let row = sent.packet.row;
        let Some(at) = at else {
            self.lost += 1;
            context.recorder.lost(row, PacketCause::Overflow);
            return;
        };
        self.on_link[sent.side as usize] += 1;
        if context.recorder.traces_packets() {
            self.rows[sent.side as usize].push_back(row);
        }
        context.queue.push(at, Rank::Arrival, Event::CrossArrived(sent.side));
    }

    /// Packets leave the optical network.
    pub(in crate::world) fn leave(
        &mut self,
        now: Time,
        train: &Train<DataPacket>,
        recorder: &mut Recorder,
    ) {
        self.delivered += u64::from(train.count);
        for packet in train.packets() {
            recorder.crossed(packet.row, now);
            recorder.delivered(packet.row, now);
        }
    }
}
