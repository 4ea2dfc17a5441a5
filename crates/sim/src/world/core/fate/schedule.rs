//! Losses that a scenario prescribes for bursts of one kind.

use burstlab_kernel::Stream;
use burstlab_link::LossProcess;
use burstlab_units::Time;
use serde::{Deserialize, Serialize};

use super::script::Script;
use crate::measure::loss::LossCause;
use crate::scenario::Losing;
use crate::world::core::burst::ScheduledLoss;
use crate::world::packet::DataPacket;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct LossSchedule {
    process: LossProcess,
    pub(super) script: Script,
    pub(super) node: usize,
    stream: Stream,
    /// Bursts of this kind so far.
    closed: u64,
}

impl LossSchedule {
    pub(super) fn new(rule: &Losing, stream: Stream) -> Self {
        let (process, script) = (rule.process.clone(), Script::new(&rule.script));
        Self { process, script, node: rule.node, stream, closed: 0 }
    }

    /// Whether for certain no burst is lost that is closed from the first of two times to the last.
    #[inline]
    pub(super) fn spares(&mut self, times: impl FnOnce() -> (Time, Time)) -> bool {
        let draws = |ordinal: u64| self.stream.uniforms(ordinal);
        self.script.is_empty() && self.process.spares(times, draws)
    }

    /// So many bursts are closed, of which nothing is asked.
    pub(super) fn pass(&mut self, bursts: u64) {
        self.closed += bursts;
    }

    /// The next burst is closed, at `at`: whether it is lost, for what it is or for its first
    /// packets.
    #[inline]
    pub(super) fn next<'a>(
        &mut self,
        at: Time,
        firsts: impl Iterator<Item = &'a DataPacket>,
    ) -> ScheduledLoss {
        self.closed += 1;
        let Self { process, script, node, stream, closed } = self;
        let hit = process.hits(*closed, at, |ordinal| stream.uniforms(ordinal));
        let scripted = script.schedules(firsts);
        let cause = match process {
            _ if scripted => LossCause::Scripted,
            LossProcess::Listed(_) => LossCause::Scripted,
            LossProcess::Outages(_) => LossCause::Outage,
            _ => LossCause::Random,
        };
        (hit || scripted).then_some((*node, cause))
    }

    /// Scripted losses that never came.
    pub(super) fn unmet(&self) -> impl Iterator<Item = String> {
        let closed = self.closed;
        let listed = match &self.process {
            LossProcess::Listed(bursts) => bursts.as_slice(),
            _ => &[],
        };
        let bursts = listed.iter().filter(move |&&burst| burst > closed).map(move |burst| {
            format!("bursts: there was no burst {burst}; the run closed {closed} bursts")
        });
        self.script.unmet().chain(bursts)
    }
}
