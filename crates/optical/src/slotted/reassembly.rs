//! Datagrams out of slots again.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The effect of an arriving part on its datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// All of it is there.
    Whole,
    /// Parts are still to come.
    Partial,
    /// Another part was lost, so that this one is of no use.
    Useless,
}

/// The datagrams of one buffer that travel in several slots, by number. One of which a slot is lost
/// is lost with it. Those in one slot need none of this.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Reassembly {
    /// Parts that have neither arrived nor been lost, and whether one was lost.
    open: BTreeMap<u64, (u32, bool)>,
}

impl Reassembly {
    /// A part of datagram `number`, which has `parts` of them, arrives.
    pub fn arrives(&mut self, number: u64, parts: u32) -> Arrival {
        let (last, damaged) = self.ends(number, parts, false);
        match (damaged, last) {
            (true, _) => Arrival::Useless,
            (false, true) => Arrival::Whole,
            (false, false) => Arrival::Partial,
        }
    }

    /// A part is lost; returns whether it is the first of its datagram.
    pub fn loses(&mut self, number: u64, parts: u32) -> bool {
        let (_, damaged) = self.ends(number, parts, true);
        !damaged
    }

    /// A part ends; returns whether it was the last, and whether one was lost before.
    fn ends(&mut self, number: u64, parts: u32, lost: bool) -> (bool, bool) {
        let entry = self.open.entry(number).or_insert((parts, false));
        entry.0 -= 1;
        let before = entry.1;
        entry.1 |= lost;
        let last = entry.0 == 0;
        if last {
            self.open.remove(&number);
        }
        (last, before)
    }

    /// Whether a part of datagram `number` was lost.
    #[must_use]
    pub fn is_damaged(&self, number: u64) -> bool {
        self.open.get(&number).is_some_and(|&(_, damaged)| damaged)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_datagram_is_whole_or_lost_once() {
        let mut parts = Reassembly::default();
        assert_eq!([1, 1, 1].map(|n| parts.arrives(n, 3)), {
            use Arrival::{Partial, Whole};
            [Partial, Partial, Whole]
        });
        assert_eq!(parts.arrives(2, 4), Arrival::Partial);
        assert!(parts.loses(2, 4) && parts.is_damaged(2));
        assert!(!parts.loses(2, 4), "once is enough");
        assert_eq!(parts.arrives(2, 4), Arrival::Useless);
        assert!(!parts.is_damaged(2), "its last part has come");
        assert!(parts.loses(3, 1), "a part that is all of it");
        assert_eq!(parts.open.len(), 0);
    }
}
