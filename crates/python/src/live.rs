//! Live hosts, whose devices and clock are those of an object of Python. An exception in it ends
//! the run: no more packets come from there, and the monitor cancels the run.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use burstlab_live::{Devices, Found, Live, Sample, Sent};
use burstlab_sim::scenario::{Resolved, ScenarioError};
use burstlab_sim::{Monitor, Time};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;

use crate::stacks;

/// A sample: window and threshold in segments, bytes of a segment, round trip and time-out in us,
/// segments in flight, time-outs in a row, stage.
type Tuple = (u32, u32, u32, u32, u32, u32, u32, u32);

/// The pair, whether its second host sends, the packet, and how its connection stands.
type Packet = (usize, bool, PyBackedBytes, Option<Tuple>);

/// Connections that a kernel has given up: number of the pair, which of its ends, both ports.
type GivenUp = Vec<(usize, bool, u16, u16)>;

/// The devices, as an object with the methods `wait` and `deliver`.
pub(crate) struct PyDevices {
    wait: Py<PyAny>,
    deliver: Py<PyAny>,
    monitor: Monitor,
    failed: Mutex<Option<PyErr>>,
}

impl fmt::Debug for PyDevices {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PyDevices").finish_non_exhaustive()
    }
}

fn sample((cwnd, ssthresh, segment, rtt_us, rto_us, in_flight, timeouts, state): Tuple) -> Sample {
    Sample { cwnd, ssthresh, segment, rtt_us, rto_us, in_flight, timeouts, state }
}

impl PyDevices {
    /// Puts the hosts over `devices` into a scenario.
    pub(crate) fn prepare(
        py: Python<'_>,
        resolved: &mut Resolved,
        devices: &Py<PyAny>,
        monitor: &Monitor,
    ) -> PyResult<Arc<Self>> {
        let [wait, deliver] = ["wait", "deliver"].map(|name| devices.getattr(py, name));
        let (wait, deliver, failed) = (wait?, deliver?, Mutex::default());
        let made = Arc::new(Self { wait, deliver, monitor: monitor.clone(), failed });
        let devices: Arc<dyn Devices> = Arc::<Self>::clone(&made);
        resolved.stacks = Some(Live::new(resolved.live_pairs(), devices, stacks::known()));
        Ok(made)
    }

    /// Returns the failure, if there is one.
    pub(crate) fn check(&self) -> PyResult<()> {
        let failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner).take();
        failed.map_or(Ok(()), Err)
    }

    fn asked<T>(&self, ask: impl FnOnce(Python<'_>) -> PyResult<T>, usual: T) -> T {
        if !self.monitor.goes_on() {
            return usual;
        }
        Python::attach(ask).unwrap_or_else(|error| {
            let mut failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
            failed.get_or_insert(error);
            self.monitor.cancel();
            usual
        })
    }
}

impl Devices for PyDevices {
    fn wait(&self, now: Time, until: Time) -> Found {
        let usual = Found { at: now, packets: Vec::new(), ended: true };
        let ask = |py: Python<'_>| {
            let found = self.wait.call1(py, (now.as_ps(), until.as_ps()))?;
            let found: Option<(u64, Vec<Packet>, bool, GivenUp)> = found.extract(py)?;
            let Some((at, packets, ended, given_up)) = found else {
                return Ok(Found { at: until, ..Found::default() });
            };
            let packets = packets.into_iter().map(|(pair, far, bytes, state)| Sent {
                pair,
                far,
                bytes: bytes.to_vec(),
                sample: state.map(sample),
                given_up: None,
            });
            let given_up = given_up.into_iter().map(|(pair, far, own, other)| Sent {
                pair,
                far,
                given_up: Some((own, other)),
                ..Sent::default()
            });
            Ok(Found { at: Time::from_ps(at), packets: packets.chain(given_up).collect(), ended })
        };
        self.asked(ask, usual)
    }

    fn deliver(&self, now: Time, pair: usize, far: bool, packet: &[u8]) -> Option<Sample> {
        let ask = |py: Python<'_>| {
            let state = self.deliver.call1(py, (now.as_ps(), pair, far, packet))?;
            Ok(state.extract::<Option<Tuple>>(py)?.map(sample))
        };
        self.asked(ask, None)
    }
}

/// Refuses to run live hosts without devices.
pub(crate) fn refuse(resolved: &Resolved) -> Result<(), ScenarioError> {
    match resolved.scenario.live.len() {
        0 => Ok(()),
        count => Err(ScenarioError::new(
            "live",
            format!("{count} entries"),
            "live hosts run over a Linux kernel, and this command has none",
            "run it with burstlab live",
        )),
    }
}
