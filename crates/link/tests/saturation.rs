//! Saturated cells against the model of Bianchi (2000), and residual loss against e^n.

mod air;

use air::{clear, saturate};
use burstlab_link::wlan::{Cell, Paths, Reach, Rules};
use burstlab_units::{Bytes, Probability, Span};

/// What `burstlab.analytic.wlan` says of packets of 1,500 B: access, tries of a packet (0: until
/// it succeeds), stations, throughput in Mb/s, collision probability.
const MODEL: &str = include_str!("bianchi.csv");

/// Long enough for 0.5 % at 95 %.
const SPAN: Span = Span::from_secs(30);

#[test]
fn saturation_throughput_is_that_of_bianchi() {
    let mut worst = 0.0_f64;
    for line in MODEL.lines().skip(1) {
        let columns: Vec<&str> = line.split(',').collect();
        let [access, tries, stations, throughput, collision] = columns[..] else {
            panic!("five columns: {line}");
        };
        let number = |text: &str| text.parse::<f64>().expect("a number");
        let limit = if tries == "0" { u32::MAX } else { number(tries) as u32 };
        let rules = Rules {
            rts_threshold: (access == "rts").then_some(Bytes::new(100)),
            short_retries: limit,
            long_retries: limit,
            ..Rules::default()
        };
        let cell = clear(rules, number(stations) as u32);
        let counts = saturate(cell, 1, Bytes::new(1500), SPAN);
        let delivered: u64 = counts.iter().map(|one| one.delivered).sum();
        let measured = delivered as f64 * 12_000.0 / SPAN.as_secs_f64() / 1e6;
        let off = measured / number(throughput) - 1.0;
        let first = |one: &burstlab_link::wlan::Counts| match access {
            "rts" => one.rts_frames,
            _ => one.data_frames,
        };
        let tried: u64 = counts.iter().map(first).sum();
        let met: u64 = counts.iter().map(|one| one.collisions).sum();
        let share = met as f64 / tried as f64;
        assert!(off.abs() < 0.03, "{line}: {measured:.4} Mb/s");
        assert!((share - number(collision)).abs() < 0.015, "{line}: p = {share:.4}");
        worst = worst.max(off.abs());
    }
    assert!(worst < 0.015, "the page says so: {worst}");
}

#[test]
fn residual_loss_is_the_error_to_the_power_of_the_limit() {
    for (error, tries) in [(0.1, 2), (0.3, 3), (0.5, 7), (0.8, 7), (0.6, 1)] {
        let chance = Probability::new(error).expect("a probability");
        for control_error in [Probability::default(), chance] {
            let reach = Reach { data_error: chance, control_error, ..Reach::clear() };
            let rules = Rules { short_retries: tries, ..Rules::default() };
            let cell = Cell::new(rules, Paths::new(2, |_, _| reach), [None; 2], 0.0);
            let counts = saturate(cell, 7, Bytes::new(1500), Span::from_secs(100));
            let ended = counts[1].delivered + counts[1].retry_dropped;
            let expected = error.powi(tries as i32);
            let measured = counts[1].retry_dropped as f64 / ended as f64;
            // 99.9 %: this is one of ten.
            let band = 3.3 * (expected * (1.0 - expected) / ended as f64).sqrt();
            assert!(
                (measured - expected).abs() < band,
                "e = {error}, {tries} tries: {measured:.5}, not {expected:.5} +- {band:.5}"
            );
        }
    }
}

#[test]
fn an_rts_and_its_frame_have_limits_of_their_own() {
    // `burstlab.analytic.wlan.residual_loss_rts`, with 4 tries of a frame and 7 of an RTS.
    for (error, expected) in [(0.3, 0.02048), (0.5, 0.26247)] {
        let chance = Probability::new(error).expect("a probability");
        let reach = Reach { data_error: chance, control_error: chance, ..Reach::clear() };
        let rules = Rules { rts_threshold: Some(Bytes::new(0)), ..Rules::default() };
        let cell = Cell::new(rules, Paths::new(2, |_, _| reach), [None; 2], 0.0);
        let counts = saturate(cell, 9, Bytes::new(1500), Span::from_secs(300));
        let ended = counts[1].delivered + counts[1].retry_dropped;
        let measured = counts[1].retry_dropped as f64 / ended as f64;
        let band = 3.3 * (expected * (1.0 - expected) / ended as f64).sqrt();
        assert!((measured - expected).abs() < band, "e = {error}: {measured:.5} +- {band:.5}");
    }
}

#[test]
fn stations_that_do_not_hear_each_other_meet_and_an_rts_helps() {
    let throughput = |rts: bool, hidden: bool| {
        let rules = Rules { rts_threshold: rts.then_some(Bytes::new(100)), ..Rules::default() };
        let paths = Paths::new(4, |from, to| {
            if hidden && from > 0 && to > 0 { Reach::hidden() } else { Reach::clear() }
        });
        let cell = Cell::new(rules, paths, [None; 2], 0.0);
        let counts = saturate(cell, 5, Bytes::new(1500), SPAN);
        counts.iter().map(|one| one.delivered).sum::<u64>()
    };
    assert!(throughput(false, true) < throughput(false, false) / 2, "frames meet at the base");
    assert!(throughput(true, true) > throughput(false, true) * 5 / 4, "the CTS is heard by all");
    assert!(throughput(true, true) < throughput(true, false));
}

#[test]
fn packets_that_the_control_experiment_loses_take_no_time() {
    let rules = Rules::default();
    let paths = Paths::new(2, |_, _| Reach::clear());
    let lossless = saturate(clear(rules.clone(), 1), 3, Bytes::new(1500), SPAN);
    let counts = saturate(Cell::new(rules, paths, [None; 2], 0.1), 3, Bytes::new(1500), SPAN);
    let (one, ended) = (&counts[1], counts[1].delivered + counts[1].residual_lost);
    assert_eq!(one.data_frames, lossless[1].data_frames, "each packet is tried once");
    let measured = one.residual_lost as f64 / ended as f64;
    assert!((measured - 0.1).abs() < 3.3 * (0.09 / ended as f64).sqrt(), "{measured}");
}
