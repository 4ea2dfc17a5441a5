//! Time per ACK: a sender with a full window, its receiver, and no network between them.

use burstlab_tcp::{Config, Overrides, Profile, Receiver, Sender, Transmission, Variant};
use burstlab_units::{Span, Time};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};

/// ACKs in a sample, so that the time of one can be read off.
const ACKS: u64 = 100_000;

/// Two endpoints that exchange a window a round trip; every `loss_every`-th segment is lost.
struct Connection {
    sender: Sender,
    receiver: Receiver,
    now: Time,
    flying: Vec<Transmission>,
    sending: Vec<Transmission>,
    sent: u64,
    loss_every: u64,
}

impl Connection {
    fn new(config: &Config, loss_every: u64) -> Self {
        let (mut sender, mut sending) = (Sender::new(config), Vec::new());
        sender.supply(Time::ZERO, u64::MAX, &mut sending);
        sender.start(Time::ZERO, &mut sending);
        let receiver = Receiver::new(config);
        let (now, flying) = (Time::ZERO, Vec::new());
        Self { sender, receiver, now, flying, sending, sent: 0, loss_every }
    }

    /// One round trip; returns how many ACKs there were.
    fn round(&mut self) -> u64 {
        self.now += Span::from_ms(100);
        std::mem::swap(&mut self.flying, &mut self.sending);
        self.sending.clear();
        let mut acks = 0;
        for segment in &self.flying {
            self.sent += 1;
            if self.sent.is_multiple_of(self.loss_every) {
                continue;
            }
            if let Some(ack) = self.receiver.on_segment(self.now, segment.seq) {
                acks += 1;
                self.sender.on_ack(self.now, &ack, &mut self.sending);
            }
        }
        if self.sending.is_empty() {
            self.now = self.sender.poll_timeout().map_or(self.now, |due| due.max(self.now));
            self.sender.on_timeout(self.now, &mut self.sending);
        }
        acks
    }
}

fn endpoints(criterion: &mut Criterion) {
    let variants =
        [("reno", Variant::Reno), ("new-reno", Variant::NewReno), ("sack", Variant::Sack)];
    let mut group = criterion.benchmark_group("both endpoints, per ACK");

    group.throughput(Throughput::Elements(ACKS)).sample_size(10);
    for (name, variant) in variants {
        for (window, loss_every) in [(64, u64::MAX), (64, 500), (4096, u64::MAX), (4096, 20_000)] {
            let overrides = Overrides {
                variant: Some(variant),
                profile: Some(Profile::Ns2),
                window: Some(window),
                ..Overrides::default()
            };
            let config = Config::resolve(&overrides).expect("is valid");
            let losses = if loss_every == u64::MAX {
                "none lost".into()
            } else {
                format!("1 in {loss_every} lost")
            };
            let id = BenchmarkId::new(name, format!("window {window}, {losses}"));
            group.bench_function(id, |bencher| {
                bencher.iter(|| {
                    let mut connection = Connection::new(&config, loss_every);
                    let mut acks = 0;
                    while acks < ACKS {
                        acks += connection.round();
                    }
                });
            });
        }
    }
    group.finish();
}

criterion_group!(benches, endpoints);
criterion_main!(benches);
