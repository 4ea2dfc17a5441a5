//! Edge nodes that space the ACKs to senders.

use burstlab_units::Time;

use super::core::Network;
use super::packet::AckPacket;
use super::transit::Transit;

impl Transit {
    /// An ACK is at the edge node of its sender; returns whether it leaves at once.
    #[cold]
    pub(super) fn paces(&mut self, now: Time, packet: AckPacket) -> bool {
        let Self { access, core, context, hosts } = self;
        let id = hosts.flows[packet.flow as usize].id;
        let share = access.pacing.utilization();
        // An ACK lands at the end of its slot, which has begun: the load that is known counts.
        let held = share.is_none_or(|share| core.is_loaded(context.now, packet.flow, share));
        access.pacing.comes((now, packet), (id, held), context)
    }

    /// An ACK that was held back goes on its sender's link.
    pub(super) fn paced_ack(&mut self, flow: u32) {
        let packet = self.access.pacing.leaves(flow, &mut self.context);
        self.ack_leaves_edge(self.context.now, packet);
    }
}
