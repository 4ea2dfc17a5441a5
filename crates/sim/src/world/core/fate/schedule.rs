//! Losses that a scenario prescribes for bursts of one kind.

use burstlab_kernel::Stream;
use burstlab_link::LossProcess;
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

    /// Whether no burst is lost.
    pub(super) fn loses_none(&self) -> bool {
        matches!(self.process, LossProcess::None) && self.script.is_empty()
    }

    /// So many bursts are closed, of which nothing is asked.
    pub(super) fn pass(&mut self, bursts: u64) {
        self.closed += bursts;
    }

    pub(super) fn closed(&self) -> u64 {
        self.closed
    }

    /// The next burst is closed: whether it is lost, for what it is or for its first packets.
    #[inline]
    pub(super) fn next<'a>(
        &mut self,
        firsts: impl Iterator<Item = &'a DataPacket>,
    ) -> ScheduledLoss {
        self.closed += 1;
        let Self { process, script, node, stream, closed } = self;
        let hit = process.hits(*closed, || stream.uniforms(*closed));
        let scripted = script.schedules(firsts);
        let listed = matches!(process, LossProcess::Listed(_));
        let cause = if scripted || listed { LossCause::Scripted } else { LossCause::Burst };
        (hit || scripted).then_some((*node, cause))
    }

    /// What was scripted and never came.
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
