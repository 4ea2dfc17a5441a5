//! An ACK that goes with a data segment of the other direction.

use super::Receiver;
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
}
