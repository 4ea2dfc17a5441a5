//! The numbers that a kernel reports of a connection (`tcp_info`, and the part of it that is
//! logged).

use super::{Linux, Stage};

/// The state of a connection.
#[derive(Clone, Copy, Debug)]
pub struct Info {
    /// Congestion window and slow-start threshold in segments; a threshold of 2,147,483,647 is not
    /// set yet.
    pub cwnd: u32,
    #[allow(missing_docs)]
    pub ssthresh: u32,
    /// Where the connection stands.
    pub stage: Stage,
    /// Smoothed round trip, its deviation, and the time-out, in microseconds.
    pub times_us: [u64; 3],
    /// The shortest round trip in microseconds, if one was measured.
    pub shortest_us: Option<u64>,
    /// Segments outstanding, reported, lost, sent again, and by how many the network reorders.
    pub counts: [u32; 5],
    /// Doublings of the time-out, and time-outs since the last progress.
    pub backoff: u32,
    #[allow(missing_docs)]
    pub timeouts: u64,
    /// Segments delivered and sent again in all.
    pub delivered: u64,
    #[allow(missing_docs)]
    pub again: u64,
    /// The pacing rate in bytes a second.
    pub pacing_rate: u64,
    /// All segments below are acknowledged.
    pub acked: u64,
    /// One past the highest segment sent.
    pub next: u64,
    /// Bytes of the send buffer that are in use where segments are grouped, and its size.
    pub buffer: (u64, u64),
}

impl Linux {
    /// The state of the connection.
    #[must_use]
    pub fn info(&self) -> Info {
        let Self { path, queue, repair, application, .. } = self;
        let [sacked, lost, again] = queue.counts();
        let reordering = repair.reordering().segments();
        let trip = path.round_trip();
        Info {
            cwnd: path.cwnd(),
            ssthresh: path.ssthresh(),
            stage: repair.stage(),
            times_us: [trip.srtt_8() >> 3, trip.deviation(), 1000 * trip.rto()],
            shortest_us: trip.known_shortest(),
            counts: [queue.outstanding(), sacked, lost, again, reordering],
            backoff: trip.backoff(),
            timeouts: repair.totals()[0],
            delivered: queue.totals().0,
            again: queue.sent().1,
            pacing_rate: path.pace().rate(),
            acked: queue.acked(),
            next: queue.next(),
            buffer: application.send_buffer(queue.acked(), queue.groups()),
        }
    }
}
