//! The reports of a third-party host, traced back to the losses behind them: the ledger of such a
//! flow.

use burstlab_units::Time;

use super::patience;
use super::{FAR, NEAR, Stack};
use crate::measure::loss::{Causes, Loss};
use crate::measure::{
    CwndEvent, CwndRow, LedgerKind, LedgerRow, SenderBefore, SenderNow, SenderState,
};
use crate::scenario::{Ending, HostEvent};
use crate::world::context::Context;
use crate::world::hosts::piggyback::begin_to_reply;
use crate::world::hosts::{Flow, Hosts};

/// Packets with numbers of their own, such as those of a handshake, that may lie between a lost one
/// and the one whose ACK reports it.
const BETWEEN: u64 = 256;

/// The events that a sender has reported at once.
#[derive(Default)]
struct Reported {
    acked: bool,
    /// It has waited long enough: for what was missing then.
    timeout: Option<Causes>,
    /// Repairs of TCP that it has begun.
    repairs: Vec<Repair>,
    /// Packets taken for lost or sent again.
    repaired: u64,
    /// Those that are lost and in no row yet, and why; and those that are not lost, or are sent
    /// again though they came.
    lost: Vec<(u64, Loss)>,
    spurious: Vec<u64>,
    said: Said,
}

/// Other reports of a sender.
#[derive(Default)]
struct Said {
    /// All of the flow is acknowledged now, for the first time.
    done: bool,
    /// It could not read the packet that came last.
    unread: bool,
    /// Its connection is dead.
    ended: Option<Ending>,
}

/// A repair of TCP.
struct Repair {
    timed_out: bool,
    cost: Option<u32>,
    /// The first packet that it waits for, and the missing ones of all.
    first: Option<u64>,
    behind: Causes,
}

impl Reported {
    fn timed_out(&self) -> bool {
        self.timeout.is_some() || self.repairs.iter().any(|repair| repair.timed_out)
    }
}

impl Hosts {
    /// The state of the sender of a flow just before something happens.
    pub(super) fn stack_before(&self, index: u32, context: &Context) -> SenderBefore {
        let stack = self.flows[index as usize].stack.as_ref().expect("the flow has a stack");
        let traced = context.recorder.traces_ledger();
        SenderBefore {
            waits_until: stack.end(NEAR).in_transit.kept(),
            state: traced.then(|| SenderState::of_host(&stack.state(NEAR))),
        }
    }

    /// Takes the reports of a host; returns whether all of the flow is acknowledged now, for the
    /// first time.
    pub(super) fn stack_reacts(
        &mut self,
        now: Time,
        (index, side): (u32, usize),
        before: &SenderBefore,
        context: &mut Context,
    ) -> bool {
        let flow = &mut self.flows[index as usize];
        let done = match side {
            FAR => flow.receiver_reports(now).map(|()| false),
            _ => match (flow.sender_tells(now, before, context), flow.reverse_flow()) {
                (Ok(said), Some(other)) => self.stack_takes(now, (index, other), &said),
                (said, _) => said.map(|said| said.done),
            },
        };
        done.unwrap_or_else(|problem| {
            self.stack_fails(now, (index, side), &problem);
            false
        })
    }

    /// The host of a sender takes data of the other direction too, which flow `other` carries;
    /// answers as the sender has.
    fn stack_takes(
        &mut self,
        now: Time,
        (index, other): (u32, u32),
        said: &Said,
    ) -> Result<bool, String> {
        let received = self.stack_of(index).state(NEAR).received;
        let flow = &mut self.flows[other as usize];
        let open = flow.far.received().is_none();
        let stack = flow.stack.as_mut().expect("both flows of a connection have a stack");
        if said.unread {
            stack.goes_unread();
        }
        if let Some(why) = said.ended.filter(|_| open) {
            stack.receiver_ends(now, why);
        }
        takes(flow, now, received)?;
        if open && flow.far.received().is_some() {
            begin_to_reply(&mut self.flows[index as usize], now);
        }
        Ok(said.done)
    }
}

impl Stack {
    /// Its connection is dead, as its receiver says.
    fn receiver_ends(&mut self, now: Time, why: Ending) {
        self.ended[FAR].get_or_insert((now, why));
    }

    /// Its receiver could not read the packet that came last.
    fn goes_unread(&mut self) {
        if let Some((number, cargo)) = self.came {
            self.lost.goes_unread(number, cargo);
        }
    }
}

/// So many bytes have come to the application of the receiver of a flow.
fn takes(flow: &mut Flow, now: Time, received: u64) -> Result<(), String> {
    let stack = flow.stack.as_mut().expect("the flow has a stack");
    if received < stack.received {
        let before = stack.received;
        return Err(format!("has {received} bytes for its application, and had {before}"));
    }
    let came = flow.far.got().bytes;
    if received > came && !stack.live {
        return Err(format!("has {received} bytes for its application, of {came} that came"));
    }
    stack.received = received;
    let all = flow.bytes.is_some_and(|bytes| received >= bytes);
    if all && flow.far.received().is_none() {
        flow.far.has_all(now);
    }
    Ok(())
}

impl Flow {
    /// The receiver, a stack, reports its events; returns the mistake in them, as the sender does.
    fn receiver_reports(&mut self, now: Time) -> Result<(), String> {
        let stack = self.stack.as_mut().expect("the flow has a stack");
        let mut left = patience::events(stack.end(FAR).in_transit.kept());
        while let Some(event) = stack.end_mut(FAR).host().poll_event() {
            left = left.checked_sub(1).ok_or("reports events without end")?;
            match event {
                HostEvent::Ended(why) if self.far.received().is_none() => {
                    stack.receiver_ends(now, why);
                }
                HostEvent::Unread => stack.goes_unread(),
                _ => {}
            }
        }
        let received = stack.state(FAR).received;
        takes(self, now, received)
    }

    /// Hears all that the sender, a stack, has to report; answers the part of it that concerns the
    /// other direction too.
    fn sender_tells(
        &mut self,
        now: Time,
        before: &SenderBefore,
        context: &mut Context,
    ) -> Result<Said, String> {
        let mut reported = Reported::default();
        let stack = self.stack.as_ref().expect("the flow has a stack");
        let mut left = patience::events(stack.end(NEAR).in_transit.kept());
        while let Some(event) =
            self.stack.as_mut().and_then(|s| s.end_mut(NEAR).host().poll_event())
        {
            left = left.checked_sub(1).ok_or("reports events without end")?;
            self.take_report(now, event, &mut reported)?;
        }
        if reported.acked {
            self.forget();
        }
        self.record(now, &reported, before, context);
        let stack = self.stack.as_ref().expect("the flow has a stack");
        let open = self.bytes.is_some() && self.near.completed().is_none();
        let done = open && stack.state(NEAR).finished;
        if done {
            self.near.complete(now);
        }
        let Reported { said, .. } = reported;
        Ok(Said { done, ..said })
    }

    /// The sender, a stack, reports an event.
    fn take_report(
        &mut self,
        now: Time,
        event: HostEvent,
        reported: &mut Reported,
    ) -> Result<(), String> {
        use HostEvent::{Acked, Awaited, Forgotten, Lost, Resent};
        let Reported { said, .. } = &mut *reported;
        let stack = self.stack.as_mut().expect("the flow has a stack");
        let sent = stack.end(NEAR).in_transit.kept();
        if let Acked(number) | Awaited(number) | Forgotten(number) | Lost(number) | Resent(number) =
            event
            && number >= sent + patience::READY
        {
            return Err(format!("reports its packet {number}, and has sent {sent} (from 0)"));
        }
        match event {
            HostEvent::Acked(number) => {
                stack.acked = stack.acked.max(Some(number));
                reported.acked = true;
            }
            HostEvent::Timeout => reported.timeout = Some(self.causes.clone()),
            HostEvent::Repairs { timed_out, cost } => {
                let behind = Causes::default();
                reported.repairs.push(Repair { timed_out, cost, first: None, behind });
            }
            HostEvent::Awaited(number) => self.waits_for(number, reported),
            HostEvent::Lost(number) | HostEvent::Resent(number) => self.gives_up(number, reported),
            HostEvent::SomeLost(count) => {
                let below = stack.acked.unwrap_or(sent);
                let Some((oldest, wrong)) = stack.lost.oldest(&self.causes, below, count) else {
                    return Err(format!("takes more packets for lost than the {sent} it has sent"));
                };
                let about = stack.acked.unwrap_or(0);
                reported.repaired += wrong;
                oldest.into_iter().for_each(|number| self.gives_up(number, reported));
                reported.spurious.extend(std::iter::repeat_n(about, wrong as usize));
            }
            HostEvent::Forgotten(number) => {
                self.causes.found(number);
                stack.lost.is_bare(number);
            }
            HostEvent::Ended(why) => {
                said.ended = Some(why);
                self.ends(now, why);
            }
            HostEvent::Unread => said.unread = true,
        }
        Ok(())
    }

    /// Its connection is dead, as its sender says.
    fn ends(&mut self, now: Time, why: Ending) {
        let stack = self.stack.as_mut().expect("the flow has a stack");
        if self.near.completed().is_none() {
            stack.ended[NEAR].get_or_insert((now, why));
        }
    }

    /// A repair that has just begun is of a connection that waits for what a packet carried.
    fn waits_for(&mut self, number: u64, reported: &mut Reported) {
        let Some(repair) = reported.repairs.last_mut() else { return };
        repair.first.get_or_insert(number);
        if let Some((_, &loss)) = self.causes.among(number..number + 1).next() {
            repair.behind.lost(number, loss);
            let stack = self.stack.as_mut().expect("the flow has a stack");
            stack.lost.explained.insert(number);
        }
    }

    /// The sender takes a packet for lost, or sends again what it carried.
    fn gives_up(&mut self, number: u64, reported: &mut Reported) {
        let stack = self.stack.as_mut().expect("the flow has a stack");
        // Of ACKs alone nothing is sent again, nor of a probe of the path.
        if stack.lost.is_bare(number) {
            return;
        }
        reported.repaired += u64::from(!stack.lost.is_probe(number));
        if stack.lost.is_unread(number) {
            return;
        }
        if let Some(loss) = self.causes.take(number) {
            if !stack.lost.explained.remove(&number) {
                reported.lost.push((number, loss));
            }
            return;
        }
        if stack.end(NEAR).in_transit.has(number) {
            stack.lost.gives_up(number);
        }
        reported.spurious.push(number);
    }

    /// Packets that are not taken for lost though a much later one is acknowledged were never going
    /// to be.
    fn forget(&mut self) {
        let stack = self.stack.as_mut().expect("the flow has a stack");
        let reordering = stack.end_mut(NEAR).host().reordering();
        let kept = reordering + BETWEEN;
        let below = stack.acked.and_then(|acked| (acked + 1).checked_sub(kept));
        if let Some(below) = below {
            self.causes.forget_below(below);
            stack.lost.forget_below(below);
        }
    }

    /// Counts and records the events that the sender has reported.
    fn record(
        &mut self,
        now: Time,
        reported: &Reported,
        before: &SenderBefore,
        context: &mut Context,
    ) {
        let id = (now, self.id);
        let stack = self.stack.as_mut().expect("the flow has a stack");
        stack.counts.repaired += reported.repaired;
        stack.counts.timeouts += u64::from(reported.timeout.is_some());
        let recorder = &mut context.recorder;
        if let (true, Some(acked)) = (reported.acked, stack.acked) {
            recorder.acked(self.id, now, acked + 1);
            if let Some(rtt) = stack.state(NEAR).rtt {
                stack.counts.round_trips += 1;
                stack.counts.round_trip += rtt;
            }
        }
        // Retransmissions at a time-out belong to its row, and have no row of their own.
        let lost = if reported.timeout.is_none() { reported.lost.as_slice() } else { &[] };
        for group in lost.chunk_by(|(_, one), (_, next)| one.burst == next.burst) {
            let mut causes = Causes::default();
            group.iter().for_each(|&(seq, loss)| causes.lost(seq, loss));
            let row = LedgerRow::new(id, LedgerKind::FastRetransmit, group[0].0, before);
            recorder.ledger(&row, &causes);
            stack.counts.repairs += 1;
        }
        let acked = stack.acked;
        reported.repairs.iter().for_each(|repair| self.repairs(now, repair, before, context));
        let recorder = &mut context.recorder;
        for &seq in &reported.spurious {
            self.counted.spurious_retransmissions += 1;
            let row = LedgerRow::new(id, LedgerKind::SpuriousRetransmission, seq, before);
            recorder.ledger(&row, &self.causes);
        }
        if let Some(mut causes) = reported.timeout.clone() {
            reported.lost.iter().for_each(|&(seq, loss)| causes.lost(seq, loss));
            let truth = causes.truth(0..before.waits_until);
            self.counted.timeouts[truth as usize][0] += 1;
            self.near.note(now, 3, before.waits_until);
            let seq = acked.map_or(0, |acked| acked + 1);
            let mut row = LedgerRow::new(id, LedgerKind::Timeout, seq, before);
            row.truth = Some(truth);
            recorder.ledger(&row, &causes);
        }
        if recorder.traces_cwnd() {
            self.record_window(now, reported, context);
        }
    }

    /// Counts and records a repair of TCP.
    fn repairs(
        &mut self,
        now: Time,
        repair: &Repair,
        before: &SenderBefore,
        context: &mut Context,
    ) {
        let Repair { timed_out, cost, first, behind } = repair;
        let kind = if *timed_out { LedgerKind::Timeout } else { LedgerKind::FastRetransmit };
        let mut row = LedgerRow::new((now, self.id), kind, first.unwrap_or(0), before);
        let stack = self.stack.as_mut().expect("the flow has a stack");
        if *timed_out {
            let truth = behind.truth(0..before.waits_until);
            stack.counts.timeouts += 1;
            self.counted.timeouts[truth as usize][0] += 1;
            self.near.note(now, 3, before.waits_until);
            row.truth = Some(truth);
        } else {
            stack.counts.repairs += 1;
        }
        if let Some(cost) = cost.map(f64::from) {
            let cause = behind.reduction(0..before.waits_until, false);
            let (count, segments) = &mut self.counted.reductions[cause as usize];
            *count += 1;
            *segments += cost;
            row.reduction = Some((cause, cost));
        }
        context.recorder.ledger(&row, behind);
    }

    /// Records the window after the sender's reports.
    fn record_window(&self, now: Time, reported: &Reported, context: &mut Context) {
        let stack = self.stack.as_ref().expect("the flow has a stack");
        let repairs = reported.repaired > 0;
        let state = stack.state(NEAR);
        let sender = SenderNow::of_host(&state, repairs);
        let ack = stack.acked.map_or(-1, |acked| acked as i64);
        // A stack reports the smoothed round trip alone, and no measurement.
        let (flow, event) = (self.id, CwndEvent::Ack);
        // The rows of such a run are in the order of its events, whatever the slots are.
        let mut row = CwndRow { now, flow, slot: 0, event, ack, sample: None, sender };
        if reported.acked {
            context.recorder.cwnd(&row);
        }
        let timed_out = reported.timed_out();
        row.event = if timed_out { CwndEvent::Timeout } else { CwndEvent::FastRetransmit };
        if repairs || timed_out {
            context.recorder.cwnd(&row);
        }
    }
}
