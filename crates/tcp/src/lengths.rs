//! How many bytes of data segments have, where a few have less than all others.

use serde::{Deserialize, Serialize};

/// Segments are counted from 1, bytes from 0.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct SegmentLengths {
    full: u64,
    /// Segments that are shorter, rising, each with what it and those before it lack together.
    short: Vec<(u64, u64)>,
}

impl SegmentLengths {
    /// All segments have `full` bytes.
    pub(crate) fn new(full: u64) -> Self {
        Self { full, short: Vec::new() }
    }

    /// Bytes of a segment that is as long as others.
    pub(crate) fn full(&self) -> u64 {
        self.full
    }

    /// Whether a segment with so many bytes is as long as others.
    #[inline]
    pub(crate) fn is_full(&self, bytes: u64) -> bool {
        bytes >= self.full
    }

    /// Whether no segment is shorter than others, as far as known.
    #[inline]
    pub(crate) fn all_full(&self) -> bool {
        self.short.is_empty()
    }

    /// Bytes of all segments below `seq`, which is where it begins.
    #[inline]
    pub(crate) fn before(&self, seq: u64) -> u64 {
        let whole = seq.saturating_sub(1).saturating_mul(self.full);
        if self.short.is_empty() { whole } else { whole - self.lacking_before(seq) }
    }

    /// Bytes of the segments from `first` on that are below `end`.
    #[inline(always)]
    pub(crate) fn between(&self, first: u64, end: u64) -> u64 {
        match self.short.is_empty() {
            true => (end - first) * self.full,
            false => {
                (end - first) * self.full + self.lacking_before(first) - self.lacking_before(end)
            }
        }
    }

    /// Bytes that the segments below `seq` lack together.
    #[cold]
    fn lacking_before(&self, seq: u64) -> u64 {
        let count = self.short.partition_point(|&(short, _)| short < seq);
        count.checked_sub(1).map_or(0, |last| self.short[last].1)
    }

    /// Bytes of segment `seq`.
    pub(crate) fn of(&self, seq: u64) -> u64 {
        self.full - self.lacking(seq)
    }

    /// Bytes that segment `seq` lacks.
    #[inline]
    pub(crate) fn lacking(&self, seq: u64) -> u64 {
        if self.short.is_empty() {
            0
        } else {
            self.lacking_before(seq + 1) - self.lacking_before(seq)
        }
    }

    /// The first segment that begins at `byte` or behind it.
    pub(crate) fn first_from(&self, byte: u64) -> u64 {
        let count = self.short.partition_point(|&(short, _)| self.before(short) < byte);
        let Some(last) = count.checked_sub(1) else { return byte.div_ceil(self.full) + 1 };
        // Those behind the last one that is shorter are equal again.
        let next = self.short[last].0 + 1;
        next + byte.saturating_sub(self.before(next)).div_ceil(self.full)
    }

    /// The first segment that is shorter than others.
    pub(crate) fn first_short(&self) -> Option<u64> {
        self.short.first().map(|&(seq, _)| seq)
    }

    /// The last of all segments that are known, `seq`, may be as long as others again.
    pub(crate) fn lengthen(&mut self, seq: u64) {
        if self.short.last().is_some_and(|&(short, _)| short == seq) {
            self.short.pop();
        }
    }

    /// Divides the data up to byte `end` into segments from `first` on, of which the last may be
    /// short; returns one past it. Without end no segment is short.
    pub(crate) fn divide(&mut self, first: u64, end: u64) -> u64 {
        if end == u64::MAX {
            return u64::MAX;
        }
        let left = end.saturating_sub(self.before(first));
        let limit = first + left.div_ceil(self.full);
        let rest = left % self.full;
        if rest > 0 {
            self.shorten(limit - 1, rest);
        }
        limit
    }

    /// Segment `seq` has no more than `bytes`; said again of a segment it changes nothing.
    #[inline]
    pub(crate) fn shorten(&mut self, seq: u64, bytes: u64) {
        if bytes < self.full {
            self.lack(seq, self.full - bytes);
        }
    }

    fn lack(&mut self, seq: u64, lacks: u64) {
        let place = self.short.partition_point(|&(short, _)| short < seq);
        if self.short.get(place).is_some_and(|&(short, _)| short == seq) {
            return;
        }
        self.short.insert(place, (seq, self.lacking_before(seq)));
        for (_, lacking) in &mut self.short[place..] {
            *lacking += lacks;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_begin_where_those_before_them_end() {
        let mut lengths = SegmentLengths::new(1_000);
        for (seq, bytes) in [(7, 1), (3, 400), (3, 400), (4, 999), (9, 1_000), (12, 250)] {
            lengths.shorten(seq, bytes);
        }
        let expected = |seq| match seq {
            3 => 400,
            4 => 999,
            7 => 1,
            12 => 250,
            _ => 1_000,
        };
        let mut begins = 0;
        for seq in 1..20 {
            assert_eq!((lengths.before(seq), lengths.of(seq)), (begins, expected(seq)), "{seq}");
            assert_eq!(lengths.first_from(begins), seq);
            assert_eq!(lengths.first_from(begins + 1), seq + 1);
            begins += expected(seq);
        }
    }
}
