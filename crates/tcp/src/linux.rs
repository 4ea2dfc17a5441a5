//! A sender as Linux 6.12 has it: a scoreboard with counts of what is reported, lost and sent
//! again, five stages, one timer, a window in whole segments.
//!
//! Written from the RFCs and from recorded connections of that kernel; where they leave something
//! open, facts and constants are those of `net/ipv4/tcp_input.c`, `tcp_output.c`, `tcp_recovery.c`
//! and `tcp_timer.c`.

mod acked;
mod alone;
mod application;
mod clock;
mod context;
mod estimator;
mod excuse;
mod face;
mod fast_path;
mod group;
mod hear;
mod hystart_plus_plus;
mod law;
mod options;
mod pace;
mod path;
mod peer;
mod persist;
mod probe;
mod queue;
mod rack;
mod rate;
mod sack;
mod send;
mod stage;
mod timer;
mod undo;
mod unsent;
mod window;
mod write;

use burstlab_units::Time;
use serde::{Deserialize, Serialize};

use crate::foreign::ForeignLaw;
use crate::segment::Transmission;
pub use alone::LawAlone;
use application::Application;
use clock::Reading;
pub(crate) use clock::{Clock, earliest, ticks, whole_us};
use context::AckContext;
pub use context::Stage;
use excuse::{ReducedBy, ReductionLog};
pub(crate) use options::SEND_OVERHEAD;
pub use options::{Congestion, LinuxOptions};
use path::Path;
use peer::Peer;
use queue::Queue;
use rack::Rack;
use rate::Newest;
use timer::{LinuxTimer, Purpose};
pub use write::CallEnds;

/// What a timer of RACK waits for beyond what was computed: two ticks.
const TIMEOUT_LEAST_US: u64 = 2_000;

/// An ACK as it arrives.
#[derive(Clone, Copy, Debug)]
pub struct Arrival<'a> {
    /// All segments below have arrived.
    pub next: u64,
    /// What has arrived out of order: runs `[left, right)`, one that arrived twice first.
    pub blocks: &'a [(u64, u64)],
    /// The receiver's window in bytes.
    pub window: u64,
    /// The time stamp it echoes, in ms of the sender's clock.
    pub echo: Option<u64>,
    /// Whether it echoes a mark.
    pub ece: bool,
    /// Whether it came with data, so that it is no duplicate ACK and tells a newer window.
    pub with_data: bool,
}

/// What an ACK turned out to say.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Heard {
    /// It moved the cumulative ACK.
    advanced: bool,
    /// It changed the receiver's window, or came with data.
    window: bool,
    /// It took segments away, some of which had been sent again.
    acked: bool,
    again_acked: bool,
    /// It reported segments.
    sacked: bool,
    /// It acknowledged or reported what was sent once, before the last reduction.
    original: bool,
    ece: bool,
    /// Something arrived twice, and that was the probe.
    duplicate: bool,
    duplicate_of_probe: bool,
    /// The first segment is one that was reported before.
    reneged: bool,
    set_timer: bool,
    /// Something that was sent again is lost again.
    lost_again: bool,
    /// The lowest segment that came late.
    reordered: u64,
    /// Segments that blocks report.
    delivered: u32,
    /// When the first and the last segment that blocks report were sent.
    first_sent: Option<u64>,
    last_sent: Option<u64>,
    /// The newest segment it is about.
    newest: Newest,
    /// The round trip that it measured, and whether its ACK was probably delayed.
    rtt: Option<u64>,
    delayed: bool,
}

impl Heard {
    /// Whether it is no duplicate ACK.
    fn is_news(&self) -> bool {
        self.window || self.acked
    }
}

/// What may be sent besides new data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rexmit {
    None,
    Lost,
    /// New data first (F-RTO).
    New,
}

/// The sending endpoint. Segments are counted: 0 is the SYN, data are 1, 2, …
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Linux {
    options: LinuxOptions,
    clock: Clock,
    timer: LinuxTimer,
    path: Path,
    rack: Rack,
    queue: Queue,
    application: Application,
    peer: Peer,
    stage: Stage,
    /// What `next` was when the stage last changed for the worse.
    high: u64,
    reordering: u32,
    reordering_seen: bool,
    /// What was acknowledged when a reduction began that may be taken back.
    undo_marker: Option<u64>,
    /// Segments sent again since then that have not arrived twice; `None`: none were.
    undo_left: Option<u32>,
    /// When the first of them was, in ms.
    again_since: Option<u64>,
    /// What `next` was at the last probe, and whether that sent a segment again.
    probed: Option<u64>,
    probe_again: bool,
    frto: bool,
    /// Whether the next new segment says that the window was reduced.
    tells_reduction: bool,
    /// Time-outs since the last progress.
    timeouts: u32,
    duplicates_heard: u64,
    timeouts_ever: u64,
    recoveries: u64,
    undone: u64,
    reductions: ReductionLog,
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
            rack: Rack::new(),
            queue: Queue::default(),
            application: Application::new(options),
            peer: Peer::new(options),
            stage: Stage::Open,
            high: 0,
            reordering: options.reordering,
            reordering_seen: false,
            undo_marker: None,
            undo_left: None,
            again_since: None,
            probed: None,
            probe_again: false,
            frto: false,
            tells_reduction: false,
            timeouts: 0,
            duplicates_heard: 0,
            timeouts_ever: 0,
            recoveries: 0,
            undone: 0,
            reductions: ReductionLog::default(),
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
            Some(rtt) => self.path.measure(rtt, rtt, 1, 1),
            None => self.path.measure_nothing(),
        }
        self.peer.forget_widest();
        self.take_window(window);
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
            self.make_room(now.tick, self.queue.in_flight());
        }
    }

    #[inline]
    fn take_window(&mut self, bytes: u64) {
        if self.peer.take_window(bytes) {
            self.application.bound_segments(bytes, self.queue.next());
            self.peer.bound_segments(self.application.mss());
        }
    }

    /// When [`Linux::on_timeout`] is due.
    #[inline]
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Time> {
        let paced = self.path.pace().deadline().map(|ns| self.clock.at_ns(ns));
        let class = self.path.class_deadline().filter(|_| !self.is_over());
        earliest(earliest(self.timer.deadline(), paced), class)
    }

    /// The timer runs out. Does nothing before its time.
    pub fn on_timeout(&mut self, now: Time, out: &mut Vec<Transmission>) {
        let now = self.clock.read(now);
        self.on_pacing(now, out);
        self.on_class_timer(now, out);
        let Some(purpose) = self.timer.take(now.now) else { return };
        self.begin_for_class();
        match purpose {
            Purpose::Timeout => {
                self.timer.clear();
                self.time_out(now, out);
            }
            Purpose::Probe => return self.send_probe(now, out),
            Purpose::Persist => return self.probe_window(now, out),
            Purpose::Reordering => self.on_reordering_timeout(now, out),
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
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Congestion window in segments.
    #[must_use]
    pub fn cwnd(&self) -> u32 {
        self.path.cwnd()
    }

    /// Slow-start threshold in segments; 2,147,483,647: not set yet.
    #[must_use]
    pub fn ssthresh(&self) -> u32 {
        self.path.ssthresh()
    }

    /// Where the connection stands.
    #[must_use]
    pub fn stage(&self) -> Stage {
        self.stage
    }

    /// Smoothed round trip, its deviation, and the time-out, in microseconds.
    #[must_use]
    pub fn times_us(&self) -> (u64, u64, u64) {
        (
            self.path.estimator().srtt_8() >> 3,
            self.path.estimator().deviation(),
            1000 * self.path.rto(),
        )
    }

    /// Segments outstanding, reported, lost, sent again, and by how many the network reorders.
    #[must_use]
    pub fn counts(&self) -> [u32; 5] {
        let [sacked, lost, again] = self.queue.counts();
        [self.queue.outstanding(), sacked, lost, again, self.reordering]
    }

    /// What else a kernel tells of a connection: the shortest round trip in microseconds if one was
    /// measured, doublings of the time-out, time-outs since the last progress, segments delivered
    /// and sent again in all, and the pacing rate in bytes a second.
    #[must_use]
    pub fn details(&self) -> (Option<u64>, [u64; 5]) {
        let (backoff, timeouts) = (u64::from(self.path.backoff()), u64::from(self.timeouts));
        let rate = self.path.pace().rate();
        let counts = [backoff, timeouts, self.queue.totals().0, self.queue.sent().1, rate];
        (self.path.shortest(), counts)
    }

    /// Reductions of the window: all, those by marks, and those that were taken back.
    #[must_use]
    pub fn reductions(&self) -> [u64; 3] {
        [self.reductions.all, self.reductions.by_marks, self.undone]
    }

    /// What the last reduction aims at, in segments: the threshold, but with a law that paces, and
    /// after a time-out, what the window is.
    #[must_use]
    pub fn reduced_to(&self) -> u32 {
        self.path.reduced_to(self.reductions.last == Some(ReducedBy::Timeout))
    }

    /// Whether segment `seq`, which is outstanding, tells the receiver to hand over what it has
    /// (PSH): where a call that wrote ended, and when it goes first at the end of a group.
    #[must_use]
    pub fn pushes(&self, seq: u64, again: bool) -> bool {
        let marks = if again { queue::PUSHES } else { queue::PUSHES | queue::SEVERAL };
        self.queue.all().contains(&seq) && self.queue.get(seq).is(marks)
    }

    /// One past the highest segment sent.
    #[must_use]
    pub fn next(&self) -> u64 {
        self.queue.next()
    }

    /// Bytes of data in all segments below `seq`.
    #[must_use]
    pub fn bytes_before(&self, seq: u64) -> u64 {
        self.application.lengths().before(seq)
    }

    /// The first segment that begins at this byte, from 0, or behind it.
    #[must_use]
    pub fn first_from(&self, byte: u64) -> u64 {
        self.application.lengths().first_from(byte)
    }

    /// All below are acknowledged.
    #[must_use]
    pub fn acked(&self) -> u64 {
        self.queue.acked()
    }
}

/// Where a law that is written elsewhere decides.
impl Linux {
    /// A sender with such a law, whatever `options` says of the law.
    #[must_use]
    pub fn with_law(options: &LinuxOptions, law: Box<dyn ForeignLaw>) -> Self {
        let mut new = Self::new(options);
        new.path.follow(law);
        new
    }

    /// Something happens of which it may be told.
    fn begin_for_class(&mut self) {
        if self.path.is_for_class() {
            self.path.begin_for_class(self.context(Reading::default()));
        }
    }

    /// Its own timer, if that is due.
    fn on_class_timer(&mut self, now: Reading, out: &mut Vec<Transmission>) {
        if !self.path.take_class_timer(now.now) {
            return;
        }
        self.begin_for_class();
        let holds = !self.stage.reduces() && !self.reductions.excused;
        self.path.ask_after_timer(&self.context(now), holds);
        self.path.settle_for_class(&self.context(now), self.queue.outstanding());
        self.let_go(now, out);
    }

    /// What waited for the pace may leave.
    fn on_pacing(&mut self, now: Reading, out: &mut Vec<Transmission>) {
        if self.path.pace_mut().take(now.ns) {
            self.let_go(now, out);
        }
    }

    /// What is lost goes again, then what is new, as far as the window allows.
    fn let_go(&mut self, now: Reading, out: &mut Vec<Transmission>) {
        if self.queue.has_unrepaired() && self.path.cwnd() > self.queue.in_flight() {
            self.send_lost(now, out);
        }
        self.push(now, out);
    }
}

impl Linux {
    /// One past the last segment that the receiver has room for, where all have one length.
    fn edge(&self) -> u64 {
        self.queue.acked() + self.peer.segments()
    }

    /// Bytes of new data that the receiver has room for.
    fn room(&self) -> u64 {
        let lengths = self.application.lengths();
        let end = lengths.before(self.queue.acked()) + self.peer.window();
        end.saturating_sub(lengths.before(self.queue.next()))
    }

    /// Whether the receiver has no room for all of segment `seq`.
    fn is_beyond(&self, seq: u64) -> bool {
        let lengths = self.application.lengths();
        lengths.before(seq + 1) > lengths.before(self.queue.acked()) + self.peer.window()
    }

    /// Whether all is delivered that there will be.
    fn is_over(&self) -> bool {
        self.application.is_closed() && self.queue.is_empty() && !self.has_data()
    }

    fn has_data(&self) -> bool {
        self.queue.next() < self.application.limit()
    }

    /// The state that window laws may read.
    fn context(&self, now: Reading) -> AckContext {
        let ((delivered, lost), (sent, again)) = (self.queue.totals(), self.queue.sent());
        self.path.context(AckContext {
            clock: now,
            stage: self.stage,
            acked: self.queue.acked(),
            next: self.queue.next(),
            in_flight: self.queue.in_flight(),
            delivered,
            marked: self.queue.marked(),
            lost,
            sent,
            again,
            receiver_window: self.peer.window(),
            repeated: self.timeouts > 0,
            ..AckContext::default()
        })
    }

    fn set_stage(&mut self, stage: Stage, now: Reading) {
        let context = self.context(now);
        self.path.enter(stage, &context);
        self.stage = stage;
        self.reductions.excused &= stage == Stage::Recovery;
    }

    /// Takes a segment for lost, or for lost again.
    fn mark_lost(&mut self, seq: u64) {
        let Some(stamp) = self.queue.mark_lost(seq) else { return };
        if !self.reductions.excused {
            self.path.lose(seq, &stamp, self.queue.totals());
        }
    }
}
