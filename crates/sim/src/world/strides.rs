//! Packets that follow one another, dealt with all at once. Where a flow has its links to itself,
//! nothing is repaired and nothing is late, all that the packets of a landed burst do at a host is
//! known, and when. Whatever is not as it should be ends a stride; the packets from there on are
//! taken one by one (`hosts`), which is also what strides are tested against.

use burstlab_units::{Bytes, Span, Time};

use super::World;
use super::optics::Optics;
use super::packet::{AckPacket, DataPacket, Parcel};
use super::train::{Coming, Train};

/// The ACKs of a stride over a path that are too far ahead, or the last of their flow: when they
/// are at the next place, and what they cover.
#[derive(Default)]
struct Rest {
    on_link: Option<(Time, u64)>,
    in_core: Option<(Time, u64)>,
    unsent: Vec<(Time, u64)>,
}

impl World {
    /// The next `count` packets of the only flow of a path land, and their ACKs are bursts of their
    /// own; answers how many it has dealt with, up to what they let the sender send.
    pub(super) fn stride_over_path(&mut self, count: u32) -> u32 {
        let links = [&self.data_up[..], &self.data_down[..]].iter().all(|links| links.len() == 1);
        let clear = links
            && self.data_down[0].is_clear()
            && self.ack_up[0].is_clear()
            && self.ack_down[0].is_clear()
            && !self.data_up[0].wire.is_bounded()
            && self.optics.path().ack.is_clear()
            && self.flows[0].goes_straight_on();
        if !clear {
            return 0;
        }
        let evenly = self.receive_evenly(count);
        let done = evenly + self.receive_over_path(count - evenly);
        let rest = if self.cross_evenly() { Rest::default() } else { self.cross_back() };
        self.hear_over_path();
        self.one_by_one(rest);
        done
    }

    /// As [`receive_over_path`](Self::receive_over_path), for the first packets of one size in
    /// order, where each is acknowledged and none is late.
    fn receive_evenly(&mut self, count: u32) -> u32 {
        let Optics::Path(path) = &mut self.optics else { return 0 };
        let (now, flow, down) = (self.now, &mut self.flows[0], &mut self.data_down[0].wire);
        let next = flow.receiver.next();
        let Some(size) = path.data.landed(1).map(|packet| packet.size).next() else { return 0 };
        let alike = |&(packet, seq): &(&DataPacket, u64)| packet.seq == seq && packet.size == size;
        let alike = path.data.landed(count).zip(next..).take_while(alike).count() as u32;
        if alike == 0 || !flow.receiver.takes_in_stride(next) || !flow.receiver.acknowledges_each()
        {
            return 0;
        }
        let until = flow.receives_until(now, self.ahead.receivers);
        let bytes = Bytes::new(u64::from(size));
        let arrives = down.carry_evenly((now, Span::ZERO), alike, bytes, until);
        let Some((mut at, gap)) = arrives else { return 0 };
        let end = next + u64::from(alike);
        for next in next + 1..=end {
            self.coming.push((at, next));
            at += gap;
        }
        flow.receiver.on_run_in_stride(end);
        if flow.has_received() {
            flow.received = Some(at - gap);
        }
        flow.count(u64::from(alike), bytes.get() * u64::from(alike));
        path.data.leave(alike);
        alike
    }

    /// Packets of a path that have landed are received; their ACKs are then coming, each with the
    /// time at which it is sent.
    fn receive_over_path(&mut self, count: u32) -> u32 {
        let Optics::Path(path) = &mut self.optics else { return 0 };
        let (now, flow, down) = (self.now, &mut self.flows[0], &mut self.data_down[0]);
        let until = flow.receives_until(now, self.ahead.receivers);
        let (mut done, mut bytes, mut late, mut last) = (0, 0, None, now);
        let mut next = flow.receiver.next();
        if !flow.receiver.takes_in_stride(next) {
            return 0;
        }
        let each = flow.receiver.acknowledges_each();
        for packet in path.data.landed(count) {
            if packet.seq != next {
                break;
            }
            let at = down.wire.carry(now, packet.bytes());
            if at > until || !(each || flow.receives_by(at)) {
                late = Some((at, *packet));
                break;
            }
            (done, last) = (done + 1, at);
            bytes += u64::from(packet.size);
            next += 1;
            if each || flow.receiver.on_segment_in_stride(at, packet.seq) {
                self.coming.push((at, next));
            }
        }
        if each {
            flow.receiver.on_run_in_stride(next);
        }
        if flow.has_received() {
            flow.received = Some(last);
        }
        flow.count(u64::from(done), bytes);
        flow.arm_receiver(0, &mut self.context);
        if let Some((at, packet)) = late {
            self.data_comes(at, 0, packet);
            done += 1;
        }
        self.optics.path().data.leave(done);
        done
    }

    /// As [`cross_back`](Self::cross_back) for ACKs that come evenly, where all go all the way.
    fn cross_evenly(&mut self) -> bool {
        let Optics::Path(path) = &mut self.optics else { return false };
        let (flow, until) = (&mut self.flows[0], self.ahead.receivers);
        let (up, down) = (&mut self.ack_up[0].wire, &mut self.ack_down[0].wire);
        let [(first, _), (second, _), .., (_, last)] = self.coming[..] else { return false };
        let (gap, count) = (second.since(first), self.coming.len() as u32);
        let evenly = self.coming.windows(2).all(|pair| pair[1].0 == pair[0].0 + gap);
        if !evenly || !flow.sender.goes_on_after(last) {
            return false;
        }
        let size = flow.receiver.ack_size();
        let Some(sent) = up.plan((first, gap), count, size) else { return false };
        let Some(crossed) = path.ack.plan(&sent, count, size) else { return false };
        let on_link = (crossed.first, crossed.gap);
        let Some(heard) = down.plan(on_link, count, size) else { return false };
        if sent.last > until || crossed.last > until {
            return false;
        }
        up.follow(&sent);
        path.ack.follow(&crossed, count);
        down.follow(&heard);
        let mut at = heard.first;
        for coming in &mut self.coming {
            coming.0 = at;
            at += heard.gap;
        }
        flow.tally.acks_sent += u64::from(count);
        true
    }

    /// ACKs that are coming are sent, cross the core, and are then on the sender's link, each with
    /// the time at which it arrives. Answers those that do not.
    fn cross_back(&mut self) -> Rest {
        let mut rest = Rest::default();
        let Optics::Path(path) = &mut self.optics else { return rest };
        let (flow, until) = (&mut self.flows[0], self.ahead.receivers);
        let (up, down) = (&mut self.ack_up[0].wire, &mut self.ack_down[0].wire);
        let size = flow.receiver.ack_size();
        let (mut crossed, mut unsent) = (0, self.coming.len());
        let last = self.coming.last().is_some_and(|&(_, next)| !flow.sender.goes_on_after(next));
        for (index, (at, next)) in self.coming.iter_mut().enumerate() {
            unsent = index;
            if last && !flow.sender.goes_on_after(*next) {
                break;
            }
            unsent += 1;
            let leaves = up.carry(*at, size);
            if leaves > until {
                rest.on_link = Some((leaves, *next));
                break;
            }
            let arrives = path.ack.pass_one(leaves, size);
            if arrives > until {
                rest.in_core = Some((arrives, *next));
                break;
            }
            crossed += 1;
            *at = down.carry(arrives, size);
        }
        flow.tally.acks_sent += unsent as u64;
        path.ack.passed(crossed + u64::from(rest.in_core.is_some()), crossed);
        rest.unsent = std::mem::take(&mut self.unsent);
        rest.unsent.extend(self.coming.drain(unsent..));
        self.coming.truncate(crossed as usize);
        rest
    }

    /// The sender of a path hears the ACKs that are coming.
    fn hear_over_path(&mut self) {
        let Optics::Path(path) = &mut self.optics else { return };
        let (flow, up) = (&mut self.flows[0], &mut self.data_up[0].wire);
        let (mut until, mut heard) = (flow.hears_until(self.ahead.senders), 0);
        let mut digest = self.context.digest.clone();
        let covered = match self.coming[..] {
            [(_, first), .., (_, last)] => flow.sender.covers(first) && flow.sender.covers(last),
            [(_, next)] => flow.sender.covers(next),
            [] => return,
        };
        for &(at, next) in self.coming.iter().filter(|_| covered) {
            if at > until {
                // The timer has moved on with each ACK.
                until = flow.hears_until(self.ahead.senders);
                if at > until {
                    break;
                }
            }
            heard += 1;
            for seq in flow.go_on(at, next, &mut digest) {
                digest.add(at, 1, seq);
                let size = flow.sender.segment_size(seq);
                let packet = DataPacket::first(0, seq, size, 0.0);
                path.data.assemble(up.carry(at, size), packet, &mut self.context);
            }
        }
        self.context.digest = digest;
        flow.arm_sender(0, &mut self.context);
        let size = flow.receiver.ack_size();
        let mut coming = std::mem::take(&mut self.coming);
        for (at, next) in coming.drain(..).skip(heard) {
            self.ack_comes(at, 0, AckPacket::plain(0, next, size));
        }
        self.coming = coming;
    }

    /// ACKs that a stride left behind go on one by one.
    fn one_by_one(&mut self, mut rest: Rest) {
        let size = self.flows[0].receiver.ack_size();
        let ack = |next| AckPacket::plain(0, next, size);
        if let Some((at, next)) = rest.on_link {
            self.ack_comes_to_edge(at, 0, ack(next));
        }
        if let Some((at, next)) = rest.in_core {
            self.optics.path().ack.flies(at, ack(next), &mut self.context);
        }
        for (at, next) in rest.unsent.drain(..) {
            self.acknowledge(at, ack(next));
        }
        self.unsent = rest.unsent;
    }

    /// Packets of a burst of a mesh land; answers how many trains of the first one's flow it has
    /// dealt with, up to the ACKs that are announced.
    pub(super) fn stride_of_data(&mut self, trains: &[Train<DataPacket>]) -> usize {
        let (now, ahead) = (self.now, &self.ahead);
        let Optics::Mesh(mesh) = &mut self.optics else { return 0 };
        let index = trains[0].first.flow;
        if !ahead.may || trains[0].first.is_other() || !mesh.expects_acks() {
            return 0;
        }
        let flow = &mut self.flows[index as usize];
        let down = &mut self.data_down[index as usize];
        let up = &mut self.ack_up[index as usize];
        if !down.is_clear() || up.wire.is_bounded() || !flow.receiver.acknowledges_each() {
            return 0;
        }
        let context = &mut self.context;
        let until = flow.receives_until(now, ahead.receivers);
        let (queue, size) = (mesh.ack_queue(index, flow), flow.receiver.ack_size());
        for (done, train) in trains.iter().enumerate() {
            let (packet, count) = (&train.first, train.count);
            let follows = packet.flow == index && flow.receiver.takes_in_stride(packet.seq);
            if !follows || (count > 1 && train.step != 1) {
                return done;
            }
            let arrives = down.wire.carry_evenly((now, Span::ZERO), count, packet.bytes(), until);
            let Some((at, gap)) = arrives else { return done };
            flow.receiver.on_run_in_stride(packet.seq + u64::from(count));
            if flow.has_received() {
                flow.received = Some(at + gap * u64::from(count - 1));
            }
            flow.count(u64::from(count), train.bytes().get());
            flow.tally.acks_sent += u64::from(count);
            let first = AckPacket::plain(index, packet.seq + 1, size);
            let train = Train { first, count, step: 1 };
            match up.wire.carry_evenly((at, gap), count, size, Time::MAX) {
                Some((at, gap)) => mesh.expect_acks_in(queue, Coming { train, at, gap }, context),
                None => {
                    let sent = Coming { train, at, gap };
                    for (number, ack) in (0..).zip(train.packets()) {
                        let at = up.wire.carry(sent.at(number), size);
                        mesh.expect_ack_in(queue, at, ack, context);
                    }
                }
            }
        }
        trains.len()
    }

    /// ACKs of a burst of a mesh land; answers how many trains of the first one's flow it has dealt
    /// with, up to the packets that are announced.
    pub(super) fn stride_of_acks(&mut self, trains: &[Train<AckPacket>]) -> usize {
        let (now, ahead) = (self.now, &self.ahead);
        let Optics::Mesh(mesh) = &mut self.optics else { return 0 };
        if !ahead.may || !mesh.expects_data() {
            return 0;
        }
        let index = trains[0].first.flow;
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
        'trains: for train in trains {
            let (ack, last) = (&train.first, train.packet(train.count - 1));
            let covers = flow.sender.covers(ack.next) && flow.sender.covers(last.next);
            let repeats = train.count > 1 && train.step == 0;
            if ack.flow != index || !ack.is_plain() || repeats || !covers {
                break;
            }
            let size = ack.bytes();
            let arrives = down.wire.carry_evenly((now, Span::ZERO), train.count, size, Time::MAX);
            let Some((at, gap)) = arrives else { break };
            done += 1;
            let coming = Coming { train: *train, at, gap };
            for number in 0..train.count {
                let at = coming.at(number);
                if at > flow.hears_until(ahead.senders) {
                    late = Some((coming, number));
                    break 'trains;
                }
                for seq in flow.go_on(at, train.packet(number).next, &mut digest) {
                    digest.add(at, 1, seq);
                    let size = flow.sender.segment_size(seq);
                    let packet = DataPacket::first(index, seq, size, queue.stamp(&flow.sender));
                    let at = up.wire.carry(at, size);
                    let queue = queue.of(mesh, &packet);
                    mesh.expect_in(queue, at, packet, context);
                }
            }
        }
        flow.digest = digest;
        flow.arm_sender(index, context);
        if let Some((coming, from)) = late {
            for number in from..coming.train.count {
                self.ack_comes(coming.at(number), index, coming.train.packet(number));
            }
        }
        done
    }
}
