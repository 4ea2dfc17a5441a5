//! A chain of fibres from an ingress to an egress edge, in one direction.

use burstlab_units::{Bytes, Evenly, Rate, Serializer, Span, Time};
use serde::{Deserialize, Serialize};

use crate::fibre::{Chain, Fibre};

/// How a core node passes on what it receives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Forwarding {
    /// All-optically: a burst keeps its length and starts to leave as it starts to arrive. The
    /// egress has its packets when the last bit of the burst is in.
    CutThrough,
    /// Packet by packet, each received whole before it is sent on: an electronic packet network.
    /// The egress has each packet when its own last bit is in.
    StoreAndForward,
}

/// The fibres between two edges, all of one rate, used in order by one ingress.
///
/// Nothing else enters the chain, so what leaves the ingress in order arrives in order, and a whole
/// crossing is computed at the ingress: the chain costs nothing at the core nodes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct OpticalPath {
    chain: Chain,
    /// The line of the ingress: its serialiser, and when it is free.
    first: (Serializer, Time),
    /// Those of the core nodes in store-and-forward; none in cut-through.
    later: Vec<(Serializer, Time)>,
}

impl OpticalPath {
    /// A chain of these fibres, at least one, each of `rate`.
    #[must_use]
    pub fn new(forwarding: Forwarding, rate: Rate, fibres: &[Fibre]) -> Self {
        let later = match forwarding {
            Forwarding::CutThrough => 0,
            Forwarding::StoreAndForward => fibres.len() - 1,
        };
        let line = (Serializer::new(rate), Time::ZERO);
        Self { chain: Chain::new(fibres), first: line.clone(), later: vec![line; later] }
    }

    /// When what departs from the ingress at `departs` is at core node `node`, counted from 1; 0 is
    /// the ingress itself.
    #[must_use]
    pub fn reaches(&self, departs: Time, node: usize) -> Time {
        self.chain.arrives(departs, node)
    }

    /// Propagation over all of it, if that is the same at all times.
    #[must_use]
    #[inline]
    pub fn steady_delay(&self) -> Option<Span> {
        self.chain.steady_delay(self.hops())
    }

    /// A unit (the burst in cut-through, a packet in store-and-forward) of `size` is ready at the
    /// ingress at `ready`; returns when its first bit leaves, behind all units before it.
    /// [`cross`](Self::cross) takes it on. Calls must come in order.
    #[inline(always)]
    pub fn start(&mut self, ready: Time, size: Bytes) -> Departure {
        let (line, free_at) = &mut self.first;
        let departs = ready.max(*free_at);
        let last_bit = departs + line.next(size);
        *free_at = last_bit;
        Departure { departs, last_bit, size }
    }

    /// When the last bit of a unit that left the ingress has crossed `hops` fibres, at least one:
    /// as many as there are core nodes plus one takes it to the egress.
    #[inline(always)]
    pub fn cross(&mut self, departure: Departure, hops: usize) -> Time {
        if self.later.is_empty() {
            return self.chain.arrives(departure.last_bit, hops);
        }
        let fibres = self.chain.fibres();
        let mut last_bit = fibres[0].signal(departure.last_bit);
        for (hop, fibre) in fibres.iter().enumerate().take(hops).skip(1) {
            if let Some((line, free_at)) = self.later.get_mut(hop - 1) {
                last_bit = last_bit.max(*free_at) + line.next(departure.size);
                *free_at = last_bit;
            }
            last_bit = fibre.signal(last_bit);
        }
        last_bit
    }

    /// When the last bit of a unit of `size` that is ready at `ready` would be at the egress of a
    /// path that cuts through, at the latest.
    #[must_use]
    #[inline]
    pub fn would_cross(&mut self, ready: Time, size: Bytes) -> Time {
        let (line, free_at) = &mut self.first;
        let last_bit = ready.max(*free_at) + line.at_most(size);
        self.chain.arrives(last_bit, self.chain.fibres().len())
    }

    /// The same for packets that core nodes store and forward: the last is ready at `ready`, and
    /// there are so many of each size.
    #[must_use]
    pub fn would_store(
        &mut self,
        ready: Time,
        packets: impl Iterator<Item = (Bytes, u32)>,
    ) -> Time {
        let Self { chain, first: (line, free_at), later } = self;
        let (mut all, mut longest) = (Span::ZERO, Span::ZERO);
        for (size, count) in packets {
            let each = line.at_most(size);
            all += each.saturating_mul(u64::from(count));
            longest = longest.max(each);
        }
        let mut last_bit = ready.max(*free_at) + all;
        for (hop, fibre) in chain.fibres().iter().enumerate() {
            if let Some((_, free_at)) = hop.checked_sub(1).and_then(|node| later.get(node)) {
                // Either the last packet waits for none, or the line has sent them all in one go.
                last_bit = (last_bit + longest).max(*free_at + all);
            }
            last_bit = fibre.signal(last_bit);
        }
        last_bit
    }

    /// So many packets of `size` are ready at `ready`, and core nodes store and forward each.
    /// Returns when the first leaves, and the times of all at the egress. `None`, and none leaves:
    /// a packet takes no whole number of picoseconds.
    #[inline]
    pub fn store(&mut self, ready: Time, count: u32, size: Bytes) -> Option<(Time, Evenly)> {
        let Self { chain, first: (line, free_at), later } = self;
        let departs = ready.max(*free_at);
        let mut times = line.evenly(*free_at, (ready, Span::ZERO), count, size)?;
        *free_at = times.last;
        // Each packet is at a node as the next one's last bit leaves the node before, so that they
        // stay back to back.
        for (hop, fibre) in chain.fibres().iter().enumerate() {
            if let Some((line, free_at)) = hop.checked_sub(1).and_then(|node| later.get_mut(node)) {
                times = line.evenly(*free_at, (times.first, times.gap), count, size)?;
                *free_at = times.last;
            }
            let (first, last) = (fibre.signal(times.first), fibre.signal(times.last));
            times = Evenly { first, last, ..times };
        }
        Some((departs, times))
    }

    /// When the line of the ingress is free.
    #[must_use]
    #[inline]
    pub fn free_at(&self) -> Time {
        self.first.1
    }

    /// How long a unit of `size` takes there, if that is a whole number of picoseconds.
    #[inline]
    pub fn hold(&mut self, size: Bytes) -> Option<Span> {
        self.first.0.whole(size)
    }

    /// The time from the last bit of a unit at the ingress to its last bit at the egress, for units
    /// that each take `hold`. The last bit of the first leaves at `last_bit`. `None`: the first
    /// would wait at a core node, or a delay is not steady.
    #[must_use]
    #[inline]
    pub fn steady_crossing(&self, hold: Span, last_bit: Time) -> Option<Span> {
        let mut stored = Span::ZERO;
        for (node, (_, free_at)) in (1..).zip(&self.later) {
            if last_bit + self.chain.steady_delay(node)? + stored < *free_at {
                return None;
            }
            stored += hold;
        }
        Some(self.chain.steady_delay(self.hops())? + stored)
    }

    /// Whether core nodes receive each unit whole.
    #[must_use]
    #[inline]
    pub fn stores(&self) -> bool {
        !self.later.is_empty()
    }

    /// Units have left whose last bit leaves at `last_bit`; each took a [whole](Self::hold) time,
    /// the last one `hold`, and none waited at a core node.
    #[inline]
    pub fn is_free_at(&mut self, last_bit: Time, hold: Span) {
        let Self { chain, first, later } = self;
        first.1 = last_bit;
        let mut stored = Span::ZERO;
        for (node, (_, free_at)) in (1..).zip(later) {
            stored += hold;
            *free_at = chain.arrives(last_bit, node) + stored;
        }
    }

    /// How many fibres there are.
    #[must_use]
    pub fn hops(&self) -> usize {
        self.chain.fibres().len()
    }
}

/// A unit that leaves the ingress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Departure {
    /// When its first bit leaves.
    pub departs: Time,
    /// When its last bit leaves.
    pub last_bit: Time,
    size: Bytes,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(forwarding: Forwarding) -> OpticalPath {
        OpticalPath::new(forwarding, Rate::from_bps(8_000_000), &[Fibre::of(Span::from_ms(10)); 3])
    }

    fn ms(n: u64) -> Time {
        Time::ZERO + Span::from_ms(n)
    }

    #[test]
    fn a_burst_is_serialised_once_when_switched_optically() {
        let mut path = path(Forwarding::CutThrough);
        let burst = path.start(ms(0), Bytes::new(5000));
        assert_eq!((burst.departs, burst.last_bit), (ms(0), ms(5)));
        assert_eq!(path.cross(burst, 3), ms(35));
        let next = path.start(ms(1), Bytes::new(1000));
        assert_eq!((next.departs, path.cross(next, 3)), (ms(5), ms(36)));
    }

    #[test]
    fn a_packet_is_serialised_at_each_node_when_stored_and_forwarded() {
        let mut path = path(Forwarding::StoreAndForward);
        let first = path.start(ms(0), Bytes::new(1000));
        let second = path.start(ms(0), Bytes::new(1000));
        assert_eq!(path.cross(first, 3), ms(33));
        assert_eq!(path.cross(second, 3), ms(34), "pipelined behind the first");
    }

    #[test]
    fn a_short_packet_waits_behind_a_long_one_at_every_node() {
        let mut path = path(Forwarding::StoreAndForward);
        let long = path.start(ms(0), Bytes::new(4000));
        let short = path.start(ms(0), Bytes::new(1000));
        assert_eq!(path.cross(long, 3), ms(42));
        assert_eq!(path.cross(short, 3), ms(43));
    }

    #[test]
    fn reach_adds_the_fibres() {
        let path = path(Forwarding::CutThrough);
        assert_eq!(path.reaches(ms(1), 0), ms(1));
        assert_eq!(path.reaches(ms(1), 2), ms(21));
        assert_eq!(path.steady_crossing(Span::ZERO, ms(1)), Some(Span::from_ms(30)));
    }
}
