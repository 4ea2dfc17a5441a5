//! A law and a detector outside of the crate: their inputs, and the effects of their answers.

use std::sync::{Arc, Mutex};

use burstlab_tcp::{
    Ack, AckOptions, BurstReport, Classes, Config, Decision, Detector, Discriminator, ForeignLaw,
    Moment, Notice, Overrides, Profile, PythonClass, SackBlocks, Sender, Transmission, Variant,
    Verdict, WindowLaw,
};
use burstlab_units::{Bytes, Span, Time};

/// A law and detector that records its inputs, and gives the same answer to all.
#[derive(Clone, Debug)]
struct Recorder {
    moments: Arc<Mutex<Vec<(&'static str, Moment)>>>,
    bursts: Arc<Mutex<Vec<(Notice, u64)>>>,
    answer: Decision,
    verdict: Verdict,
}

impl Recorder {
    fn new(answer: Decision) -> Self {
        let (moments, bursts) = (Arc::default(), Arc::default());
        Self { moments, bursts, answer, verdict: Verdict::False }
    }

    fn note(&self, what: &'static str, moment: &Moment) -> Decision {
        self.moments.lock().expect("nobody panics").push((what, *moment));
        self.answer
    }

    fn take(&self) -> Vec<(&'static str, Moment)> {
        std::mem::take(&mut self.moments.lock().expect("nobody panics"))
    }
}

impl ForeignLaw for Recorder {
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

impl Discriminator for Recorder {
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

    fn on_reduction(&mut self, moment: &Moment) -> Verdict {
        self.note("judge reduction", moment);
        self.verdict
    }

    fn on_mark(&mut self, moment: &Moment) {
        self.note("judge mark", moment);
    }

    fn on_burst_ack(&mut self, report: &BurstReport, _: &Moment) {
        self.bursts.lock().expect("nobody panics").push((report.notice, report.burst));
    }

    fn on_burst_nak(&mut self, _: &BurstReport, moment: &Moment) -> bool {
        self.note("judge nak", moment);
        false
    }
}

impl Classes for Recorder {
    fn law(&self, _: &PythonClass) -> Box<dyn ForeignLaw> {
        Box::new(self.clone())
    }

    fn detector(&self, _: &PythonClass) -> Box<dyn Discriminator> {
        Box::new(self.clone())
    }
}

fn class() -> PythonClass {
    PythonClass {
        file: None,
        class: "Recorder".into(),
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
    fn new(overrides: &Overrides, recorder: &Recorder) -> Self {
        Self::of(&Config::resolve(overrides).expect("is valid"), recorder)
    }

    fn of(config: &Config, recorder: &Recorder) -> Self {
        let sender = Sender::with_classes(config, Some(recorder));
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
fn a_law_is_asked_above_the_threshold_and_receives_the_present_state() {
    let recorder = Recorder::new(Decision::Window(9.5));
    let given = Overrides { initial_ssthresh: Some(8), ..given(Profile::Rfc, Variant::Sack) };
    let mut script = Script::new(&given, &recorder);
    script.grow();
    assert!(recorder.take().is_empty(), "slow start is another axis");
    script.ack(7, None);
    let (what, moment) = recorder.take().pop().expect("it was asked");
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
        let recorder = Recorder::new(Decision::Window(5.5));
        let given = Overrides {
            initial_ssthresh: Some(100),
            initial_window: Some(4),
            limited_transmit: Some(false),
            ..given(profile, variant)
        };
        let mut script = Script::new(&given, &recorder);
        (1..=5).for_each(|next| script.ack(next, None));
        script.lose();
        let [("loss", moment)] = recorder.take()[..] else { panic!("{profile:?}: one loss") };
        assert_eq!(moment.window, 8.0, "{profile:?}");
        let after = (script.sender.cwnd(), script.sender.ssthresh());
        assert_eq!(after, (cwnd, ssthresh), "{profile:?} {variant:?}");
    }
}

#[test]
fn a_pair_holds_as_it_is_within_what_can_be() {
    for (cwnd, ssthresh, after) in [(7.25, 3.5, (7.25, 3.5)), (0.0, 0.0, (1.0, 2.0))] {
        let recorder = Recorder::new(Decision::Both { cwnd, ssthresh });
        let given = Overrides { initial_ssthresh: Some(8), ..given(Profile::Rfc, Variant::Sack) };
        let mut script = Script::new(&given, &recorder);
        script.grow();
        script.lose();
        assert_eq!((script.sender.cwnd(), script.sender.ssthresh()), after);
        script.time_out();
        assert_eq!((script.sender.cwnd(), script.sender.ssthresh()), after);
    }
}

#[test]
fn a_window_of_nothing_is_less_and_less_but_never_nothing() {
    let recorder = Recorder::new(Decision::Window(0.0));
    let given = Overrides { initial_ssthresh: Some(8), ..given(Profile::Ns2, Variant::Sack) };
    let mut script = Script::new(&Overrides { initial_window: Some(4), ..given }, &recorder);
    (1..=5).for_each(|next| script.ack(next, None));
    script.lose();
    assert_eq!((script.sender.cwnd(), script.sender.ssthresh()), (1.0, 2.0));
}

#[test]
fn a_repeated_time_out_keeps_the_threshold_of_rfc_5681() {
    let recorder = Recorder::new(Decision::Window(4.0));
    let given = Overrides { initial_ssthresh: Some(8), ..given(Profile::Rfc, Variant::Sack) };
    let mut script = Script::new(&given, &recorder);
    script.grow();
    for (repeated, flight) in [(false, 8), (true, 1)] {
        script.time_out();
        let [("timeout", moment)] = recorder.take()[..] else { panic!("one time-out") };
        assert_eq!((moment.repeated, moment.flight), (repeated, flight));
        assert_eq!((script.sender.cwnd(), script.sender.ssthresh()), (1.0, 4.0));
    }
}

#[test]
fn a_detector_receives_events_before_it_judges() {
    let recorder = Recorder::new(Decision::Usual);
    let given = Overrides {
        window_law: None,
        window_law_class: None,
        detector: Some(Detector::Python),
        detector_class: Some(class()),
        initial_ssthresh: Some(8),
        ..given(Profile::Rfc, Variant::Sack)
    };
    let mut script = Script::new(&given, &recorder);
    script.grow();
    assert_eq!(recorder.take().len(), 5, "an ACK each");
    script.lose();
    let [("judge loss", moment)] = recorder.take()[..] else { panic!("one loss") };
    assert_eq!((moment.window, moment.cwnd, moment.repairing), (8.0, 4.0, true));
    script.ack(6, Some((7, 9)));
    let [("judge ack", moment)] = recorder.take()[..] else { panic!("a partial ACK") };
    assert_eq!((moment.acked, moment.rtt, moment.repairing), (1, None, true));
    script.time_out();
    let [("judge timeout", moment)] = recorder.take()[..] else { panic!("one time-out") };
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

/// An ACK at `ms` of a connection with options.
fn full_ack(script: &mut Script, ms: u64, next: u64, block: Option<(u64, u64)>, marked: bool) {
    script.now = Time::ZERO + Span::from_ms(ms);
    let mut sack = SackBlocks::NONE;
    block.into_iter().for_each(|(left, right)| sack.push(left, right));
    let ack = Ack { next, sack, size: Bytes::new(52) };
    let options = AckOptions { window: 1 << 20, marked, ..AckOptions::default() };
    script.sender.on_full_ack(script.now, &ack, &options, &mut script.out);
}

#[test]
fn the_sender_of_linux_notifies_a_detector_of_acks_marks_reductions_and_bursts() {
    for verdict in [Verdict::True, Verdict::False] {
        let judge = Recorder { verdict, ..Recorder::new(Decision::Usual) };
        let linux = Overrides {
            profile: Some(Profile::Linux),
            timestamps: Some(false),
            ecn: Some(true),
            detector: Some(Detector::Python),
            detector_class: Some(class()),
            ..Overrides::default()
        };
        let config = Config::resolve(&linux).expect("is valid");
        let mut script = Script::of(&config, &judge);
        full_ack(&mut script, 100, 1, None, false);
        full_ack(&mut script, 200, 3, None, false);
        let moments = judge.take();
        let [("judge ack", _), ("judge ack", moment)] = moments[..] else { panic!("{moments:?}") };
        assert_eq!((moment.first, moment.acked, moment.cwnd), (3, 2, 12.0));
        assert_eq!(moment.rtt, Some(Span::from_ms(100)));
        // A mark reduces the window, and no detector is asked.
        full_ack(&mut script, 210, 4, None, true);
        let moments = judge.take();
        let [("judge mark", mark), ("judge ack", _)] = moments[..] else { panic!("{moments:?}") };
        assert_eq!((mark.marked, mark.repairing), (1, true));
        // The round trip with the mark ends; then segment 17 is lost.
        (4..=16).for_each(|next| full_ack(&mut script, 220 + next, next + 1, None, false));
        judge.take();
        let window = script.sender.cwnd();
        for seq in 18..=20 {
            full_ack(&mut script, 300 + seq, 17, Some((18, seq + 1)), false);
        }
        let asked: Vec<_> =
            judge.take().into_iter().filter(|(what, _)| *what != "judge ack").collect();
        let (what, moment) = asked[0];
        assert_eq!((what, moment.window, moment.suspects), ("judge reduction", window, (17, 18)));
        let excused = u64::from(verdict == Verdict::False);
        assert_eq!(script.sender.reductions().excused, excused);
        assert_eq!(asked.len() as u64, 2 - excused, "a loss that costs window is reported");
        assert!(asked[1..].iter().all(|(what, _)| *what == "judge loss"));
        // The nodes report bursts; the answer to a burst NAK here is that nothing is to be done.
        for notice in [Notice::Left, Notice::Arrived, Notice::Dropped] {
            script.sender.on_notice(script.now, notice, 7, &[21, 22], &mut script.out);
        }
        let moments = judge.take();
        let [("judge nak", moment)] = moments[..] else { panic!("{moments:?}") };
        assert_eq!(moment.suspects, (21, 23));
        assert_eq!(
            *judge.bursts.lock().expect("nobody panics"),
            [(Notice::Left, 7), (Notice::Arrived, 7)]
        );
    }
}
