//! What a law and a detector of somebody else are told, and what becomes of what they answer.

use std::sync::{Arc, Mutex};

use burstlab_tcp::{
    Ack, Classes, Config, Decision, Detector, ForeignDetector, ForeignLaw, Moment, Overrides,
    Profile, PythonClass, SackBlocks, Sender, Transmission, Variant, Verdict, WindowLaw,
};
use burstlab_units::{Bytes, Span, Time};

/// What was told, and the same answer to all.
#[derive(Clone, Debug)]
struct Told {
    moments: Arc<Mutex<Vec<(&'static str, Moment)>>>,
    answer: Decision,
    verdict: Verdict,
}

impl Told {
    fn new(answer: Decision) -> Self {
        Self { moments: Arc::default(), answer, verdict: Verdict::False }
    }

    fn note(&self, what: &'static str, moment: &Moment) -> Decision {
        self.moments.lock().expect("nobody panics").push((what, *moment));
        self.answer
    }

    fn take(&self) -> Vec<(&'static str, Moment)> {
        std::mem::take(&mut self.moments.lock().expect("nobody panics"))
    }
}

impl ForeignLaw for Told {
    fn rules_slow_start(&self) -> bool {
        false
    }

    fn on_ack(&mut self, moment: &Moment) -> Decision {
        self.note("ack", moment)
    }

    fn on_loss(&mut self, moment: &Moment) -> Decision {
        self.note("loss", moment)
    }

    fn on_timeout(&mut self, moment: &Moment) -> Decision {
        self.note("timeout", moment)
    }

    fn duplicate(&self) -> Box<dyn ForeignLaw> {
        Box::new(self.clone())
    }
}

impl ForeignDetector for Told {
    fn on_ack(&mut self, moment: &Moment) {
        self.note("judge ack", moment);
    }

    fn on_loss(&mut self, moment: &Moment) {
        self.note("judge loss", moment);
    }

    fn on_timeout(&mut self, moment: &Moment) -> Verdict {
        self.note("judge timeout", moment);
        self.verdict
    }

    fn duplicate(&self) -> Box<dyn ForeignDetector> {
        Box::new(self.clone())
    }
}

impl Classes for Told {
    fn law(&self, _: &PythonClass) -> Box<dyn ForeignLaw> {
        Box::new(self.clone())
    }

    fn detector(&self, _: &PythonClass) -> Box<dyn ForeignDetector> {
        Box::new(self.clone())
    }
}

fn class() -> PythonClass {
    PythonClass {
        file: None,
        class: "Told".into(),
        options: std::collections::BTreeMap::new(),
        source: Some(String::new()),
        name: None,
    }
}

fn given(profile: Profile, variant: Variant) -> Overrides {
    Overrides {
        profile: Some(profile),
        variant: Some(variant),
        initial_ssthresh: Some(6),
        window_law: Some(WindowLaw::Python),
        window_law_class: Some(class()),
        ..Overrides::default()
    }
}

/// A connection and its clock; 100 ms from an ACK to the next.
struct Script {
    sender: Sender,
    now: Time,
    out: Vec<Transmission>,
}

impl Script {
    /// The SYN is out.
    fn new(overrides: &Overrides, told: &Told) -> Self {
        let config = Config::resolve(overrides).expect("is valid");
        let sender = Sender::with_classes(&config, Some(told));
        let mut script = Self { sender, now: Time::ZERO, out: Vec::new() };
        script.sender.supply(Time::ZERO, u64::MAX, &mut script.out);
        script.sender.start(Time::ZERO, &mut script.out);
        script
    }

    fn ack(&mut self, next: u64, sack: Option<(u64, u64)>) {
        self.now += Span::from_ms(100);
        let mut blocks = SackBlocks::NONE;
        if let Some((left, right)) = sack {
            blocks.push(left, right);
        }
        let ack = Ack { next, sack: blocks, size: Bytes::new(40) };
        self.sender.on_ack(self.now, &ack, &mut self.out);
    }

    fn time_out(&mut self) {
        self.now = self.sender.poll_timeout().expect("something is outstanding");
        self.sender.on_timeout(self.now, &mut self.out);
    }

    /// Slow start up to its end: segments below 5 are acknowledged, and the window is 8.
    fn grow(&mut self) {
        (1..=5).for_each(|next| self.ack(next, None));
        assert_eq!((self.sender.cwnd(), self.sender.in_flight()), (8.0, 8));
    }

    /// Duplicate ACKs find that segment 5 is lost.
    fn lose(&mut self) {
        (6..=8).for_each(|seq| self.ack(5, Some((6, seq + 1))));
        assert_eq!(self.sender.counters().fast_retransmits, 1);
    }
}

#[test]
fn a_law_is_asked_above_the_threshold_and_told_what_is_so() {
    let told = Told::new(Decision::Window(9.5));
    let given = Overrides { initial_ssthresh: Some(8), ..given(Profile::Rfc, Variant::Sack) };
    let mut script = Script::new(&given, &told);
    script.grow();
    assert!(told.take().is_empty(), "slow start is another axis");
    script.ack(7, None);
    let (what, moment) = told.take().pop().expect("it was asked");
    assert_eq!((what, script.sender.cwnd()), ("ack", 9.5));
    assert_eq!((moment.now, moment.cwnd, moment.ssthresh), (script.now, 8.0, 8.0));
    assert_eq!((moment.acked, moment.first, moment.next, moment.flight), (2, 7, 13, 6));
    assert_eq!(moment.rtt, Some(script.now.since(Time::ZERO + Span::from_ms(200))));
    assert_eq!(moment.base_rtt, Some(Span::from_ms(100)));
    assert!(moment.smoothed.is_some() && !moment.repeated && !moment.repairing);
}

#[test]
fn what_remains_is_rounded_as_the_configuration_says() {
    for (profile, variant, cwnd, ssthresh) in [
        (Profile::Rfc, Variant::Sack, 5.0, 5.0),
        (Profile::Ns2, Variant::Sack, 5.5, 5.0),
        (Profile::Ns2Of2003, Variant::Reno, 5.0, 5.0),
        (Profile::Rfc, Variant::Tahoe, 1.0, 5.0),
    ] {
        let told = Told::new(Decision::Window(5.5));
        let given = Overrides {
            initial_ssthresh: Some(100),
            initial_window: Some(4),
            limited_transmit: Some(false),
            ..given(profile, variant)
        };
        let mut script = Script::new(&given, &told);
        (1..=5).for_each(|next| script.ack(next, None));
        script.lose();
        let [("loss", moment)] = told.take()[..] else { panic!("{profile:?}: one loss") };
        assert_eq!(moment.window, 8.0, "{profile:?}");
        let after = (script.sender.cwnd(), script.sender.ssthresh());
        assert_eq!(after, (cwnd, ssthresh), "{profile:?} {variant:?}");
    }
}

#[test]
fn a_pair_holds_as_it_is_within_what_can_be() {
    for (cwnd, ssthresh, after) in [(7.25, 3.5, (7.25, 3.5)), (0.0, 0.0, (1.0, 2.0))] {
        let told = Told::new(Decision::Both { cwnd, ssthresh });
        let given = Overrides { initial_ssthresh: Some(8), ..given(Profile::Rfc, Variant::Sack) };
        let mut script = Script::new(&given, &told);
        script.grow();
        script.lose();
        assert_eq!((script.sender.cwnd(), script.sender.ssthresh()), after);
        script.time_out();
        assert_eq!((script.sender.cwnd(), script.sender.ssthresh()), after);
    }
}

#[test]
fn a_window_of_nothing_is_less_and_less_but_never_nothing() {
    let told = Told::new(Decision::Window(0.0));
    let given = Overrides { initial_ssthresh: Some(8), ..given(Profile::Ns2, Variant::Sack) };
    let mut script = Script::new(&Overrides { initial_window: Some(4), ..given }, &told);
    (1..=5).for_each(|next| script.ack(next, None));
    script.lose();
    assert_eq!((script.sender.cwnd(), script.sender.ssthresh()), (1.0, 2.0));
}

#[test]
fn a_repeated_time_out_keeps_the_threshold_of_rfc_5681() {
    let told = Told::new(Decision::Window(4.0));
    let given = Overrides { initial_ssthresh: Some(8), ..given(Profile::Rfc, Variant::Sack) };
    let mut script = Script::new(&given, &told);
    script.grow();
    for (repeated, flight) in [(false, 8), (true, 1)] {
        script.time_out();
        let [("timeout", moment)] = told.take()[..] else { panic!("one time-out") };
        assert_eq!((moment.repeated, moment.flight), (repeated, flight));
        assert_eq!((script.sender.cwnd(), script.sender.ssthresh()), (1.0, 4.0));
    }
}

#[test]
fn a_detector_is_told_before_it_judges() {
    let told = Told::new(Decision::Usual);
    let given = Overrides {
        window_law: None,
        window_law_class: None,
        detector: Some(Detector::Python),
        detector_class: Some(class()),
        initial_ssthresh: Some(8),
        ..given(Profile::Rfc, Variant::Sack)
    };
    let mut script = Script::new(&given, &told);
    script.grow();
    assert_eq!(told.take().len(), 5, "an ACK each");
    script.lose();
    let [("judge loss", moment)] = told.take()[..] else { panic!("one loss") };
    assert_eq!((moment.window, moment.cwnd, moment.repairing), (8.0, 4.0, true));
    script.ack(6, Some((7, 9)));
    let [("judge ack", moment)] = told.take()[..] else { panic!("a partial ACK") };
    assert_eq!((moment.acked, moment.rtt, moment.repairing), (1, None, true));
    script.time_out();
    let [("judge timeout", moment)] = told.take()[..] else { panic!("one time-out") };
    assert_eq!((moment.first, moment.window), (6, 4.0));
    assert_eq!(script.sender.counters().excused_timeouts, 1);
    script.time_out();
    assert_eq!(script.sender.counters().excused_timeouts, 1, "a window below 3 is not excused");
}

#[test]
fn a_class_must_be_there_and_read() {
    let error = |overrides: &Overrides| Config::resolve(overrides).expect_err("is wrong");
    let absent = Overrides { window_law_class: None, ..given(Profile::Rfc, Variant::Sack) };
    let found = error(&absent);
    assert_eq!(found.field, "window_law_class");
    assert!(found.problem.contains("needs it") && found.fix.contains("my_file.py"), "{found}");
    let unread = PythonClass { file: Some("x.py".into()), source: None, ..class() };
    let unread = Overrides { window_law_class: Some(unread), ..absent.clone() };
    let found = error(&unread);
    assert_eq!(
        (found.value.as_str(), found.problem.as_str()),
        ("x.py", "the engine reads no files")
    );
    let vegas = given(Profile::Rfc, Variant::Vegas);
    assert_eq!(error(&vegas).field, "window_law");
    let idle =
        Overrides { window_law: Some(WindowLaw::Aimd), ..given(Profile::Rfc, Variant::Sack) };
    let config = Config::resolve(&idle).expect("an idle class is no mistake");
    assert!(config.window_law_class.is_none() && !config.needs_classes());
}
