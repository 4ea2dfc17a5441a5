//! Patience with reordered segments (RFC 4653): when a sender repairs, and what it does until then.

use burstlab_tcp::{Ack, Config, Ncr, Overrides, SackBlocks, Sender, Transmission, Variant};
use burstlab_units::{Bytes, Span, Time};

struct Script {
    sender: Sender,
    now: Time,
}

impl Script {
    /// A sender with 30 segments in flight, from 1 on.
    fn new(ncr: Ncr) -> Self {
        let given = Overrides {
            variant: Some(Variant::Sack),
            initial_window: Some(30),
            window: Some(200),
            initial_ssthresh: Some(30),
            ncr: Some(ncr),
            ..Overrides::default()
        };
        let sender = Sender::new(&Config::resolve(&given).expect("is valid"));
        let mut script = Self { sender, now: Time::ZERO };
        let mut out = Vec::new();
        script.sender.supply(Time::ZERO, u64::MAX - 1, &mut out);
        script.sender.start(Time::ZERO, &mut out);
        assert_eq!(script.ack(1, None), (1..31).collect::<Vec<_>>());
        script
    }

    /// An ACK comes a millisecond later: returns the segments that it releases.
    fn ack(&mut self, next: u64, block: Option<(u64, u64)>) -> Vec<u64> {
        self.now += Span::from_ms(1);
        let mut sack = SackBlocks::NONE;
        block.into_iter().for_each(|(left, right)| sack.push(left, right));
        let mut out: Vec<Transmission> = Vec::new();
        self.sender.on_ack(self.now, &Ack { next, sack, size: Bytes::new(40) }, &mut out);
        out.iter().map(|sent| sent.seq).collect()
    }

    /// Segment 1 is missing, and `count` behind it arrive: returns the segments that each ACK
    /// releases.
    fn duplicates(&mut self, count: u64) -> Vec<Vec<u64>> {
        (0..count).map(|index| self.ack(1, Some((2, 3 + index)))).collect()
    }

    /// The duplicate ACK that makes it send segment 1 again.
    fn repairs_at(&mut self) -> Option<usize> {
        self.duplicates(50).iter().position(|sent| sent.contains(&1)).map(|index| index + 1)
    }
}

#[test]
fn a_loss_is_repaired_after_a_flight_of_duplicate_acks() {
    assert_eq!(Script::new(Ncr::Off).repairs_at(), Some(3));
    // The n-th is the first with n of at least half of 30 + (n - 1) segments, or two thirds of
    // 30 + (n - 1) / 2.
    assert_eq!(Script::new(Ncr::Aggressive).repairs_at(), Some(29));
    assert_eq!(Script::new(Ncr::Careful).repairs_at(), Some(30));
}

#[test]
fn each_duplicate_ack_releases_a_segment_or_every_other() {
    let sent = Script::new(Ncr::Aggressive).duplicates(6).concat();
    assert_eq!(sent, (31..37).collect::<Vec<_>>());
    let sent = Script::new(Ncr::Careful).duplicates(6);
    assert_eq!(sent, [vec![], vec![31], vec![], vec![32], vec![], vec![33]]);
}

#[test]
fn reordered_segments_cost_no_window_and_are_not_sent_again() {
    // A segment more than is in flight, 22 to 50 or to 40, and slow start up to the former flight.
    for (ncr, cwnd, next) in [(Ncr::Aggressive, 30.0, 51), (Ncr::Careful, 20.0, 41)] {
        let mut script = Script::new(ncr);
        script.duplicates(20);
        assert_eq!(script.ack(22, None), [next], "{ncr:?}: no burst");
        assert_eq!((script.sender.cwnd(), script.sender.ssthresh()), (cwnd, 30.0), "{ncr:?}");
        assert_eq!(script.sender.counters().retransmissions, 0, "{ncr:?}");
        assert_eq!(script.sender.reductions().all, 0, "{ncr:?}");
    }
    // Without patience it repairs, and halves the window.
    let mut script = Script::new(Ncr::Off);
    script.duplicates(20);
    script.ack(22, None);
    assert!(script.sender.cwnd() < 30.0 && script.sender.counters().retransmissions > 0);
}

#[test]
fn a_repair_halves_the_flight_before_the_first_duplicate_ack() {
    for ncr in [Ncr::Aggressive, Ncr::Careful] {
        let mut script = Script::new(ncr);
        script.repairs_at().expect("it repairs");
        assert_eq!(script.sender.ssthresh(), 15.0, "{ncr:?}");
    }
}
