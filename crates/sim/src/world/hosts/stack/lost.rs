//! The losses of a sender that is a stack, as it may report them: it need not notice every lost
//! packet, and one of its datagrams may be several packets to it.

use std::collections::BTreeSet;

use crate::measure::loss::Causes;
use crate::scenario::{Cargo, Carries};

/// The losses of a sender.
#[derive(Debug, Default)]
pub(super) struct LostCargo {
    /// Packets that it takes for lost and that are in transit all the same.
    given_up: Vec<u64>,
    /// Packets that are lost, and in a row of the ledger, but not sent again yet.
    pub(super) explained: BTreeSet<u64>,
    /// Lost packets that carried ACKs alone: nobody sends them again.
    bare: BTreeSet<u64>,
    /// Packets that came and that the receiver could not read.
    unread: BTreeSet<u64>,
    /// Lost probes of the path.
    probes: BTreeSet<u64>,
    /// Packets of the protocol in lost datagrams, other than the first of each.
    others: u64,
    /// Packets of the protocol that were sent, and those that it took for lost by their number.
    sent: u64,
    counted: u64,
}

impl LostCargo {
    /// A packet is sent.
    pub(super) fn sent(&mut self, cargo: Cargo) {
        self.sent += u64::from(cargo.packets.max(1));
    }

    /// A packet is lost; returns whether its sender will look for it.
    pub(super) fn lose(&mut self, number: u64, cargo: Cargo) -> bool {
        if self.comes(number) {
            return false;
        }
        self.others += u64::from(cargo.packets.saturating_sub(1));
        match cargo.carries {
            Carries::Ack => self.bare.insert(number),
            Carries::MtuProbe => self.probes.insert(number),
            _ => false,
        };
        cargo.carries != Carries::Ack
    }

    /// A packet has come to its end; returns whether its sender has taken it for lost before.
    pub(super) fn comes(&mut self, number: u64) -> bool {
        let place = self.given_up.iter().position(|&one| one == number);
        place.map(|place| self.given_up.swap_remove(place)).is_some()
    }

    /// Its sender takes a packet for lost that is in transit.
    pub(super) fn gives_up(&mut self, number: u64) {
        self.given_up.push(number);
    }

    /// Whether a packet that is taken for lost carried ACKs alone, so that nothing is repaired.
    pub(super) fn is_bare(&mut self, number: u64) -> bool {
        self.bare.remove(&number)
    }

    /// A packet came that the receiver could not read.
    pub(super) fn goes_unread(&mut self, number: u64, cargo: Cargo) {
        self.unread.insert(number);
        if cargo.carries == Carries::MtuProbe {
            self.probes.insert(number);
        }
    }

    /// Whether a packet that is taken for lost came and was not read.
    pub(super) fn is_unread(&mut self, number: u64) -> bool {
        self.unread.remove(&number)
    }

    /// Whether a packet that is taken for lost was a probe of the path.
    pub(super) fn is_probe(&mut self, number: u64) -> bool {
        self.probes.remove(&number)
    }

    /// Its sender takes so many packets for lost, and does not say which, up to `below`: the oldest
    /// that are missing, and how many it is wrong about. None where it has not sent so many.
    pub(super) fn oldest(
        &mut self,
        causes: &Causes,
        below: u64,
        count: u32,
    ) -> Option<(Vec<u64>, u64)> {
        self.counted += u64::from(count);
        if self.counted > self.sent {
            return None;
        }
        let count = count as usize;
        let missing = causes.among(0..below).map(|(number, _)| number);
        let missing = missing.filter(|number| !self.probes.contains(number)).take(count);
        let bare = self.bare.range(..below).copied().take(count);
        let unread = self.unread.range(..below).copied();
        let unread = unread.filter(|number| !self.probes.contains(number)).take(count);
        let mut oldest: Vec<u64> = missing.chain(bare).chain(unread).collect();
        oldest.sort_unstable();
        oldest.truncate(count);
        // Each packet in one datagram is one of its own.
        let rest = (count - oldest.len()) as u64;
        let others = rest.min(self.others);
        self.others -= others;
        Some((oldest, rest - others))
    }

    /// Nothing is reported any more about packets below `number`.
    pub(super) fn forget_below(&mut self, number: u64) {
        for set in [&mut self.explained, &mut self.bare, &mut self.unread, &mut self.probes] {
            if set.first().is_some_and(|&first| first < number) {
                *set = set.split_off(&number);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::loss::{Loss, LossCause};
    use burstlab_units::Time;

    fn cargo(carries: Carries, packets: u32) -> Cargo {
        Cargo { carries, packets }
    }

    #[test]
    fn what_is_not_named_is_the_oldest_and_no_datagram_is_wrong_for_being_two_packets() {
        let (mut lost, mut causes) = (LostCargo::default(), Causes::default());
        let all = [
            cargo(Carries::Handshake, 2),
            cargo(Carries::Ack, 1),
            cargo(Carries::MtuProbe, 1),
            cargo(Carries::Data, 1),
            cargo(Carries::Data, 1),
        ];
        for (number, cargo) in (0..).zip(all) {
            lost.sent(cargo);
            if lost.lose(number, cargo) {
                causes.lost(number, Loss::at_access(LossCause::Scripted, Time::ZERO));
            }
        }
        assert_eq!(lost.oldest(&causes, 5, 2), Some((vec![0, 1], 0)));
        assert!(lost.is_bare(1) && !lost.is_bare(0) && lost.is_probe(2));
        causes.take(0);
        causes.take(2);
        let rest = lost.oldest(&causes, 4, 3);
        assert_eq!(rest, Some((vec![3], 1)), "one is the other packet of the first datagram");
        assert_eq!(lost.oldest(&causes, 5, 2), None, "it has sent six packets");
    }
}
