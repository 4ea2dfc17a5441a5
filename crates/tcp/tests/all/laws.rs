//! Textbook laws: what the papers and RFCs say that a window does in the long run.

use burstlab_tcp::{Congestion, LinuxOptions, SlowStart, Stage};
use burstlab_units::{Span, Time};

use crate::bottleneck::{Bottleneck, Network};

pub(crate) fn options(congestion: Congestion) -> LinuxOptions {
    LinuxOptions {
        congestion,
        timestamps: false,
        ecn: congestion == Congestion::Dctcp,
        send_buffer: (u64::MAX / 4, u64::MAX / 4),
        ..LinuxOptions::default()
    }
}

pub(crate) fn seconds(seconds: f64) -> Time {
    Time::from_ps((seconds * 1e12) as u64)
}

/// The mean window of a law that loses one segment in `each`, over `epochs` losses, after as many.
pub(crate) fn mean_window(congestion: Congestion, rtt: Span, each: u64, epochs: u64) -> f64 {
    let mut network = Network::new(Bottleneck::wide(rtt), &[options(congestion)], Span::ZERO);
    // The first loss comes early: slow start is not to end far above the law. The others are a
    // fifth more or less apart: a window of whole segments stands still about its last maximum, and
    // losses that come with a period shorter or longer than the curve's could leave it there.
    let (mut left, mut turn) = (600, 0);
    network.loses = Box::new(move |_, _, again| {
        left -= u64::from(!again);
        let loses = !again && left == 0;
        if loses {
            turn += 1;
            left = each * [100, 80, 120, 90, 110][turn % 5] / 100;
        }
        loses
    });
    let mut marks: Vec<(Time, u64)> = Vec::new();
    let ends = [epochs * each, 2 * epochs * each];
    while marks.len() < 2 {
        let until = network.now + Span::from_ms(100);
        network.run(until, |_, _| {});
        let delivered = network.flows[0].delivered;
        if delivered >= ends[marks.len()] {
            marks.push((network.now, delivered));
        }
    }
    let time = marks[1].0.since(marks[0].0).as_secs_f64();
    (marks[1].1 - marks[0].1) as f64 * rtt.as_secs_f64() / time
}

#[test]
fn cubic_has_the_response_function_of_its_rfc() {
    // RFC 9438 section 5.1, equation (6): 1.054 RTT^(3/4) / p^(3/4) segments, where the window is
    // above Reno's and the curve takes many round trips.
    let points = [(50, 30_000), (100, 10_000), (100, 30_000), (200, 10_000), (200, 20_000)];
    let mut ratios = Vec::new();
    for (rtt_ms, each) in points {
        let (rtt, p) = (Span::from_ms(rtt_ms), 1.0 / each as f64);
        let expected = 1.054 * (rtt.as_secs_f64() / p).powf(0.75);
        let ratio = mean_window(Congestion::Cubic, rtt, each, 12) / expected;
        // In whole segments the window stands still for some 1.4 s before its last maximum and
        // after it; where in this time the losses settle leaves a tenth open.
        assert!((ratio - 1.0).abs() < 0.1, "RTT {rtt}, p 1/{each}: {ratio}");
        ratios.push(ratio);
    }
    let mean = ratios.iter().sum::<f64>() / ratios.len() as f64;
    assert!((mean - 1.0).abs() < 0.05, "{ratios:?}");
}

#[test]
fn cubic_is_not_slower_than_reno_where_reno_is_faster() {
    // Short round trips and many losses: the Reno-friendly region, sqrt(3 / 2p) segments.
    let expected = (1.5_f64 * 5_000.0).sqrt();
    let found = mean_window(Congestion::Cubic, Span::from_ms(10), 5_000, 30);
    assert!((found / expected - 1.0).abs() < 0.10, "{found}, not {expected}");
}

#[test]
fn reno_has_the_square_root_law() {
    // Without delayed ACKs: sqrt(3 / 2p) (Mathis, Semke, Mahdavi and Ott 1997).
    let expected = (1.5_f64 * 2_000.0).sqrt();
    let found = mean_window(Congestion::Reno, Span::from_ms(50), 2_000, 40);
    assert!((found / expected - 1.0).abs() < 0.05, "{found}, not {expected}");
}

fn in_flight(sender: &burstlab_tcp::Linux) -> u32 {
    let [outstanding, sacked, lost, again, _] = sender.info().counts;
    outstanding + again - sacked - lost
}

#[test]
fn proportional_rate_reduction_sends_at_most_the_threshold() {
    // RFC 6937 section 3.1: over a recovery at most ssthresh segments leave while the flight that
    // had the loss is delivered.
    for (congestion, lost) in
        [(Congestion::Reno, 1), (Congestion::Cubic, 1), (Congestion::Cubic, 5)]
    {
        let path = Bottleneck::wide(Span::from_ms(100));
        let mut network = Network::new(path, &[options(congestion)], Span::ZERO);
        network.loses = Box::new(move |_, seq, again| !again && (100..100 + lost).contains(&seq));
        let (mut begun, mut after, mut last) = (None, None, 0);
        network.run(seconds(2.0), |network, _| {
            let flow = &network.flows[0];
            let repairs = flow.sender.info().stage == Stage::Recovery;
            if repairs && begun.is_none() {
                begun = Some((flow.sent, flow.sender.info().ssthresh));
            } else if !repairs && begun.is_some() && after.is_none() {
                after = Some((flow.sent, flow.sender.info().cwnd));
            }
            let (flight, ssthresh) = (in_flight(&flow.sender), flow.sender.info().ssthresh);
            assert!(!repairs || flight <= ssthresh.max(last) + 1, "{flight} in flight");
            last = flight;
        });
        let (from, ssthresh) = begun.expect("there was a loss");
        let (to, cwnd) = after.expect("it was repaired");
        let sent = to - from;
        let bound = u64::from(ssthresh) + 3 * lost;
        assert!(sent <= bound, "{congestion:?}, {lost} lost: {sent} sent, {ssthresh}");
        assert!(2 * sent >= u64::from(ssthresh), "{congestion:?}: {sent} sent, {ssthresh}");
        assert!(cwnd.abs_diff(ssthresh) <= 1, "{congestion:?}: {cwnd}, not {ssthresh}");
    }
}

/// Jain's index of what flows get of a bottleneck of 10 Mb/s and 40 ms from `from` s to `to` s.
fn fairness(options: &[LinuxOptions], queue: u64, mark: u64, (from, to): (f64, f64)) -> f64 {
    let path = Bottleneck {
        service: Span::from_us(1_200),
        delay: Span::from_ms(40),
        queue,
        mark,
        early: true,
    };
    let mut network = Network::new(path, options, Span::from_ms(700));
    network.run(seconds(from), |_, _| {});
    let before: Vec<u64> = network.flows.iter().map(|flow| flow.delivered).collect();
    network.run(seconds(to), |_, _| {});
    let got = network.flows.iter().zip(&before).map(|(flow, before)| flow.delivered - before);
    let got: Vec<f64> = got.map(|segments| segments as f64).collect();
    let used = got.iter().sum::<f64>() * 0.0012 / (to - from);
    assert!(used > 0.85, "the bottleneck is in use: {used}");
    let (sum, squares) = (got.iter().sum::<f64>(), got.iter().map(|x| x * x).sum::<f64>());
    sum * sum / (got.len() as f64 * squares)
}

#[test]
fn two_equal_flows_share_a_bottleneck() {
    for congestion in [Congestion::Reno, Congestion::Cubic, Congestion::Bbr, Congestion::Bbr3] {
        let mut two = [options(congestion), options(congestion)];
        two[1].bbr_phase = 3;
        let index = fairness(&two, 40, u64::MAX, (40.0, 240.0));
        assert!(index > 0.9, "{congestion:?}: {index}");
    }
    let two = [options(Congestion::Dctcp), options(Congestion::Dctcp)];
    let index = fairness(&two, 200, 10, (5.0, 30.0));
    assert!(index > 0.95, "DCTCP: {index}");
}

#[test]
fn hystart_plus_plus_ends_slow_start_before_the_queue_is_full() {
    let path = Bottleneck {
        service: Span::from_us(600),
        delay: Span::from_ms(50),
        queue: 1_000,
        mark: u64::MAX,
        early: false,
    };
    for congestion in [Congestion::Reno, Congestion::Cubic] {
        let mut lost = Vec::new();
        for slow_start in [SlowStart::Standard, SlowStart::HystartPlusPlus] {
            let options = LinuxOptions { slow_start, ..options(congestion) };
            let mut network = Network::new(path.clone(), &[options], Span::ZERO);
            network.run(seconds(3.0), |_, _| {});
            lost.push(network.flows[0].again);
        }
        assert!(lost[0] > 100 && lost[1] == 0, "{congestion:?}: {lost:?}");
    }
}

/// The queue lengths that the segments found in a queue that marks from `mark` on, and the shares
/// by which the flows reduced their windows at marks.
fn marked(flows: usize, mark: u64, service: Span) -> (Vec<u64>, Vec<f64>) {
    let path = Bottleneck { service, delay: Span::from_ms(4), queue: 1_000, mark, early: false };
    let all = vec![options(Congestion::Dctcp); flows];
    let mut network = Network::new(path, &all, Span::from_ms(5));
    network.run(seconds(2.0), |_, _| {});
    network.found = Some(Vec::new());
    let (mut cuts, mut before) = (Vec::new(), vec![(Stage::Open, 0); flows]);
    network.run(seconds(5.0), |network, flow| {
        let sender = &network.flows[flow].sender;
        let (stage, cwnd) = (sender.info().stage, sender.info().cwnd);
        if stage == Stage::Cwr && before[flow].0 == Stage::Open && before[flow].1 > 0 {
            cuts.push(1.0 - f64::from(sender.info().ssthresh) / f64::from(before[flow].1));
        }
        before[flow] = (stage, cwnd);
    });
    (network.found.take().expect("was asked for"), cuts)
}

#[test]
fn dctcp_keeps_the_queue_near_its_mark() {
    // Alizadeh et al. 2010, equation (8): the queue goes up to K + N segments, one a flow.
    for flows in [1, 2, 4] {
        let (found, _) = marked(flows, 20, Span::from_us(120));
        let largest = found.iter().max().copied().unwrap_or(0);
        let mean = found.iter().sum::<u64>() / found.len() as u64;
        assert!((20..=20 + 4 * flows as u64).contains(&largest), "{flows}: at most {largest}");
        assert!((10..=22).contains(&mean), "{flows}: on average {mean}");
    }
}

#[test]
fn alpha_of_dctcp_is_near_its_fixed_point() {
    // RFC 8257 section 3.3: alpha follows the share of marks, which is where it rests. Equation (6)
    // of Alizadeh et al. 2010, alpha^2 (1 - alpha/4) = (2 W + 1) / (W + 1)^2, W = C RTT + K, has
    // the window cut once for each time the queue is above K. Marks that are in flight when the cut
    // takes effect make a second one. So alpha is between half of that value and that value.
    let (mark, service) = (65, Span::from_us(12));
    let (found, cuts) = marked(1, mark, service);
    let marks = found.iter().filter(|&&found| found > mark).count();
    let share = marks as f64 / found.len() as f64;
    assert!(cuts.len() > 20, "{}", cuts.len());
    // A window of whole segments shrinks by whole segments, half a one less on average.
    let window: f64 = 4_000.0 / 12.0 + mark as f64;
    let alpha = 2.0 * (cuts.iter().sum::<f64>() / cuts.len() as f64 + 0.5 / window);
    // When a cut begins alpha has not risen yet for it, and fell by 1/16 a round trip before.
    assert!((0.5..1.1).contains(&(alpha / share)), "alpha {alpha}, of all marked {share}");
    let right = (2.0 * window + 1.0) / ((window + 1.0) * (window + 1.0));
    let mut paper = right.sqrt();
    for _ in 0..20 {
        paper = (right / (1.0 - paper / 4.0)).sqrt();
    }
    assert!((0.45..1.1).contains(&(alpha / paper)), "alpha {alpha}, equation (6): {paper}");
}

/// The gain of a sender that paces, in thousandths of the bottleneck's rate, and how long it had
/// each, in s.
fn gains(options: &LinuxOptions, path: &Bottleneck, until: f64) -> Vec<(u64, f64)> {
    let rate = 1448.0 / path.service.as_secs_f64();
    let mut network = Network::new(path.clone(), std::slice::from_ref(options), Span::ZERO);
    let mut gains: Vec<(u64, f64)> = Vec::new();
    let mut last = Time::ZERO;
    network.run(seconds(until), |network, flow| {
        let pacing = network.flows[flow].sender.info().pacing_rate;
        let gain = (pacing as f64 / rate / 0.99 * 20.0).round() as u64 * 50;
        let time = network.now.since(last).as_secs_f64();
        last = network.now;
        match gains.last_mut() {
            Some((same, total)) if *same == gain => *total += time,
            _ => gains.push((gain, time)),
        }
    });
    gains
}

fn slow_path() -> Bottleneck {
    Bottleneck {
        service: Span::from_us(600),
        delay: Span::from_ms(40),
        queue: 1_000,
        mark: u64::MAX,
        early: false,
    }
}

#[test]
fn the_gain_cycle_of_bbr_has_its_eight_phases() {
    // Cardwell et al. 2016: 5/4, 3/4, then six round trips at 1.
    let gains = gains(&options(Congestion::Bbr), &slow_path(), 8.0);
    let steady: Vec<&(u64, f64)> = gains.iter().filter(|(_, time)| *time > 0.004).collect();
    let cycles = steady.windows(4).filter(|four| {
        let names: Vec<u64> = four.iter().map(|one| one.0).collect();
        names == [1_000, 1_250, 750, 1_000]
    });
    let cycles: Vec<_> = cycles.collect();
    assert!(cycles.len() > 12, "{steady:?}");
    for four in cycles.iter().skip(1).take(10) {
        let (up, down, level) = (four[1].1, four[2].1, four[3].1);
        assert!((0.035..0.07).contains(&up) && (0.005..0.06).contains(&down), "{four:?}");
        assert!((0.2..0.32).contains(&level), "{four:?}");
    }
}

#[test]
fn the_states_of_bbr3_have_the_gains_of_the_draft() {
    // draft-ietf-ccwg-bbr-06: Startup 2.77, Drain 0.5, then DOWN 0.90, CRUISE 1, REFILL 1, UP 1.25;
    // a probe after 2 to 3 s or as often as Reno would lose a segment; ProbeRTT after 5 s.
    let path = slow_path();
    let gains = gains(&options(Congestion::Bbr3), &path, 20.0);
    let seen = |gain: u64| gains.iter().filter(|one| one.0 == gain).map(|one| one.1).sum::<f64>();
    assert!(seen(500) > 0.01 && seen(500) < 0.3, "Drain: {gains:?}");
    assert!(gains.iter().any(|&(gain, _)| gain >= 2_000), "Startup: {gains:?}");
    let up = gains.iter().filter(|&&(gain, time)| gain == 1_250 && time > 0.03).count();
    let down = gains.iter().filter(|&&(gain, time)| gain == 900 && time > 0.005).count();
    assert!((3..=8).contains(&up) && down >= up - 1, "{up} up, {down} down: {gains:?}");
    assert!(seen(1_000) > 14.0, "Cruise: {gains:?}");
}

#[test]
fn bbr3_measures_the_bottleneck_and_keeps_losses_below_two_percent() {
    // A queue of half a bandwidth-delay product: what a probe sends too much is lost, and bounds
    // what may be in flight.
    let path = Bottleneck { queue: 33, ..slow_path() };
    let mut network = Network::new(path, &[options(Congestion::Bbr3)], Span::ZERO);
    network.run(seconds(4.0), |_, _| {});
    let (sent, again) = (network.flows[0].sent, network.flows[0].again);
    let delivered = network.flows[0].delivered;
    network.run(seconds(34.0), |_, _| {});
    let flow = &network.flows[0];
    let share = (flow.again - again) as f64 / (flow.sent - sent) as f64;
    assert!(share < 0.02, "{share} sent again");
    let used = (flow.delivered - delivered) as f64 * 0.0006 / 30.0;
    assert!(used > 0.85, "{used} of the bottleneck");
}
