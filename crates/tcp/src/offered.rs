//! The data that an application has offered, in segments, and their sizes on the wire.

use burstlab_units::Bytes;
use serde::{Deserialize, Serialize};

use crate::config::Config;
use crate::lengths::SegmentLengths;

/// Segments are counted: 0 is the SYN, data are 1, 2, …
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Offered {
    /// One past the last segment that the application offered.
    pub(crate) limit: u64,
    /// Bytes of data in each segment. A segment that ends a write may be short.
    pub(crate) lengths: SegmentLengths,
    /// The first short segment; `u64::MAX`: all are full.
    short_from: u64,
    segment_size: Bytes,
    syn_size: Bytes,
}

impl Offered {
    pub(crate) fn new(config: &Config) -> Self {
        Self {
            limit: 1,
            lengths: SegmentLengths::new(config.segment_size.get() - config.headers().get()),
            short_from: u64::MAX,
            segment_size: config.segment_size,
            syn_size: config.syn_size,
        }
    }

    /// The application has written `bytes` in all; returns whether that is more than before. The
    /// last segment takes more data as long as it is not below `sent`. No segment has data of which
    /// a part is not written yet.
    pub(crate) fn extend(&mut self, bytes: u64, sent: u64) -> bool {
        if bytes <= self.lengths.before(self.limit) {
            return false;
        }
        let waits = self.limit > sent.max(1);
        let first = self.limit - u64::from(waits);
        if waits {
            self.lengths.lengthen(first);
        }
        self.limit = self.lengths.divide(first, bytes);
        self.short_from = self.lengths.first_short().unwrap_or(u64::MAX);
        true
    }

    /// Size of segment `seq` on the wire.
    #[inline]
    pub(crate) fn size(&self, seq: u64) -> Bytes {
        match seq {
            0 => self.syn_size,
            _ if seq < self.short_from => self.segment_size,
            _ => Bytes::new(self.segment_size.get() - self.lengths.lacking(seq)),
        }
    }

    /// The only segment that may be short, with its size, where all data are written at once.
    pub(crate) fn short_segment(&self) -> Option<(u64, Bytes)> {
        let seq = self.short_from;
        (seq < u64::MAX).then(|| (seq, self.size(seq)))
    }
}
