//! State that is saved before a repair, and restored when the repair was for nothing.

use super::{Bbr3, Bbr3Mode, LinuxWindow, Saved, Stage};

impl Bbr3 {
    /// A repair begins (OnEnterFastRecovery, OnEnterRTO): the threshold stays.
    pub(crate) fn ssthresh(&mut self, window: &LinuxWindow) -> u32 {
        if !self.saved.is_fresh {
            self.save_state(window);
        }
        window.ssthresh
    }

    /// SaveCwnd.
    pub(super) fn save(&mut self, window: &LinuxWindow) {
        let calm = self.prior_stage < Stage::Recovery && self.mode != Bbr3Mode::ProbeRtt;
        let cwnd = u64::from(window.cwnd);
        self.prior_cwnd = if calm { cwnd } else { self.prior_cwnd.max(cwnd) };
    }

    /// SaveStateUponLoss.
    pub(super) fn save_state(&mut self, window: &LinuxWindow) {
        self.save(window);
        self.saved = Saved { mode: None, is_fresh: true, bounds: self.bounds.clone() };
    }

    /// RestoreCwnd.
    pub(super) fn restore(&self, window: &mut LinuxWindow) {
        window.cwnd = window.cwnd.max(self.prior_cwnd as u32);
    }

    /// A time-out.
    pub(crate) fn times_out(&mut self, us: u64) {
        self.now = us;
        self.prior_stage = Stage::Loss;
    }

    /// HandleSpuriousLossDetection.
    pub(crate) fn undo(&mut self, us: u64) {
        self.now = us;
        self.loss_in_round = false;
        self.pipe.look_anew(0);
        self.bounds.raise(&self.saved.bounds);
        match self.saved.mode.take() {
            Some(Bbr3Mode::Startup) if self.mode != Bbr3Mode::Startup => {
                self.pipe.full = false;
                if self.mode != Bbr3Mode::ProbeRtt {
                    self.mode = Bbr3Mode::Startup;
                }
            }
            Some(Bbr3Mode::Up) if self.mode != Bbr3Mode::Up && self.mode != Bbr3Mode::ProbeRtt => {
                self.start_refill();
            }
            _ => {}
        }
    }

    /// The window that comes back.
    pub(crate) fn undone(&self, window: &LinuxWindow) -> u32 {
        window.cwnd.max(self.prior_cwnd as u32)
    }
}
