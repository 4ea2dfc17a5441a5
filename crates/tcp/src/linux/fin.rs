//! The end of a connection: where all data have left before the application closes, the FIN is a
//! packet of its own. It is a segment without data, which is reported, lost and sent again as
//! others are (`tcp_send_fin`, Linux 6.12).

use burstlab_units::{Span, Time};
use serde::{Deserialize, Serialize};

use super::Linux;
use crate::segment::Transmission;

/// How a connection ends.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Ending {
    /// Whether the application keeps the connection open behind what it writes.
    keeps_open: bool,
    /// Whether it is yet to close the connection.
    pub(super) is_due: bool,
    /// The segment that is a FIN alone.
    pub(super) fin: Option<u64>,
}

impl Ending {
    pub(super) fn stays_open(&self) -> bool {
        self.keeps_open
    }
}

impl Linux {
    /// Where the application keeps the connection open, no FIN follows what it writes.
    pub(crate) fn stay_open(&mut self) {
        self.ending.keeps_open = true;
    }

    /// When a segment was sent whose time stamp an ACK echoes at `now`, by the time stamps of both.
    #[must_use]
    pub fn echoed(&self, now: Time, echo: u64) -> Time {
        let ms = (self.clock.us(now) / 1_000).saturating_sub(echo).max(1);
        Time::from_ps(now.as_ps().saturating_sub(Span::from_ms(ms).as_ps()))
    }

    /// The SYN went so many times more than once before the connection was there.
    pub fn repeated_syns(&mut self, times: u32) {
        self.syn.1 = times;
        self.sent_again_ever += u64::from(times);
        if times > 1 {
            self.window.cwnd = 1;
        }
    }

    /// The application closes once all is written.
    pub(super) fn closes(&mut self) {
        self.ending.is_due = self.ending.fin.is_none() && !self.ending.keeps_open;
    }

    /// All is written and the application closes: the FIN goes with the last data that wait, or as
    /// a segment of its own.
    #[cold]
    pub(super) fn shut(&mut self, now: Time, out: &mut Vec<Transmission>) {
        self.ending.is_due = false;
        if !self.has_data() {
            self.ending.fin = Some(self.next);
            self.limit = self.next + 1;
        }
        self.push(now, out);
    }

    /// Whether segment `seq` is a FIN alone.
    #[inline]
    pub(crate) fn is_fin(&self, seq: u64) -> bool {
        self.ending.fin == Some(seq)
    }
}
