//! The window law of a sender without the sender, for comparison with the laws of other stacks.

use burstlab_units::{Span, Time};

use super::clock::Clock;
use super::context::{AckContext, Stage};
use super::law::{LawEvent, LinuxLaw};
use super::options::LinuxOptions;
use super::window::{INFINITE, LinuxWindow, current_ssthresh};

/// The window law of a [`Linux`](super::Linux) sender by itself. It is given each packet that is
/// sent, acknowledged or lost. Its window is that of the sender, except in a repair: there
/// [`cwnd`](Self::cwnd) takes at once the value that proportional rate reduction (RFC 6937) reaches
/// at its end.
///
/// Only Reno and CUBIC: other laws need more inputs than this type receives.
#[derive(Clone, Debug)]
pub struct LawAlone {
    law: LinuxLaw,
    window: LinuxWindow,
    clock: Clock,
    stage: Stage,
    acked: u64,
    next: u64,
    last_sent: u64,
}

impl LawAlone {
    /// A connection that is open from `now` on.
    ///
    /// # Panics
    ///
    /// Where the law is another one.
    #[must_use]
    pub fn new(options: &LinuxOptions, now: Time) -> Self {
        let law = LinuxLaw::new(options);
        let known = matches!(law, LinuxLaw::Reno | LinuxLaw::Cubic(_));
        assert!(known, "only Reno and CUBIC go by the inputs of a law alone");
        let mut window = LinuxWindow::new();
        window.cwnd = options.initial_window;
        let clock = Clock::new(options.clock_phase, options.wheel_phase);
        let stage = Stage::Open;
        let mut alone = Self { law, window, clock, stage, acked: 1, next: 1, last_sent: 0 };
        let context = alone.context(now);
        alone.law.open(&context);
        alone
    }

    /// A segment is sent; `idle`: nothing was in flight.
    pub fn on_sent(&mut self, now: Time, idle: bool) {
        let context = self.context(now);
        if idle {
            self.law.on_event(LawEvent::Start, &mut self.window, &context);
        }
        self.next += 1;
        self.last_sent = context.clock.tick;
    }

    /// `segments` are acknowledged, a round trip after the last of them was sent. `limited`: the
    /// window, and not the application, is what limits the sender.
    pub fn on_ack(&mut self, now: Time, rtt: Span, segments: u32, limited: bool) {
        self.acked += u64::from(segments);
        (self.window.is_limit, self.window.most) = (limited, 0);
        let (context, us) = (self.context(now), rtt.as_ps() / 1_000_000);
        self.law.measured(&mut self.window, Some(us), &context);
        if !self.stage.reduces() {
            self.law.grow(&mut self.window, segments, &context);
        }
    }

    /// Something is lost that was sent since the last repair began: a repair begins.
    pub fn on_loss(&mut self, now: Time) {
        self.reduce(now);
        self.window.cwnd = self.window.ssthresh;
        self.enter(Stage::Recovery, now);
    }

    /// All that was in flight when the repair began is acknowledged.
    pub fn on_repaired(&mut self, now: Time) {
        self.enter(Stage::Open, now);
    }

    /// A time-out: all that is in flight is lost.
    pub fn on_timeout(&mut self, now: Time) {
        self.reduce(now);
        let context = self.context(now);
        self.law.on_event(LawEvent::Loss, &mut self.window, &context);
        self.window.cwnd = 1;
        self.enter(Stage::Loss, now);
    }

    /// The last reduction was for nothing.
    pub fn on_spurious(&mut self, now: Time) {
        let window = &mut self.window;
        if window.prior_ssthresh > 0 {
            window.cwnd = self.law.undone(window);
            window.ssthresh = window.ssthresh.max(window.prior_ssthresh);
            window.prior_ssthresh = 0;
        }
        self.enter(Stage::Open, now);
    }

    /// The congestion window in segments.
    #[must_use]
    pub fn cwnd(&self) -> u32 {
        self.window.cwnd
    }

    /// The slow-start threshold in segments, if there is one yet.
    #[must_use]
    pub fn ssthresh(&self) -> Option<u32> {
        Some(self.window.ssthresh).filter(|&ssthresh| ssthresh < INFINITE)
    }

    fn reduce(&mut self, now: Time) {
        let tick = self.clock.tick(now);
        let window = &mut self.window;
        window.prior_ssthresh = current_ssthresh(window, self.stage);
        window.prior_cwnd = window.cwnd;
        window.credit = 0;
        window.ssthresh = self.law.ssthresh(window, tick);
    }

    fn enter(&mut self, stage: Stage, now: Time) {
        let context = self.context(now);
        self.law.enters(stage, &mut self.window, &context);
        self.stage = stage;
    }

    fn context(&self, now: Time) -> AckContext {
        AckContext {
            clock: self.clock.read(now),
            stage: self.stage,
            acked: self.acked,
            next: self.next,
            last_sent: self.last_sent,
            ..AckContext::default()
        }
    }
}
