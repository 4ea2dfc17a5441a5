//! Losses of access links in spells on a clock. Both directions of a link share its spells, and
//! each link has its own.

use burstlab_kernel::{RandomSource, Stream};
use burstlab_link::LossProcess;
use burstlab_units::Time;
use serde::{Deserialize, Serialize};

use crate::scenario::{Resolved, Side};

/// A link: on which side, and which of them there.
type LinkPlace = (Side, u32);

/// The links of one side.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Links {
    rule: LossProcess,
    stream: Stream,
    /// By link, once something was handed to it.
    used: Vec<Option<Used>>,
}

/// A link that something was handed to.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Used {
    /// The key of its draws.
    key: u64,
    process: LossProcess,
    /// Packets handed to it, of both directions.
    handed: u64,
}

/// The loss processes of access links, and the counts of their losses.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::world) struct LinkLosses {
    sides: [Option<Links>; 2],
    /// Data packets of flows that senders' links lost, and receivers'.
    pub(in crate::world) lost: [u64; 2],
}

/// What a packet does on its flow's links; the flow goes one way.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::world) enum Hop {
    /// Data leave their sender, or ACKs come to it.
    Near,
    /// Data come to their receiver, or ACKs leave it.
    Far,
}

impl LinkLosses {
    pub(super) fn new(resolved: &Resolved, random: &RandomSource) -> Self {
        let side = |side: usize, name: &str| {
            let rule = resolved.link_loss[side].clone()?;
            Some(Links { rule, stream: random.stream(name), used: Vec::new() })
        };
        let sides = [side(0, "access/loss/sender"), side(1, "access/loss/receiver")];
        Self { sides, lost: [0; 2] }
    }

    /// Whether nothing is ever lost.
    #[inline]
    pub(in crate::world) fn are_none(&self) -> bool {
        self.sides.iter().all(Option::is_none)
    }

    /// A packet is handed to a link at `now`, the draws of which have this key; returns whether it
    /// is lost.
    pub(in crate::world) fn takes(&mut self, now: Time, (side, link): LinkPlace, key: u64) -> bool {
        let Some(links) = &mut self.sides[side as usize] else { return false };
        let place = link as usize;
        if links.used.len() <= place {
            links.used.resize(place + 1, None);
        }
        let used = &mut links.used[place];
        // The slot of a connection that is over may be another's now.
        if used.as_ref().is_none_or(|used| used.key != key) {
            *used = Some(Used { key, process: links.rule.clone(), handed: 0 });
        }
        let Some(used) = used else { return false };
        used.handed += 1;
        let stream = links.stream.of(key);
        used.process.hits(used.handed, now, |ordinal| stream.uniforms(ordinal))
    }
}
