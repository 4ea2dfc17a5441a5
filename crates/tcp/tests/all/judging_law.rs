//! A law outside of the crate that judges its own losses: law and detector have one state.

use std::sync::{Arc, Mutex};

use burstlab_tcp::{
    Ack, AckOptions, BurstReport, ClassNotices, Classes, Config, Decision, Detector, Discriminator,
    ForeignLaw, Listens, Moment, NakDelay, Notice, Overrides, Profile, PythonClass, SackBlocks,
    Sender, Transmission, Variant, Verdict, WindowLaw,
};
use burstlab_units::{Bytes, Span, Time};

/// As a law it counts losses, and as a detector it excuses each loss once it has counted one.
#[derive(Clone, Debug, Default)]
struct Forgiving {
    losses: u64,
    heard: Arc<Mutex<Vec<(&'static str, Moment)>>>,
}

impl Forgiving {
    fn note(&self, what: &'static str, moment: &Moment) {
        self.heard.lock().expect("nobody panics").push((what, *moment));
    }

    fn take(&self) -> Vec<(&'static str, Moment)> {
        std::mem::take(&mut self.heard.lock().expect("nobody panics"))
    }

    fn words(&self) -> Vec<&'static str> {
        self.take().into_iter().map(|(what, _)| what).filter(|what| *what != "feedback").collect()
    }
}

impl ForeignLaw for Forgiving {
    fn rules_slow_start(&self) -> bool {
        false
    }

    fn on_ack(&mut self, _: &Moment) -> Decision {
        Decision::Usual
    }

    fn on_loss(&mut self, moment: &Moment) -> Decision {
        self.losses += 1;
        self.note("loss", moment);
        Decision::Window(moment.window * 0.75)
    }

    fn on_timeout(&mut self, moment: &Moment) -> Decision {
        self.note("timeout", moment);
        Decision::Usual
    }

    fn judge(&mut self) -> Option<&mut dyn Discriminator> {
        Some(self)
    }

    fn duplicate(&self) -> Box<dyn ForeignLaw> {
        Box::new(self.clone())
    }
}

impl Discriminator for Forgiving {
    fn on_timeout(&mut self, moment: &Moment) -> Verdict {
        self.note("judge", moment);
        if self.losses > 0 { Verdict::False } else { Verdict::True }
    }

    fn on_feedback(&mut self, moment: &Moment, _: bool) {
        self.note("feedback", moment);
    }

    fn on_burst_ack(&mut self, _: &BurstReport, moment: &Moment) {
        self.note("burst ack", moment);
    }

    fn on_burst_nak(&mut self, report: &BurstReport, moment: &Moment) -> bool {
        self.note("burst nak", moment);
        report.segments.contains(&moment.first)
    }
}

impl Classes for Forgiving {
    fn law(&self, _: &PythonClass) -> Box<dyn ForeignLaw> {
        Box::new(self.clone())
    }

    fn detector(&self, class: &PythonClass) -> Box<dyn Discriminator> {
        panic!("{class:?} is no detector of its own")
    }
}

fn given(variant: Variant) -> Overrides {
    let class = PythonClass {
        file: None,
        class: "Forgiving".into(),
        options: std::collections::BTreeMap::new(),
        source: Some(String::new()),
        name: None,
    };
    Overrides {
        profile: Some(if variant == Variant::Linux { Profile::Linux } else { Profile::Rfc }),
        variant: Some(variant),
        timestamps: Some(false),
        window_law: Some(WindowLaw::Python),
        window_law_class: Some(class),
        detector: Some(Detector::Law),
        ..Overrides::default()
    }
}

struct Script {
    sender: Sender,
    now: Time,
    out: Vec<Transmission>,
}

impl Script {
    fn new(overrides: &Overrides, law: &Forgiving) -> Self {
        let config = Config::resolve(overrides).expect("is valid");
        let sender = Sender::with_classes(&config, Some(law));
        let mut script = Self { sender, now: Time::ZERO, out: Vec::new() };
        script.sender.supply(Time::ZERO, u64::MAX, &mut script.out);
        script.sender.start(Time::ZERO, &mut script.out);
        script
    }

    fn ack(&mut self, ms: u64, next: u64, block: Option<(u64, u64)>) {
        self.now += Span::from_ms(ms);
        let mut sack = SackBlocks::NONE;
        block.into_iter().for_each(|(left, right)| sack.push(left, right));
        let ack = Ack { next, sack, size: Bytes::new(52) };
        let options = AckOptions { window: 1 << 20, ..AckOptions::default() };
        self.sender.on_full_ack(self.now, &ack, &options, &mut self.out);
    }

    fn time_out(&mut self) {
        let (now, before) = (self.now, self.sender.counters().timeouts);
        for _ in 0..9 {
            self.now = self.sender.poll_timeout().expect("something is outstanding");
            self.sender.on_timeout(self.now, &mut self.out);
            if self.sender.counters().timeouts > before {
                return;
            }
        }
        panic!("no time-out after {now:?}");
    }
}

#[test]
fn a_classic_sender_asks_it_about_time_outs_and_tells_it_of_every_ack() {
    let law = Forgiving::default();
    let mut script = Script::new(&given(Variant::Sack), &law);
    (1..=5).for_each(|next| script.ack(100, next, None));
    let heard = law.take();
    assert_eq!(heard.iter().map(|(what, _)| *what).collect::<Vec<_>>(), ["feedback"; 5]);
    let (_, last) = heard.last().expect("five");
    assert_eq!((last.acked, last.rtt.is_some(), last.round.is_some()), (1, true, false));
    assert!(heard.iter().any(|(_, moment)| moment.round.is_some()), "a round trip has ended");
    // Nothing was counted as yet: the time-out is a true one, and the law answers it.
    script.time_out();
    assert_eq!(law.words(), ["judge", "timeout"]);
    assert_eq!(script.sender.counters().excused_timeouts, 0);
    let mut script = Script::new(&given(Variant::Sack), &law);
    (1..=5).for_each(|next| script.ack(100, next, None));
    law.take();
    for seq in 6..=8 {
        script.ack(1, 5, Some((6, seq + 1)));
    }
    let heard = law.take();
    let blocks: Vec<_> = heard.iter().map(|(_, moment)| moment.sack.as_slice()).collect();
    assert_eq!(blocks.iter().filter(|blocks| ***blocks == [(6, 8)]).count(), 1);
    assert_eq!(heard.iter().filter(|(what, _)| *what == "loss").count(), 1);
    // The law has counted the loss, so that the detector excuses.
    script.time_out();
    assert_eq!(law.words(), ["judge"], "an excused time-out is no matter of the law");
    assert_eq!(script.sender.counters().excused_timeouts, 1);
}

#[test]
fn the_sender_of_linux_keeps_its_window_and_the_state_of_the_law() {
    let law = Forgiving::default();
    let mut script = Script::new(&given(Variant::Linux), &law);
    (1..=12).for_each(|next| script.ack(100, next, None));
    let window = script.sender.cwnd();
    let rounds = law.take().iter().filter(|(_, moment)| moment.round.is_some()).count();
    assert!((2..12).contains(&rounds), "{rounds} round trips have ended");
    for seq in 13..=15 {
        script.ack(1, 12, Some((13, seq + 1)));
    }
    // The law is asked first, and this count is what excuses the same loss.
    assert_eq!(law.words(), ["loss", "judge"]);
    assert_eq!((script.sender.cwnd(), script.sender.reductions().excused), (window, 1));
    assert!(script.out.iter().any(|sent| sent.seq == 12 && sent.retransmission));
    script.ack(100, 30, None);
    let found = law.take();
    let [("feedback", moment)] = found[..] else { panic!("{found:?}") };
    assert!(moment.acked > 0 && moment.sack.as_slice().is_empty());
}

#[test]
fn nodes_report_to_it_as_its_notices_say() {
    for (notices, left, dropped) in [
        (None, false, None),
        (Some(ClassNotices::None), false, None),
        (Some(ClassNotices::Acks), true, None),
        (Some(ClassNotices::Naks), false, Some(NakDelay::Path)),
        (Some(ClassNotices::All), true, Some(NakDelay::Path)),
    ] {
        let config = Overrides { class_notices: notices, ..given(Variant::Sack) };
        let found = Listens::of(&Config::resolve(&config).expect("is valid"));
        assert_eq!(found, Listens { left, arrived: left, dropped }, "{notices:?}");
    }
    for variant in [Variant::Sack, Variant::Linux] {
        let law = Forgiving::default();
        let mut script = Script::new(&given(variant), &law);
        (1..=12).for_each(|next| script.ack(100, next, None));
        law.take();
        let before = (script.sender.cwnd(), script.out.len());
        script.sender.on_notice(script.now, Notice::Left, 7, &[12, 13], &mut script.out);
        script.sender.on_notice(script.now, Notice::Dropped, 8, &[14], &mut script.out);
        assert_eq!((script.sender.cwnd(), script.out.len()), before, "nothing is repaired");
        let heard = law.take();
        assert!(heard.iter().all(|(_, moment)| moment.now == script.now && moment.first == 12));
        assert_eq!(heard.len(), 2);
        script.sender.on_notice(script.now, Notice::Dropped, 7, &[12, 13], &mut script.out);
        assert_eq!(script.out[before.1].seq, 12);
        assert_eq!(script.sender.counters().early_repairs, 1);
        assert_eq!(law.words(), ["burst nak"], "the law does not cut");
    }
}

#[test]
fn only_a_class_or_a_scheme_judges_its_own_losses() {
    let wrong = Overrides { window_law: Some(WindowLaw::Aimd), ..given(Variant::Sack) };
    let error = Config::resolve(&wrong).expect_err("AIMD has no detector");
    assert_eq!((error.field, error.value.as_str()), ("detector", "law"));
    assert!(error.fix.contains("\"python\" with window_law_class"), "{error}");
}
