//! Live hosts: the other side of their devices is a kernel, on a clock of its own. Who has the
//! devices is asked for packets and for the time; nothing here knows a system call.

mod devices;
mod host;
mod locked;
pub mod segments;

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex};

use burstlab_scenario::{
    Connection, ExternalClock, Host, LIVE, LivePair, StackCrate, Stacks, Wakeup,
};
use burstlab_units::Time;

pub use self::devices::{Devices, Found, Sample, Sent};
use self::host::{Line, LiveHost};
use self::locked::locked;

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

    fn crate_of(&self, stack: &str) -> Option<StackCrate> {
        self.others.as_ref()?.crate_of(stack)
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

    fn outside(&self) -> Option<Arc<dyn ExternalClock>> {
        Some(Arc::new(KernelClock {
            devices: Arc::clone(&self.devices),
            lines: self.lines.clone(),
            flows: self.pairs.iter().map(|pair| pair.flow).collect(),
            found: Mutex::default(),
        }))
    }
}

/// The devices, as the loop of a run waits for them.
struct KernelClock {
    devices: Arc<dyn Devices>,
    lines: Vec<[Arc<Mutex<Line>>; 2]>,
    flows: Vec<u32>,
    /// Packets that were found and not handed to their hosts yet.
    found: Mutex<(Time, VecDeque<Sent>)>,
}

impl fmt::Debug for KernelClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KernelClock").finish_non_exhaustive()
    }
}

impl ExternalClock for KernelClock {
    fn wait(&self, now: Time, until: Time) -> Wakeup {
        let mut found = locked(&self.found);
        if found.1.is_empty() {
            let next = self.devices.wait(now, until);
            let at = next.at.max(now).min(until);
            if next.ended {
                return Wakeup::End { at };
            }
            *found = (at, next.packets.into());
        }
        let Some(first) = found.1.front() else { return Wakeup::Due };
        let (pair, far) = (first.pair, first.far);
        // Packets that one host sends in a row are handed over at once, so that shared links keep
        // the order.
        let mut line = locked(&self.lines[pair][usize::from(far)]);
        while found.1.front().is_some_and(|sent| (sent.pair, sent.far) == (pair, far)) {
            found.1.pop_front().into_iter().for_each(|sent| line.come(sent));
        }
        Wakeup::Host { at: found.0.max(now), flow: self.flows[pair], far }
    }
}

#[cfg(test)]
mod tests;
