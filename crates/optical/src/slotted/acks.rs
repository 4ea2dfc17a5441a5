//! ACKs in the name of a receiver: an ingress edge's record of one connection, and the ACKs that it
//! writes to the sender when an optical packet is lost.
//!
//! An ACK that asks for the lost segment acknowledges all before it, which the receiver may not
//! have and of which some may be lost unseen: dropped by contention, which nobody notifies, further
//! on in the network, or behind it. The sender has forgotten such a segment, the receiver waits for
//! it, and the connection hangs for ever. Therefore the edge guards what it acknowledges: it keeps
//! the segments until the receiver has them, and sends its copy where the receiver asks for one
//! again. No timer is needed: the sender repeats the segment that the ACKs asked for until it is
//! acknowledged, and each repetition makes the receiver ask.

use std::collections::{BTreeSet, VecDeque};

use burstlab_units::{Span, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which ACKs of a receiver are dropped, among those that repeat the ACKs of the edge.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Filter {
    /// All (Lu and Hunter 2009).
    #[default]
    All,
    /// The first three; those behind inflate the window of a sender in recovery.
    FirstThree,
    /// None.
    Off,
}

/// The rule that keeps ACKs in the name of the receiver from losing data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Guard {
    /// The edge keeps a copy of each segment that it acknowledged, and sends it if the receiver
    /// lacks it.
    #[default]
    Copies,
    /// Only that no ACK goes beyond a loss that was notified and is not repaired. Data that is lost
    /// unseen stays lost, and its connection hangs.
    KnownHoles,
}

/// The rules of an edge for all connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProxyRules {
    /// How long the edge knows a segment that went into the core, and ACKs that it wrote.
    pub keep: Span,
    /// Which ACKs of the receiver are dropped.
    pub filter: Filter,
    /// The rule that keeps data from being lost.
    pub guard: Guard,
    /// A copy is not sent again sooner.
    pub again: Span,
}

/// A segment that came for the core.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Forwarded<P> {
    segment: u64,
    packet: P,
}

/// ACKs that were written.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Written {
    number: u64,
    until: Time,
    /// ACKs of the receiver that were dropped.
    dropped: u32,
}

/// The outcome of an ACK of the receiver at the edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passed<P> {
    /// Whether it goes on to the sender.
    pub on: bool,
    /// The copy of a segment that goes into the core again.
    pub copy: Option<P>,
}

/// One connection as its ingress edge sees it: data segments that go into the core, ACKs that come
/// back, losses that are notified. Segments are numbered from 0, and an ACK names the first that is
/// missing.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct AckProxy<P> {
    /// Rising by segment: segments that came for the core and that the receiver has not
    /// acknowledged.
    forwarded: VecDeque<Forwarded<P>>,
    /// The highest ACK of the receiver.
    acked: Option<u64>,
    /// Losses that were notified and are not acknowledged.
    holes: BTreeSet<u64>,
    /// The highest segment that had gone into the core when ACKs were last written.
    recover: Option<u64>,
    written: Option<Written>,
    /// All below was acknowledged by the edge, or by the receiver.
    guarded: u64,
    /// The copy that was sent last, and when.
    copied: Option<(u64, Time)>,
}

impl<P> Default for AckProxy<P> {
    fn default() -> Self {
        Self {
            forwarded: VecDeque::new(),
            acked: None,
            holes: BTreeSet::new(),
            recover: None,
            written: None,
            guarded: 0,
            copied: None,
        }
    }
}

impl<P: Copy> AckProxy<P> {
    /// `packet` with `segment` goes into the core.
    #[inline]
    pub fn forwards(&mut self, segment: u64, packet: P) {
        let entry = Forwarded { segment, packet };
        match self.forwarded.back() {
            Some(last) if last.segment >= segment => {
                match self.place(segment) {
                    Ok(place) => self.forwarded[place] = entry,
                    // A segment that the receiver has acknowledged needs no copy.
                    Err(_) if self.acked.is_some_and(|acked| segment < acked) => {}
                    Err(place) => self.forwarded.insert(place, entry),
                }
            }
            _ if self.acked.is_some_and(|acked| segment < acked) => {}
            _ => self.forwarded.push_back(entry),
        }
    }

    fn place(&self, segment: u64) -> Result<usize, usize> {
        self.forwarded.binary_search_by_key(&segment, |entry| entry.segment)
    }

    /// The core has lost `segment`, which went into it at `left`, by congestion. Returns the number
    /// of the ACKs to be written to the sender, if any. There is one set a window, for a segment
    /// above those that were in flight at the last one, and not beyond a hole that is known.
    pub fn loses(
        &mut self,
        now: Time,
        segment: u64,
        left: Time,
        rules: &ProxyRules,
    ) -> Option<u64> {
        // Without an ACK of the receiver there is no connection yet.
        let acked = self.acked?;
        if segment < acked {
            return None;
        }
        self.holes.insert(segment);
        let known = self.place(segment).is_ok() && left + rules.keep >= now;
        let first = self.holes.first() == Some(&segment);
        let fresh = self.recover.is_none_or(|recover| segment > recover);
        let safe = rules.guard == Guard::KnownHoles || self.holds(acked..segment);
        if !(known && first && fresh && safe) {
            return None;
        }
        self.recover = self.forwarded.back().map(|last| last.segment);
        self.written = Some(Written { number: segment, until: now + rules.keep, dropped: 0 });
        self.guarded = self.guarded.max(segment);
        Some(segment)
    }

    /// Whether it has a copy of each of `segments`.
    fn holds(&self, segments: std::ops::Range<u64>) -> bool {
        let (Ok(first), Ok(last)) = (self.place(segments.start), self.place(segments.end)) else {
            return false;
        };
        last - first == (segments.end - segments.start) as usize
    }

    /// An ACK of the receiver that asks for segment `next` comes by.
    #[inline]
    pub fn passes(&mut self, now: Time, next: u64, rules: &ProxyRules) -> Passed<P> {
        let repeated = self.acked == Some(next);
        if self.acked.is_none_or(|acked| acked < next) {
            self.acked = Some(next);
            while self.forwarded.front().is_some_and(|first| first.segment < next) {
                self.forwarded.pop_front();
            }
            while self.holes.first().is_some_and(|&first| first < next) {
                self.holes.pop_first();
            }
        }
        if next >= self.guarded && self.written.is_none() {
            return Passed { on: true, copy: None };
        }
        let copy = if repeated { self.copy(now, next, rules) } else { None };
        Passed { on: !self.filters(now, next, rules), copy }
    }

    /// The copy of `next`, if the edge has acknowledged it and the receiver has not.
    fn copy(&mut self, now: Time, next: u64, rules: &ProxyRules) -> Option<P> {
        let due = self.copied.is_none_or(|(last, at)| last != next || at + rules.again <= now);
        if next >= self.guarded || !due || rules.guard == Guard::KnownHoles {
            return None;
        }
        let place = self.place(next).ok()?;
        self.copied = Some((next, now));
        Some(self.forwarded[place].packet)
    }

    /// Whether an ACK that asks for `next` only repeats those that were written.
    fn filters(&mut self, now: Time, next: u64, rules: &ProxyRules) -> bool {
        let Some(written) = &mut self.written else { return false };
        if next > written.number || now > written.until {
            self.written = None;
            return false;
        }
        let drops = next == written.number
            && match rules.filter {
                Filter::All => true,
                Filter::FirstThree => written.dropped < 3,
                Filter::Off => false,
            };
        written.dropped += u32::from(drops);
        drops
    }
}

#[cfg(test)]
mod tests;
