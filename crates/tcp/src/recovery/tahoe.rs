//! Tahoe: a loss found by duplicate ACKs restarts with one segment, as a time-out does.

use burstlab_units::Time;
use serde::{Deserialize, Serialize};

use crate::flow::Flow;
use crate::segment::{Ack, Transmission};

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Tahoe;

impl Tahoe {
    pub(super) fn on_ack(
        &mut self,
        flow: &mut Flow,
        now: Time,
        ack: &Ack,
        out: &mut Vec<Transmission>,
    ) {
        if ack.next > flow.acked {
            flow.accept(now, ack.next);
            flow.grow(now);
        } else if flow.is_duplicate(ack.next) {
            flow.duplicates = flow.duplicates.saturating_add(1);
            if flow.duplicates == flow.dupack_threshold {
                if flow.may_reduce() {
                    fast_retransmit(flow, now);
                }
            } else if flow.duplicates < flow.dupack_threshold && flow.limited_transmit {
                flow.send_limited(now, out);
            }
        }
        self.send(flow, now, out);
    }

    /// The count of duplicate ACKs outlives the time-out, as in ns-2.
    pub(super) fn on_timeout(&mut self, _: &mut Flow, _: Time) {}

    pub(super) fn send(&mut self, flow: &mut Flow, now: Time, out: &mut Vec<Transmission>) {
        flow.send_window(now, flow.max_burst, out);
    }

    pub(super) fn is_repairing(&self, _: &Flow) -> bool {
        false
    }
}

/// Goes back N; the retransmission itself is the first segment that the window lets go.
fn fast_retransmit(flow: &mut Flow, now: Time) {
    flow.begin_fast_retransmit();
    flow.collapse_window(now);
    flow.limited_transmissions = 0;
    flow.restart_for_retransmission(now);
    flow.next = flow.acked;
}
