//! A sender as Linux 6.12 has it: a scoreboard with counts of what is reported, lost and sent
//! again, five stages, one timer, a window in whole segments.
//!
//! Written from the RFCs and from recorded connections of that kernel; where they leave something
//! open, facts and constants are those of `net/ipv4/tcp_input.c`, `tcp_output.c`, `tcp_recovery.c`
//! and `tcp_timer.c`.

mod ack_facts;
mod application;
mod clock;
mod context;
mod fast_path;
mod group;
mod hear;
mod hystart_plus_plus;
mod info;
mod law;
mod options;
mod pace;
mod path;
mod peer;
mod persist;
mod queue;
mod rate;
mod repair;
mod round_trip;
mod send;
mod sender_api;
mod standalone;
mod timer;
mod unsent;
mod window;
mod write;

use burstlab_units::Time;
use serde::{Deserialize, Serialize};

use crate::foreign::ForeignLaw;
use crate::moment::Moment;
use crate::segment::Transmission;
pub use ack_facts::Arrival;
use application::Application;
use clock::Reading;
pub(crate) use clock::{Clock, earliest, ticks, whole_us};
use context::AckContext;
pub use context::Stage;
pub use info::Info;
pub(crate) use options::SEND_OVERHEAD;
pub use options::{Congestion, LinuxOptions};
use path::Path;
use peer::Peer;
use queue::Queue;
use repair::{Repair, Site};
pub use standalone::LawAlone;
use timer::{LinuxTimer, Purpose};
pub use write::CallEnds;

/// The sending endpoint. Segments are counted: 0 is the SYN, data are 1, 2, …
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Linux {
    options: LinuxOptions,
    clock: Clock,
    timer: LinuxTimer,
    path: Path,
    queue: Queue,
    repair: Repair,
    application: Application,
    peer: Peer,
}

impl Linux {
    /// A sender that has sent nothing.
    #[must_use]
    pub fn new(options: &LinuxOptions) -> Self {
        let clock = Clock::new(options.clock_phase, options.wheel_phase);
        Self {
            clock,
            timer: LinuxTimer::new(clock),
            path: Path::new(options),
            queue: Queue::default(),
            repair: Repair::new(options),
            application: Application::new(options),
            peer: Peer::new(options),
            options: options.clone(),
        }
    }

    /// The SYN was sent at `syn` and is acknowledged at `now`.
    pub fn open(&mut self, syn: Time, now: Time, window: u64) {
        let now = self.clock.read(now);
        let rtt = now.us - self.clock.us(syn);
        self.queue.open();
        // Of a SYN that went more than once the time stamp says which was acknowledged.
        let again = self.peer.calls_again() > 0;
        let echoed = || self.peer.echoed_round_trip(now.us);
        match if again { echoed() } else { Some(rtt) } {
            Some(rtt) => self.path.round_trip_mut().measure(rtt, rtt, 1, 1),
            None => self.path.round_trip_mut().measure_nothing(),
        }
        self.peer.forget_widest();
        self.application.take_window(&mut self.peer, window, 1);
        self.timer.clear();
        let context = self.context(now);
        self.path.open(&context);
    }

    /// An ACK arrives.
    pub fn on_ack(&mut self, now: Time, ack: &Arrival, out: &mut Vec<Transmission>) {
        if ack.next > self.queue.next() {
            return;
        }
        let now = self.clock.read(now);
        self.peer.take_echo(ack.echo);
        if ack.next < self.queue.acked() {
            self.on_old_ack(now, ack, out);
        } else {
            self.take_ack(now, ack, out);
        }
        self.push(now, out);
        if self.application.waits() {
            self.application.make_room(&mut self.path, now.tick, self.queue.in_flight());
        }
    }

    /// When [`Linux::on_timeout`] is due.
    #[inline]
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Time> {
        let paced = self.path.pace().deadline().map(|ns| self.clock.at_ns(ns));
        // A law has nothing to decide once all is delivered that there will be.
        let over = || {
            self.application.is_closed()
                && self.queue.is_empty()
                && !self.application.has_data(&self.queue)
        };
        let class = self.path.class_deadline().filter(|_| !over());
        earliest(earliest(self.timer.deadline(), paced), class)
    }

    /// When pacing lets segments go, if nothing else happens by then to a sender that is
    /// [fast](Self::is_fast), unless an ACK comes.
    #[inline]
    pub(crate) fn paced_alone(&self) -> Option<Time> {
        let due = self.clock.at_ns(self.path.pace().deadline()?);
        let alone = self.is_fast() && self.timer.deadline().is_none_or(|other| other > due);
        alone.then_some(due)
    }

    /// The timer runs out. Does nothing before its time.
    pub fn on_timeout(&mut self, now: Time, out: &mut Vec<Transmission>) {
        let now = self.clock.read(now);
        if self.path.pace_mut().take(now.ns) {
            self.let_go(now, out);
        }
        if self.path.take_class_timer(now.now) {
            self.begin_for_class();
            let holds = !self.repair.stage().reduces() && !self.repair.reductions().excuses();
            let context = self.context(now);
            self.path.ask_after_timer(&context, holds);
            self.path.settle_for_class(&context, self.queue.outstanding());
            self.let_go(now, out);
        }
        let Some(purpose) = self.timer.take(now.now) else { return };
        self.begin_for_class();
        match purpose {
            Purpose::Timeout => {
                self.timer.clear();
                if self.queue.acked() == 0 {
                    self.start(now.now, out);
                } else if !self.queue.is_empty() {
                    let (repair, mut site) = self.site(now);
                    repair.on_loss(&mut site);
                    let first = self.queue.all().start;
                    if self.send_repair(now, first, out) {
                        let bytes = self.application.lengths().of(first);
                        self.path.pace_group(now.ns, (1, bytes));
                    }
                    self.path.round_trip_mut().back_off();
                    self.timer.set(now, Purpose::Timeout, self.path.round_trip().rto());
                }
            }
            Purpose::Probe => return self.send_probe(now, out),
            Purpose::Persist => return self.probe_window(now, out),
            Purpose::Reordering => {
                let (repair, mut site) = self.site(now);
                if repair.take_late(&mut site) {
                    self.send_lost(now, out);
                }
                if self.timer.purpose() != Some(Purpose::Timeout) {
                    self.site(now).1.rearm();
                }
            }
        }
        if self.queue.acked() > 0 {
            self.path.settle_for_class(&self.context(now), self.queue.outstanding());
        }
    }

    #[inline]
    pub(crate) fn queue(&self) -> &Queue {
        &self.queue
    }

    #[inline]
    pub(crate) fn repair(&self) -> &Repair {
        &self.repair
    }

    pub(crate) fn application(&self) -> &Application {
        &self.application
    }

    pub(crate) fn application_mut(&mut self) -> &mut Application {
        &mut self.application
    }

    #[inline]
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Whether segment `seq`, which is outstanding, asks the receiver to hand over its data (PSH):
    /// where a call that wrote ended, and at its first transmission at the end of a group.
    #[must_use]
    pub fn pushes(&self, seq: u64, again: bool) -> bool {
        let marks = if again { queue::PUSHES } else { queue::PUSHES | queue::SEVERAL };
        self.queue.all().contains(&seq) && self.queue.get(seq).is(marks)
    }

    /// Bytes of data in all segments below `seq`.
    #[must_use]
    pub fn bytes_before(&self, seq: u64) -> u64 {
        self.application.lengths().before(seq)
    }
}

/// Where a law that is written elsewhere decides.
impl Linux {
    /// A sender with such a law, whatever `options` says of the law.
    #[must_use]
    pub fn with_law(options: &LinuxOptions, law: Box<dyn ForeignLaw>) -> Self {
        let mut new = Self::new(options);
        new.path.follow(law, false);
        new
    }

    /// Something happens that concerns it.
    fn begin_for_class(&mut self) {
        if self.path.is_for_class() {
            self.path.begin_for_class(self.context(Reading::default()));
        }
    }

    /// Sends lost segments first, then new ones, as far as the window allows.
    fn let_go(&mut self, now: Reading, out: &mut Vec<Transmission>) {
        if self.queue.has_unrepaired() && self.path.cwnd() > self.queue.in_flight() {
            self.send_lost(now, out);
        }
        self.push(now, out);
    }
}

impl Linux {
    /// The state that window laws may read.
    #[inline]
    fn context(&self, now: Reading) -> AckContext {
        self.path.context(now, &self.queue, &self.peer, self.repair.standing())
    }

    /// The part that finds and repairs losses, and the state that it works on.
    fn site(&mut self, now: Reading) -> (&mut Repair, Site<'_>) {
        let site = Site {
            now,
            timer: &mut self.timer,
            path: &mut self.path,
            queue: &mut self.queue,
            application: &self.application,
            peer: &self.peer,
            options: &self.options,
        };
        (&mut self.repair, site)
    }
}

/// The part that has the law, which may be the detector.
#[inline]
pub(crate) fn path_mut(linux: &mut Linux) -> &mut Path {
    &mut linux.path
}

/// The state of a sender that detectors may read.
pub(crate) fn moment(linux: &Linux, now: Time) -> Moment {
    linux.path.moment(&linux.context(linux.clock.read(now)))
}
