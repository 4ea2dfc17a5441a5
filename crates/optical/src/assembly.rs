//! Burst assembly at an edge node.

use burstlab_units::{Bytes, Span, Time};
use serde::{Deserialize, Serialize};

/// When an assembly queue becomes a burst.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum AssemblyPolicy {
    /// Every packet is a burst of its own.
    None,
    /// A time T_b after the first packet (Yu et al. 2004, section II).
    Timer(Span),
    /// With the packet that brings the queue to this size.
    Size(Bytes),
    /// Whichever of the two comes first.
    Hybrid(Span, Bytes),
    /// By a timer that follows the load: as long as `size` bytes take to arrive at the rate at
    /// which packets arrived of late, but at least `shortest` and at most `longest`. The first
    /// burst, which knows no rate, waits for `longest`.
    ///
    /// The rate of a burst is its bytes over the time from its opening to that of the next; the
    /// estimate is the exponentially weighted mean of these, the newest with `weight`, in (0, 1].
    /// It is a float, and rounded to whole bytes a second before it makes a time. A period that
    /// adapts to the traffic of late is the idea of Cao, Li, Chen and Qiao (2002), and all that is
    /// taken from them: theirs follows the mean length of bursts, this one aims at a length, so
    /// that it is shorter as the load grows.
    Adaptive {
        /// The target size of a burst.
        size: Bytes,
        /// The least timer.
        shortest: Span,
        /// The greatest timer, not less than `shortest`.
        longest: Span,
        /// Weight of the newest burst in the mean rate.
        weight: f64,
    },
}

impl AssemblyPolicy {
    /// The timer of the first burst; all but the adaptive one keep it.
    fn timer(self) -> Option<Span> {
        match self {
            Self::Timer(span) | Self::Hybrid(span, _) => Some(span),
            Self::Adaptive { longest, .. } => Some(longest),
            Self::None | Self::Size(_) => None,
        }
    }

    /// The time from its first packet after which a burst is closed, where nothing else closes it.
    #[inline]
    #[must_use]
    pub fn timer_alone(self) -> Option<Span> {
        match self {
            Self::Timer(span) if !span.is_zero() => Some(span),
            _ => None,
        }
    }

    /// The size that completes a burst of several packets, and the time from its first packet after
    /// which it is closed before, [`Span::MAX`] if none is: where these alone close it.
    #[must_use]
    pub fn size_or_time(self) -> Option<(Bytes, Span)> {
        match self {
            Self::Size(size) => Some((size, Span::MAX)),
            Self::Hybrid(timer, size) if !timer.is_zero() => Some((size, timer)),
            _ => None,
        }
    }

    /// The size that completes a burst: 0 B if each packet is a burst, none if only time counts.
    #[inline]
    fn limit(self) -> Option<Bytes> {
        match self {
            Self::None => Some(Bytes::ZERO),
            Self::Size(limit) | Self::Hybrid(_, limit) => Some(limit),
            Self::Timer(_) | Self::Adaptive { .. } => None,
        }
    }

    fn is_full(self, bytes: Bytes) -> bool {
        match self {
            Self::None => true,
            Self::Timer(_) | Self::Adaptive { .. } => false,
            Self::Size(limit) | Self::Hybrid(_, limit) => bytes >= limit,
        }
    }
}

/// A burst that has just been closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClosedBurst {
    /// Number of the burst at this queue, from 1.
    pub number: u64,
    /// When its first packet arrived.
    pub opened: Time,
    /// Size of all its packets and of the padding.
    pub bytes: Bytes,
    /// Bytes of it that were added to reach the least size; zero without
    /// [`with_minimum`](Assembler::with_minimum).
    pub padding: Bytes,
}

/// One assembly queue: packets of type `P` in, bursts out.
///
/// Call [`push`](Self::push) for each packet; where it returns `true`, or when
/// [`poll_timeout`](Self::poll_timeout) has come, call [`close`](Self::close). A timer and an
/// arrival at the same instant: close first, then push.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Assembler<P> {
    policy: AssemblyPolicy,
    /// Timer of the open burst.
    timer: Option<Span>,
    /// Bursts that have a timer of their own, by number; rising.
    own_timers: Vec<(u64, Span)>,
    arrivals: Arrivals,
    minimum: Bytes,
    /// Whether a burst may hold at most the size that completes it.
    at_most: bool,
    waiting: Vec<P>,
    bytes: Bytes,
    opened: Option<Time>,
    closed: u64,
}

impl<P> Assembler<P> {
    /// An empty queue.
    ///
    /// # Panics
    /// When an adaptive timer has a `shortest` above its `longest`, or a `weight` outside (0, 1].
    #[must_use]
    pub fn new(policy: AssemblyPolicy) -> Self {
        if let AssemblyPolicy::Adaptive { shortest, longest, weight, .. } = policy {
            assert!(shortest <= longest, "the shortest timer is above the longest: {policy:?}");
            assert!(weight > 0.0 && weight <= 1.0, "a weight is in (0, 1]: {policy:?}");
        }
        Self {
            policy,
            timer: policy.timer(),
            own_timers: Vec::new(),
            arrivals: Arrivals::default(),
            minimum: Bytes::ZERO,
            at_most: false,
            waiting: Vec::new(),
            bytes: Bytes::ZERO,
            opened: None,
            closed: 0,
        }
    }

    /// Bursts of less than `minimum` are padded up to it. One without packets stays empty: it is
    /// never sent.
    #[must_use]
    pub fn with_minimum(self, minimum: Bytes) -> Self {
        Self { minimum, ..self }
    }

    /// Bursts, by number in rising order, that have a timer of their own in place of that of
    /// [`AssemblyPolicy::Timer`].
    ///
    /// # Panics
    /// When the policy is another one.
    #[must_use]
    pub fn with_own_timers(self, own_timers: Vec<(u64, Span)>) -> Self {
        let timed = matches!(self.policy, AssemblyPolicy::Timer(_));
        assert!(timed || own_timers.is_empty(), "no timer alone closes: {:?}", self.policy);
        Self { own_timers, ..self }
    }

    /// Whether a burst may hold no more than the size that completes it: a packet with which an
    /// open burst [`overflows`](Self::overflows) belongs to the next one. One that is larger than
    /// that size is a burst of its own.
    #[must_use]
    pub fn with_at_most(self, at_most: bool) -> Self {
        Self { at_most, ..self }
    }

    /// Whether it may hold [no more](Self::with_at_most) than the size that completes it.
    #[must_use]
    pub fn holds_at_most(&self) -> bool {
        self.at_most
    }

    /// Whether the open burst has to be closed before a packet of `size` enters.
    #[inline]
    #[must_use]
    pub fn overflows(&self, size: Bytes) -> bool {
        let above = |limit: Bytes| self.bytes + size > limit;
        self.at_most && self.opened.is_some() && self.policy.limit().is_some_and(above)
    }

    /// Bytes that complete the open burst, or one that is opened; the largest number where none do.
    #[inline]
    #[must_use]
    pub fn room(&self) -> u64 {
        let room = |limit: Bytes| limit.get().saturating_sub(self.bytes.get());
        self.policy.limit().map_or(u64::MAX, room)
    }

    /// Of `bytes` that arrive at one instant in packets of `packet`, the last one shorter: how many
    /// enter the open burst, and whether it is complete then. They enter with one [`push`].
    ///
    /// [`push`]: Self::push
    #[inline]
    #[must_use]
    pub fn share_of(&self, bytes: Bytes, packet: Bytes) -> (Bytes, bool) {
        let (room, bytes, packet) = (self.room(), bytes.get(), packet.get());
        if bytes < room {
            return (Bytes::new(bytes), false);
        }
        let packets = if self.at_most {
            // Where all fit, they fill it.
            let fit = if bytes == room { bytes.div_ceil(packet) } else { room / packet };
            if self.opened.is_none() { fit.max(1) } else { fit }
        } else {
            room.div_ceil(packet).max(1)
        };
        (Bytes::new(bytes.min(packets * packet)), true)
    }

    /// When the open burst is complete or due, if nothing comes but these `arrivals`, in order of
    /// time; where none is open, the first of them opens one. No more of them are asked for than
    /// that takes.
    ///
    /// An adaptive timer is known only once its burst is open: of one that is to be opened, the
    /// answer is when it is.
    #[must_use]
    pub fn foresee(&self, mut arrivals: impl Iterator<Item = (Time, Bytes)>) -> Option<Time> {
        let limit = self.policy.limit().map_or(u64::MAX, Bytes::get);
        let mut held = self.bytes.get();
        let (opened, timer) = match self.opened {
            Some(opened) => (opened, self.timer),
            None => {
                let (at, bytes) = arrivals.next()?;
                held += bytes.get();
                if held >= limit || matches!(self.policy, AssemblyPolicy::Adaptive { .. }) {
                    return Some(at);
                }
                (at, self.next_own_timer().or(self.policy.timer()))
            }
        };
        let due = timer.map(|timer| opened.saturating_add(timer));
        for (at, bytes) in arrivals {
            if due.is_some_and(|due| due <= at) {
                return due;
            }
            held += bytes.get();
            if held >= limit {
                return Some(at);
            }
        }
        due
    }

    /// A packet of `size` arrives at `now`; returns whether the burst is complete.
    #[inline(always)]
    pub fn push(&mut self, now: Time, packet: P, size: Bytes) -> bool {
        self.open(now);
        self.waiting.push(packet);
        self.bytes += size;
        self.policy.is_full(self.bytes)
    }

    /// Opens a burst at `now` if none is open, as the arrival of a packet does; returns the number
    /// the open burst will have.
    #[inline(always)]
    pub fn open(&mut self, now: Time) -> u64 {
        if self.opened.is_none() {
            self.opened = Some(now);
            if let AssemblyPolicy::Adaptive { size, shortest, longest, weight } = self.policy {
                self.arrivals.opens(now, weight);
                let timer = self.arrivals.time_of(size).unwrap_or(longest);
                self.timer = Some(timer.clamp(shortest, longest));
            } else if !self.own_timers.is_empty() {
                self.timer = self.own_timer(self.closed + 1).or(self.policy.timer());
            }
        }
        self.closed + 1
    }

    /// The timer that a burst has for itself.
    fn own_timer(&self, number: u64) -> Option<Span> {
        let place = self.own_timers.binary_search_by_key(&number, |&(burst, _)| burst);
        place.ok().map(|place| self.own_timers[place].1)
    }

    /// The time from its first packet after which the burst that is opened next, behind the open
    /// one if there is one, is closed where nothing else closes it.
    #[inline]
    #[must_use]
    pub fn next_timer_alone(&self) -> Option<Span> {
        let timer = self.policy.timer_alone();
        if self.own_timers.is_empty() { timer } else { self.next_own_timer().or(timer) }
    }

    fn next_own_timer(&self) -> Option<Span> {
        self.own_timer(self.closed + 1 + u64::from(self.opened.is_some()))
    }

    /// A packet of `size` is a burst of its own, under [`AssemblyPolicy::None`].
    #[inline]
    pub fn pass(&mut self, now: Time, size: Bytes) -> ClosedBurst {
        self.finish(now, size)
    }

    /// Numbers `bursts` bursts of one packet each, as [`pass`](Self::pass) does.
    #[inline]
    pub fn skip(&mut self, bursts: u64) {
        self.closed += bursts;
    }

    #[inline]
    fn finish(&mut self, opened: Time, packets: Bytes) -> ClosedBurst {
        self.closed += 1;
        let missing = self.minimum.get().saturating_sub(packets.get());
        let padding = if packets == Bytes::ZERO { Bytes::ZERO } else { Bytes::new(missing) };
        ClosedBurst { number: self.closed, opened, bytes: packets + padding, padding }
    }

    /// When the open burst is to be closed, where a timer runs.
    #[inline]
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Time> {
        Some(self.opened? + self.timer?)
    }

    /// Closes the open burst: its packets are moved to the end of `packets`, in order.
    ///
    /// # Panics
    /// When no burst is open.
    #[inline]
    pub fn close(&mut self, packets: &mut Vec<P>) -> ClosedBurst {
        let opened = self.opened.take().expect("a burst is open");
        packets.append(&mut self.waiting);
        let bytes = std::mem::take(&mut self.bytes);
        self.arrivals.bytes += bytes;
        self.finish(opened, bytes)
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

/// How fast packets arrive at a queue, judged by its bursts.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Arrivals {
    /// When the burst before was opened.
    since: Option<Time>,
    /// Bytes of the bursts that were closed since then.
    bytes: Bytes,
    /// Mean rate in bytes a second, once there is one.
    rate: Option<f64>,
}

impl Arrivals {
    /// A burst is opened at `now`: the one before it has a rate, unless no time has passed, when
    /// its bytes count with those of the next.
    fn opens(&mut self, now: Time, weight: f64) {
        let since = *self.since.get_or_insert(now);
        if now == since {
            return;
        }
        let bytes = std::mem::take(&mut self.bytes);
        let newest = bytes.get() as f64 / now.since(since).as_secs_f64();
        self.rate = Some(self.rate.map_or(newest, |mean| mean + weight * (newest - mean)));
        self.since = Some(now);
    }

    /// How long `size` takes to arrive, in whole picoseconds, rounded down.
    fn time_of(&self, size: Bytes) -> Option<Span> {
        let rate = self.rate?.round() as u64;
        let ps = u128::from(size.get()) * u128::from(Span::from_secs(1).as_ps());
        let ps = ps.checked_div(u128::from(rate))?;
        Some(u64::try_from(ps).map_or(Span::MAX, Span::from_ps))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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
    fn a_burst_with_a_timer_of_its_own_takes_what_comes_as_the_others_end() {
        let policy = AssemblyPolicy::Timer(Span::from_ms(40));
        let later = Span::from_ps(Span::from_ms(40).as_ps() + 1);
        let mut queue = Assembler::new(policy).with_own_timers(vec![(2, later)]);
        let mut bursts: Vec<Vec<u64>> = Vec::new();
        for packet in 0..17 {
            let now = ms(packet * 8);
            let next = queue.closed() + 1 + u64::from(!queue.waiting().is_empty());
            assert_eq!(queue.next_timer_alone() == Some(later), next == 2, "burst {next}");
            if queue.poll_timeout().is_some_and(|at| at <= now) {
                bursts.push(Vec::new());
                queue.close(bursts.last_mut().expect("just pushed"));
            }
            queue.push(now, packet, PACKET);
        }
        let expected: [&[u64]; 3] = [&[0, 1, 2, 3, 4], &[5, 6, 7, 8, 9, 10], &[11, 12, 13, 14, 15]];
        assert_eq!(bursts, expected);
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

    #[test]
    fn at_most_its_size_leaves_the_packet_that_is_too_much_to_the_next() {
        let mut queue = Assembler::new(AssemblyPolicy::Size(Bytes::new(2500))).with_at_most(true);
        assert!(!queue.overflows(Bytes::new(3000)), "an empty queue is not closed");
        assert!(!queue.push(ms(0), 0, PACKET));
        assert!(!queue.push(ms(1), 1, PACKET));
        assert!(queue.overflows(PACKET));
        assert!(!queue.overflows(Bytes::new(500)), "it would just be full");
        assert_eq!(queue.close(&mut Vec::new()).bytes, Bytes::new(2000));
        assert!(queue.push(ms(2), 2, Bytes::new(3000)), "it is a burst of its own");
    }

    proptest! {
        /// Packets that come at once and enter by one call, against one call a packet; and what is
        /// foreseen of them.
        #[test]
        fn many_packets_at_once_are_as_many_one_by_one(
            limit in 0u64..9000,
            at_most in any::<bool>(),
            packet in 1u64..2000,
            groups in proptest::collection::vec((0u64..4, 1u64..12_000), 1..30),
        ) {
            let policy = match limit {
                0 => AssemblyPolicy::None,
                _ => AssemblyPolicy::Hybrid(Span::from_ms(5), Bytes::new(limit)),
            };
            let new = || Assembler::<()>::new(policy).with_at_most(at_most);
            let (mut one, mut many) = (new(), new());
            let (mut expected, mut found) = (Vec::new(), Vec::new());
            let closes = |queue: &mut Assembler<()>, at: Time, bursts: &mut Vec<_>| {
                let burst = queue.close(&mut Vec::new());
                bursts.push((burst.opened, at, burst.bytes));
            };
            let mut now = Time::ZERO;
            for (wait, bytes) in groups {
                now += Span::from_ms(wait);
                for queue in [(&mut one, &mut expected), (&mut many, &mut found)] {
                    if let Some(due) = queue.0.poll_timeout().filter(|&due| due <= now) {
                        closes(queue.0, due, queue.1);
                    }
                }
                let foreseen = many.foresee([(now, Bytes::new(bytes))].into_iter());
                let before = found.len();
                let mut rest = bytes;
                while rest > 0 {
                    let size = Bytes::new(rest.min(packet));
                    if one.overflows(size) {
                        closes(&mut one, now, &mut expected);
                    }
                    if one.push(now, (), size) {
                        closes(&mut one, now, &mut expected);
                    }
                    rest -= size.get();
                }
                let mut rest = bytes;
                while rest > 0 {
                    let (share, full) = many.share_of(Bytes::new(rest), Bytes::new(packet));
                    if share > Bytes::ZERO {
                        many.push(now, (), share);
                    }
                    if full {
                        closes(&mut many, now, &mut found);
                    }
                    rest -= share.get();
                }
                prop_assert_eq!(&found, &expected);
                if found.len() > before {
                    prop_assert_eq!(foreseen, Some(now));
                } else {
                    prop_assert_eq!(foreseen, many.poll_timeout());
                }
            }
        }
    }

    const ADAPTIVE: AssemblyPolicy = AssemblyPolicy::Adaptive {
        size: Bytes::new(10_000),
        shortest: Span::from_ms(2),
        longest: Span::from_ms(50),
        weight: 0.25,
    };

    /// The timer of each burst, when packets come `gaps` ms apart.
    fn timers(policy: AssemblyPolicy, gaps: &[u64]) -> Vec<Span> {
        let mut queue = Assembler::new(policy);
        let (mut now, mut timers) = (0, Vec::new());
        for gap in gaps {
            now += gap;
            if queue.poll_timeout().is_some_and(|at| at <= ms(now)) {
                queue.close(&mut Vec::new());
            }
            let idle = queue.waiting().is_empty();
            assert!(!queue.push(ms(now), (), PACKET), "a timer alone closes");
            if idle {
                timers.push(queue.poll_timeout().expect("a timer runs").since(ms(now)));
            }
        }
        timers
    }

    #[test]
    fn an_adaptive_timer_becomes_the_time_in_which_a_burst_fills() {
        // 1000 bytes every 4 ms are 250 kB/s: 10,000 bytes in 40 ms.
        let timers = timers(ADAPTIVE, &[4; 60]);
        assert_eq!((timers[0], timers[1]), (Span::from_ms(50), Span::from_ms(40)));
        assert!(timers[1..].iter().all(|&timer| timer == Span::from_ms(40)), "{timers:?}");
    }

    #[test]
    fn the_newest_burst_counts_with_its_weight() {
        // 13 packets in 52 ms are 250 kB/s. The second burst, of 40 ms, holds 40 of 1 ms: 1 MB/s,
        // and a mean of 250 + (1000 - 250) / 4 = 437.5 kB/s.
        let gaps = [vec![4; 14], vec![1; 41]].concat();
        let timers = timers(ADAPTIVE, &gaps);
        assert_eq!(timers[..2], [Span::from_ms(50), Span::from_ms(40)]);
        assert_eq!(timers[2], Span::from_ps(10_000 * 1_000_000_000_000 / 437_500));
    }

    #[test]
    fn an_adaptive_timer_stays_within_its_bounds() {
        let AssemblyPolicy::Adaptive { size, shortest, longest, .. } = ADAPTIVE else {
            unreachable!("it is adaptive")
        };
        let last = AssemblyPolicy::Adaptive { size, shortest, longest, weight: 1.0 };
        // One packet in 1000 ms, then 100 at an instant and one behind them.
        let gaps = [vec![1, 1000], vec![0; 100], vec![60, 60]].concat();
        let timers = timers(last, &gaps);
        assert_eq!(timers[1], longest, "1 kB/s would take 10 s");
        assert_eq!(timers[2], Span::from_ps(10_000 * 1_000_000_000_000 / 1_683_333));
        let fast = AssemblyPolicy::Adaptive { size: PACKET, shortest, longest, weight: 1.0 };
        assert_eq!(self::timers(fast, &gaps)[2], shortest, "0.6 ms");
    }

    #[test]
    fn bursts_that_open_at_one_instant_make_no_rate() {
        let still = AssemblyPolicy::Adaptive {
            size: Bytes::new(10_000),
            shortest: Span::ZERO,
            longest: Span::ZERO,
            weight: 0.5,
        };
        assert_eq!(timers(still, &[1, 0, 0, 1]), [Span::ZERO; 4]);
    }

    #[test]
    #[should_panic(expected = "above the longest")]
    fn bounds_that_cross_are_a_bug() {
        let _ = Assembler::<()>::new(AssemblyPolicy::Adaptive {
            size: PACKET,
            shortest: Span::from_ms(2),
            longest: Span::from_ms(1),
            weight: 0.5,
        });
    }

    #[test]
    fn a_short_burst_is_padded_and_says_so() {
        let mut queue =
            Assembler::new(AssemblyPolicy::Timer(Span::from_ms(5))).with_minimum(Bytes::new(1500));
        let sizes = |burst: ClosedBurst| (burst.bytes.get(), burst.padding.get());
        queue.push(ms(0), 0, PACKET);
        assert_eq!(sizes(queue.close(&mut Vec::new())), (1500, 500));
        queue.push(ms(9), 0, Bytes::new(1500));
        assert_eq!(sizes(queue.close(&mut Vec::new())), (1500, 0));
        queue.open(ms(18));
        assert_eq!(sizes(queue.close(&mut Vec::new())), (0, 0), "never sent");
        let mut single = Assembler::<u64>::new(AssemblyPolicy::None).with_minimum(Bytes::new(1500));
        assert_eq!(sizes(single.pass(ms(0), PACKET)), (1500, 500));
        assert_eq!(sizes(single.pass(ms(0), Bytes::new(2000))), (2000, 0));
    }

    proptest! {
        /// Every packet leaves in exactly one burst, in order, and no sooner than its timer says.
        #[test]
        fn adaptive_bursts_hold_every_packet_once(
            gaps in proptest::collection::vec(0u64..30, 1..120),
            weight in 0.01f64..=1.0,
            shortest in 0u64..10,
            longest in 10u64..40,
        ) {
            let (shortest, longest) = (Span::from_ms(shortest), Span::from_ms(longest));
            let size = Bytes::new(10_000);
            let policy = AssemblyPolicy::Adaptive { size, shortest, longest, weight };
            let mut queue = Assembler::new(policy);
            let (mut now, mut out, mut sent) = (0, Vec::new(), Bytes::ZERO);
            for (packet, gap) in gaps.iter().enumerate() {
                now += gap;
                if queue.poll_timeout().is_some_and(|at| at <= ms(now)) {
                    sent += queue.close(&mut out).bytes;
                }
                let idle = queue.waiting().is_empty();
                queue.push(ms(now), packet, PACKET);
                let timer = queue.poll_timeout().expect("a timer runs");
                if idle {
                    let timer = timer.since(ms(now));
                    prop_assert!(shortest <= timer && timer <= longest);
                }
            }
            sent += queue.close(&mut out).bytes;
            prop_assert_eq!(&out, &(0..gaps.len()).collect::<Vec<_>>());
            prop_assert_eq!(sent.get(), 1000 * gaps.len() as u64);
        }
    }
}
