//! A sender as Linux has it, driven call by call: times in nanoseconds, segments by number.

use std::collections::BTreeMap;

use burstlab_sim::Time;
use burstlab_tcp::{Arrival, CallEnds, Linux, LinuxOptions, Transmission};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::guard::guarded;

/// A segment that left: its number, whether it was sent before, and whether it pushes.
type Departure = (u64, bool, bool);

/// The sender, and the packets that it has sent and that nobody has taken yet.
#[pyclass]
pub(crate) struct LinuxSender {
    inner: Linux,
    out: Vec<Transmission>,
}

fn at(ns: u64) -> Time {
    Time::from_ps(ns.saturating_mul(1_000))
}

#[pymethods]
impl LinuxSender {
    #[new]
    fn new(options_json: &str) -> PyResult<Self> {
        let options: LinuxOptions = serde_json::from_str(options_json)
            .map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok(Self { inner: Linux::new(&options), out: Vec::new() })
    }

    fn open(&mut self, syn: u64, now: u64, window: u64) -> PyResult<()> {
        Ok(guarded(|| self.inner.open(at(syn), at(now), window))?)
    }

    fn write(&mut self, now: u64, segments: u64, pushes: bool, record: bool) -> PyResult<u64> {
        let ends = match (record, pushes) {
            (true, _) => CallEnds::Record,
            (_, true) => CallEnds::Pushed,
            _ => CallEnds::More,
        };
        Ok(guarded(|| self.inner.append(at(now), segments, ends, &mut self.out))?)
    }

    fn resize(&mut self, bytes: u64) {
        self.inner.set_send_buffer(bytes);
    }

    fn close(&mut self, now: u64) -> PyResult<()> {
        Ok(guarded(|| self.inner.close(at(now), &mut self.out))?)
    }

    #[pyo3(signature = (now, acked, blocks, window, echo, ece))]
    #[expect(clippy::needless_pass_by_value, reason = "a list of Python becomes a vector")]
    fn hear(
        &mut self,
        now: u64,
        acked: u64,
        blocks: Vec<(u64, u64)>,
        window: u64,
        echo: Option<u64>,
        ece: bool,
    ) -> PyResult<()> {
        let blocks = &blocks;
        let arrival = Arrival { next: acked, blocks, window, echo, ece, with_data: false };
        Ok(guarded(|| self.inner.on_ack(at(now), &arrival, &mut self.out))?)
    }

    fn deadline(&self) -> Option<u64> {
        self.inner.poll_timeout().map(|due| due.as_ps().div_ceil(1_000))
    }

    fn expire(&mut self, now: u64) -> PyResult<()> {
        Ok(guarded(|| self.inner.on_timeout(at(now), &mut self.out))?)
    }

    fn take(&mut self) -> Vec<Departure> {
        let inner = &self.inner;
        let taken = self.out.drain(..);
        taken
            .map(|one| (one.seq, one.retransmission, inner.pushes(one.seq, one.retransmission)))
            .collect()
    }

    fn state(&self) -> BTreeMap<&'static str, Option<u64>> {
        let info = self.inner.info();
        let [srtt, deviation, rto] = info.times_us;
        let [unacked, sacked, lost, again, reordering] = info.counts.map(u64::from);
        let mut state: BTreeMap<_, _> = [
            ("cwnd", u64::from(info.cwnd)),
            ("ssthresh", u64::from(info.ssthresh)),
            ("stage", info.stage as u64),
            ("srtt", srtt),
            ("rttvar", deviation),
            ("rto", rto),
            ("unacked", unacked),
            ("sacked", sacked),
            ("lost", lost),
            ("retransmitted", again),
            ("reordering", reordering),
            ("backoff", u64::from(info.backoff)),
            ("timeouts", info.timeouts),
            ("delivered", info.delivered),
            ("retransmitted_ever", info.again),
            ("pacing_rate", info.pacing_rate),
            ("next", info.next),
            ("acked", info.acked),
            ("buffered", info.buffer.0),
            ("buffer", info.buffer.1),
        ]
        .map(|(name, value)| (name, Some(value)))
        .into();
        state.insert("min_rtt", info.shortest_us);
        state
    }
}
