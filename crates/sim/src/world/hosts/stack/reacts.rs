//! What a host of others tells of itself, traced back to the losses behind it: the ledger of such a
//! flow.

use burstlab_units::Time;

use super::{FAR, Flow, Hosts, NEAR};
use crate::measure::loss::{Causes, Loss};
use crate::measure::{
    CwndEvent, CwndRow, LedgerKind, LedgerRow, SenderBefore, SenderNow, SenderState,
};
use crate::scenario::HostEvent;
use crate::world::context::Context;

/// What a sender has told at once.
#[derive(Default)]
struct Told {
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
}

/// What TCP repairs.
struct Repair {
    timed_out: bool,
    cost: Option<u32>,
    /// The first packet that it waits for, and what is missing of all.
    first: Option<u64>,
    behind: Causes,
}

impl Told {
    fn timed_out(&self) -> bool {
        self.timeout.is_some() || self.repairs.iter().any(|repair| repair.timed_out)
    }
}

impl Hosts {
    /// What the sender of a flow is just before something happens.
    pub(super) fn stack_before(&self, index: u32, context: &Context) -> SenderBefore {
        let stack = self.flows[index as usize].stack.as_ref().expect("the flow has a stack");
        let traced = context.recorder.traces_ledger();
        SenderBefore {
            waits_until: stack.ends[NEAR].aboard.kept(),
            state: traced.then(|| SenderState::of_host(&stack.state(NEAR))),
        }
    }

    /// Hears what a host tells; returns whether all of the flow is acknowledged now, for the first
    /// time.
    pub(super) fn stack_reacts(
        &mut self,
        now: Time,
        (index, side): (u32, usize),
        before: &SenderBefore,
        context: &mut Context,
    ) -> bool {
        let flow = &mut self.flows[index as usize];
        let stack = flow.stack.as_mut().expect("the flow has a stack");
        if side == FAR {
            while stack.ends[FAR].host().poll_event().is_some() {}
            let all = flow.bytes.is_some_and(|bytes| stack.state(FAR).received >= bytes);
            if all && flow.received.is_none() {
                flow.received = Some(now);
            }
            return false;
        }
        let mut told = Told::default();
        while let Some(event) = flow.stack.as_mut().and_then(|s| s.ends[NEAR].host().poll_event()) {
            flow.told(event, &mut told);
        }
        if told.acked {
            flow.forget();
        }
        flow.record(now, &told, before, context);
        let stack = flow.stack.as_ref().expect("the flow has a stack");
        let open = flow.bytes.is_some() && flow.completed.is_none();
        let done = open && stack.state(NEAR).finished;
        if done {
            flow.completed = Some(now);
        }
        done
    }
}

impl Flow {
    /// The sender, a stack, tells something.
    fn told(&mut self, event: HostEvent, told: &mut Told) {
        let stack = self.stack.as_mut().expect("the flow has a stack");
        match event {
            HostEvent::Acked(number) => {
                stack.acked = stack.acked.max(Some(number));
                told.acked = true;
            }
            HostEvent::Timeout => told.timeout = Some(self.causes.clone()),
            HostEvent::Repairs { timed_out, cost } => {
                let behind = Causes::default();
                told.repairs.push(Repair { timed_out, cost, first: None, behind });
            }
            HostEvent::Awaited(number) => self.waits_for(number, told),
            HostEvent::Lost(number) | HostEvent::Resent(number) => self.gives_up(number, told),
            HostEvent::SomeLost(count) => {
                let acked = stack.acked.unwrap_or(0);
                let oldest = self.causes.among(0..acked).take(count as usize);
                let oldest: Vec<u64> = oldest.map(|(seq, _)| seq).collect();
                let rest = count as usize - oldest.len();
                told.repaired += rest as u64;
                oldest.into_iter().for_each(|number| self.gives_up(number, told));
                told.spurious.extend(std::iter::repeat_n(acked, rest));
            }
        }
    }

    /// A repair that has just begun is of a connection that waits for what a packet carried.
    fn waits_for(&mut self, number: u64, told: &mut Told) {
        let Some(repair) = told.repairs.last_mut() else { return };
        repair.first.get_or_insert(number);
        if let Some((_, &loss)) = self.causes.among(number..number + 1).next() {
            repair.behind.lost(number, loss);
            self.stack.as_mut().expect("the flow has a stack").explained.insert(number);
        }
    }

    /// The sender takes a packet for lost, or sends again what it carried.
    fn gives_up(&mut self, number: u64, told: &mut Told) {
        told.repaired += 1;
        let stack = self.stack.as_mut().expect("the flow has a stack");
        if let Some(loss) = self.causes.take(number) {
            if !stack.explained.remove(&number) {
                told.lost.push((number, loss));
            }
            return;
        }
        if stack.ends[NEAR].aboard.has(number) {
            stack.given_up.push(number);
        }
        told.spurious.push(number);
    }

    /// Packets that are not taken for lost though a much later one is acknowledged were never going
    /// to be: ACKs alone, or probes of the path.
    fn forget(&mut self) {
        let stack = self.stack.as_mut().expect("the flow has a stack");
        let reordering = stack.ends[NEAR].host().reordering();
        let below = stack.acked.and_then(|acked| (acked + 1).checked_sub(reordering));
        if let Some(below) = below {
            self.causes.forget_below(below);
            stack.explained = stack.explained.split_off(&below);
        }
    }

    /// Counts and records what the sender has told.
    fn record(&mut self, now: Time, told: &Told, before: &SenderBefore, context: &mut Context) {
        let id = (now, self.id);
        let stack = self.stack.as_mut().expect("the flow has a stack");
        stack.counts.repaired += told.repaired;
        stack.counts.timeouts += u64::from(told.timeout.is_some());
        let recorder = &mut context.recorder;
        if let (true, Some(acked)) = (told.acked, stack.acked) {
            recorder.acked(self.id, now, acked + 1);
            if let Some(rtt) = stack.state(NEAR).rtt {
                stack.counts.round_trips += 1;
                stack.counts.round_trip += rtt;
            }
        }
        // What is sent again at a time-out is behind that, and in no row of its own.
        let lost = if told.timeout.is_none() { told.lost.as_slice() } else { &[] };
        for group in lost.chunk_by(|(_, one), (_, next)| one.burst == next.burst) {
            let mut causes = Causes::default();
            group.iter().for_each(|&(seq, loss)| causes.lost(seq, loss));
            let row = LedgerRow::new(id, LedgerKind::FastRetransmit, group[0].0, before);
            recorder.ledger(&row, &causes);
            stack.counts.repairs += 1;
        }
        let acked = stack.acked;
        told.repairs.iter().for_each(|repair| self.repairs(now, repair, before, context));
        let recorder = &mut context.recorder;
        for &seq in &told.spurious {
            self.tally.spurious_retransmissions += 1;
            let row = LedgerRow::new(id, LedgerKind::SpuriousRetransmission, seq, before);
            recorder.ledger(&row, &self.causes);
        }
        if let Some(causes) = &told.timeout {
            let truth = causes.truth(0..before.waits_until);
            self.tally.timeouts[truth as usize][0] += 1;
            self.digest.add(now, 3, before.waits_until);
            let seq = acked.map_or(0, |acked| acked + 1);
            let mut row = LedgerRow::new(id, LedgerKind::Timeout, seq, before);
            row.truth = Some(truth);
            recorder.ledger(&row, causes);
        }
        if recorder.traces_cwnd() {
            self.record_window(now, told, context);
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
            self.tally.timeouts[truth as usize][0] += 1;
            self.digest.add(now, 3, before.waits_until);
            row.truth = Some(truth);
        } else {
            stack.counts.repairs += 1;
        }
        if let Some(cost) = cost.map(f64::from) {
            let cause = behind.reduction(0..before.waits_until, false);
            let (count, segments) = &mut self.tally.reductions[cause as usize];
            *count += 1;
            *segments += cost;
            row.reduction = Some((cause, cost));
        }
        context.recorder.ledger(&row, behind);
    }

    /// Records the window after what the sender has told.
    fn record_window(&self, now: Time, told: &Told, context: &mut Context) {
        let stack = self.stack.as_ref().expect("the flow has a stack");
        let repairs = told.repaired > 0;
        let state = stack.state(NEAR);
        let sender = SenderNow::of_host(&state, repairs);
        let ack = stack.acked.map_or(-1, |acked| acked as i64);
        let sample = state.rtt.filter(|_| told.acked);
        let mut row = CwndRow { now, flow: self.id, event: CwndEvent::Ack, ack, sample, sender };
        if told.acked {
            context.recorder.cwnd(&row);
        }
        row.sample = None;
        let timed_out = told.timed_out();
        row.event = if timed_out { CwndEvent::Timeout } else { CwndEvent::FastRetransmit };
        if repairs || timed_out {
            context.recorder.cwnd(&row);
        }
    }
}
