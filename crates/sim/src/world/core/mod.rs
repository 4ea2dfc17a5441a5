//! The part between the access links: edge and core nodes, fibres, bursts or slots. It knows
//! packets, and of a flow its address. Hosts and links learn the fate of a packet from its
//! [effects](Effects).

mod account;
mod beyond;
mod burst;
mod edge;
mod effects;
mod fabric;
mod fate;
mod flows;
mod marks;
mod mesh;
mod network;
mod payload;
mod plan;
mod routing;
mod rules;
mod runs;
mod scope;
mod sites;
mod slots;
mod under_way;

use burstlab_kernel::RandomSource;
use burstlab_link::Wire;
use burstlab_optical::slotted::Passed;
use burstlab_units::{Rate, Span, Time};
use enum_dispatch::enum_dispatch;
use serde::{Deserialize, Serialize};

pub(super) use self::edge::{BATCH_SOURCE_SIZE, BURST_SOURCE_SIZE, DataQueue};
pub(super) use self::effects::{Effect, Effects, Expected, Place};
pub(super) use self::flows::{Address, Carried, Flows};
pub(super) use self::mesh::BURST_SIZE;
use self::mesh::Mesh;
pub(super) use self::network::{Network, Report, Totals};
pub(super) use self::payload::Payload;
use self::slots::SlotNetwork;
pub(super) use self::under_way::UnderWay;
use super::ahead::policy::{Lookahead, Promises};
use super::context::Context;
use super::events::CoreEvent;
use super::packet::{AckPacket, DataPacket};
use super::surgery::Surgery;
use super::train::TimedTrain;
use crate::measure::{Occupancy, Recorder, SurgerySummary};
use crate::scenario::{Interrupt, Resolved, Run};
use crate::topology::Graph;

/// The optical network.
// There is one in a run: which of the two is larger does not matter.
#[allow(clippy::large_enum_variant)]
#[enum_dispatch(Network)]
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Core {
    /// Bursts, over a path or a mesh.
    Bursts(Mesh),
    /// Slots instead of bursts.
    Slots(SlotNetwork),
}

impl Core {
    /// The network of a scenario, which says what it promises.
    pub(super) fn new(resolved: &Resolved, random: &RandomSource, ahead: &mut Lookahead) -> Self {
        let core = match SlotNetwork::new(resolved, random) {
            Some(ops) => Self::Slots(ops),
            None => Self::Bursts(Mesh::new(resolved, random, ahead)),
        };
        ahead.promise(&core.promises(&resolved.scenario.run, ahead));
        core
    }

    /// Takes what is not stored from the network of the same scenario; `None` where it is of
    /// another.
    pub(super) fn adopt(&mut self, fresh: Self) -> Option<()> {
        match (self, fresh) {
            (Self::Bursts(mesh), Self::Bursts(fresh)) => mesh.adopt(fresh),
            (Self::Slots(ops), Self::Slots(fresh)) => ops.adopt(fresh),
            _ => return None,
        }
        Some(())
    }

    /// Something happens.
    #[inline]
    pub(super) fn happen(&mut self, now: Time, event: CoreEvent, context: &mut Context) {
        match (self, event) {
            (Self::Bursts(mesh), CoreEvent::Burst(event, number)) => {
                mesh.happen(now, (event, number), context);
            }
            (Self::Slots(ops), CoreEvent::Slot(event, number)) => {
                ops.happen(now, (event, number), context);
            }
            (_, event) => unreachable!("{event:?} is of another kind of network"),
        }
    }

    /// The results of the operations on bursts.
    pub(super) fn surgery(&self, surgery: &Surgery) -> Vec<SurgerySummary> {
        surgery.summary(self.numbered(), self.is_path())
    }
}
