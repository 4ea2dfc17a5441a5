//! Which data go next as a group, and whether it waits so that it can be larger
//! (`tcp_write_xmit` and what that calls in `tcp_output.c`, Linux 6.12).

use super::clock::Reading;
use super::send::Push;
use super::{Linux, Stage};

impl Linux {
    /// Bytes of the next group, if one may go: of at most `quota` segments, where `group` is the
    /// most at all; 0: a FIN alone. `limited`: the congestion window keeps it back.
    pub(super) fn next_group(
        &mut self,
        now: Reading,
        push: Push,
        (quota, group): (u32, u32),
        limited: &mut bool,
    ) -> Option<u64> {
        let full = self.application.full();
        let all = self.application.room(&self.queue, &self.peer);
        let bytes = self.application.next_bytes(self.queue.next(), quota);
        let room = self.application.usable(all);
        if bytes.clamp(1, full) > room {
            return None;
        }
        // At most one segment that is not full is in flight (RFC 896, in Minshall's variant),
        // unless it is known that nothing can be added to it.
        let waits = push == Push::All && self.application.has_small(self.queue.acked());
        let last = self.application.is_last();
        if bytes <= full {
            return (bytes == full || !last || !waits || self.application.ends_with_fin())
                .then_some(bytes);
        }
        let may_wait = push == Push::All && self.repair.stage() < Stage::Recovery;
        if may_wait && self.path.expects_ack(now, &self.queue) {
            let (mss, window, others) = (self.application.mss(), self.peer.window(), &self.queue);
            let free = u64::from(self.path.cwnd() - others.in_flight()) * mss;
            let least = free.min(all);
            let whole = window.min(u64::from(self.path.cwnd()) * mss);
            let enough = least >= u64::from(group) * mss || (!last && least >= bytes);
            if !enough && least < whole / u64::from(self.options.group_divisor.max(1)) {
                if least <= bytes {
                    *limited = free < all;
                    return None;
                }
                if !(last && self.application.ends_with_fin()) {
                    return None;
                }
            }
        }
        let most = u64::from(quota) * full;
        if most <= room && !last {
            return Some(bytes.min(most));
        }
        let bytes = bytes.min(room).min(most);
        Some(if waits { bytes - bytes % full } else { bytes })
    }
}
