//! The ACKs of a receiver that does as Linux 6.12: when it sends them, and their contents. It
//! acknowledges at once in its quick phase and out of order, else later, by how fast segments come.
//! It has time stamps, D-SACK, a window that grows, and echoes of marks.
//!
//! Written from RFC 2018, 2883, 3168, 5681, 7323 and 8257 and from recorded connections of that
//! kernel. Where these leave a question open, facts and constants of `net/ipv4/tcp_input.c`,
//! `tcp_output.c` and `tcp_timer.c` decide.

mod blocks;
mod delay;
mod echo;
mod place;
mod room;
mod syn;
mod syn_timer;
mod window;

use burstlab_units::{Bytes, Time};
use serde::{Deserialize, Serialize};

use crate::config::{Config, WindowLaw};
use crate::lengths::SegmentLengths;
use crate::linux::{Clock, earliest};
use crate::segment::{Ack, AckOptions, SegmentOptions};
use blocks::Blocks;
use delay::Delay;
use echo::Echo;
pub(super) use place::Place;
use syn_timer::SynTimer;
use window::Advertised;

/// Bytes of the first SACK block besides the block: kind, length, and two bytes of padding.
const SACK_OPTION: u64 = 4;
/// Bytes of a SYN's options that other headers lack: the segment size, the scale of windows, and
/// "SACK permitted", which with time stamps takes no room of its own.
const SYN_OPTIONS: [u64; 2] = [12, 8];

/// Bytes by which the header of a SYN is longer than that of other segments.
pub(crate) fn syn_options(timestamps: bool) -> Bytes {
    Bytes::new(SYN_OPTIONS[usize::from(timestamps)])
}

/// A segment in order with less data makes the window no wider (`tcp_event_data_recv`).
const GROWS: u64 = 128;

/// An ACK with its options.
pub type FullAck = (Ack, AckOptions);

/// How a receiver answers.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Answers {
    clock: Clock,
    timestamps: bool,
    sack: bool,
    d_sack: bool,
    ack_size: Bytes,
    block_size: u64,
    delay: Delay,
    window: Advertised,
    lengths: SegmentLengths,
    blocks: Blocks,
    echo: Echo,
    /// The segment that the last ACK asked for.
    acked: u64,
    /// When the last segment came while others were above a hole.
    seen: Time,
    /// The time stamp that the next ACK echoes.
    recent: u32,
    /// When the SYN was answered; `None` once the connection is there.
    answered: Option<Time>,
    /// When that answer goes again.
    syn: SynTimer,
    /// Segments there above a hole.
    early: u64,
    /// Segments in order that the application has not read yet.
    unread: u64,
    /// The segment that is a FIN alone, once it has come.
    fin: Option<u64>,
    /// When the last probe of the window was answered, in ticks.
    probed: Option<u64>,
}

impl Answers {
    pub(super) fn new(config: &Config) -> Self {
        let on = |field: Option<bool>| field.unwrap_or(true);
        let payload = config.segment_size.get() - config.headers().get();
        let clock = Clock::new(config.rto_clock_phase, 0);
        Self {
            clock,
            timestamps: on(config.timestamps),
            sack: on(config.sack),
            d_sack: on(config.d_sack) && on(config.sack),
            ack_size: config.ack_size,
            block_size: config.sack_block_size.get(),
            delay: Delay::new(config, clock),
            window: Advertised::new(config, payload),
            lengths: SegmentLengths::new(payload),
            blocks: Blocks::new(usize::from(config.sack_blocks)),
            echo: Echo::new(
                config.ecn == Some(true),
                matches!(config.window_law, WindowLaw::Dctcp | WindowLaw::Python),
            ),
            acked: 0,
            seen: Time::ZERO,
            recent: 0,
            answered: None,
            syn: SynTimer::new(config),
            early: 0,
            unread: 0,
            fin: None,
            probed: None,
        }
    }

    /// Takes the round trip that the sender at this host measures, in microseconds, and its
    /// time-out in ticks.
    pub(super) fn know(&mut self, rtt: u64, rto: u64) {
        self.delay.know(rtt, rto);
    }

    /// The ACK that goes with a segment of data; before the connection is there, with the SYN.
    pub(super) fn piggyback(&mut self, now: Time, next: u64) -> FullAck {
        if self.answered.is_some() {
            return (self.build(next), self.options_of_syn(now));
        }
        let answer = self.whole(now, next);
        self.acked = next;
        self.delay.sent();
        self.delay.sent_with_data(now);
        answer
    }

    /// An ACK that was to go has gone with data.
    pub(super) fn ack_was_piggybacked(&mut self, now: Time) {
        self.delay.sent_with_data(now);
    }

    /// The ACK of the SYN's ACK arrives, or the first data do.
    pub(super) fn open(&mut self, now: Time) {
        let Some(answered) = self.answered.take() else { return };
        self.syn.clear();
        if answered < now {
            let rtt = self.clock.us(now) - self.clock.us(answered);
            self.delay.set_round_trip(rtt);
        }
        self.window.open(self.clock.us(now));
    }

    /// Whether a segment is older than what has arrived in order (PAWS, RFC 7323 section 5).
    pub(super) fn is_old(&self, options: &SegmentOptions) -> bool {
        self.timestamps && options.stamp.saturating_add(1) < self.recent
    }

    /// A segment that is too old, or was acknowledged before: it is answered at once.
    pub(super) fn on_old(&mut self, now: Time, seq: u64, place: &Place, out: &mut Vec<FullAck>) {
        self.seen = now;
        self.delay.enter_quickack(&self.window);
        if self.d_sack && (1..place.before).contains(&seq) {
            self.blocks.twice(seq, seq + 1);
        }
        self.send(now, place.next, out);
    }

    /// Segment `seq` is put in its `place`: counts what is there above a hole.
    pub(super) fn count_early(&mut self, seq: u64, place: &mut Place) {
        place.early = self.early;
        self.unread = place.next - place.before;
        if place.next > place.before {
            self.early -= place.next - place.before - 1;
        } else if seq > place.before && !place.twice && !place.beyond {
            self.early += 1;
        }
    }

    /// The next packet has so many bytes of SACK blocks besides its data.
    pub(super) fn note_blocks(&mut self, blocks: u64) {
        self.delay.note_blocks(blocks);
    }

    /// Bytes of the blocks of an ACK that goes now, or once a segment has come in its place.
    pub(super) fn block_bytes(&self, coming: Option<&(u64, Place)>) -> u64 {
        let count = match coming {
            None => self.blocks.count(),
            Some(&(seq, ref place)) => {
                self.blocks.count_with((seq, place), (self.sack, self.d_sack))
            }
        };
        match count {
            0 => 0,
            _ => SACK_OPTION + self.block_size * count as u64,
        }
    }

    /// Whether a segment was acknowledged before the last ACK.
    pub(super) fn is_before_the_last_ack(&self, seq: u64) -> bool {
        seq + 1 < self.acked
    }

    /// Segment `seq` has arrived and was put in its `place`.
    pub(super) fn on_data(
        &mut self,
        now: Time,
        (seq, bytes): (u64, u64),
        options: &SegmentOptions,
        place: &Place,
        out: &mut Vec<FullAck>,
    ) {
        if place.has_early {
            self.seen = now;
        }
        if self.timestamps && seq <= self.acked {
            self.recent = self.recent.max(options.stamp);
        }
        self.lengths.shorten(seq, bytes);
        self.measure_round_trip(self.clock.tick(now), options.echo, bytes);
        if self.echo.accept(options.flags) {
            self.delay.now();
        }
        if bytes == 0 {
            return self.on_fin(now, seq, place, out);
        }
        if place.beyond || seq < place.before {
            if seq < place.before && self.d_sack {
                self.blocks.twice(seq, seq + 1);
            }
            self.delay.enter_quickack(&self.window);
            self.delay.schedule();
        } else if seq == place.before {
            self.take_in_order(now, bytes, options, place, out);
        } else {
            self.take_early(now, (seq, bytes), options, place, out);
        }
        self.check(now, place, out);
        if place.next > place.before {
            self.unread = 0;
            let bytes = self.lengths.between(place.before, place.next);
            let first = self.lengths.of(place.before);
            self.window.read(self.clock.us(now), first, bytes);
            let next = place.next;
            let due = self.delay.ends_with_a_push(place.has_early) || self.is_due(next);
            if due || self.opens(next) {
                self.send(now, next, out);
            }
        }
    }

    /// Whether segments in order, above which none is there, are taken as
    /// [`on_data_fast`](Self::on_data_fast) does, which carry this.
    #[inline]
    pub(super) fn is_fast(&self, options: &SegmentOptions) -> bool {
        self.answered.is_none()
            && self.early == 0
            && self.blocks.is_empty()
            && self.window.is_wide_open()
            && self.echo.is_off()
            && !self.is_old(options)
    }

    /// As [`on_data`](Self::on_data) of such a segment, if no timer surely runs out before it.
    /// Returns whether it is taken; `answer` receives the ACKs that go.
    #[inline]
    pub(super) fn on_data_fast(
        &mut self,
        at: Time,
        (seq, bytes): (u64, u64),
        options: &SegmentOptions,
        answer: &mut impl FnMut(Time, u64, &AckOptions),
    ) -> bool {
        let (now, next) = (self.clock.read(at), seq + 1);
        if !self.delay.is_surely_in_time(now.tick) {
            return false;
        }
        if self.timestamps && seq <= self.acked {
            self.recent = self.recent.max(options.stamp);
        }
        self.lengths.shorten(seq, bytes);
        self.measure_round_trip(now.tick, options.echo, bytes);
        // `tcp_event_data_recv`, with `tcp_measure_rcv_mss` and `tcp_grow_window`.
        self.delay.schedule();
        self.window.learn_size(bytes, self.delay.size());
        self.delay.note(bytes, options.flags.push);
        self.window.measure_window(now.us, self.lengths.before(next));
        self.delay.follow(now.tick, &self.window);
        if bytes >= GROWS && self.window.grow(1) {
            self.delay.send_next_ack_at_once();
        }
        // `__tcp_ack_snd_check`: two full segments (RFC 5681 section 4.2), else the delay decides.
        let offer = self.is_two(next).then(|| self.window.offer(1));
        let two = offer.is_some_and(|offer| self.window.is_as_wide(offer));
        if two || self.delay.decide_in_order(now.tick) {
            let offer = offer.unwrap_or_else(|| self.window.offer(1));
            answer(at, next, &self.ack_options(now.tick, next, offer));
        }
        // The application reads (`__tcp_cleanup_rbuf`).
        self.window.read(now.us, bytes, bytes);
        if self.delay.ends_with_a_push(false) || self.is_due(next) {
            let offer = self.window.offer(0);
            answer(at, next, &self.ack_options(now.tick, next, offer));
        }
        true
    }

    /// Whether segments from `seq` on, with so many bytes each and these options, are acknowledged
    /// two by two, and show nothing but round trips.
    #[inline]
    pub(super) fn is_even(&self, (seq, bytes): (u64, u64), options: &SegmentOptions) -> bool {
        let second = seq == self.acked + 1;
        (second || seq == self.acked)
            && !options.flags.push
            && self.delay.is_even(bytes, second)
            && self.window.is_settled()
            && self.lengths.is_full(bytes)
    }

    /// As [`on_data_fast`](Self::on_data_fast) where that [is even](Self::is_even), and goes on to
    /// be. Returns whether the segment is taken.
    #[inline(always)]
    pub(super) fn on_data_even(
        &mut self,
        at: Time,
        seq: u64,
        options: &SegmentOptions,
        answer: &mut impl FnMut(Time, u64, &AckOptions),
    ) -> bool {
        let (now, first) = (self.clock.read(at), seq == self.acked);
        if !first && !self.delay.is_second_in_time(now.tick) {
            return false;
        }
        // So it is, too, where the segment is taken otherwise.
        self.measure_round_trip(now.tick, options.echo, self.delay.size());
        if self.window.ends_round(now.us) || self.window.may_be_full(seq) {
            return false;
        }
        if first {
            if !self.delay.take_first(now.tick) {
                return false;
            }
            if self.timestamps {
                self.recent = self.recent.max(options.stamp);
            }
        } else {
            let offer = self.window.offer(1);
            if !self.window.is_as_wide(offer) || !self.delay.take_second(now.tick) {
                return false;
            }
            let carried = self.options(now.tick, seq + 1, offer);
            self.acked = seq + 1;
            answer(at, seq + 1, &carried);
        }
        self.window.read_on();
        true
    }

    #[inline]
    fn measure_round_trip(&mut self, tick: u64, echo: u32, bytes: u64) {
        if self.timestamps {
            self.window.measure_round_trip(tick, echo, bytes >= self.delay.size());
        }
    }

    fn take_in_order(
        &mut self,
        now: Time,
        bytes: u64,
        options: &SegmentOptions,
        place: &Place,
        out: &mut Vec<FullAck>,
    ) {
        self.delay.schedule();
        self.window.learn_size(bytes, self.delay.size());
        self.delay.note(bytes, options.flags.push);
        self.window.measure_window(self.clock.us(now), self.lengths.before(place.next));
        self.delay.follow(self.clock.tick(now), &self.window);
        self.take_mark(now, options, place, out);
        if bytes >= GROWS && self.window.grow(place.early + 1) {
            self.delay.send_next_ack_at_once();
        }
        if place.had_early {
            if !place.has_early {
                self.delay.now();
            }
            self.blocks.forget_below(place.next);
        }
    }

    fn take_early(
        &mut self,
        now: Time,
        (seq, bytes): (u64, u64),
        options: &SegmentOptions,
        place: &Place,
        out: &mut Vec<FullAck>,
    ) {
        self.take_mark(now, options, place, out);
        self.window.learn_size(bytes, self.delay.size());
        self.delay.note(bytes, options.flags.push);
        self.delay.schedule();
        if place.twice && self.d_sack {
            if self.blocks.has_twice() && self.delay.is_compressing() {
                self.send(now, place.next, out);
                self.delay.schedule();
            }
            self.blocks.twice(seq, seq + 1);
        }
        if !self.sack {
            return;
        }
        if self.blocks.overflows(seq, seq + 1) && self.delay.is_compressing() {
            self.send(now, place.next, out);
            self.delay.schedule();
        }
        self.blocks.report(seq, seq + 1);
        if !place.twice && self.window.grow(place.early) {
            self.delay.send_next_ack_at_once();
        }
    }

    /// The response that a segment with a mark, or without one, asks for.
    fn take_mark(
        &mut self,
        now: Time,
        options: &SegmentOptions,
        place: &Place,
        out: &mut Vec<FullAck>,
    ) {
        let heard = self.echo.hear(options);
        if heard.changed {
            // The segment that waits for its ACK is of the other kind (RFC 8257 section 3.2).
            if self.delay.waits() {
                self.echo.say(!options.marked);
                self.send_aside(now, place, out);
            }
            self.delay.now();
        }
        self.echo.settle(options);
        if heard.wants_quick_acks {
            self.delay.enter_quickack_after_mark(&self.window);
        }
    }

    /// Whether more than a full segment has come in order since the last ACK.
    #[inline]
    fn is_two(&self, next: u64) -> bool {
        let several = next > self.acked + 1;
        several
            && (self.lengths.all_full()
                || self.lengths.between(self.acked, next) > self.delay.size())
    }

    /// Whether more than a full segment waits for its ACK.
    fn is_due(&self, next: u64) -> bool {
        self.is_two(next) && self.delay.is_scheduled()
    }

    /// Whether an ACK goes now, or when.
    fn check(&mut self, now: Time, place: &Place, out: &mut Vec<FullAck>) {
        if !self.delay.is_scheduled() {
            return;
        }
        let next = place.next;
        let two = self.is_two(next) && self.is_wide();
        let compresses = place.has_early.then_some(self.sack);
        if two || self.delay.decide(now, next, compresses, self.window.round_trip()) {
            self.send(now, next, out);
        }
    }

    pub(super) fn fin(&self) -> Option<u64> {
        self.fin
    }

    #[inline]
    pub(super) fn deadline(&self) -> Option<Time> {
        earliest(self.delay.deadline(), self.syn.deadline())
    }

    /// A timer runs out.
    pub(super) fn on_timeout(&mut self, now: Time, next: u64, out: &mut Vec<FullAck>) {
        if self.syn.takes(now) {
            self.answered = Some(Time::MAX);
            let answer = self.answer_to_syn(now);
            out.push(answer);
        }
        // The timer of an ACK for several does not read the clock: its time stamp is that of the
        // last segment (`tcp_compressed_ack_kick`).
        let read = if self.delay.compresses_until(now) { self.seen } else { now };
        if self.delay.on_timeout(now) {
            self.send(read, next, out);
        }
    }

    fn send(&mut self, now: Time, next: u64, out: &mut Vec<FullAck>) {
        let ack = self.build(next);
        let offer = self.offer();
        out.push((ack, self.ack_options(self.clock.tick(now), next, offer)));
    }

    /// The ACK of what was there before a segment goes; the segment's own ACK, where it is in
    /// order, waits as it did (`tcp_event_ack_sent`).
    fn send_aside(&mut self, now: Time, place: &Place, out: &mut Vec<FullAck>) {
        if place.next == place.before {
            return self.send(now, place.next, out);
        }
        let ack = self.whole(now, place.before);
        self.acked = place.before;
        self.delay.sent_aside();
        out.push(ack);
    }

    /// An ACK with what it carries, which does not go, or goes with something else.
    fn whole(&mut self, now: Time, next: u64) -> FullAck {
        let offer = self.offer();
        (self.build(next), self.options(self.clock.tick(now), next, offer))
    }

    fn build(&mut self, next: u64) -> Ack {
        let sack = self.blocks.take();
        let extra = match sack.len() as u64 {
            0 => 0,
            blocks => SACK_OPTION + self.block_size * blocks,
        };
        Ack { next, sack, size: self.ack_size + Bytes::new(extra) }
    }

    /// An ACK goes; returns what it carries.
    #[inline(always)]
    fn ack_options(&mut self, tick: u64, next: u64, offer: u64) -> AckOptions {
        let options = self.options(tick, next, offer);
        self.acked = next;
        self.delay.sent();
        options
    }

    #[inline(always)]
    fn options(&mut self, tick: u64, next: u64, offer: u64) -> AckOptions {
        let since = self.lengths.between(self.acked, next);
        AckOptions {
            stamp: tick as u32,
            echo: self.recent,
            window: self.window.advertise(since, offer),
            marked: self.echo.says(),
            opens: false,
        }
    }
}
