//! Which data go next as a group, and whether it waits so that it can be larger
//! (`tcp_write_xmit` and what that calls in `tcp_output.c`, Linux 6.12).

use burstlab_units::Time;

use super::send::Push;
use super::{Linux, Stage};

impl Linux {
    /// Bytes of the next group, if one may go: of at most `quota` segments, where `group` is the
    /// most at all; 0: a FIN alone. `limited`: the congestion window is what keeps it.
    pub(super) fn next_group(
        &mut self,
        now: Time,
        push: Push,
        (quota, group): (u32, u32),
        limited: &mut bool,
    ) -> Option<u64> {
        let (full, room) = (self.full(), self.room());
        self.unsent.grow(u64::from(quota) * full);
        let room = if self.options.parts { room } else { room - room % full };
        let bytes = match self.unsent.head_bytes() {
            Some(bytes) => bytes,
            None if self.unsent.is_grouped() || self.is_fin(self.next) => 0,
            None => full,
        };
        if bytes.clamp(1, full) > room {
            return None;
        }
        // Of what is less than a segment one at a time is on its way (RFC 896, as Minshall has it),
        // unless it is known that nothing can be added to it.
        let waits = push == Push::All && self.small >= self.acked;
        let last = self.unsent.is_last();
        if bytes <= full {
            return (bytes == full || !last || !waits || self.ends_with_fin()).then_some(bytes);
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

    /// A group of so many bytes is about to leave; returns how many segments it is. Its last one
    /// may be shorter than others.
    pub(super) fn part_group(&mut self, bytes: u64) -> u32 {
        let full = self.full();
        let count = bytes.div_ceil(full).max(1);
        let rest = bytes - (count - 1) * full;
        if full < self.options.payload {
            for seq in self.next..self.next + count - 1 {
                self.lengths.shorten(seq, full);
            }
        }
        let last = self.next + count - 1;
        self.lengths.shorten(last, rest);
        if rest < full {
            self.small = last;
        }
        count as u32
    }

    /// Bytes of data in a full segment now: SACK blocks for the other direction take some.
    pub(super) fn full(&self) -> u64 {
        self.mss.saturating_sub(self.reserved).max(1)
    }

    /// Segments carry so many bytes of SACK blocks from now on.
    pub(crate) fn reserve(&mut self, blocks: u64) {
        if blocks > 0 && !self.unsent.is_grouped() && self.options.parts {
            self.count_bytes();
        }
        self.reserved = if self.unsent.is_grouped() { blocks } else { 0 };
    }

    /// Most segments of a group: what goes at the pacing rate in a millisecond, and more where the
    /// round trip is short.
    pub(super) fn group_size(&self) -> u32 {
        if self.options.group_most <= 1 {
            return 1;
        }
        let mut bytes = self.pacing_rate >> 10;
        let shift = self.estimator.shortest() >> 9;
        if shift < 32 {
            bytes += GROUP_BYTES >> shift;
        }
        let segments = bytes.min(GROUP_BYTES) / self.full();
        (segments.max(self.law.least_group(self.options.group_least)) as u32)
            .min(self.options.group_most)
    }

    /// Whether the last data carry the FIN: only a connection that closes ends with one.
    fn ends_with_fin(&self) -> bool {
        self.closed && !self.ending.stays_open()
    }

    /// Whether a group waits for more room, so that it can be larger.
    fn defers(&self, now: Time, bytes: u64, group: u32, limited: &mut bool) -> bool {
        let recent = self.clock.ns(now) <= self.pace.next() + RECENT_NS;
        if self.stage >= Stage::Recovery || !recent {
            return false;
        }
        let send_room = self.room();
        let room = u64::from(self.window.cwnd - self.in_flight()) * self.mss;
        let least = send_room.min(room);
        let last = self.unsent.is_last();
        if least >= u64::from(group) * self.mss || (!last && least >= bytes) {
            return false;
        }
        let whole = self.window_bytes.min(u64::from(self.window.cwnd) * self.mss);
        if least >= whole / u64::from(self.options.group_divisor.max(1)) {
            return false;
        }
        let Some(first) = self.queue.head() else { return false };
        // An ACK that is not expected soon is not waited for.
        let srtt = self.estimator.srtt_8() * 125;
        if first.ns + srtt > self.clock.ns(now) + (srtt >> 1).min(SOON_NS) {
            return false;
        }
        if room.min(send_room) <= bytes {
            *limited = room < send_room;
            return true;
        }
        !(last && self.ends_with_fin())
    }
}

/// A group may wait only if another left within this.
const RECENT_NS: u64 = 1_000_000;
/// A group that may become larger waits for an ACK that comes within this.
const SOON_NS: u64 = 1_000_000;
/// `gso_max_size` of a device less what headers may take (65,536 - 192 - 1).
pub(super) const GROUP_BYTES: u64 = 65_343;
