//! Each rule of each detector, alone and in a sender.

use std::ops::Range;

use burstlab_units::{Bytes, Span, Time};

use super::*;
use crate::config::{BackMode, BleOrder, BnakPartial, EgressUnknown, Overrides};
use crate::discriminator::Notice;
use crate::segment::{Ack, SackBlocks, SegmentFlags, Transmission};
use crate::sender::Sender;

/// There is no law that could be the detector.
struct NoLaw;

impl HasLaw for NoLaw {
    fn foreign(&mut self) -> Option<&mut dyn crate::foreign::ForeignLaw> {
        None
    }
}

fn config(overrides: &Overrides) -> Config {
    Config::resolve(overrides).expect("valid parameters")
}

fn detection(overrides: &Overrides) -> Detection {
    Detection::new(&config(overrides), None)
}

fn ble(order: BleOrder, window_min: u32) -> Detection {
    detection(&Overrides {
        detector: Some(Detector::Ble),
        ble_order: Some(order),
        detector_window_min: Some(window_min),
        ..Overrides::default()
    })
}

/// The state of a sender that waits for `segments` with a window of `window`.
fn out(window: f64, segments: Range<u64>) -> Moment {
    Moment { window, suspects: (segments.start, segments.end), ..Moment::default() }
}

fn nak<'a>(burst: u64, segments: &'a [u64]) -> BurstReport<'a> {
    BurstReport { notice: Notice::Dropped, burst, segments }
}

/// Feeds windows of fast retransmits (`None` first) and time-outs; returns which were excused.
fn excused(mut detection: Detection, events: &[(bool, f64)]) -> Vec<bool> {
    let mut verdicts = Vec::new();
    for &(timeout, window) in events {
        if timeout {
            verdicts.push(detection.judge(&mut NoLaw, &out(window, 1..9), true) == Verdict::False);
        } else {
            detection.report(&mut NoLaw, |one| one.on_loss(&out(window, 1..9)));
        }
    }
    verdicts
}

const TD: bool = false;
const TO: bool = true;

#[test]
fn ble_first_loss_by_timeout_is_false() {
    assert_eq!(excused(ble(BleOrder::UpdateFirst, 3), &[(TO, 40.0)]), [true]);
    assert_eq!(excused(ble(BleOrder::DecideFirst, 3), &[(TO, 40.0)]), [true]);
    // A burst of three segments or fewer is no burst.
    assert_eq!(excused(ble(BleOrder::UpdateFirst, 3), &[(TO, 3.0)]), [false]);
}

#[test]
fn ble_first_loss_by_duplicates_bounds_the_burst_by_half_the_window() {
    // The burst was at most 20; a window of 30 cannot have been in one.
    let events = [(TD, 40.0), (TO, 30.0)];
    assert_eq!(excused(ble(BleOrder::UpdateFirst, 3), &events), [false]);
    let events = [(TD, 40.0), (TO, 20.0)];
    assert_eq!(excused(ble(BleOrder::UpdateFirst, 3), &events), [true]);
    // A later loss by duplicates lowers the bound: min(20, 12).
    let events = [(TD, 40.0), (TD, 24.0), (TO, 13.0)];
    assert_eq!(excused(ble(BleOrder::UpdateFirst, 3), &events), [false]);
}

#[test]
fn ble_later_timeouts_raise_the_bound_and_the_order_matters() {
    let events = [(TD, 40.0), (TO, 30.0), (TO, 12.0), (TO, 60.0), (TO, 60.0)];
    let update = excused(ble(BleOrder::UpdateFirst, 3), &events);
    assert_eq!(update, [false, true, true, true]);
    let decide = excused(ble(BleOrder::DecideFirst, 3), &events);
    assert_eq!(decide, [false, true, false, true]);
}

#[test]
fn a_run_of_false_timeouts_ends_in_a_true_one_unless_the_guard_is_off() {
    let run: Vec<_> = [40.0, 20.0, 10.0, 5.0, 2.5, 1.25].map(|window| (TO, window)).into();
    let guarded = excused(ble(BleOrder::UpdateFirst, 3), &run);
    assert_eq!(guarded, [true, true, true, true, false, false]);
    assert_eq!(excused(ble(BleOrder::UpdateFirst, 0), &run), [true; 6]);
}

fn back(mode: BackMode, unknown: EgressUnknown) -> Detection {
    detection(&Overrides {
        detector: Some(Detector::Back),
        back_mode: Some(mode),
        back_egress_unknown: Some(unknown),
        ..Overrides::default()
    })
}

fn verdict(mut detection: Detection, notices: &[(Notice, u64, &[u64])]) -> Verdict {
    let outstanding = out(20.0, 5..8);
    for &(notice, burst, segments) in notices {
        detection.report(&mut NoLaw, |one| {
            one.on_burst_ack(&BurstReport { notice, burst, segments }, &out(0.0, 0..0));
        });
    }
    detection.judge(&mut NoLaw, &outstanding, true)
}

#[test]
fn back_ingress_wants_one_burst_that_took_everything_out() {
    let back = || back(BackMode::Ingress, EgressUnknown::FalseTimeout);
    assert_eq!(verdict(back(), &[(Notice::Left, 3, &[5, 6, 7])]), Verdict::False);
    assert_eq!(verdict(back(), &[(Notice::Left, 3, &[5, 6, 7, 8])]), Verdict::False);
    let two: [(Notice, u64, &[u64]); 2] = [(Notice::Left, 3, &[5]), (Notice::Left, 4, &[6, 7])];
    assert_eq!(verdict(back(), &two), Verdict::True, "two bursts");
    let some: [(Notice, u64, &[u64]); 1] = [(Notice::Left, 3, &[5, 6])];
    assert_eq!(verdict(back(), &some), Verdict::True, "nothing heard of 7");
    assert_eq!(verdict(back(), &[]), Verdict::True, "nothing heard");
    let again: [(Notice, u64, &[u64]); 2] =
        [(Notice::Left, 3, &[5, 6, 7]), (Notice::Left, 9, &[5, 6, 7])];
    assert_eq!(verdict(back(), &again), Verdict::False, "the last burst counts");
}

#[test]
fn back_forgets_what_goes_out_again() {
    let mut detection = back(BackMode::Ingress, EgressUnknown::FalseTimeout);
    let outstanding = out(20.0, 5..8);
    let report = BurstReport { notice: Notice::Left, burst: 3, segments: &[5, 6, 7] };
    detection.report(&mut NoLaw, |one| one.on_burst_ack(&report, &out(0.0, 0..0)));
    let (size, flags) = (Bytes::new(1000), SegmentFlags::default());
    let (cwnd, ssthresh) = (1.0, 2.0);
    let first = Transmission { seq: 4, size, retransmission: false, cwnd, ssthresh, flags };
    detection.on_transmissions(
        &mut NoLaw,
        &[first, Transmission { seq: 5, retransmission: true, ..first }],
    );
    assert_eq!(detection.judge(&mut NoLaw, &outstanding, true), Verdict::True);
}

#[test]
fn back_egress_excuses_what_did_not_arrive() {
    let all: [(Notice, u64, &[u64]); 1] = [(Notice::Arrived, 3, &[5, 6, 7])];
    let some: [(Notice, u64, &[u64]); 1] = [(Notice::Arrived, 3, &[5, 6])];
    let lenient = || back(BackMode::Egress, EgressUnknown::FalseTimeout);
    let strict = || back(BackMode::Egress, EgressUnknown::TrueTimeout);
    assert_eq!(verdict(lenient(), &all), Verdict::True, "lost behind the egress");
    assert_eq!(verdict(lenient(), &some), Verdict::False);
    assert_eq!(verdict(strict(), &some), Verdict::True);
}

#[test]
fn back_of_both_wants_the_burst_gone() {
    let both = || back(BackMode::Both, EgressUnknown::FalseTimeout);
    assert_eq!(verdict(both(), &[(Notice::Left, 3, &[5, 6, 7])]), Verdict::False);
    let arrived: [(Notice, u64, &[u64]); 2] =
        [(Notice::Left, 3, &[5, 6, 7]), (Notice::Arrived, 3, &[5, 6, 7])];
    assert_eq!(verdict(both(), &arrived), Verdict::True);
}

fn bnak(partial: BnakPartial) -> Detection {
    detection(&Overrides {
        detector: Some(Detector::Bnak),
        bnak_partial: Some(partial),
        ..Overrides::default()
    })
}

#[test]
fn bnak_acts_at_once_where_it_covers_everything() {
    let mut detection = bnak(BnakPartial::TrueTimeout);
    let outstanding = out(20.0, 5..8);
    assert!(detection.on_burst_nak(&mut NoLaw, &nak(1, &[4, 5, 6, 7]), &outstanding));
    assert!(!detection.on_burst_nak(&mut NoLaw, &nak(1, &[5, 6]), &outstanding), "7 is elsewhere");
    assert!(!detection.on_burst_nak(&mut NoLaw, &nak(1, &[5, 6, 7]), &out(2.9, 5..8)), "guard");
    assert!(!detection.on_burst_nak(&mut NoLaw, &nak(1, &[5]), &out(20.0, 5..5)), "nothing is out");
}

#[test]
fn bnak_in_part_leaves_a_true_timeout_unless_looked_at_again() {
    for (partial, expected) in
        [(BnakPartial::TrueTimeout, Verdict::True), (BnakPartial::Recheck, Verdict::False)]
    {
        let mut detection = bnak(partial);
        assert!(!detection.on_burst_nak(&mut NoLaw, &nak(1, &[6, 7]), &out(20.0, 5..8)));
        detection.report(&mut NoLaw, |one| one.on_progress(6));
        assert_eq!(detection.judge(&mut NoLaw, &out(20.0, 6..8), true), expected);
        assert_eq!(
            detection.judge(&mut NoLaw, &out(20.0, 6..9), true),
            Verdict::True,
            "8 is elsewhere"
        );
    }
}

#[test]
fn the_oracle_says_what_it_is_told() {
    let mut detection =
        detection(&Overrides { detector: Some(Detector::Oracle), ..Overrides::default() });
    let outstanding = out(20.0, 5..8);
    assert_eq!(detection.judge(&mut NoLaw, &outstanding, true), Verdict::True);
    detection.report(&mut NoLaw, |one| one.on_truth(Verdict::False));
    assert_eq!(detection.judge(&mut NoLaw, &outstanding, true), Verdict::False);
    assert_eq!(
        detection.judge(&mut NoLaw, &out(2.0, 5..8), true),
        Verdict::False,
        "it needs no guard"
    );
}

/// A sender of `variant` with a window of eight that has eight segments out.
fn sender(variant: crate::Variant, detector: Detector) -> (Sender, Time, Vec<Transmission>) {
    let config = config(&Overrides {
        variant: Some(variant),
        detector: Some(detector),
        profile: Some(crate::Profile::Ns2),
        window: Some(8),
        ..Overrides::default()
    });
    let (mut sender, mut sent) = (Sender::new(&config), Vec::new());
    let mut now = Time::ZERO;
    sender.supply(now, u64::MAX, &mut sent);
    sender.start(now, &mut sent);
    for next in 1..=12 {
        now += Span::from_ms(10);
        let ack = Ack { next, sack: SackBlocks::NONE, size: config.ack_size };
        sender.on_ack(now, &ack, &mut sent);
    }
    sent.clear();
    assert_eq!(sender.in_flight(), 8);
    (sender, now, sent)
}

#[test]
fn a_false_timeout_halves_and_a_true_one_starts_slowly() {
    use crate::Variant::{NewReno, Reno, Sack};
    for variant in [Reno, NewReno, Sack] {
        let (mut sender, _, mut sent) = sender(variant, Detector::Ble);
        let at = sender.poll_timeout().expect("armed");
        sender.on_timeout(at, &mut sent);
        let seqs: Vec<_> = sent.drain(..).map(|sent| sent.seq).collect();
        assert_eq!(seqs, [12, 13, 14, 15], "{variant:?}: half of eight");
        assert_eq!((sender.cwnd(), sender.ssthresh()), (4.0, 4.0));
        assert_eq!(sender.rtt().backoff, 1, "no back-off");
        // Two more lead below the guard: 4 -> 2, then a true one.
        for (excused, seqs) in [(2, vec![12, 13]), (2, vec![12])] {
            let at = sender.poll_timeout().expect("armed");
            sender.on_timeout(at, &mut sent);
            assert_eq!(sent.drain(..).map(|sent| sent.seq).collect::<Vec<_>>(), seqs);
            assert_eq!(sender.counters().excused_timeouts, excused);
        }
        assert_eq!(sender.rtt().backoff, 2, "the true one backs off");
        assert_eq!(sender.counters().timeouts, 3);
    }
}

#[test]
fn a_burst_nak_repairs_before_the_timeout() {
    let (mut sender, now, mut sent) = sender(crate::Variant::Reno, Detector::Bnak);
    let due = sender.poll_timeout();
    sender.on_notice(now, Notice::Dropped, 7, &[12, 13, 14], &mut sent);
    assert!(sent.is_empty(), "it does not cover everything");
    assert_eq!(sender.poll_timeout(), due);
    let all: Vec<u64> = (12..20).collect();
    sender.on_notice(now, Notice::Dropped, 8, &all, &mut sent);
    assert_eq!(sent.iter().map(|sent| sent.seq).collect::<Vec<_>>(), [12, 13, 14, 15]);
    assert_eq!((sender.counters().timeouts, sender.counters().early_repairs), (0, 1));
}

#[test]
fn no_detector_sends_beyond_the_window() {
    use proptest::prelude::*;
    use proptest::test_runner::TestRunner;
    let step = (0u8..4, any::<u64>(), 0u64..3, proptest::collection::vec(0u64..40, 0..12));
    let steps = proptest::collection::vec(step, 1..120);
    let choice = (0usize..6, 0usize..3, any::<bool>());
    let variants = [crate::Variant::Reno, crate::Variant::NewReno, crate::Variant::Sack];
    TestRunner::default()
        .run(&(choice, steps), |((detector, variant, recheck), steps)| {
            let config = config(&Overrides {
                detector: Some([Detector::ALL[detector], Detector::Em][detector / 5]),
                variant: Some(variants[variant]),
                bnak_partial: recheck.then_some(BnakPartial::Recheck),
                window: Some(12),
                ..Overrides::default()
            });
            let (mut sender, mut sent, mut now) = (Sender::new(&config), Vec::new(), Time::ZERO);
            sender.supply(now, u64::MAX, &mut sent);
            sender.start(now, &mut sent);
            for (kind, number, gap, mut segments) in steps {
                now += Span::from_ms(gap * 40);
                let acked = sender.highest_acked().map_or(0, |seq| seq + 1);
                let repairs = sender.counters().early_repairs + sender.counters().timeouts;
                sent.clear();
                match kind {
                    0 => {
                        let next = acked + number % 4;
                        let ack = Ack { next, sack: SackBlocks::NONE, size: config.ack_size };
                        sender.on_ack(now, &ack, &mut sent);
                    }
                    1 => sender.on_timeout(now, &mut sent),
                    _ => {
                        segments.iter_mut().for_each(|seq| *seq += acked);
                        segments.sort_unstable();
                        let notice =
                            [Notice::Left, Notice::Arrived, Notice::Dropped][number as usize % 3];
                        sender.on_notice(now, notice, number % 9, &segments, &mut sent);
                        if number % 2 == 0 {
                            sender.tell(Verdict::False);
                        }
                    }
                }
                prop_assert!(sender.in_flight() <= 12, "beyond the receiver's window");
                let after = sender.counters().early_repairs + sender.counters().timeouts;
                if after > repairs {
                    let allowed = sender.cwnd() as usize;
                    prop_assert!(sent.len() <= allowed, "{} sent, cwnd {allowed}", sent.len());
                }
            }
            Ok(())
        })
        .unwrap_or_else(|failure| panic!("{failure}"));
}
