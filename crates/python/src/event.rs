//! What a class of Python is told.

use burstlab_sim::{Moment, Round};
use pyo3::prelude::*;

/// What is so at a sender: times in s, windows in segments.
#[pyclass(frozen, get_all, module = "burstlab._core")]
pub(crate) struct Event {
    now: f64,
    cwnd: f64,
    ssthresh: f64,
    window: f64,
    receiver_window: u64,
    flight: u64,
    first: u64,
    next: u64,
    acked: u64,
    rtt: Option<f64>,
    base_rtt: Option<f64>,
    srtt: Option<f64>,
    rttvar: Option<f64>,
    rto: f64,
    round: Option<RoundTrip>,
    in_recovery: bool,
    repeated: bool,
}

impl Event {
    pub(crate) fn of(moment: &Moment) -> Self {
        Self {
            now: moment.now.as_secs_f64(),
            cwnd: moment.cwnd,
            ssthresh: moment.ssthresh,
            window: moment.window,
            receiver_window: moment.receiver_window,
            flight: moment.flight,
            first: moment.first,
            next: moment.next,
            acked: moment.acked,
            rtt: moment.rtt.map(|rtt| rtt.as_secs_f64()),
            base_rtt: moment.base_rtt.map(|rtt| rtt.as_secs_f64()),
            srtt: moment.smoothed.map(|(smoothed, _)| smoothed.as_secs_f64()),
            rttvar: moment.smoothed.map(|(_, variance)| variance.as_secs_f64()),
            rto: moment.rto.as_secs_f64(),
            round: moment.round.map(RoundTrip),
            in_recovery: moment.repairing,
            repeated: moment.repeated,
        }
    }
}

/// A round trip that has ended, as its delay tells it.
#[pyclass(frozen, name = "Round", module = "burstlab._core")]
#[derive(Clone, Copy)]
pub(crate) struct RoundTrip(Round);

#[pymethods]
impl RoundTrip {
    /// The shortest round-trip time over the mean of this round, 0 to 1.
    #[getter]
    fn base_over_rtt(&self) -> f64 {
        self.0.base_over_rtt
    }

    /// Segments of this connection that wait in queues.
    #[getter]
    fn queued(&self) -> f64 {
        self.0.queued
    }

    /// Whether the sender made use of its window.
    #[getter]
    fn used(&self) -> bool {
        self.0.used
    }
}
