//! Other traffic on the shared access links.

use burstlab_kernel::{RandomSource, Rank};
use burstlab_units::Time;

use super::source::Source;
use super::{Event, World};
use crate::scenario::{Scenario, Side};

/// The sources of other traffic and their totals.
#[derive(Clone, Debug)]
pub(super) struct Others {
    sources: Vec<Source>,
    pub(super) sent: u64,
    pub(super) lost: u64,
    /// Packets on the senders' link, and on the receivers'.
    on_link: [u64; 2],
    pub(super) delivered: u64,
}

impl Others {
    pub(super) fn new(scenario: &Scenario, random: &RandomSource) -> Self {
        let all = scenario.traffic.iter();
        let all = all.flat_map(|one| (0..one.count).map(move |_| one));
        let sources = all.enumerate().map(|(index, traffic)| {
            Source::new(traffic, random.stream(&format!("traffic/{index}")))
        });
        Self { sources: sources.collect(), sent: 0, lost: 0, on_link: [0; 2], delivered: 0 }
    }

    /// When each source sends first.
    pub(super) fn starts(&self) -> Vec<(u32, Time)> {
        self.sources.iter().enumerate().map(|(n, source)| (n as u32, source.next)).collect()
    }

    /// A packet has crossed its link.
    pub(super) fn arrived(&mut self, side: Side) {
        self.on_link[side as usize] -= 1;
        self.delivered += 1;
    }

    pub(super) fn in_flight(&self) -> u64 {
        self.on_link.iter().sum()
    }
}

impl World {
    /// A source sends a packet over the link it loads.
    pub(super) fn other_sends(&mut self, index: u32) {
        let source = &mut self.others.sources[index as usize];
        let (side, size) = (source.side, source.size);
        source.fire();
        self.context.queue.push(source.next, Rank::Arrival, Event::Other(index));
        self.others.sent += 1;
        let wire = match side {
            Side::Sender => &mut self.data_up[0].wire,
            Side::Receiver => &mut self.data_down[0].wire,
        };
        match wire.send(self.now, size) {
            Some(at) => {
                self.others.on_link[side as usize] += 1;
                self.context.queue.push(at, Rank::Arrival, Event::OtherArrived(side));
            }
            None => self.others.lost += 1,
        }
    }
}
