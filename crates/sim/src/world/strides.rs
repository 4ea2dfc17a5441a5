//! Packets that follow one another, dealt with all at once. Where a flow has its links to itself,
//! nothing is repaired and nothing is late, all that the packets of a landed burst do at a host is
//! known, and when. Whatever is not as it should be ends a stride; the packets from there on are
//! taken one by one (`hosts`), which is also what strides are tested against.

use burstlab_units::Time;

use super::World;
use super::optics::Optics;
use super::packet::{AckPacket, DataPacket, Parcel};

/// Where a stride over a path ends before a packet, or its ACK, has done all it does.
enum Spill {
    Nothing,
    /// On the receiver's link: the packet is too far ahead.
    OnLink(Time, DataPacket),
    /// At the receiver, which sends an ACK.
    Received(Time),
    /// On the receiver's link, the ACK being too far ahead.
    AckOnLink(Time),
    /// In the core, for the same reason.
    AckInCore(Time),
    /// On the sender's link, for the same reason, or because it is not heard in stride.
    AckNearSender(Time),
}

impl World {
    /// The next `count` packets of the only flow of a path land, and their ACKs are bursts of their
    /// own; answers how many it has dealt with, up to what they let the sender send.
    pub(super) fn stride_over_path(&mut self, count: u32) -> u32 {
        let (now, ahead) = (self.now, &self.ahead);
        let Optics::Path(path) = &mut self.optics else { return 0 };
        let ([flow], [data_up], [data_down], [ack_up], [ack_down]) = (
            &mut self.flows[..],
            &mut self.data_up[..],
            &mut self.data_down[..],
            &mut self.ack_up[..],
            &mut self.ack_down[..],
        ) else {
            return 0;
        };
        let context = &mut self.context;
        let links = data_down.is_clear() && ack_up.is_clear() && ack_down.is_clear();
        if !links || data_up.wire.is_bounded() || !path.ack.is_clear() || !flow.goes_straight_on() {
            return 0;
        }
        let until = flow.receives_until(now, ahead.receivers);
        let mut spill = Spill::Nothing;
        let (mut done, mut bytes, mut acks, mut heard) = (0, 0, 0, 0);
        let mut digest = context.digest.clone();
        while done < count && flow.receiver.takes_in_stride(path.data.next_landed().seq) {
            let packet = path.data.unload();
            let at = data_down.wire.carry(now, packet.bytes());
            if at > until || !flow.receives_by(at) {
                spill = Spill::OnLink(at, packet);
                break;
            }
            done += 1;
            bytes += u64::from(packet.size);
            if !flow.receiver.on_segment_in_stride(at, packet.seq) {
                continue;
            }
            let (next, size) = (flow.receiver.next(), flow.receiver.ack_size());
            if !flow.sender.goes_on_after(next) {
                spill = Spill::Received(at);
                break;
            }
            acks += 1;
            let at = ack_up.wire.carry(at, size);
            if at > ahead.receivers {
                spill = Spill::AckOnLink(at);
                break;
            }
            let at = path.ack.pass_one(at, size);
            if at > ahead.receivers {
                spill = Spill::AckInCore(at);
                break;
            }
            let at = ack_down.wire.carry(at, size);
            if at > ahead.senders || !flow.hears_by(at, next) {
                spill = Spill::AckNearSender(at);
                break;
            }
            heard += 1;
            flow.go_on(at, next, &mut digest, |at, seq, sender| {
                let size = sender.segment_size(seq);
                let at = data_up.wire.carry(at, size);
                path.data.assemble(at, DataPacket::first(0, seq, size, 0.0), context);
            });
        }
        context.digest = digest;
        flow.count(done.into(), bytes, (acks, heard));
        flow.arm_receiver(0, context);
        flow.arm_sender(0, context);
        let crossed = acks - u64::from(matches!(spill, Spill::AckOnLink(_)));
        path.ack.passed(crossed, crossed - u64::from(matches!(spill, Spill::AckInCore(_))));
        done + self.one_by_one(spill)
    }

    /// What a stride left undone goes on by itself; answers how many more packets that is.
    fn one_by_one(&mut self, spill: Spill) -> u32 {
        let ack = AckPacket::plain(0, &self.flows[0].receiver);
        match spill {
            Spill::Nothing => {}
            Spill::OnLink(at, packet) => {
                self.data_comes(at, 0, packet);
                return 1;
            }
            Spill::Received(at) => self.acknowledge(at, ack),
            Spill::AckOnLink(at) => self.ack_comes_to_edge(at, 0, ack),
            Spill::AckInCore(at) => self.optics.path().ack.flies(at, ack, &mut self.context),
            Spill::AckNearSender(at) => self.ack_comes(at, 0, ack),
        }
        0
    }

    /// Packets of a burst of a mesh land; answers how many, of one flow, it has dealt with, up to
    /// the ACKs that are announced.
    pub(super) fn stride_of_data(&mut self, packets: &[DataPacket]) -> usize {
        let (now, ahead) = (self.now, &self.ahead);
        let Optics::Mesh(mesh) = &mut self.optics else { return 0 };
        let index = packets[0].flow;
        if !ahead.may || packets[0].is_other() || !mesh.expects_acks() {
            return 0;
        }
        let flow = &mut self.flows[index as usize];
        let down = &mut self.data_down[index as usize];
        let up = &mut self.ack_up[index as usize];
        if !down.is_clear() || up.wire.is_bounded() {
            return 0;
        }
        let context = &mut self.context;
        let until = flow.receives_until(now, ahead.receivers);
        let queue = mesh.ack_queue(index, flow);
        let (mut done, mut bytes, mut acks, mut late) = (0, 0, 0, None);
        for packet in packets {
            if packet.flow != index || !flow.receiver.takes_in_stride(packet.seq) {
                break;
            }
            let at = down.wire.carry(now, packet.bytes());
            if at > until || !flow.receives_by(at) {
                late = Some((at, *packet));
                break;
            }
            done += 1;
            bytes += u64::from(packet.size);
            if flow.receiver.on_segment_in_stride(at, packet.seq) {
                acks += 1;
                let ack = AckPacket::plain(index, &flow.receiver);
                let at = up.wire.carry(at, ack.bytes());
                mesh.expect_ack_in(queue, at, ack, context);
            }
        }
        flow.count(done, bytes, (acks, 0));
        flow.arm_receiver(index, context);
        if let Some((at, packet)) = late {
            self.data_comes(at, index, packet);
            done += 1;
        }
        done as usize
    }

    /// ACKs of a burst of a mesh land; answers how many, of one flow, it has dealt with, up to the
    /// packets that are announced.
    pub(super) fn stride_of_acks(&mut self, acks: &[AckPacket]) -> usize {
        let (now, ahead) = (self.now, &self.ahead);
        let Optics::Mesh(mesh) = &mut self.optics else { return 0 };
        if !ahead.may || !mesh.expects_data() {
            return 0;
        }
        let index = acks[0].flow;
        let flow = &mut self.flows[index as usize];
        let down = &mut self.ack_down[index as usize];
        let up = &mut self.data_up[index as usize];
        if !down.is_clear() || up.wire.is_bounded() || !flow.goes_straight_on() {
            return 0;
        }
        let context = &mut self.context;
        let queue = mesh.data_queue(index, flow);
        let (mut done, mut late) = (0, None);
        let mut digest = flow.digest.clone();
        for ack in acks {
            if ack.flow != index || !ack.is_plain() {
                break;
            }
            let at = down.wire.carry(now, ack.bytes());
            if at > ahead.senders || !flow.hears_by(at, ack.next) {
                late = Some((at, *ack));
                break;
            }
            done += 1;
            flow.go_on(at, ack.next, &mut digest, |at, seq, sender| {
                let size = sender.segment_size(seq);
                let packet = DataPacket::first(index, seq, size, sender.cwnd());
                let at = up.wire.carry(at, size);
                let queue = queue.of(mesh, &packet);
                mesh.expect_in(queue, at, packet, context);
            });
        }
        flow.digest = digest;
        flow.count(0, 0, (0, done));
        flow.arm_sender(index, context);
        if let Some((at, ack)) = late {
            self.ack_comes(at, index, ack);
            done += 1;
        }
        done as usize
    }
}
