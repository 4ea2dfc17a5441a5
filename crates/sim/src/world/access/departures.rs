//! Packets that a script loses as they leave their host.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::scenario::LossScript;

/// Packets of one flow, by the order in which they leave.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(in crate::world) struct Departures {
    flow: u32,
    /// Those that are lost and have not left, rising, from 1.
    named: VecDeque<u64>,
    /// How many have left.
    left: u64,
}

impl Departures {
    pub(in crate::world) fn new(script: &LossScript) -> Self {
        Self { flow: script.flow, named: script.departures.iter().copied().collect(), left: 0 }
    }

    /// Whether none is lost any more.
    #[inline]
    pub(in crate::world) fn is_empty(&self) -> bool {
        self.named.is_empty()
    }

    /// A packet of `flow` leaves; returns whether it is lost.
    #[inline]
    pub(in crate::world) fn takes(&mut self, flow: u32) -> bool {
        if self.is_empty() || flow != self.flow {
            return false;
        }
        self.left += 1;
        let takes = self.named.front() == Some(&self.left);
        if takes {
            self.named.pop_front();
        }
        takes
    }

    /// Those that never left.
    pub(in crate::world) fn unmet(&self) -> impl Iterator<Item = String> {
        self.named.iter().map(|nth| format!("departures: packet {nth} was never sent"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_are_counted_as_they_leave() {
        let script = LossScript { flow: 1, departures: vec![2, 3], ..LossScript::default() };
        let mut departures = Departures::new(&script);
        let lost: Vec<_> = [0, 1, 1, 0, 1, 1].map(|flow| departures.takes(flow)).to_vec();
        assert_eq!(lost, [false, false, true, false, true, false]);
        assert_eq!(departures.unmet().count(), 0);
    }
}
