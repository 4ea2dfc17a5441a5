//! The echo of marks at a receiver: until the sender says that it has reduced its window (RFC 3168
//! section 6.1.3), or of each segment alone (RFC 8257 section 3.2).

use serde::{Deserialize, Serialize};

use crate::segment::{SegmentFlags, SegmentOptions};

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Echo {
    on: bool,
    /// Whether it echoes the mark of each segment alone.
    each: bool,
    /// Whether ACKs now echo a mark.
    marked: bool,
    /// Whether the last segment had a mark.
    last: bool,
    /// Whether a segment came that could have been marked.
    seen: bool,
}

/// The response that a segment with a mark, or without one, asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Asked {
    /// Each segment's mark is echoed alone, and this segment is of another kind than the last.
    pub(super) changed: bool,
    /// Quick ACKs: its sender may have a very small window.
    pub(super) wants_quick_acks: bool,
}

impl Echo {
    pub(super) fn new(on: bool, each: bool) -> Self {
        let on = on || each;
        Self { on, each, marked: false, last: false, seen: false }
    }

    /// Whether there are no marks to tell of.
    pub(super) fn is_off(&self) -> bool {
        !self.on
    }

    /// The response that a segment asks for.
    pub(super) fn hear(&self, options: &SegmentOptions) -> Asked {
        if !self.on {
            return Asked::default();
        }
        // A segment that could not be marked, among others that can, was probably sent again.
        let repeated = !options.flags.markable && self.seen;
        let echoed = self.marked || (self.each && options.marked);
        Asked {
            changed: self.each && options.flags.markable && options.marked != self.last,
            wants_quick_acks: repeated || (options.marked && !echoed),
        }
    }

    /// The segment is dealt with.
    pub(super) fn settle(&mut self, options: &SegmentOptions) {
        if !self.on || !options.flags.markable {
            return;
        }
        self.seen = true;
        self.last = options.marked;
        self.marked = options.marked || (self.marked && !self.each);
    }

    /// The next ACK says that there was a mark, or that there was none.
    pub(super) fn say(&mut self, marked: bool) {
        self.marked = marked;
    }

    /// The sender may say that it has reduced its window; returns whether it does.
    pub(super) fn accept(&mut self, flags: SegmentFlags) -> bool {
        if self.on && flags.reduced {
            self.marked = false;
        }
        self.on && flags.reduced
    }

    pub(super) fn says(&self) -> bool {
        self.marked
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segment(marked: bool) -> SegmentOptions {
        let flags = SegmentFlags { markable: true, ..SegmentFlags::default() };
        SegmentOptions { flags, marked, ..SegmentOptions::default() }
    }

    #[test]
    fn a_mark_is_told_of_until_the_window_is_reduced() {
        let mut echo = Echo::new(true, false);
        assert!(echo.hear(&segment(true)).wants_quick_acks);
        echo.settle(&segment(true));
        assert!(!echo.hear(&segment(true)).wants_quick_acks);
        echo.settle(&segment(false));
        assert!(echo.says());
        assert!(echo.accept(SegmentFlags { reduced: true, ..SegmentFlags::default() }));
        assert!(!echo.says());
    }

    #[test]
    fn each_segment_is_told_of_alone() {
        let mut echo = Echo::new(false, true);
        for (marked, changed) in [(false, false), (true, true), (true, false), (false, true)] {
            assert_eq!(echo.hear(&segment(marked)).changed, changed);
            echo.settle(&segment(marked));
            assert_eq!(echo.says(), marked);
        }
    }

    #[test]
    fn without_ecn_nothing_is_told() {
        let mut echo = Echo::new(false, false);
        assert_eq!(echo.hear(&segment(true)), Asked::default());
        echo.settle(&segment(true));
        assert!(!echo.says());
    }
}
