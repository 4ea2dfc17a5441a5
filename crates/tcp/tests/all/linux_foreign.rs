//! Foreign laws with the Linux sender: their inputs, and the effects of the windows, pacing rates
//! and timers that they answer.

use std::sync::{Arc, Mutex};

use burstlab_tcp::{Congestion, Decision, ForeignLaw, Linux, LinuxOptions, Moment};
use burstlab_units::{Span, Time};

use crate::bottleneck::{Bottleneck, Network};

type Moments = Arc<Mutex<Vec<(&'static str, Moment)>>>;

/// Reno as `tcp_cong_avoid_ai` counts it, written against the trait; it records its inputs.
#[derive(Clone, Debug, Default)]
struct Reno {
    credit: u64,
    moments: Moments,
    /// Its other answers: a rate, a time, and a window when that has come.
    rate: Option<f64>,
    every: Option<Span>,
    due: Option<Time>,
    by_timer: Option<f64>,
}

impl Reno {
    fn note(&self, what: &'static str, moment: &Moment) {
        self.moments.lock().expect("nobody panics").push((what, *moment));
    }

    fn halve(&mut self, what: &'static str, moment: &Moment) -> Decision {
        self.note(what, moment);
        self.credit = 0;
        Decision::Window(moment.window / 2.0)
    }
}

impl ForeignLaw for Reno {
    fn rules_slow_start(&self) -> bool {
        false
    }

    fn on_ack(&mut self, moment: &Moment) -> Decision {
        self.note("ack", moment);
        let mut cwnd = moment.cwnd;
        let each = cwnd as u64;
        if self.credit >= each {
            self.credit = 0;
            cwnd += 1.0;
        }
        self.credit += moment.acked;
        cwnd += (self.credit / each) as f64;
        self.credit %= each;
        Decision::Window(cwnd)
    }

    fn on_loss(&mut self, moment: &Moment) -> Decision {
        self.halve("loss", moment)
    }

    fn on_mark(&mut self, moment: &Moment) -> Decision {
        self.halve("mark", moment)
    }

    fn on_timeout(&mut self, moment: &Moment) -> Decision {
        self.halve("timeout", moment)
    }

    fn paces(&self) -> bool {
        self.rate.is_some()
    }

    fn pacing_rate(&mut self, _: &Moment) -> Option<f64> {
        self.rate
    }

    fn has_timer(&self) -> bool {
        self.every.is_some()
    }

    fn next_timer(&mut self, moment: &Moment) -> Option<Span> {
        let due = *self.due.get_or_insert(moment.now + self.every?);
        Some(due.since(moment.now))
    }

    fn on_timer(&mut self, moment: &Moment) -> Decision {
        self.note("timer", moment);
        self.due = None;
        self.by_timer.map_or(Decision::Usual, Decision::Window)
    }

    fn duplicate(&self) -> Box<dyn ForeignLaw> {
        Box::new(self.clone())
    }
}

fn options() -> LinuxOptions {
    LinuxOptions { congestion: Congestion::Reno, ..LinuxOptions::default() }
}

/// 10 Mb/s or so: a segment in 1.2 ms, a round trip of 30 ms.
fn path() -> Bottleneck {
    Bottleneck {
        service: Span::from_us(1_200),
        delay: Span::from_ms(30),
        queue: 40,
        mark: u64::MAX,
        early: false,
    }
}

fn network(path: Bottleneck, options: &LinuxOptions, law: Option<&Reno>) -> Network {
    let mut network = Network::new(path, std::slice::from_ref(options), Span::ZERO);
    if let Some(law) = law {
        network.flows[0].sender = Linux::with_law(options, Box::new(law.clone()));
    }
    network
}

/// After each event: the instant, what was sent, window and threshold.
fn course(network: &mut Network, until: Time) -> Vec<(Time, u64, u32, u32)> {
    let mut course = Vec::new();
    network.run(until, |network, flow| {
        let it = &network.flows[flow];
        course.push((network.now, it.sent, it.sender.info().cwnd, it.sender.info().ssthresh));
    });
    course
}

fn seconds(seconds: u64) -> Time {
    Time::ZERO + Span::from_secs(seconds)
}

fn moments(law: &Reno, what: &str) -> Vec<Moment> {
    let all = law.moments.lock().expect("nobody panics");
    all.iter().filter(|(name, _)| *name == what).map(|(_, moment)| *moment).collect()
}

#[test]
fn reno_by_the_trait_is_reno_built_in() {
    let mut total = [0; 4];
    for (name, marked, sack) in
        [("losses", u64::MAX, true), ("marks", 12, true), ("no SACK", u64::MAX, false)]
    {
        let options = LinuxOptions { ecn: marked < u64::MAX, sack, ..options() };
        let path = Bottleneck { mark: marked, ..path() };
        let law = Reno::default();
        let lose = |network: &mut Network| {
            // A whole flight, and what is sent again of it at first: a time-out.
            let mut left = 2;
            network.loses = Box::new(move |_, seq, again| {
                let lost = (2_000..2_080).contains(&seq) && (!again || left > 0);
                left -= i32::from(lost && again);
                lost
            });
        };
        let [mut one, mut other] =
            [network(path.clone(), &options, None), network(path, &options, Some(&law))];
        lose(&mut one);
        lose(&mut other);
        let built_in = course(&mut one, seconds(20));
        assert_eq!(course(&mut other, seconds(20)), built_in, "{name}");
        let asked = ["ack", "loss", "mark", "timeout"].map(|what| moments(&law, what).len());
        assert!(built_in.len() > 1_000 && asked[0] > 50, "{name}: {asked:?}");
        assert_eq!(asked[2] == 0, marked == u64::MAX, "{name}: {asked:?}");
        (0..4).for_each(|what| total[what] += asked[what]);
    }
    assert!(total[1..].iter().all(|&asked| asked > 3), "{total:?}");
}

#[test]
fn an_event_tells_rates_marks_and_round_trips() {
    let law = Reno::default();
    let options = LinuxOptions { ecn: true, ..options() };
    // Marks above 30 segments; half of the segments in flight then still fills the path.
    let path = Bottleneck { queue: 400, mark: 30, ..path() };
    let mut network = network(path, &options, Some(&law));
    course(&mut network, seconds(10));
    let acks = moments(&law, "ack");
    // The delivery rate is at most the bottleneck's, and mostly equal to it: while the window
    // shrinks less is sent.
    let capacity = options.payload as f64 * 8.0 / 1.2e-3;
    let late = &acks[acks.len() / 2..];
    let mut full = 0;
    for moment in late {
        let rate = moment.delivery_rate.expect("known by now") / capacity;
        assert!((0.4..=1.05).contains(&rate), "{rate} of what there is");
        full += usize::from(rate > 0.95);
        assert!(!moment.app_limited && moment.payload == options.payload);
        assert!(moment.delivered + 1 >= moment.first && moment.marked <= 1);
    }
    assert!(full > late.len() * 2 / 3, "{full} of {}", late.len());
    let rounds: Vec<_> =
        late.iter().filter_map(|moment| moment.round.zip(moment.tallied)).collect();
    assert!(rounds.len() > 20);
    for (round, tallied) in &rounds {
        assert!((0.3..=1.0).contains(&round.base_over_rtt), "{round:?}");
        assert!(tallied.sent > 0 && tallied.acked > 0 && tallied.lost == 0);
        let rate = tallied.acked as f64 / tallied.span.as_secs_f64();
        assert!((0.4..=1.1).contains(&(rate * 1.2e-3)), "{tallied:?}");
    }
    let marks = moments(&law, "mark");
    assert!(!marks.is_empty() && moments(&law, "loss").is_empty(), "marks come before losses");
    for pair in marks.windows(2) {
        assert!(pair[0].marked == 1 && pair[1].delivered_marked > pair[0].delivered_marked);
        assert!(pair[1].now.since(pair[0].now) > Span::from_ms(30), "once a window");
    }
}

#[test]
fn a_pacing_rate_is_kept_to_the_nanosecond() {
    // 2 Mb/s where 10 are there: nothing queues.
    let law = Reno { rate: Some(2e6), ..Reno::default() };
    let mut network = network(path(), &options(), Some(&law));
    let course = course(&mut network, seconds(5));
    let mut left = Vec::new();
    let mut before = 0;
    for (now, sent, _, _) in course {
        assert!(sent - before <= 10, "the first ten are free");
        if sent > before && before > 20 {
            assert_eq!(sent - before, 1, "one at a time");
            left.push(now);
        }
        before = sent;
    }
    assert!(left.len() > 500);
    let gap = Span::from_ns(options().payload * 1_000_000_000 / 250_000);
    for pair in left.windows(2) {
        assert_eq!(pair[1].since(pair[0]), gap);
    }
}

#[test]
fn a_timer_fires_when_it_was_asked_for_and_sets_the_window() {
    let every = Span::from_ps(12_345_678_000);
    let law = Reno { every: Some(every), by_timer: Some(7.5), ..Reno::default() };
    let mut network = network(path(), &options(), Some(&law));
    let mut opened = None;
    network.run(seconds(2), |network, _| {
        opened.get_or_insert(network.now);
    });
    let timers = moments(&law, "timer");
    assert!(timers.len() > 150);
    for (index, moment) in timers.iter().enumerate() {
        assert_eq!(moment.now, opened.expect("open") + every.saturating_mul(index as u64 + 1));
        assert_eq!((moment.acked, moment.marked, moment.rtt), (0, 0, None));
    }
    // The fraction above whole segments is kept: from 7.5 an ACK leads to at least as much.
    assert_eq!(timers.last().map(|moment| moment.cwnd >= 7.5), Some(true));
    assert!(network.flows[0].sender.info().cwnd < 10);
}

#[test]
fn a_copy_goes_on_as_the_original() {
    let law = || Reno { rate: Some(5e6), every: Some(Span::from_ms(70)), ..Reno::default() };
    let mut original = network(path(), &options(), Some(&law()));
    let mut other = network(path(), &options(), Some(&law()));
    course(&mut original, seconds(1));
    course(&mut other, seconds(1));
    // From now on the original is not affected by its copy.
    let copy = other.flows[0].sender.clone();
    other.flows[0].sender = copy;
    let (expected, found) = (course(&mut original, seconds(4)), course(&mut other, seconds(4)));
    assert!(expected.len() > 1_000 && found == expected);
}
