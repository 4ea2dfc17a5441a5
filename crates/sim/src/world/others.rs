//! Other traffic: on the shared access links of a path, or through a mesh.

use std::collections::VecDeque;

use burstlab_kernel::{RandomSource, Rank};
use burstlab_units::Time;
use serde::{Deserialize, Serialize};

use super::optics::Optics;
use super::packet::{DataPacket, OTHER};
use super::source::Source;
use super::train::Train;
use super::{Event, World};
use crate::measure::{PacketCause, Recorder, SentRow};
use crate::run::LOOK;
use crate::scenario::{Resolved, Side};

/// The sources of other traffic and their totals.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Others {
    sources: Vec<Source>,
    /// Whether their packets cross the optical network, and not an access link alone.
    across: bool,
    pub(super) sent: u64,
    pub(super) lost: u64,
    /// Packets on the senders' link, and on the receivers'.
    on_link: [u64; 2],
    pub(super) delivered: u64,
    /// Packets handed to access links.
    offered: u64,
    /// Rows of the trace of what is on the links, in order.
    #[serde(skip)]
    rows: [VecDeque<u32>; 2],
}

impl Others {
    pub(super) fn new(resolved: &Resolved, random: &RandomSource) -> Self {
        let all = resolved.scenario.traffic.iter().zip(&resolved.traffic_ends);
        let all = all.flat_map(|one| (0..one.0.count).map(move |_| one));
        let sources = all.enumerate().map(|(index, (traffic, &ends))| {
            let stream = random.stream(&format!("traffic/{index}"));
            Source::new(traffic, ends, stream)
        });
        let going = |index: usize| !index.is_multiple_of(LOOK) || resolved.watch.goes_on();
        let sources = (0..).take_while(|&index| going(index)).zip(sources);
        Self {
            sources: sources.map(|(_, source)| source).collect(),
            across: resolved.mesh.is_some(),
            sent: 0,
            lost: 0,
            on_link: [0; 2],
            delivered: 0,
            offered: 0,
            rows: Default::default(),
        }
    }

    /// When each source sends first.
    pub(super) fn starts(&self) -> Vec<(u32, Time)> {
        self.sources.iter().enumerate().map(|(n, source)| (n as u32, source.next)).collect()
    }

    /// A packet has crossed its link.
    pub(super) fn arrived(&mut self, now: Time, side: Side, recorder: &mut Recorder) {
        self.on_link[side as usize] -= 1;
        self.delivered += 1;
        if let Some(row) = self.rows[side as usize].pop_front() {
            recorder.delivered(row, now);
        }
    }

    pub(super) fn in_flight(&self) -> u64 {
        self.on_link.iter().sum()
    }

    /// Packets handed to access links.
    pub(super) fn on_access(&self) -> u64 {
        self.offered
    }
}

impl World {
    /// Packets of other traffic leave the mesh.
    pub(super) fn others_leave(&mut self, train: &Train<DataPacket>) {
        self.others.delivered += u64::from(train.count);
        self.context.recorder.crossed(train.first.row, self.now);
        self.context.recorder.delivered(train.first.row, self.now);
    }

    /// A source sends a packet: over the link it loads, or into the mesh.
    pub(super) fn other_sends(&mut self, index: u32) {
        let source = &mut self.others.sources[index as usize];
        let (side, size) = (source.side, source.size);
        let sends = source.fire();
        self.context.queue.push(source.next, Rank::Arrival, Event::Other(index));
        if !sends {
            return;
        }
        let seq = self.others.sent;
        self.others.sent += 1;
        let row = self.context.recorder.sent(self.now, index, &SentRow::Other(seq, size));
        if self.others.across {
            let (now, ends, class) = (self.now, source.ends, source.class);
            let (flow, bytes) = (OTHER | index, size.get() as u32);
            let packet = DataPacket { flow, nth: 1, cwnd: 0, size: bytes, row, seq };
            let (context, flows) = (&mut self.context, &mut self.flows);
            match &mut self.optics {
                Optics::Mesh(mesh) => {
                    mesh.other_arrives(now, packet, (ends, class), context, flows);
                }
                Optics::Ops(ops) => ops.other_arrives(now, packet, ends, context),
            }
            return;
        }
        self.others.offered += 1;
        let wire = match side {
            Side::Sender => &mut self.data_up[source.ends.0 as usize].wire,
            Side::Receiver => &mut self.data_down[source.ends.1 as usize].wire,
        };
        match wire.send(self.now, size) {
            Some(at) => {
                self.others.on_link[side as usize] += 1;
                if self.context.recorder.traces_packets() {
                    self.others.rows[side as usize].push_back(row);
                }
                self.context.queue.push(at, Rank::Arrival, Event::OtherArrived(side));
            }
            None => {
                self.others.lost += 1;
                self.context.recorder.lost(row, PacketCause::Overflow);
            }
        }
    }
}
