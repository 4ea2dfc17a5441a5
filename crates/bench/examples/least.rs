//! The least that a packet and its ACK cost a simulator that answers for each of them: one flow
//! over the path of `benches/compare/path.toml` and nothing else. No queue of events, no choice of
//! variants, no loss: when a packet is where, what the window, the estimator and the timer of its
//! sender make of its ACK, and the fingerprint of both. `docs/benchmarks.md` has its count.
//!
//! usage: least PACKETS

use std::hint::black_box;
use std::ops::Range;

const WINDOW: usize = 200;
const LEAST_RTO: u64 = 200_000_000_000;

/// A line: what a unit takes on it and the delay behind it, in ps, and when it is free.
struct Line {
    takes: u64,
    delay: u64,
    free_at: u64,
}

impl Line {
    fn new(takes: u64, delay: u64) -> Self {
        Self { takes: black_box(takes), delay: black_box(delay), free_at: 0 }
    }

    /// When `units` that are ready at `ready` have crossed.
    fn cross(&mut self, ready: u64, units: u64) -> u64 {
        self.free_at = ready.max(self.free_at) + self.takes * units;
        self.free_at + self.delay
    }
}

struct Flow {
    up: Line,
    fibre: Line,
    down: Line,
    ack_up: Line,
    ack_fibre: Line,
    ack_down: Line,
    /// When the ACK came that lets each packet of the next window go.
    heard: [u64; WINDOW],
    cwnd: f64,
    ssthresh: f64,
    window: f64,
    /// The segment that is timed, and when it was sent.
    timed: (u64, u64),
    srtt: u64,
    rttvar: u64,
    rto: u64,
    deadline: u64,
    timeouts: u64,
    digest: u64,
}

impl Flow {
    fn note(&mut self, now: u64, kind: u64, value: u64) {
        for word in [now, value ^ kind << 56] {
            self.digest = (self.digest ^ word).wrapping_mul(0xd6e8_feb8_6659_fd93);
            self.digest ^= self.digest >> 32;
        }
    }

    /// A packet is sent; returns when it is at its edge.
    fn send(&mut self, seq: u64) -> u64 {
        let sent = self.heard[seq as usize % WINDOW];
        self.note(sent, 1, seq);
        self.up.cross(sent, 1)
    }

    /// A burst that is closed at `closes` crosses; its packets are received and acknowledged.
    fn land(&mut self, closes: u64, packets: Range<u64>) {
        let landed = self.fibre.cross(closes, packets.end - packets.start);
        for seq in packets {
            let received = self.down.cross(landed, 1);
            let back = self.ack_up.cross(received, 1);
            let crossed = self.ack_fibre.cross(back, 1);
            let now = self.ack_down.cross(crossed, 1);
            self.hear(now, seq);
        }
    }

    fn hear(&mut self, now: u64, seq: u64) {
        self.note(now, 2, seq + 1);
        self.timeouts += u64::from(now > self.deadline);
        let grown =
            if self.cwnd < self.ssthresh { self.cwnd + 1.0 } else { self.cwnd + 1.0 / self.cwnd };
        self.cwnd = grown.min(self.window);
        if seq >= self.timed.0 {
            let sample = now - self.timed.1;
            let error = sample.abs_diff(self.srtt);
            self.srtt = self.srtt - self.srtt / 8 + sample / 8;
            self.rttvar = self.rttvar - self.rttvar / 4 + error / 4;
            self.rto = (self.srtt + 4 * self.rttvar).max(LEAST_RTO);
            self.timed = (seq + WINDOW as u64, now);
        }
        self.deadline = now + self.rto;
        self.heard[seq as usize % WINDOW] = now;
    }
}

fn main() {
    let packets: u64 = std::env::args().nth(1).and_then(|n| n.parse().ok()).unwrap_or(1_000_000);
    let mut flow = Flow {
        up: Line::new(80_000_000, 10_000_000_000),
        fibre: Line::new(800_000, 50_000_000_000),
        down: Line::new(80_000_000, 10_000_000_000),
        ack_up: Line::new(3_200_000, 10_000_000_000),
        ack_fibre: Line::new(32_000, 50_000_000_000),
        ack_down: Line::new(3_200_000, 10_000_000_000),
        heard: [0; WINDOW],
        cwnd: 1.0,
        ssthresh: black_box(100.0),
        window: black_box(WINDOW as f64),
        timed: (0, 0),
        srtt: 0,
        rttvar: 0,
        rto: 3_000_000_000_000,
        deadline: u64::MAX,
        timeouts: 0,
        digest: 0x9e37_79b9_7f4a_7c15,
    };
    let assembly = black_box(1_000_000_000);
    let (mut closes, mut first) = (0, 0);
    for seq in 0..packets {
        let at_edge = flow.send(seq);
        if at_edge >= closes {
            flow.land(closes, first..seq);
            (closes, first) = (at_edge + assembly, seq);
        }
    }
    black_box((flow.timeouts, flow.cwnd, flow.digest));
}
