//! Which data go next as a group, and whether it waits so that it can be larger
//! (`tcp_write_xmit` and what that calls in `tcp_output.c`, Linux 6.12).

use super::clock::Reading;
use super::send::Push;
use super::{Linux, Stage};

impl Linux {
    /// Bytes of the next group, if one may go: of at most `quota` segments, where `group` is the
    /// most at all; 0: a FIN alone. `limited`: the congestion window is what keeps it.
    pub(super) fn next_group(
        &mut self,
        now: Reading,
        push: Push,
        (quota, group): (u32, u32),
        limited: &mut bool,
    ) -> Option<u64> {
        let (full, room) =
            (self.application.full(), self.application.room(&self.queue, &self.peer));
        let bytes = self.application.next_bytes(self.queue.next(), quota);
        let room = self.application.usable(room);
        if bytes.clamp(1, full) > room {
            return None;
        }
        // Of what is less than a segment one at a time is on its way (RFC 896, as Minshall has it),
        // unless it is known that nothing can be added to it.
        let waits = push == Push::All && self.application.has_small(self.queue.acked());
        let last = self.application.is_last();
        if bytes <= full {
            return (bytes == full || !last || !waits || self.application.ends_with_fin())
                .then_some(bytes);
        }
        if push == Push::All && self.defers(now, bytes, group, limited) {
            return None;
        }
        let most = u64::from(quota) * full;
        if most <= room && !last {
            return Some(bytes.min(most));
        }
        let bytes = bytes.min(room).min(most);
        Some(if waits { bytes - bytes % full } else { bytes })
    }

    /// Whether a group waits for more room, so that it can be larger.
    fn defers(&self, now: Reading, bytes: u64, group: u32, limited: &mut bool) -> bool {
        let recent = now.ns <= self.path.pace().next() + RECENT_NS;
        if self.repair.stage() >= Stage::Recovery || !recent {
            return false;
        }
        let send_room = self.application.room(&self.queue, &self.peer);
        let room = u64::from(self.path.cwnd() - self.queue.in_flight()) * self.application.mss();
        let least = send_room.min(room);
        let last = self.application.is_last();
        if least >= u64::from(group) * self.application.mss() || (!last && least >= bytes) {
            return false;
        }
        let whole = self.peer.window().min(u64::from(self.path.cwnd()) * self.application.mss());
        if least >= whole / u64::from(self.options.group_divisor.max(1)) {
            return false;
        }
        let Some(first) = self.queue.head() else { return false };
        // An ACK that is not expected soon is not waited for.
        let srtt = self.path.round_trip().srtt_8() * 125;
        if first.ns + srtt > now.ns + (srtt >> 1).min(SOON_NS) {
            return false;
        }
        if room.min(send_room) <= bytes {
            *limited = room < send_room;
            return true;
        }
        !(last && self.application.ends_with_fin())
    }
}

/// A group may wait only if another left within this.
const RECENT_NS: u64 = 1_000_000;
/// A group that may become larger waits for an ACK that comes within this.
const SOON_NS: u64 = 1_000_000;
