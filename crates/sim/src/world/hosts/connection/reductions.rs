//! The causes of reductions of a sender's window, and their cost.

use burstlab_tcp::{Reductions as SoFar, Verdict};
use burstlab_units::Time;

use super::Flow;
use crate::measure::loss::{ReductionCause, Truth};
use crate::measure::{LedgerKind, LedgerRow, Reductions, SenderBefore};
use crate::world::context::Context;

/// A sender's window and its reductions before something happens to it.
#[derive(Clone, Copy, Debug)]
pub(in crate::world) struct WindowBefore {
    window: f64,
    reductions: SoFar,
}

/// The change of these.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::world) struct WindowAfter {
    /// The cause of the reduction of the window, and its size in segments.
    pub(in crate::world) reduced: Option<(ReductionCause, f64)>,
    /// Whether a reduction was taken back.
    pub(in crate::world) undone: bool,
}

impl Flow {
    #[inline]
    pub(in crate::world) fn window_before(&self) -> WindowBefore {
        WindowBefore {
            window: self.near.sender().cwnd(),
            reductions: self.near.sender().reductions(),
        }
    }

    /// Classes a reduction that was made since `was`, by what is missing of what the sender waited
    /// for `before`.
    #[inline]
    pub(in crate::world) fn window_after(
        &mut self,
        was: &WindowBefore,
        before: &SenderBefore,
    ) -> WindowAfter {
        let reductions = self.near.sender().reductions();
        if reductions == was.reductions { WindowAfter::default() } else { self.class(was, before) }
    }

    fn class(&mut self, was: &WindowBefore, before: &SenderBefore) -> WindowAfter {
        let reductions = self.near.sender().reductions();
        let undone = reductions.undone > was.reductions.undone;
        if reductions.all == was.reductions.all {
            return WindowAfter { reduced: None, undone };
        }
        let by_mark = reductions.by_marks > was.reductions.by_marks;
        let cause = self.causes.reduction(0..before.waits_until, by_mark);
        let cost = (was.window - self.near.sender().reduced_to()).max(0.0);
        let (count, segments) = &mut self.counted.reductions[cause as usize];
        *count += 1;
        *segments += cost;
        WindowAfter { reduced: Some((cause, cost)), undone }
    }

    /// Records a reduction that has no other row in the ledger (`recorded`: it has), and one that
    /// was undone.
    #[inline]
    pub(in crate::world) fn note_window(
        &self,
        now: Time,
        after: &WindowAfter,
        recorded: bool,
        before: &SenderBefore,
        context: &mut Context,
    ) {
        let kinds = [
            (after.reduced.is_some() && !recorded, LedgerKind::Reduction, after.reduced),
            (after.undone, LedgerKind::UndoneReduction, None),
        ];
        for (_, kind, reduction) in kinds.into_iter().filter(|(happened, ..)| *happened) {
            let mut row = LedgerRow::new((now, self.id), kind, self.near.first_missing(), before);
            row.reduction = reduction;
            context.recorder.ledger(&row, &self.causes);
        }
    }

    /// Notifies a detector that knows the truth of the cause of a reduction now.
    #[inline]
    pub(in crate::world) fn tell_truth(&mut self, before: &SenderBefore) {
        if self.kind.hears_truth {
            let truth = self.causes.truth(0..before.waits_until);
            self.near.sender_mut().tell(if truth == Truth::True {
                Verdict::True
            } else {
                Verdict::False
            });
        }
    }

    /// The reductions of the whole run.
    pub(super) fn reductions(&self) -> Reductions {
        let of = |cause: ReductionCause| self.counted.reductions[cause as usize];
        let (one_burst, one_burst_segments) = of(ReductionCause::OneBurst);
        let (several_bursts, several_bursts_segments) = of(ReductionCause::SeveralBursts);
        let (congestion, congestion_segments) = of(ReductionCause::Congestion);
        let (reordering, reordering_segments) = of(ReductionCause::Reordering);
        let (outside, outside_segments) = of(ReductionCause::Outside);
        let sender = self.near.sender().reductions();
        Reductions {
            one_burst,
            several_bursts,
            congestion,
            reordering,
            outside,
            one_burst_segments,
            several_bursts_segments,
            congestion_segments,
            reordering_segments,
            outside_segments,
            excused: sender.excused,
            undone: sender.undone,
        }
    }
}
