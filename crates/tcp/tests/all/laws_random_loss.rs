//! Laws for fast or lossy paths: the windows that their papers give for random losses.

use burstlab_tcp::Congestion::{self, Highspeed, Htcp, Illinois, Reno, Scalable, Veno, Westwood};
use burstlab_units::Span;

use crate::bottleneck::{Bottleneck, Network};
use crate::laws::{mean_window, options, seconds};

/// The mean window of a law that grows by `a` segments a round trip and loses the share `b` of it
/// at every loss, one segment in `each`. A cycle has b w / a round trips of w (1 - b/2) segments
/// each, and one of w (1 - b) in which the loss is repaired and the window does not grow.
fn aimd(a: f64, b: f64, each: u64) -> f64 {
    let (square, linear, each) = (b / a * (1.0 - b / 2.0), 1.0 - b, each as f64);
    let most = ((linear * linear + 4.0 * square * each).sqrt() - linear) / (2.0 * square);
    each / (b * most / a + 1.0)
}

fn check(congestion: Congestion, each: u64, expected: f64, within: f64) {
    let found = mean_window(congestion, Span::from_ms(50), each, 30);
    assert!((found / expected - 1.0).abs() < within, "{congestion:?}: {found}, not {expected}");
}

#[test]
fn scalable_has_a_window_in_inverse_proportion_to_the_losses() {
    // Kelly 2003: a segment for each 100 ACKs, an eighth at a loss. So w/8 of the largest window w
    // takes 12.5 w ACKs, and the repair 7/8 w; the mean of an exponential growth over time is
    // (1/8) / ln(8/7) of w.
    for each in [2_000, 4_000] {
        let most = each as f64 / (12.5 + 0.875);
        check(Scalable, each, most * 0.125 / (8.0_f64 / 7.0).ln(), 0.03);
    }
}

#[test]
fn high_speed_has_the_response_function_of_its_rfc() {
    // RFC 3649 section 5: W = 0.12 / p^0.835. Between two rows of its table Linux grows as in the
    // larger one, which makes windows a tenth larger. Below 38 segments it is Reno.
    for each in [10_000, 30_000] {
        check(Highspeed, each, 1.1 * 0.12 * (each as f64).powf(0.835), 0.06);
    }
    check(Highspeed, 300, aimd(1.0, 0.5, 300), 0.08);
}

#[test]
fn veno_takes_a_fifth_where_nothing_is_queued() {
    check(Veno, 2_000, aimd(1.0, 0.2, 2_000), 0.05);
}

#[test]
fn illinois_grows_by_ten_and_takes_an_eighth_where_nothing_is_queued() {
    // The ACK that ends a repair acknowledges a whole window, by which Illinois grows in Linux. So
    // there is no round trip without growth: sqrt(a (2 - b) / 2 b p).
    check(Illinois, 2_000, (10.0_f64 * 1.875 / 0.25 * 2_000.0).sqrt(), 0.03);
}

/// The windows before and right after a loss of a flow over a bottleneck of 10 Mb/s and 40 ms. Its
/// queue never overflows. An early loss ends slow start; the loss meant comes at segment 4,000.
fn left(congestion: Congestion) -> (u32, u32) {
    let path = Bottleneck {
        service: Span::from_us(1_200),
        delay: Span::from_ms(40),
        queue: u64::MAX,
        mark: u64::MAX,
        early: false,
    };
    let mut network = Network::new(path, &[options(congestion)], Span::ZERO);
    network.loses = Box::new(move |_, lost, again| !again && [100, 4_000].contains(&lost));
    let (mut before, mut after) = (0, None);
    network.run(seconds(8.0), |network, _| {
        let info = network.flows[0].sender.info();
        match info.stage {
            burstlab_tcp::Stage::Open if network.flows[0].again < 2 => before = info.cwnd,
            burstlab_tcp::Stage::Open => after = after.or(Some(info.cwnd)),
            _ => {}
        }
    });
    (before, after.expect("the loss was repaired"))
}

#[test]
fn westwood_goes_back_to_the_product_of_bandwidth_and_shortest_round_trip() {
    // 41.2 ms / 1.2 ms = 34 segments, whatever the window was (Grieco and Mascolo 2004).
    let (before, after) = left(Westwood);
    assert!(before > 60 && (31..=38).contains(&after), "{before} to {after}");
    let (before, after) = left(Reno);
    assert!(before > 60 && after.abs_diff(before / 2) < 12, "Reno: {before} to {after}");
}

#[test]
fn veno_and_illinois_take_about_half_where_much_is_queued() {
    for congestion in [Veno, Illinois] {
        let (before, after) = left(congestion);
        let share = f64::from(after) / f64::from(before);
        assert!(before > 60, "{congestion:?}: {before}");
        assert!((0.45..0.6).contains(&share), "{congestion:?}: {before} to {after}");
    }
}

#[test]
fn h_tcp_grows_faster_the_longer_ago_the_last_loss() {
    // Shorten and Leith 2004: alpha = 2 (1 - beta) (1 + 10 (t - 1) + ((t - 1) / 2)^2) for a round
    // trip of 100 ms, t s after the last loss, and 1 for the first second.
    let path = Bottleneck::wide(Span::from_ms(100));
    let mut network = Network::new(path, &[options(Htcp)], Span::ZERO);
    network.loses = Box::new(|_, seq, again| !again && seq == 500);
    let mut windows = Vec::new();
    network.run(seconds(7.0), |network, _| {
        let info = network.flows[0].sender.info();
        if info.stage == burstlab_tcp::Stage::Open && network.flows[0].again > 0 {
            windows.push((network.now.as_ps() as f64 * 1e-12, f64::from(info.cwnd)));
        }
    });
    let begun = windows[0].0;
    let at = |time: f64| {
        let found = windows.iter().find(|(at, _)| *at >= begun + time);
        found.expect("the run goes on").1
    };
    // Ten round trips a second; the loss ended some round trip before the first window here.
    let (first, fourth) = (at(0.7) - at(0.1), at(4.1) - at(3.9));
    assert!((4.0..=8.0).contains(&first), "{first} in 0.6 s");
    let alpha = |t: f64| 1.0 + 10.0 * (t - 1.0) + ((t - 1.0) / 2.0).powi(2);
    let expected = 2.0 * alpha(4.05);
    assert!((fourth / expected - 1.0).abs() < 0.15, "{fourth}, not {expected}");
}
