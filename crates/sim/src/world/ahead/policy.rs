//! How far hosts and bursts may be ahead of the clock: their safe times. A packet that reaches a
//! host, or a burst that lands, by its safe time is processed at once, with its own time. A later
//! one waits for its event. A safe time is right if nothing that is still to happen changes the
//! result, and nobody reads the state meanwhile. The reasons follow, numbered.
//!
//! The run as a whole (`obstacles.rs` names the fields to the user):
//! 1. Rows of a trace are written in the order of time. The file `traced.rs` says which tables put
//!    rows in order that come early, and where. All other traced runs are event-driven.
//! 2. Events of one instant are ordered by their place, so that an early one takes no turn of
//!    another. Where ties are drawn each event needs its turn, and the run is event-driven.
//! 3. Packets of several flows meet on a shared link. The link needs them in the order of time. On
//!    a path, hosts of such a link take packets in turn, up to the first timer or write of any of
//!    them (`meeting`). A run in which something else comes to hosts is event-driven, and so is a
//!    mesh, where bursts of several nodes land.
//! 4. A link that loses packets by itself counts them as they come. Such runs are event-driven.
//! 5. Programs outside a run act at times that the engine does not know. A run with such programs
//!    is event-driven.
//! 6. The counts restart when the warm-up is over, and they are read when the run is. Nothing that
//!    belongs after one of these instants is done before it.
//! 7. A drain ends with the last ACK of any flow. If some flows are endless, no safe time goes
//!    beyond the measured time.
//! 8. A run that ends with a burst may go back to a saved world. No host passes the instant of the
//!    next save. A class of Python and a third-party stack cannot go back, and the run of either is
//!    event-driven.
//!
//! The hosts of a flow:
//! 9. A host changes by its packets, its timers, its application and the messages that it gets. Its
//!    packets come in order on a link of its own, so that the first of them comes first.
//! 10. A host is event-driven if it draws delays, is on the air, is a third-party stack or has data
//!     in both directions. Then it has inputs whose times its link does not show. A host is also
//!     event-driven if a script counts the packets that leave it, or if its edge node spaces ACKs;
//!     these ACKs land as events. Other flows share only queues with its flow. A queue knows
//!     packets of event-driven hosts as early as all others (17), so that no other flow has to be
//!     event-driven.
//! 11. A message may report a lost burst to a sender, which goes no further than the next message.
//!     A message in transit is known. One about a burst that is yet to be closed comes a fixed
//!     time later at least. Without such a time, or with messages among its ACKs, the sender is
//!     event-driven.
//! 12. A sender takes ACKs early while its application writes no more and the flow is not done. An
//!     ACK that ends the flow may end the run, and is an event.
//! 13. A sender takes no ACK beyond its timer; the endpoint itself stops there. A timer that only
//!     paces lets segments go early too, each at its own time, up to the next ACK that is known to
//!     come. Beyond that ACK nobody knows whether another one comes before the timer.
//! 14. The truth about a loss depends on what the receiver holds. A list records the segments that
//!     it took early, each with its time, and answers as if they were still in transit. So neither
//!     a timer of the sender nor a message to it limits how early data in order are taken.
//! 15. A receiver takes data in order early while no segment is missing and the flow is not done.
//! 16. It takes data behind a gap early too, unless a segment from there on was retransmitted: that
//!     transmission may be lost before the first one is taken.
//!
//! The network:
//! 17. A packet is on its access link for at least the delay of the link. A packet that reaches an
//!     edge within that delay is announced to its queue already, and nothing comes between.
//! 18. A queue takes announced packets in the order of time and flow. That is the order of events
//!     unless ties are drawn. With data in both directions, data of one flow and ACKs of the other
//!     leave on one link. Its host sends both at the present time, so the link keeps their order,
//!     and two packets never end on it at one instant.
//! 19. If only a timer closes bursts, it needs each packet only when it runs out. A size closes
//!     them at a packet: in a mesh that packet is an event, if no other traffic comes between. On
//!     an exclusive path the burst crosses by sentence 17, if only one queue sends bursts there.
//!     With data in both directions two queues send bursts on each path, and both paths number
//!     their bursts together. Then only packets of queues that a timer closes are announced, and
//!     each burst is closed at its own time.
//! 20. A script that names packets, and spacing, look at each as it comes. So does cutting where
//!     batches enter. Too many batches would make one event too long.
//! 21. On an exclusive path a burst meets no other. It lands early if all before it have, and no
//!     link behind drops packets that a sender may have to know of. Where nodes store and forward,
//!     each packet lands at its own time, in order. The access link behind gets all its packets by
//!     that path, and so in the order of time. An event-driven host takes them from the link as
//!     events. Messages among ACKs do not come by that path. With them no ACKs land early, and with
//!     data in both directions no data.
//! 22. A burst lands early only if the run lasts until its last packet is there. It does if some
//!     flow never ends, if the ACK of a new segment is still to come, or if more data of an ACK's
//!     flow are. The connection of a third-party stack may end at any packet.
//! 23. Where bursts contend, all is decided as the last fibre is reserved, unless fibres fail or
//!     tails are cut. Bursts without packets of flows are only counted as they land, if nobody
//!     reads the counts meanwhile and the run lasts.
//! 24. In a network of slots a packet on its access link needs no event, unless a rate may change
//!     just as a slot begins. Cells land early, in the order of time, if some flow never ends. They
//!     do not with data in both directions, as ACKs need not take slots,
//!     nor with event-driven hosts if links to receivers drop packets. An edge that writes ACKs
//!     looks at each ACK in a slot: then nothing lands early.

use burstlab_optical::AssemblyPolicy;
use burstlab_tcp::{Config, Listens, NakDelay};
use burstlab_units::{Span, Time};
use serde::{Deserialize, Serialize};

use super::meeting::Meeting;
use super::obstacles::obstacles;
use super::traced::records_bursts_early;
use crate::measure::Trace;
use crate::scenario::{CoreForwarding, NoticeTransport, Resolved, TieBreak};
use crate::world::notices::NextMessage;

/// The safe times: up to when packets and bursts may be processed ahead of the clock. `Time::ZERO`
/// says that nothing may.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Lookahead {
    /// Whether anything may be ahead of the clock (1 to 5).
    allowed: bool,
    /// The end of the warm-up, or of the run (6).
    phase: Time,
    /// When the world is kept next, if the run ends with a burst (8).
    kept: Time,
    /// The earlier of the two; zero where nothing may be ahead.
    safe: Time,
    /// The hosts that share the link of the senders, and those that share the link of the receivers
    /// (3).
    meetings: [Meeting; 2],
    /// Not stored: the scenario decides it.
    #[serde(skip)]
    standing: Standing,
    /// The fields because of which nothing may be ahead of the clock. Not stored: the scenario and
    /// the trace decide them.
    #[serde(skip)]
    obstacles: Vec<&'static str>,
}

/// Facts that hold throughout a run.
#[derive(Clone, Copy, Debug, Default)]
struct Standing {
    /// Delays of the access links of senders, and of receivers (17).
    links: [Span; 2],
    /// Whether data packets are announced to their queues, and ACKs (18 to 20).
    announces: [bool; 2],
    /// Facts of the listed flows.
    listed: Listed,
    /// Whether flows share access links (3).
    meets: bool,
    /// Whether bursts and slots toward receivers may land early, and those toward senders.
    lands: [bool; 2],
    /// Whether slots need no event for packets on access links (24).
    foresees: bool,
    /// Whether edge nodes space the ACKs that land (10).
    spaces_acks: bool,
    /// Whether bursts are closed and land by the clock, as their rows are in that order (1).
    bursts_by_the_clock: bool,
}

/// Facts of the listed flows.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Listed {
    /// Whether some never end, and with them the run.
    pub(crate) endless: bool,
    /// Whether hosts of some are never ahead of the clock.
    pub(crate) event_driven: bool,
    /// Whether some have data in both directions.
    pub(crate) both_ways: bool,
    /// Whether messages cross the access links of some senders, among their ACKs.
    pub(crate) in_band: bool,
}

/// Facts of the queues of edge nodes.
pub(crate) struct QueueRules {
    /// Classes of data.
    pub(crate) classes: u32,
    /// Whether it matters in which order packets of different flows lie in a burst.
    pub(crate) ordered: bool,
    /// Whether tails of bursts are cut off.
    pub(crate) cuts: bool,
}

/// The promises of a network about its packets.
pub(crate) enum Promises {
    /// Bursts have exclusive paths; the links behind may drop data.
    Exclusive { drops_behind: bool },
    /// Bursts meet. Sources of them may go on for ever, something may happen to one that has
    /// reserved all its fibres, and somebody may look at it.
    Contended { endless: bool, changes: bool, looked_at: bool },
    /// Cells in slots: whether rates change as a slot begins, whether ACKs pass the edges, and
    /// whether the links behind may drop data.
    Slots { in_step: bool, passes: bool, drops_behind: bool },
}

/// Toward receivers.
pub(crate) const DATA: usize = 0;
/// Toward senders.
pub(crate) const ACKS: usize = 1;

impl Lookahead {
    /// That of a run with these flows, as far as the scenario and the trace say it.
    pub(crate) fn new(resolved: &Resolved, trace: Trace, listed: Listed) -> Self {
        let scenario = &resolved.scenario;
        let run = &scenario.run;
        let others = listed.event_driven || listed.both_ways || listed.in_band;
        let obstacles = obstacles(resolved, trace, others);
        let kept = if run.bursts.is_some() { Time::ZERO } else { Time::MAX };
        let mut ahead = Self {
            allowed: obstacles.is_empty(),
            obstacles,
            phase: Time::ZERO,
            kept,
            safe: Time::ZERO,
            meetings: Default::default(),
            standing: Standing {
                links: [scenario.access.delay, scenario.access.receiver_side().1],
                listed,
                meets: scenario.access.shared,
                bursts_by_the_clock: trace.bursts && !records_bursts_early(resolved),
                spaces_acks: resolved.ack_spacing.is_some(),
                ..Standing::default()
            },
        };
        let warm = Time::ZERO + run.warmup;
        ahead.lasts_until(Time::from_ps(warm.as_ps().saturating_sub(1)));
        ahead
    }

    /// Learns of the queues before the network.
    pub(crate) fn announce(&mut self, resolved: &Resolved, queues: &QueueRules) {
        self.standing.announces = announces(resolved, queues);
    }

    /// Takes the promises of the network.
    pub(crate) fn promise(&mut self, promises: &Promises) {
        let Listed { endless, event_driven, both_ways, in_band } = self.standing.listed;
        let (lands, foresees) = match *promises {
            Promises::Exclusive { drops_behind } => {
                ([!(drops_behind || both_ways && in_band), !in_band], false)
            }
            Promises::Contended { endless: goes_on, changes, looked_at } => {
                ([(endless || goes_on) && !looked_at && !changes; 2], false)
            }
            Promises::Slots { in_step, passes, drops_behind } => {
                let foresees = self.allowed && !in_step;
                let lands = foresees && endless && passes && !both_ways && !in_band;
                ([lands && !(event_driven && drops_behind), lands], foresees)
            }
        };
        let early = !self.standing.bursts_by_the_clock;
        let [data, acks] = lands.map(|lands| lands && early);
        // A slot may carry data and ACKs.
        let together = matches!(promises, Promises::Slots { .. });
        let spaced = self.standing.spaces_acks;
        self.standing.lands = [data && !(spaced && together), acks && !spaced];
        self.standing.foresees = foresees;
    }

    /// Takes what is not stored from that of the same scenario.
    pub(crate) fn adopt(&mut self, fresh: &Self) {
        self.standing = fresh.standing;
        self.obstacles.clone_from(&fresh.obstacles);
    }

    /// Whether anything may be ahead of the clock.
    pub(crate) fn is_allowed(&self) -> bool {
        self.allowed
    }

    /// The fields because of which nothing may be.
    pub(crate) fn obstacles(&self) -> &[&'static str] {
        &self.obstacles
    }

    /// Whether anything may be now.
    #[inline(always)]
    pub(crate) fn is_any(&self) -> bool {
        self.safe > Time::ZERO
    }

    /// Nothing is done before `until` that belongs behind it.
    pub(crate) fn lasts_until(&mut self, until: Time) {
        if self.allowed {
            self.phase = until;
            self.safe = until.min(self.kept.before());
        }
    }

    /// Nor beyond `at`.
    pub(crate) fn lasts_no_longer(&mut self, at: Time) {
        self.lasts_until(self.phase.min(at));
    }

    /// Whether worlds are kept to which the run may go back.
    pub(crate) fn is_kept(&self) -> bool {
        self.allowed && self.kept < Time::MAX
    }

    /// The world is kept next at `at`.
    pub(crate) fn keeps_next(&mut self, at: Time) {
        self.kept = at;
        self.lasts_until(self.phase);
    }

    /// From now on all goes by the clock. Who is ahead of it stays so.
    pub(crate) fn stop(&mut self) {
        (self.allowed, self.safe) = (false, Time::ZERO);
    }

    /// The end of the phase, and the safe time.
    #[cfg(test)]
    pub(crate) fn bounds(&self) -> (Time, Time) {
        (self.phase, self.safe)
    }

    /// Up to when the hosts of a flow may be ahead of the clock.
    #[inline(always)]
    fn hosts(&self, rules: &HostRules, message: NextMessage<'_>) -> Time {
        match rules.loss_notice_delay {
            _ if rules.are_by_the_clock() => Time::ZERO,
            None => self.safe,
            Some(after) => self.safe.min(message.next(after).before()),
        }
    }

    /// Up to when ACKs may be heard at the sender of a flow.
    #[inline(always)]
    pub(crate) fn acks(&self, flow: &impl Ends, message: NextMessage<'_>) -> Time {
        if flow.writes_again() || flow.is_done() {
            return Time::ZERO;
        }
        self.hosts(flow.rules(), message)
    }

    /// Up to when data may be received that come behind a gap.
    #[inline(always)]
    pub(crate) fn data_behind(&self, flow: &impl Ends, message: NextMessage<'_>) -> Time {
        if flow.is_done() { Time::ZERO } else { self.hosts(flow.rules(), message) }
    }

    /// Up to when data may be received that come in order.
    #[inline(always)]
    pub(crate) fn data(&self, flow: &impl Ends) -> Time {
        let calm = !flow.misses() && !flow.is_done() && !flow.rules().are_by_the_clock();
        if calm { self.safe } else { Time::ZERO }
    }

    /// A sender (0) or a receiver (1) has a timer that is due then.
    #[inline(always)]
    pub(crate) fn has_timer(&mut self, side: usize, due: Option<Time>) {
        if self.standing.meets
            && let Some(due) = due
        {
            self.meetings[side].lower(due);
        }
    }

    /// Whether a packet comes to a host of a link before any of so many hosts of the link sends by
    /// itself; `look` finds when the first of them would. A host with a link of its own need not
    /// know.
    #[inline(always)]
    pub(crate) fn comes_in_turn(
        &mut self,
        (side, at): (usize, Time),
        hosts: usize,
        look: impl FnOnce() -> Time,
    ) -> bool {
        !self.standing.meets || self.meetings[side].admits(at, hosts, look)
    }

    /// Whether data packets, or ACKs, are announced to their queues, in place of an event when they
    /// arrive.
    #[inline]
    pub(crate) fn announces(&self, direction: usize) -> bool {
        self.standing.announces[direction]
    }

    /// The time before which a queue gets no packet that is not announced, as known at `now`.
    #[inline]
    pub(crate) fn known(&self, now: Time, direction: usize) -> Time {
        if self.standing.bursts_by_the_clock {
            return now + INSTANT;
        }
        (now + self.standing.links[direction])
            .min(self.safe.saturating_add(INSTANT))
            .max(now + INSTANT)
    }

    /// Up to when bursts and slots may land with their hosts ahead of the clock.
    #[inline]
    pub(crate) fn landing(&self, direction: usize) -> Time {
        if self.standing.lands[direction] { self.safe } else { Time::ZERO }
    }

    /// Whether the run lasts until something has landed: it does where some flow `goes_on` behind
    /// it.
    #[inline]
    pub(crate) fn run_continues_past(&self, goes_on: impl FnOnce() -> bool) -> bool {
        self.standing.listed.endless || goes_on()
    }

    /// Whether slots need no event for packets on access links.
    #[inline]
    pub(crate) fn foresees(&self) -> bool {
        self.standing.foresees
    }
}

/// The least span of time.
const INSTANT: Span = Span::from_ps(1);

/// The two ends of a flow, as far as they say how far these may be ahead of the clock.
pub(crate) trait Ends {
    fn rules(&self) -> &HostRules;
    /// Whether all that its application ever writes is acknowledged.
    fn is_done(&self) -> bool;
    /// Whether its application will write again.
    fn writes_again(&self) -> bool;
    /// Whether a segment is lost that has not come since.
    fn misses(&self) -> bool;
}

/// Facts of the hosts of all flows of one entry of the scenario.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HostRules {
    /// The field because of which they are never ahead of the clock (10).
    because: Option<&'static str>,
    /// Whether packets of another flow are on their links, those of the other direction.
    both_ways: bool,
    /// Whether messages are on the sender's link, among its ACKs.
    in_band: bool,
    /// The least time from the closing of a burst to the message about its loss, where the sender
    /// acts on that (11).
    loss_notice_delay: Option<Span>,
}

impl HostRules {
    /// Those of hosts with this configuration.
    pub(crate) fn new(config: &Config) -> Self {
        Self {
            because: (!config.send_jitter.is_zero()).then_some("tcp.send_jitter"),
            both_ways: false,
            in_band: false,
            loss_notice_delay: None,
        }
    }

    /// The same where the sender receives reports on its bursts.
    pub(crate) fn listening(mut self, resolved: &Resolved, listens: Listens) -> Self {
        if listens.at_all() {
            let ahead = loss_notice_delay(resolved, listens);
            self = self.by_the_clock_if(ahead.is_none(), "tcp.detector");
            self.in_band = hears_in_band(resolved, listens);
            self.loss_notice_delay = ahead.filter(|_| listens.dropped.is_some());
        }
        self
    }

    /// The same, but never ahead of the clock if something else `comes` to the hosts, because of
    /// this field.
    pub(crate) fn by_the_clock_if(mut self, comes: bool, field: &'static str) -> Self {
        self.because = self.because.or(comes.then_some(field));
        self
    }

    /// The field because of which the hosts are never ahead of the clock.
    pub(crate) fn because(&self) -> Option<&'static str> {
        self.because
    }

    /// Whether the hosts are never ahead of the clock.
    #[inline(always)]
    pub(crate) fn are_by_the_clock(&self) -> bool {
        self.because.is_some()
    }

    /// The same of a connection that has data in both directions (10).
    pub(crate) fn of_both_ways(self) -> Self {
        Self { both_ways: true, ..self.by_the_clock_if(true, "reverse") }
    }

    /// Whether packets of another flow are on their links, those of the other direction.
    #[inline(always)]
    pub(crate) fn have_both_ways(&self) -> bool {
        self.both_ways
    }

    /// Whether messages are on the sender's link, among its ACKs.
    pub(crate) fn hear_in_band(&self) -> bool {
        self.in_band
    }
}

/// The least time from the closing of a burst to the message about its loss. `None`: nobody
/// knows, since messages share a link with its ACKs, or come from a network that does not know what
/// becomes of a burst as it is closed.
fn loss_notice_delay(resolved: &Resolved, listens: Listens) -> Option<Span> {
    let scenario = &resolved.scenario;
    let known = scenario.kind().is_path() && scenario.core.forwarding == CoreForwarding::CutThrough;
    if !known || hears_in_band(resolved, listens) {
        return None;
    }
    let Some(delay) = listens.dropped else { return Some(Span::MAX) };
    let (graph, routes) = resolved.graph_and_routes();
    let fibres = &routes.of(0, graph.nodes.len() as u32 - 1)[0];
    let node = resolved.loss.data.node.min(fibres.len() - 1);
    let reached = graph.least_delay(&fibres[..node]);
    let at = match delay {
        NakDelay::None => reached,
        NakDelay::Path | NakDelay::Rtt => reached + scenario.access.delay,
    };
    Some(at).filter(|at| !at.is_zero())
}

/// Whether messages to a sender cross its access link, among its ACKs.
fn hears_in_band(resolved: &Resolved, listens: Listens) -> bool {
    listens.to_nodes() && resolved.scenario.edge.notices == NoticeTransport::InBand
}

/// Whether data packets may be announced to their queues, and whether ACKs may.
fn announces(resolved: &Resolved, queues: &QueueRules) -> [bool; 2] {
    let (scenario, assembly) = (&resolved.scenario, &resolved.assembly);
    if scenario.run.tie_break == TieBreak::Random {
        return [false; 2];
    }
    let meets = !scenario.kind().is_path();
    let alone_enters = scenario.traffic.is_empty() && scenario.batches.is_empty();
    let filled = meets && !queues.ordered && alone_enters;
    let known = |policy: AssemblyPolicy| {
        policy.timer_alone().is_some() || filled && policy.size_or_time().is_some()
    };
    let timed = (0..queues.classes).all(|class| known(assembly.data.policy(class)));
    let script = &resolved.loss.data.script;
    let singly = !script.packets.is_empty() || !scenario.edge.spacing.is_zero();
    let alone = !meets && !scenario.goes_both_ways();
    // The cut part depends on the order in which packets of all kinds came.
    let cut = queues.cuts && !scenario.batches.is_empty();
    let few = takes_few_batches(resolved, queues.classes);
    let data = (timed || alone) && !singly && few && !cut;
    let acks = alone || known(assembly.ack);
    [data, if scenario.edge.ack.with_data { data } else { acks }]
}

/// Whether no queue takes so many batches in one event that an interrupt would wait too long.
fn takes_few_batches(resolved: &Resolved, classes: u32) -> bool {
    let policy = |class| resolved.assembly.data.policy(class);
    let timers = (0..classes).filter_map(|class| policy(class).timer_alone());
    let longest = timers.max().unwrap_or_default().as_secs_f64();
    let batches = resolved.scenario.batches.iter();
    let rate: f64 = batches.map(|batches| batches.batches_per_second).sum();
    rate * longest <= FEW_BATCHES
}

/// The engine takes a few milliseconds for this many batches.
const FEW_BATCHES: f64 = 65_536.0;
