//! Saturation throughput against Bianchi's model.

mod air;

use burstlab_link::wlan::Rules;
use burstlab_units::{Bytes, Span};

fn model(n: u32, rts: bool, eifs: bool) -> (f64, f64) {
    let (w, m, k) = (32.0f64, 5i32, 6i32);
    let tau = |p: f64| {
        // Wu et al.: stages 0..=k, windows doubling up to stage m.
        let mut num = 0.0;
        let mut den = 0.0;
        for i in 0..=k {
            let win = w * 2f64.powi(i.min(m));
            num += p.powi(i);
            den += p.powi(i) * ((win - 1.0) / 2.0 + 1.0);
        }
        num / den
    };
    let (mut lo, mut hi) = (0.0, 1.0);
    for _ in 0..200 {
        let p = (lo + hi) / 2.0;
        if 1.0 - (1.0 - tau(p)).powi(n as i32 - 1) > p { lo = p } else { hi = p }
    }
    let p = (lo + hi) / 2.0;
    let t = tau(p);
    let ptr = 1.0 - (1.0 - t).powi(n as i32);
    let ps = n as f64 * t * (1.0 - t).powi(n as i32 - 1) / ptr;
    let (slot, sifs, difs) = (20.0, 10.0, 50.0);
    let (data, ack, rtsd) = (192.0 + 1112.0, 304.0, 352.0);
    let after = if eifs { 364.0 } else { difs };
    let (ts, tc) = if rts {
        (rtsd + sifs + 304.0 + sifs + data + sifs + ack + difs, rtsd + after)
    } else {
        (data + sifs + ack + difs, data + after)
    };
    let s = ps * ptr * 12000.0 / ((1.0 - ptr) * slot + ptr * ps * ts + ptr * (1.0 - ps) * tc);
    (s, p)
}

#[test]
fn table() {
    for rts in [false, true] {
        for n in [1, 2, 3, 5, 10, 15, 20] {
            let rules = Rules { rts_threshold: rts.then_some(Bytes::new(100)), ..Rules::default() };
            let counts =
                air::saturate(air::clear(rules, n), 1, Bytes::new(1500), Span::from_secs(100));
            let delivered: u64 = counts.iter().map(|c| c.delivered).sum();
            let s = delivered as f64 * 12000.0 / 100e6;
            let frames: u64 =
                counts.iter().map(|c| if rts { c.rts_frames } else { c.data_frames }).sum();
            let coll: u64 = counts.iter().map(|c| c.collisions).sum();
            let (m, p) = model(n, rts, true);
            let (m2, _) = model(n, rts, false);
            println!(
                "{rts} {n} sim {s:.4} eifs {m:.4} ({:+.2}%) difs {m2:.4} ({:+.2}%) p {:.4} model {p:.4}",
                (s / m - 1.0) * 100.0,
                (s / m2 - 1.0) * 100.0,
                coll as f64 / frames as f64
            );
        }
    }
}
