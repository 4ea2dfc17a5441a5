//! Live hosts: the other side of their devices is a kernel, on a clock of its own. Who has the
//! devices is asked for packets and for the time; nothing here knows a system call.

mod host;
pub mod segments;

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use burstlab_scenario::{Call, Connection, Host, LIVE, LivePair, Outside, Stacks};
use burstlab_units::Time;

use self::host::{Line, LiveHost};

/// How a connection of a kernel stands, as its `tcp_info` tells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sample {
    /// Congestion window and threshold in segments; a threshold of 2^31 - 1 is none yet.
    pub cwnd: u32,
    /// See `cwnd`.
    pub ssthresh: u32,
    /// Bytes of data in a full segment.
    pub segment: u32,
    /// Smoothed round trip in us; 0 before the first measurement.
    pub rtt_us: u32,
    /// Retransmission time-out in us.
    pub rto_us: u32,
    /// Segments on their way.
    pub in_flight: u32,
    /// Retransmission time-outs since something new was acknowledged.
    pub timeouts: u32,
    /// Its stage: 0 open, 1 disorder, 2 CWR, 3 recovery, 4 loss.
    pub state: u32,
}

/// A packet that a kernel sends.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sent {
    /// Which pair of hosts, by its place in [`Live::new`]'s list, and whether the second sends.
    pub pair: usize,
    /// See `pair`.
    pub far: bool,
    /// The packet, from its header of IP.
    pub bytes: Vec<u8>,
    /// How its connection stands now; `None` where it is no TCP, or nobody looked.
    pub sample: Option<Sample>,
}

/// What [`Devices::wait`] answers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// When.
    pub at: Time,
    /// Packets that were sent then, oldest first.
    pub packets: Vec<Sent>,
    /// Whether nothing will come any more.
    pub ended: bool,
}

/// The devices of live hosts, and the clock by which they run.
pub trait Devices: fmt::Debug + Send + Sync {
    /// Waits until `until`, or until something is sent before; it is `now` in the run.
    fn wait(&self, now: Time, until: Time) -> Found;

    /// Hands a packet to the kernel of a host of a pair; returns how its connection stands
    /// thereafter, where it has one that sends data.
    fn deliver(&self, now: Time, pair: usize, far: bool, packet: &[u8]) -> Option<Sample>;
}

/// The hosts of all flows between live hosts.
pub struct Live {
    devices: Arc<dyn Devices>,
    lines: Vec<[Arc<Mutex<Line>>; 2]>,
    pairs: Vec<LivePair>,
    /// Who makes the hosts of other flows.
    others: Option<Arc<dyn Stacks>>,
}

impl fmt::Debug for Live {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Live").field("pairs", &self.pairs).finish_non_exhaustive()
    }
}

impl Live {
    /// The hosts of `pairs` over `devices`; those of other flows are made by `others`.
    #[must_use]
    pub fn new(
        pairs: Vec<LivePair>,
        devices: Arc<dyn Devices>,
        others: Option<Arc<dyn Stacks>>,
    ) -> Arc<Self> {
        let lines = pairs.iter().map(|_| [(); 2].map(|()| Arc::default())).collect();
        Arc::new(Self { devices, lines, pairs, others })
    }
}

impl Stacks for Live {
    fn names(&self) -> Vec<&str> {
        self.others.iter().flat_map(|others| others.names()).chain([LIVE]).collect()
    }

    fn congestion_controls(&self, stack: &str) -> Vec<&str> {
        self.others.iter().flat_map(|others| others.congestion_controls(stack)).collect()
    }

    fn hosts(&self, connection: &Connection) -> [Box<dyn Host>; 2] {
        if connection.stack != LIVE {
            let others = self.others.as_ref().expect("a scenario names stacks that somebody makes");
            return others.hosts(connection);
        }
        let pair = self.pairs.iter().position(|pair| pair.flow == connection.flow);
        let pair = pair.expect("each flow between live hosts is one of the pairs");
        [false, true].map(|far| -> Box<dyn Host> {
            let line = Arc::clone(&self.lines[pair][usize::from(far)]);
            Box::new(LiveHost::new(Arc::clone(&self.devices), (pair, far), line))
        })
    }

    fn outside(&self) -> Option<Arc<dyn Outside>> {
        Some(Arc::new(Beside {
            devices: Arc::clone(&self.devices),
            lines: self.lines.clone(),
            flows: self.pairs.iter().map(|pair| pair.flow).collect(),
            found: Mutex::default(),
        }))
    }
}

/// The devices, as the loop of a run waits for them.
struct Beside {
    devices: Arc<dyn Devices>,
    lines: Vec<[Arc<Mutex<Line>>; 2]>,
    flows: Vec<u32>,
    /// What was found and not handed to its hosts yet.
    found: Mutex<(Time, VecDeque<Sent>)>,
}

impl fmt::Debug for Beside {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Beside").finish_non_exhaustive()
    }
}

impl Outside for Beside {
    fn wait(&self, now: Time, until: Time) -> Call {
        let mut found = locked(&self.found);
        if found.1.is_empty() {
            let next = self.devices.wait(now, until);
            let at = next.at.max(now).min(until);
            if next.ended {
                return Call::End { at };
            }
            *found = (at, next.packets.into());
        }
        let Some(first) = found.1.front() else { return Call::Due };
        let (pair, far) = (first.pair, first.far);
        // What one host sends in a row is handed over at once, so that shared links keep the order.
        let mut line = locked(&self.lines[pair][usize::from(far)]);
        while found.1.front().is_some_and(|sent| (sent.pair, sent.far) == (pair, far)) {
            found.1.pop_front().into_iter().for_each(|sent| line.come(sent));
        }
        Call::Host { at: found.0.max(now), flow: self.flows[pair], far }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
