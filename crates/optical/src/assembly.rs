//! Burst assembly at an edge node.

use burstlab_units::{Bytes, Span, Time};

/// When an assembly queue becomes a burst.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AssemblyPolicy {
    /// Every packet is a burst of its own.
    None,
    /// A time T_b after the first packet (Yu et al. 2004, section II).
    Timer(Span),
    /// With the packet that brings the queue to this size.
    Size(Bytes),
    /// Whichever of the two comes first.
    Hybrid(Span, Bytes),
}

impl AssemblyPolicy {
    fn timer(self) -> Option<Span> {
        match self {
            Self::Timer(span) | Self::Hybrid(span, _) => Some(span),
            Self::None | Self::Size(_) => None,
        }
    }

    fn is_full(self, bytes: Bytes) -> bool {
        match self {
            Self::None => true,
            Self::Timer(_) => false,
            Self::Size(limit) | Self::Hybrid(_, limit) => bytes >= limit,
        }
    }
}

/// A burst that has just been closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClosedBurst {
    /// Number of the burst at this queue, from 1.
    pub number: u64,
    /// When its first packet arrived.
    pub opened: Time,
    /// Size of all its packets.
    pub bytes: Bytes,
}

/// One assembly queue: packets of type `P` in, bursts out.
///
/// Call [`push`](Self::push) for each packet; where it answers `true`, or when
/// [`poll_timeout`](Self::poll_timeout) has come, call [`close`](Self::close). A timer and an
/// arrival at the same instant: close first, then push.
#[derive(Clone, Debug)]
pub struct Assembler<P> {
    policy: AssemblyPolicy,
    waiting: Vec<P>,
    bytes: Bytes,
    opened: Option<Time>,
    closed: u64,
}

impl<P> Assembler<P> {
    /// An empty queue.
    #[must_use]
    pub fn new(policy: AssemblyPolicy) -> Self {
        Self { policy, waiting: Vec::new(), bytes: Bytes::ZERO, opened: None, closed: 0 }
    }

    /// A packet of `size` arrives at `now`; answers whether the burst is complete.
    #[inline]
    pub fn push(&mut self, now: Time, packet: P, size: Bytes) -> bool {
        self.open(now);
        self.waiting.push(packet);
        self.bytes += size;
        self.policy.is_full(self.bytes)
    }

    /// Opens a burst at `now` if none is open, as the arrival of a packet does; answers the number
    /// the open burst will have.
    #[inline]
    pub fn open(&mut self, now: Time) -> u64 {
        self.opened.get_or_insert(now);
        self.closed + 1
    }

    /// A packet of `size` is a burst of its own, under [`AssemblyPolicy::None`].
    #[inline]
    pub fn pass(&mut self, now: Time, size: Bytes) -> ClosedBurst {
        self.closed += 1;
        ClosedBurst { number: self.closed, opened: now, bytes: size }
    }

    /// When the open burst is to be closed, where a timer runs.
    #[inline]
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Time> {
        Some(self.opened? + self.policy.timer()?)
    }

    /// Closes the open burst: its packets are moved to the end of `packets`, in order.
    ///
    /// # Panics
    /// When no burst is open.
    #[inline]
    pub fn close(&mut self, packets: &mut Vec<P>) -> ClosedBurst {
        let opened = self.opened.take().expect("a burst is open");
        packets.append(&mut self.waiting);
        self.closed += 1;
        let bytes = std::mem::take(&mut self.bytes);
        ClosedBurst { number: self.closed, opened, bytes }
    }

    /// Bursts closed so far.
    #[must_use]
    pub fn closed(&self) -> u64 {
        self.closed
    }

    /// The rule that closes bursts.
    #[must_use]
    pub fn policy(&self) -> AssemblyPolicy {
        self.policy
    }

    /// Packets that wait in the open burst.
    #[must_use]
    pub fn waiting(&self) -> &[P] {
        &self.waiting
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACKET: Bytes = Bytes::new(1000);

    fn ms(n: u64) -> Time {
        Time::ZERO + Span::from_ms(n)
    }

    /// Packets arrive every 8 ms; which packets does each burst hold?
    fn bursts(policy: AssemblyPolicy, packets: u64) -> Vec<Vec<u64>> {
        let mut queue = Assembler::new(policy);
        let mut bursts = Vec::new();
        for packet in 0..packets {
            let now = ms(packet * 8);
            if queue.poll_timeout().is_some_and(|at| at <= now) {
                bursts.push(Vec::new());
                queue.close(bursts.last_mut().expect("just pushed"));
            }
            if queue.push(now, packet, PACKET) {
                bursts.push(Vec::new());
                queue.close(bursts.last_mut().expect("just pushed"));
            }
        }
        bursts
    }

    #[test]
    fn without_assembly_each_packet_is_a_burst() {
        assert_eq!(bursts(AssemblyPolicy::None, 3), [[0], [1], [2]]);
    }

    #[test]
    fn a_timer_of_five_spacings_holds_five_packets() {
        // The sixth arrives at the very end of the timer and misses the burst.
        let timer = AssemblyPolicy::Timer(Span::from_ms(40));
        assert_eq!(bursts(timer, 11), [[0, 1, 2, 3, 4], [5, 6, 7, 8, 9]]);
    }

    #[test]
    fn size_closes_with_the_packet_that_reaches_it() {
        let size = AssemblyPolicy::Size(Bytes::new(2500));
        assert_eq!(bursts(size, 7), [[0, 1, 2], [3, 4, 5]]);
    }

    #[test]
    fn hybrid_closes_at_whichever_comes_first() {
        let by_size = AssemblyPolicy::Hybrid(Span::from_ms(40), Bytes::new(3000));
        assert_eq!(bursts(by_size, 6), [[0, 1, 2], [3, 4, 5]]);
        let by_timer = AssemblyPolicy::Hybrid(Span::from_ms(16), Bytes::new(3000));
        assert_eq!(bursts(by_timer, 5), [[0, 1], [2, 3]]);
    }

    #[test]
    fn an_opened_burst_without_packets_still_takes_a_number() {
        let mut queue = Assembler::new(AssemblyPolicy::Timer(Span::from_ms(5)));
        assert_eq!(queue.open(ms(1)), 1);
        assert_eq!(queue.poll_timeout(), Some(ms(6)));
        let mut packets: Vec<u64> = Vec::new();
        assert_eq!(queue.close(&mut packets).number, 1);
        assert!(packets.is_empty());
        assert_eq!(queue.open(ms(9)), 2);
    }
}
