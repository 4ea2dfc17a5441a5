//! The argument of the methods of a Python class.

use burstlab_sim::{Moment, Round, Tallied};
use burstlab_tcp::BurstReport;
use pyo3::prelude::*;

/// The state of a sender: times in s, windows in segments, rates in bit/s of data without headers.
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
    suspects: (u64, u64),
    sack: Vec<(u64, u64)>,
    rtt: Option<f64>,
    base_rtt: Option<f64>,
    srtt: Option<f64>,
    rttvar: Option<f64>,
    rto: f64,
    round: Option<RoundTrip>,
    delivery_rate: Option<f64>,
    app_limited: bool,
    delivered: u64,
    marked: u64,
    delivered_marked: u64,
    payload: u64,
    in_recovery: bool,
    repeated: bool,
    burst: Option<u64>,
    segments: Vec<u64>,
}

impl Event {
    pub(crate) fn of(moment: &Moment, report: Option<&BurstReport>) -> Self {
        Self {
            burst: report.map(|report| report.burst),
            segments: report.map_or(Vec::new(), |report| report.segments.to_vec()),
            suspects: moment.suspects,
            sack: moment.sack.as_slice().to_vec(),
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
            round: moment
                .round
                .map(|round| RoundTrip { round, tallied: moment.tallied.unwrap_or_default() }),
            delivery_rate: moment.delivery_rate,
            app_limited: moment.app_limited,
            delivered: moment.delivered,
            marked: moment.marked,
            delivered_marked: moment.delivered_marked,
            payload: moment.payload,
            in_recovery: moment.repairing,
            repeated: moment.repeated,
        }
    }
}

/// A round trip that has ended, as its delay shows it.
#[pyclass(frozen, name = "Round", module = "burstlab._core")]
#[derive(Clone, Copy)]
pub(crate) struct RoundTrip {
    round: Round,
    tallied: Tallied,
}

#[pymethods]
impl RoundTrip {
    /// The shortest round-trip time over the mean of this round, 0 to 1.
    #[getter]
    fn base_over_rtt(&self) -> f64 {
        self.round.base_over_rtt
    }

    /// Segments of this connection that wait in queues.
    #[getter]
    fn queued(&self) -> f64 {
        self.round.queued
    }

    /// Whether the sender made use of its window.
    #[getter]
    fn used(&self) -> bool {
        self.round.used
    }

    /// Segments that went out in it, those sent again included.
    #[getter]
    fn sent(&self) -> u64 {
        self.tallied.sent
    }

    /// Segments that were acknowledged in it for the first time.
    #[getter]
    fn acked(&self) -> u64 {
        self.tallied.acked
    }

    /// Segments that went out again in it, having been taken for lost.
    #[getter]
    fn lost(&self) -> u64 {
        self.tallied.lost
    }

    /// How long it took, in seconds.
    #[getter]
    fn duration(&self) -> f64 {
        self.tallied.span.as_secs_f64()
    }
}
