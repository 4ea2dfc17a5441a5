//! ACKs that come on data segments of the other direction.

use burstlab_units::Time;

use super::Sender;
use crate::linux::Linux;
use crate::segment::{Ack, AckOptions, Transmission};

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
    /// The same on a connection with [options](Self::has_options): without progress it is no
    /// duplicate ACK, and its window counts, as a segment says what is newest.
    pub fn on_full_ack_with_data(
        &mut self,
        now: Time,
        ack: &Ack,
        options: &AckOptions,
        out: &mut Vec<Transmission>,
    ) {
        if ack.next > 0 && ack.next <= self.sent() {
            let act = |linux: &mut Linux, out: &mut Vec<Transmission>| {
                linux.on_wire_ack(now, (ack, true), Some(options), out);
            };
            self.by_linux_judged(now, out, act);
        }
    }

    /// The connection has data in both directions. On one with options the receiver at the same
    /// host ends the handshake in place of an ACK of this sender.
    pub fn go_both_ways(&mut self) {
        if let Some(linux) = &mut self.linux {
            linux.go_both_ways();
        }
    }

    /// Each segment carries so many bytes of SACK blocks from now on, for which one of a connection
    /// with options has less data.
    pub fn reserve(&mut self, blocks: u64) {
        if let Some(linux) = &mut self.linux {
            linux.reserve(blocks);
        }
    }

    /// The application keeps the connection open behind what it writes: no FIN follows, on a
    /// connection with options.
    pub fn stay_open(&mut self) {
        if let Some(linux) = &mut self.linux {
            linux.stay_open();
        }
    }

    /// On a connection with options: the smoothed round trip in microseconds and the time-out in
    /// ticks of a millisecond, for the [receiver](crate::Receiver::know_round_trip) at this host.
    #[must_use]
    pub fn known_round_trip(&self) -> Option<(u64, u64)> {
        let linux = self.linux.as_ref().filter(|linux| linux.acked() > 0)?;
        let (rtt, _, rto) = linux.times_us();
        Some((rtt, rto / 1000))
    }
}
