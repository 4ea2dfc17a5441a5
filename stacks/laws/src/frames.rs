//! BBR of quinn-proto and BBRv3 of noq-proto with a seed are those of the stacks, but for what they
//! draw.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Instant;

use burstlab_seeded::Draws;

use crate::{PACKET, round_trips};

/// Milliseconds from a packet to its ACK, and packets in flight.
const AWAY: u64 = 50;

/// Two seconds of a packet a millisecond. `feed` gives each packet sent and acknowledged to a
/// control of the stack itself and to one with a seed, and returns their windows.
fn same(mut feed: impl FnMut(Instant, u64, Option<(Instant, u64)>) -> [u64; 2]) {
    let began = round_trips::began();
    let mut windows = BTreeSet::new();
    for ms in 1..2000 {
        let at = |ms| round_trips::at(began, 1000 * ms);
        let [own, seeded] = feed(at(ms), ms, ms.checked_sub(AWAY).map(|ms| (at(ms), ms)));
        assert_eq!(own, seeded, "after {ms} ms");
        windows.insert(own);
    }
    assert!(windows.len() > 2, "the window moves: {windows:?}");
}

#[test]
fn bbr_of_quinn_is_its_own() {
    use quinn_proto::congestion::{BbrConfig, ControllerFactory};

    let (began, size) = (round_trips::began(), PACKET as u16);
    let own = Arc::new(BbrConfig::default()).build(began, size);
    let mut both = [own, burstlab_quinn_bbr::build(Draws::new(1, true), began, size)];
    same(|now, number, acked| {
        both.each_mut().map(|law| {
            law.on_sent(now, PACKET, number);
            if let Some((sent, number)) = acked {
                let estimator = round_trips::quinn_estimator(AWAY);
                law.on_ack(now, sent, PACKET, false, estimator);
                law.on_end_acks(now, AWAY * PACKET, false, Some(number));
            }
            law.window()
        })
    });
}

#[test]
fn bbr3_of_noq_is_its_own() {
    use noq_proto::congestion::{Bbr3Config, ControllerFactory};

    let (began, size) = (round_trips::began(), PACKET as u16);
    let own = Arc::new(Bbr3Config::default()).build(began, size);
    let mut both = [own, burstlab_noq_bbr3::build(Draws::new(1, true), began, size)];
    same(|now, number, acked| {
        both.each_mut().map(|law| {
            law.on_packet_sent(now, size, number);
            law.on_sent(now, PACKET, number);
            if let Some((sent, number)) = acked {
                let estimator = round_trips::noq_estimator(AWAY);
                law.on_ack(now, sent, PACKET, number, false, estimator);
                law.on_end_acks(now, AWAY * PACKET, false, Some(number));
            }
            law.window()
        })
    });
}
