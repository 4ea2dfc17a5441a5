//! Saturated cells against the model of Bianchi (2000), and residual loss against e^n.

mod air;

use air::{clear, saturate};
use burstlab_link::wlan::{Cell, Paths, Reach, Rules, Speed};
use burstlab_units::{Bytes, Probability, Span};

/// Results of `burstlab.analytic.wlan` for packets of 1,500 B: access, tries of a packet (0: until
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

#[test]
fn errors_of_bits_lose_long_frames_more_often() {
    // 1 - (1 - b)^8n of the frame, of 28 B more than the packet, and three tries.
    let bit: f64 = 3e-5;
    for size in [200_u64, 700, 1500] {
        let chance = Probability::new(bit).expect("a probability");
        let reach = Reach { data_bit_error: chance, ..Reach::clear() };
        let rules = Rules { short_retries: 1, ..Rules::default() };
        let cell = Cell::new(rules, Paths::new(2, |_, _| reach), [None; 2], 0.0);
        let counts = saturate(cell, 11, Bytes::new(size), Span::from_secs(60));
        let ended = counts[1].delivered + counts[1].retry_dropped;
        let expected = 1.0 - (1.0 - bit).powi(8 * (size as i32 + 28));
        let measured = counts[1].retry_dropped as f64 / ended as f64;
        let band = 3.3 * (expected * (1.0 - expected) / ended as f64).sqrt();
        assert!((measured - expected).abs() < band, "{size} B: {measured:.5}, not {expected:.5}");
    }
}

/// Throughput in Mb/s of each station of a saturated cell, as Bianchi (2000) has it where frames
/// take times of their own: all stations try alike, so that their shares are equal, and a collision
/// lasts as long as the longest frame in it. Windows double five times from 32; a packet is tried
/// seven times (Wu et al. 2002).
fn bianchi_of_rates(bytes: f64, frames_us: &[f64]) -> f64 {
    let (stations, tries) = (frames_us.len() as i32, 7);
    let attempts = |p: f64| {
        let windows = (0..tries).map(|i| 32.0 * f64::from(1 << i.min(5)) * p.powi(i));
        let slots = windows.sum::<f64>() / 2.0 - (0..tries).map(|i| p.powi(i) / 2.0).sum::<f64>();
        let sent: f64 = (0..tries).map(|i| p.powi(i)).sum();
        sent / (sent + slots)
    };
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..100 {
        let p = (low + high) / 2.0;
        let meets = 1.0 - (1.0 - attempts(p)).powi(stations - 1);
        (low, high) = if meets > p { (p, high) } else { (low, p) };
    }
    let tau = attempts(low);
    // SIFS, ACK and DIFS after a frame that was received, EIFS after one that was not.
    let (after, lost_after) = (10.0 + 304.0 + 50.0, 364.0);
    let mut sorted = frames_us.to_vec();
    sorted.sort_by(f64::total_cmp);
    let mut slot = 20.0 * (1.0 - tau).powi(stations);
    for (shorter, frame) in sorted.iter().enumerate() {
        let alone = tau * (1.0 - tau).powi(stations - 1);
        // It is sent, and none that is longer: alone, or with some that are shorter.
        let longest = tau * (1.0 - tau).powi(stations - 1 - shorter as i32);
        slot += alone * (frame + after) + (longest - alone) * (frame + lost_after);
    }
    tau * (1.0 - tau).powi(stations - 1) * bytes * 8.0 / slot
}

#[test]
fn one_slow_station_pulls_all_others_down_to_its_share() {
    // The performance anomaly of 802.11b (Heusse, Rousseau, Berger-Sabbatel and Duda, 2003).
    let measured = |speeds: &[Speed]| {
        let rules = Rules { stations: speeds.to_vec(), ..Rules::default() };
        let counts = saturate(clear(rules, speeds.len() as u32), 1, Bytes::new(1500), SPAN);
        let share = |one: &burstlab_link::wlan::Counts| {
            one.delivered as f64 * 12_000.0 / SPAN.as_secs_f64() / 1e6
        };
        counts[1..].iter().map(share).collect::<Vec<f64>>()
    };
    let frame = |speed: &Speed| match speed {
        Speed::Mb1 => 192.0 + 12_224.0,
        Speed::Mb2 => 192.0 + 6112.0,
        Speed::Mb5 => 192.0 + 2223.0,
        Speed::Mb11 => 192.0 + 1112.0,
    };
    let fast = [Speed::Mb11; 4];
    let alike = measured(&fast);
    for speeds in [
        fast,
        [Speed::Mb11, Speed::Mb11, Speed::Mb11, Speed::Mb1],
        [Speed::Mb11, Speed::Mb11, Speed::Mb5, Speed::Mb2],
    ] {
        let frames: Vec<f64> = speeds.iter().map(frame).collect();
        let model = bianchi_of_rates(1500.0, &frames);
        for (speed, share) in speeds.iter().zip(measured(&speeds)) {
            let off = share / model - 1.0;
            assert!(off.abs() < 0.05, "{speed:?} of {speeds:?}: {share:.4}, not {model:.4} Mb/s");
        }
    }
    let slowed = measured(&[Speed::Mb11, Speed::Mb11, Speed::Mb11, Speed::Mb1]);
    let slow = slowed[3];
    assert!(slowed[..3].iter().all(|one| (one / slow - 1.0).abs() < 0.15), "{slowed:?}");
    assert!(slowed[0] < alike[0] / 2.0, "{slowed:?} and without it {alike:?}");
}
