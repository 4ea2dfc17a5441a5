//! An ACK that goes with a data segment of the other direction.

use burstlab_units::Time;

use super::Receiver;
use super::linux::FullAck;
use crate::segment::Ack;

impl Receiver {
    /// A data segment of the other direction leaves: the ACK that it carries, after which no
    /// delayed one is due (RFC 9293 section 3.10.7.4: it is piggybacked). `None` before the SYN has
    /// arrived: there is nothing to acknowledge.
    pub fn on_ride(&mut self) -> Option<Ack> {
        let last = self.next.checked_sub(1)?;
        self.policy.cancel();
        Some(self.acknowledge(last))
    }

    /// The same on a connection with [options](Self::has_options).
    pub fn on_full_ride(&mut self, now: Time) -> Option<FullAck> {
        let next = self.next;
        let answers = self.answers.as_mut().filter(|_| next > 0)?;
        Some(answers.on_ride(now, next))
    }

    /// An ACK that [was to go](Self::on_packet) at `now` goes with a data segment instead.
    pub fn has_ridden(&mut self, now: Time) {
        if let Some(answers) = &mut self.answers {
            answers.has_ridden(now);
        }
    }

    /// What the sender at the same host knows of round trips: the smoothed one in microseconds, and
    /// its time-out in ticks of a millisecond. A connection with options goes by it.
    pub fn know_round_trip(&mut self, (rtt, rto): (u64, u64)) {
        if let Some(answers) = &mut self.answers {
            answers.know(rtt, rto);
        }
    }
}
