//! Streams of ACKs and losses: what a sender by the letter of RFC 9438 sees over a path with a
//! queue that drops what is too much, and with losses of its family besides.

use std::collections::VecDeque;

use crate::{Acked, Law, Letter, Lost};

/// An event of a connection, and when it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Event {
    Sent { now: u64, number: u64, in_flight: u64 },
    Acked { now: u64, acked: Acked },
    Lost { now: u64, lost: Lost },
    Spurious { now: u64 },
}

impl Event {
    /// When it is.
    #[must_use]
    pub fn now(&self) -> u64 {
        match *self {
            Self::Sent { now, .. }
            | Self::Acked { now, .. }
            | Self::Lost { now, .. }
            | Self::Spurious { now } => now,
        }
    }

    /// Tells a law of it.
    pub fn tell(&self, law: &mut dyn Law) {
        match self {
            Self::Sent { now, number, in_flight } => law.on_sent(*now, *number, *in_flight),
            Self::Acked { now, acked } => law.on_ack(*now, acked),
            Self::Lost { now, lost } => law.on_loss(*now, lost),
            Self::Spurious { now } => law.on_spurious(*now),
        }
    }
}

/// Events of a stream in addition to the drops of the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Family {
    /// Single losses.
    Single,
    /// Losses of up to six tenths of a window.
    Bursts,
    /// Single losses, and spells in which the application limits the sender, or has nothing.
    Limited,
    /// Single losses, and outages that are persistent congestion.
    Outages,
    /// Single losses, half of which were none.
    Spurious,
}

impl Family {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::Single, Self::Bursts, Self::Limited, Self::Outages, Self::Spurious];

    /// Its name in tables.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Single => "single",
            Self::Bursts => "bursts",
            Self::Limited => "limited",
            Self::Outages => "outages",
            Self::Spurious => "spurious",
        }
    }
}

/// Where the sender by the letter stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Phase {
    SlowStart,
    Repair,
    /// Congestion avoidance along Reno's window, or along the curve.
    Friendly,
    Curve,
    /// The application limits it.
    Limited,
}

/// A stream.
#[derive(Clone, Debug)]
pub struct Stream {
    /// The family that it belongs to.
    pub family: Family,
    /// The round trip without a queue, in microseconds.
    pub rtt: u64,
    /// Its events, in order, with where the sender by the letter stands after each.
    pub events: Vec<(Event, Phase)>,
    /// When the first loss was noticed.
    pub first_loss: Option<u64>,
}

/// SplitMix64 (Steele, Lea and Flood 2014).
struct Chance(u64);

impl Chance {
    fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn between(&mut self, least: f64, most: f64) -> f64 {
        least + (most - least) * self.unit()
    }

    /// Evenly in the logarithm.
    fn scale(&mut self, least: f64, most: f64) -> f64 {
        least * (most / least).powf(self.unit())
    }

    fn after(&mut self, mean: f64) -> f64 {
        -mean * (1.0 - self.unit()).ln()
    }
}

/// A packet in flight.
struct Flying {
    number: u64,
    sent: u64,
    /// When its ACK comes.
    back: u64,
    lost: bool,
    /// It comes late, and was taken for lost.
    late: bool,
}

/// A time in which something is so.
#[derive(Clone, Copy)]
struct Spell {
    from: u64,
    to: u64,
    /// The part of the window that the application has data for.
    share: f64,
}

struct Maker {
    chance: Chance,
    family: Family,
    rtt: u64,
    service: u64,
    queue: u64,
    until: u64,
    now: u64,
    free: u64,
    flying: VecDeque<Flying>,
    next: u64,
    letter: Letter,
    smoothed: f64,
    repair: u64,
    /// Mean time between losses, when the next one is due, and packets that it still takes.
    between: f64,
    due: u64,
    left: u64,
    spells: Vec<Spell>,
    outages: Vec<Spell>,
    /// When what was taken for lost arrives.
    arrives: Option<(u64, Flying)>,
    events: Vec<(Event, Phase)>,
    first_loss: Option<u64>,
}

/// Packets above a missing one that tell that it is lost (RFC 9002 section 6.1.1).
const REORDERING: u64 = 3;
/// Most of a stream, in time and in round trips.
const LENGTH: (u64, u64) = (20_000_000, 200);

impl Stream {
    /// The stream of this number: the same one each time.
    #[must_use]
    pub fn new(number: u64) -> Self {
        let family = Family::ALL[number as usize % Family::ALL.len()];
        let mut maker = Maker::new(family, Chance(number.wrapping_mul(0xD134_2543_DE82_EF95)));
        maker.run();
        let Maker { rtt, events, first_loss, .. } = maker;
        Self { family, rtt, events, first_loss }
    }
}

impl Maker {
    fn new(family: Family, mut chance: Chance) -> Self {
        let rtt = (chance.scale(10.0, 200.0) * 1000.0) as u64;
        let product = chance.scale(10.0, 100.0);
        let queue = (product * chance.between(0.3, 2.0)).max(4.0) as u64;
        let between = rtt as f64 * chance.scale(20.0, 150.0);
        let until = LENGTH.0.min(rtt * LENGTH.1);
        let due = chance.after(between) as u64;
        let mut maker = Self {
            service: ((rtt as f64 / product) as u64).max(1),
            chance,
            family,
            rtt,
            queue,
            until,
            now: 0,
            free: 0,
            flying: VecDeque::new(),
            next: 0,
            letter: Letter::new(&[]),
            smoothed: 0.0,
            repair: 0,
            between,
            due,
            left: 0,
            spells: Vec::new(),
            outages: Vec::new(),
            arrives: None,
            events: Vec::new(),
            first_loss: None,
        };
        match family {
            Family::Limited => maker.spells = maker.draw(4, (5.0, 40.0)),
            Family::Outages => maker.outages = maker.draw(2, (12.0, 25.0)),
            _ => {}
        }
        maker
    }

    /// Spells of so many round trips, one in each of `count` equal parts but the beginning.
    fn draw(&mut self, count: u64, (least, most): (f64, f64)) -> Vec<Spell> {
        let part = self.until / (count + 1);
        let spells = (1..=count).map(|place| {
            let from = part * place + (self.chance.unit() * part as f64 / 4.0) as u64;
            let length = self.rtt as f64 * self.chance.between(least, most);
            let idle = self.chance.unit() < 0.5;
            let share = if idle { 0.0 } else { self.chance.between(0.2, 0.7) };
            Spell { from, to: from + length.min(part as f64 / 2.0) as u64, share }
        });
        spells.collect()
    }

    fn run(&mut self) {
        while self.now < self.until {
            self.send();
            let back = self.flying.iter().find(|one| !one.lost).map(|one| one.back);
            let late = self.arrives.as_ref().map(|(at, _)| *at);
            match (back, late) {
                (Some(back), Some(late)) if late <= back => self.arrive(),
                (Some(back), _) => self.hear(back),
                (None, Some(_)) => self.arrive(),
                (None, None) if self.flying.is_empty() => self.wait(),
                (None, None) => self.give_up(),
            }
        }
    }

    /// Nothing is in flight: the application has nothing for a while.
    fn wait(&mut self) {
        let spell = self.spell(self.now).expect("only a spell keeps a sender silent");
        self.now = spell.to;
    }

    fn spell(&self, now: u64) -> Option<Spell> {
        self.spells.iter().find(|spell| (spell.from..spell.to).contains(&now)).copied()
    }

    /// Sends what the window and the application allow.
    fn send(&mut self) {
        let window = self.letter.window();
        let most = match self.spell(self.now) {
            Some(spell) => (window * spell.share).floor(),
            None => window.floor(),
        };
        while (self.flying.len() as f64) < most {
            let (now, number) = (self.now, self.next);
            self.next += 1;
            self.tell(Event::Sent { now, number, in_flight: self.flying.len() as u64 });
            let waiting = self.free.saturating_sub(now) / self.service;
            let (lost, late) = self.fate(waiting);
            if waiting < self.queue {
                self.free = self.free.max(now) + self.service;
            }
            let back = self.free + self.rtt;
            self.flying.push_back(Flying { number, sent: now, back, lost, late });
        }
    }

    /// Whether a packet that finds so many waiting is lost, and whether it only comes late.
    fn fate(&mut self, waiting: u64) -> (bool, bool) {
        let out = self.outages.iter().any(|spell| (spell.from..spell.to).contains(&self.now));
        if out || waiting >= self.queue {
            return (true, false);
        }
        if self.left == 0 && self.now >= self.due {
            let burst = self.chance.between(2.0, (0.6 * self.letter.window()).max(3.0)) as u64;
            self.left = if self.family == Family::Bursts { burst } else { 1 };
            self.due = self.now + self.chance.after(self.between) as u64;
        }
        let lost = self.left > 0;
        self.left -= u64::from(lost);
        (lost, lost && self.family == Family::Spurious && self.chance.unit() < 0.5)
    }

    /// The ACK of the first packet that is not lost comes, and reports the losses.
    fn hear(&mut self, now: u64) {
        self.now = now;
        let place = self.flying.iter().position(|one| !one.lost).expect("its time was asked for");
        let one = self.flying.remove(place).expect("it is there");
        self.acknowledge(&one);
        let missing = self.flying.iter().take(place);
        let count = missing.take_while(|lost| lost.number + REORDERING <= one.number).count();
        if count > 0 {
            self.lose(count, false);
        }
    }

    fn acknowledge(&mut self, one: &Flying) {
        let (now, rtt) = (self.now, (self.now - one.sent).max(1));
        self.smoothed = match self.smoothed {
            0.0 => rtt as f64,
            before => before + (rtt as f64 - before) / 8.0,
        };
        let smoothed_ms = ((self.smoothed / 1000.0).round() as u64).max(1);
        let limited = self.spell(now).is_some();
        let (sent, number) = (one.sent, one.number);
        self.tell(Event::Acked { now, acked: Acked { sent, number, rtt, smoothed_ms, limited } });
    }

    /// The first `count` packets in flight are taken for lost.
    fn lose(&mut self, count: usize, persistent: bool) {
        let now = self.now;
        let mut all: Vec<_> = self.flying.drain(..count).collect();
        let last = all.last().expect("there is one at least");
        let lost = Lost { sent: last.sent, number: last.number, packets: count as u64, persistent };
        let begins = last.sent >= self.repair;
        if begins {
            self.repair = now;
        }
        self.first_loss.get_or_insert(now);
        self.tell(Event::Lost { now, lost });
        if begins && all.len() == 1 && all[0].late && self.arrives.is_none() {
            let late = self.chance.between(0.05, 0.9) * self.rtt as f64;
            self.arrives = all.pop().map(|one| (now + late as u64, one));
        }
    }

    /// A packet that was taken for lost arrives.
    fn arrive(&mut self) {
        let (at, one) = self.arrives.take().expect("its time was asked for");
        self.now = self.now.max(at);
        let smoothed = self.smoothed;
        self.acknowledge(&one);
        // A packet that was late says little of the next one.
        self.smoothed = smoothed;
        self.tell(Event::Spurious { now: self.now });
    }

    /// All that is in flight is lost: a probe is answered a while later, in an outage after it.
    fn give_up(&mut self) {
        let patience = (3.0 * self.smoothed.max(self.rtt as f64)) as u64;
        let out = self.outages.iter().find(|one| (one.from..one.to).contains(&self.now)).copied();
        self.now = match out {
            Some(outage) => outage.to + self.rtt,
            None => self.now + patience,
        };
        self.lose(self.flying.len(), out.is_some());
    }

    fn tell(&mut self, event: Event) {
        event.tell(&mut self.letter);
        let phase = match event {
            Event::Acked { acked, .. } if acked.limited => Phase::Limited,
            Event::Acked { acked, .. } if self.repair > 0 && acked.sent <= self.repair => {
                Phase::Repair
            }
            Event::Lost { .. } => Phase::Repair,
            _ if self.letter.in_slow_start() => Phase::SlowStart,
            _ if self.letter.is_friendly(self.now) => Phase::Friendly,
            _ => Phase::Curve,
        };
        self.events.push((event, phase));
    }
}
