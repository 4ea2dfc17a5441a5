//! ACKs that come on data segments of the other direction.

use burstlab_units::Time;

use super::Sender;
use crate::segment::{Ack, Transmission};

impl Sender {
    /// As [`on_ack`](Self::on_ack), of an ACK on a segment that carries data. Such a one is never a
    /// duplicate ACK (RFC 5681 section 2, (b)): without progress it says that the other end had
    /// something to send, not that another segment has arrived. Where losses are repaired by SACK
    /// blocks, one whose blocks bring news is heard as any other (RFC 6675 section 2, on duplicate
    /// acknowledgments). [`SenderCounters::acks`](crate::SenderCounters::acks) leaves them out.
    pub fn on_ack_with_data(&mut self, now: Time, ack: &Ack, out: &mut Vec<Transmission>) {
        if ack.next > self.acked() || self.recovery.learns_from(&self.flow, ack) {
            self.on_ack(now, ack, out);
            self.flow.counters.acks -= 1;
        }
    }
}
