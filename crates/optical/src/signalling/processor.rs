//! The processor of a node that reads headers.

use burstlab_units::{Span, Time};
use serde::{Deserialize, Serialize};

/// Reads headers one after the other, each for the same time, with a number of servers, in the
/// order in which they come.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct HeaderProcessor {
    processing: Span,
    /// When each server is free; all take equally long, so that they are free in turn.
    free_at: Vec<Time>,
    next: usize,
    last: Time,
}

impl HeaderProcessor {
    /// A processor with this many `servers`, each of which reads a header in `processing`; `None`
    /// is as many as there are headers.
    ///
    /// # Panics
    /// With no server.
    #[must_use]
    pub fn new(servers: Option<u32>, processing: Span) -> Self {
        assert!(servers != Some(0), "a processor has a server");
        let free_at = vec![Time::ZERO; servers.unwrap_or(0) as usize];
        Self { processing, free_at, next: 0, last: Time::ZERO }
    }

    /// A header comes at `now`; returns when it has been read.
    ///
    /// # Panics
    /// When `now` lies before the header before it.
    #[inline]
    pub fn serve(&mut self, now: Time) -> Time {
        assert!(self.last <= now, "headers come in order: {} after {now}", self.last);
        self.last = now;
        let Some(free_at) = self.free_at.get_mut(self.next) else {
            return now + self.processing;
        };
        let start = now.max(*free_at);
        let done = start + self.processing;
        *free_at = done;
        self.next += 1;
        if self.next == self.free_at.len() {
            self.next = 0;
        }
        done
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn us(n: u64) -> Time {
        Time::ZERO + Span::from_us(n)
    }

    #[test]
    fn two_servers_read_two_headers_at_a_time() {
        let mut processor = HeaderProcessor::new(Some(2), Span::from_us(10));
        let done = [0, 1, 2, 3, 40].map(|n| processor.serve(us(n)));
        assert_eq!(done, [10, 11, 20, 21, 50].map(us));
    }

    #[test]
    fn without_a_limit_no_header_waits() {
        let mut processor = HeaderProcessor::new(None, Span::from_us(10));
        assert_eq!([0, 0, 0].map(|n| processor.serve(us(n))), [us(10); 3]);
    }

    #[test]
    #[should_panic(expected = "in order")]
    fn a_header_from_the_past_is_a_bug() {
        let mut processor = HeaderProcessor::new(Some(1), Span::from_us(10));
        processor.serve(us(2));
        processor.serve(us(1));
    }

    proptest! {
        #[test]
        fn it_serves_as_if_it_looked_for_the_server_that_is_free_first(
            servers in 1u32..6,
            processing in 0u64..20,
            gaps in proptest::collection::vec(0u64..12, 1..80),
        ) {
            let mut processor = HeaderProcessor::new(Some(servers), Span::from_us(processing));
            let mut free_at = vec![0u64; servers as usize];
            let mut now = 0u64;
            for gap in gaps {
                now += gap;
                let first = free_at.iter_mut().min().expect("a server");
                *first = now.max(*first) + processing;
                prop_assert_eq!(processor.serve(us(now)), us(*first));
            }
        }
    }
}
