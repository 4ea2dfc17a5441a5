//! How fast data are delivered (delivery rate samples: draft-cheng-iccrg-delivery-rate-estimation).

use serde::{Deserialize, Serialize};

/// The state that is noted with each segment when it is sent.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Stamp {
    /// Segments delivered by then; `None` once its own delivery was taken account of.
    pub(crate) delivered: Option<u64>,
    /// When the last of these was, and when the first segment of the same flight was sent, in
    /// microseconds.
    at: u64,
    first: u64,
    /// Whether the application had nothing more to send.
    pub(crate) idle: bool,
    /// Segments in flight, this one included, and segments taken for lost until then.
    pub(crate) flight: u32,
    pub(crate) lost: u64,
}

impl Stamp {
    /// That of a segment which goes behind so many others, all at one time.
    #[inline]
    pub(crate) fn behind(self, others: u32) -> Self {
        Self { flight: self.flight + others, ..self }
    }
}

/// The rate that an ACK shows.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sample {
    /// Segments delivered over `interval` microseconds; `None`: no sample.
    pub(crate) rate: Option<(u64, u64)>,
    /// Segments delivered when the newest segment of this ACK was sent.
    pub(crate) prior: u64,
    pub(crate) idle: bool,
    /// Segments that this ACK delivered, and those it made lost.
    pub(crate) acked: u32,
    pub(crate) lost: u32,
    /// Segments in flight before it.
    pub(crate) flight: u32,
    pub(crate) rtt: Option<u64>,
    /// Whether its ACK was probably delayed: it is of one segment alone, which is short.
    pub(crate) delayed: bool,
    /// Segments in flight when the newest segment of this ACK was sent, and lost since then.
    pub(crate) sent_in_flight: u64,
    pub(crate) lost_since: u64,
}

/// The counts of a connection from which samples are made.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Rate {
    /// When data were last delivered, and when the last segment delivered was sent.
    pub(crate) delivered_at: u64,
    first_sent: u64,
    /// Until more than this is delivered, the application limited the rate; 0: it did not.
    idle_until: u64,
}

/// The newest segment that an ACK acknowledges, while the ACK is processed.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Newest {
    key: Option<(u64, u64)>,
    stamp: Stamp,
    /// Time between the sending of this flight's first and last segment.
    sending: u64,
}

impl Newest {
    /// Segments that were delivered when the newest segment was sent.
    pub(crate) fn prior(&self) -> Option<u64> {
        self.stamp.delivered
    }

    /// Segments in flight when it was sent, and lost since then, of `lost` in all.
    pub(crate) fn losses(&self, lost: u64) -> (u64, u64) {
        match self.key {
            Some(_) => (u64::from(self.stamp.flight), lost.saturating_sub(self.stamp.lost)),
            None => (0, 0),
        }
    }
}

impl Rate {
    /// A segment is sent at `at`, the first in flight if `alone`.
    pub(crate) fn stamp(
        &mut self,
        at: u64,
        alone: bool,
        delivered: u64,
        (flight, lost): (u32, u64),
    ) -> Stamp {
        if alone {
            (self.first_sent, self.delivered_at) = (at, at);
        }
        let idle = self.is_idle();
        let (at, first) = (self.delivered_at, self.first_sent);
        Stamp { delivered: Some(delivered), at, first, idle, flight, lost }
    }

    /// Whether the application limits the rate.
    pub(crate) fn is_idle(&self) -> bool {
        self.idle_until > 0
    }

    /// A segment that was sent at `at`, the last of which is below `end`, is delivered.
    pub(crate) fn take(&mut self, newest: &mut Newest, at: u64, end: u64, stamp: Stamp) {
        if stamp.delivered.is_none() {
            return;
        }
        let later = newest.key.is_none_or(|(_, last)| (at, end) > (self.first_sent, last));
        if later {
            newest.key = Some((at, end));
            newest.stamp = stamp;
            self.first_sent = at;
            newest.sending = at.saturating_sub(stamp.first);
        }
    }

    /// A segment that was sent once, at `at`, is delivered, with all that were before it.
    #[inline]
    pub(crate) fn take_plain(&mut self, at: u64) {
        self.first_sent = at;
    }

    /// The application has nothing more to send: `until` is what will have been delivered when that
    /// has passed.
    pub(crate) fn idle(&mut self, until: u64) {
        self.idle_until = until.max(1);
    }

    /// The rate sample of an ACK at `us`, which brought the count of delivered segments to
    /// `delivered`.
    pub(crate) fn sample(
        &mut self,
        us: u64,
        delivered: u64,
        newest: &Newest,
        shortest: u64,
        mut sample: Sample,
    ) -> Sample {
        if self.idle_until > 0 && delivered > self.idle_until {
            self.idle_until = 0;
        }
        if sample.acked > 0 {
            self.delivered_at = us;
        }
        let Some(prior) = newest.prior() else { return sample };
        sample.prior = prior;
        sample.idle = newest.stamp.idle;
        let interval = newest.sending.max(us.saturating_sub(newest.stamp.at));
        if interval >= shortest && interval > 0 {
            sample.rate = Some((delivered - prior, interval));
        }
        sample
    }
}
