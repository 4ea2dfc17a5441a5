//! Batches that enter an assembly queue. No batch is an event: they are drawn ahead until it is
//! certain when the open burst is closed, if nothing else enters, and that instant is the event. A
//! packet that comes before is preceded by the batches that have come by then.

use burstlab_units::{Bytes, Time};
use serde::{Deserialize, Serialize};

use crate::traffic::{Batch, BatchSource};
use crate::world::core::payload::Load;

/// Batches that are drawn at a time.
const DRAWN: usize = 32;

/// Batches of an open burst that are looked at ahead of the clock. A burst that holds more of them
/// is looked at again when the last of these has come, so that what is drawn needs little room.
pub(super) const AHEAD: usize = 1 << 12;

/// The batches that enter a queue.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct BatchArrivals {
    /// Each with its next batch, where there are several.
    sources: Vec<(BatchSource, Option<Batch>)>,
    /// Batches that were drawn, in order of time; those before `first` have entered, and of the one
    /// there a part may have.
    drawn: Vec<Batch>,
    first: usize,
    /// When the queue is to be looked at next.
    pub(super) due: Option<Time>,
    /// Whether that is before its burst is complete, as only so many batches are drawn ahead.
    pub(super) halfway: bool,
    /// The packets that have entered.
    pub(super) taken: Load,
}

impl BatchArrivals {
    /// Adds a source, of which nothing has come.
    pub(super) fn add(&mut self, mut source: BatchSource) {
        let next = source.next();
        self.sources.push((source, next));
    }

    /// When the next batch comes; [`Time::MAX`] if there is none.
    #[inline]
    pub(super) fn first(&self) -> Time {
        self.drawn.get(self.first).map_or(Time::MAX, |batch| batch.at)
    }

    /// The batch that is `index` places behind the first, if there is one.
    #[inline]
    pub(super) fn peek(&mut self, index: usize) -> Option<Batch> {
        if self.first + index >= self.drawn.len() {
            self.draw();
        }
        self.drawn.get(self.first + index).copied()
    }

    /// Draws some more.
    pub(super) fn draw(&mut self) {
        self.drawn.drain(..self.first);
        self.first = 0;
        if let [(source, next)] = &mut self.sources[..] {
            // One that was drawn to be compared with others.
            self.drawn.extend(next.take());
            if !source.ended() {
                self.drawn.extend(source.draw::<DRAWN>());
            }
            return;
        }
        for _ in 0..DRAWN {
            let nexts = self.sources.iter_mut().filter(|(_, next)| next.is_some());
            let earliest = nexts.min_by_key(|(_, next)| next.map(|batch| batch.at));
            let Some((source, next)) = earliest else { return };
            self.drawn.extend(*next);
            *next = source.next();
        }
    }

    /// Takes `bytes` out of the first batch, in whole packets.
    #[inline]
    pub(super) fn take(&mut self, bytes: Bytes) -> Load {
        let batch = &mut self.drawn[self.first];
        let bytes = bytes.get() as u32;
        batch.bytes -= bytes;
        let ends = batch.bytes == 0;
        let packets = u64::from(bytes.div_ceil(batch.packet));
        self.first += usize::from(ends);
        if self.first == self.drawn.len() {
            self.draw();
        }
        let load = Load { batches: u64::from(ends), packets, bytes: u64::from(bytes) };
        self.taken += load;
        load
    }

    /// Takes whole batches that come before `until`, as long as there is more room than they need;
    /// returns what they are, and when the first of them came.
    #[inline]
    pub(super) fn take_whole(&mut self, until: Time, room: u64) -> Option<(Time, Load)> {
        let since = self.peek(0)?.at;
        let mut load = Load::default();
        while self.first < self.drawn.len() {
            let mut count = 0;
            for batch in &self.drawn[self.first..] {
                let bytes = load.bytes + u64::from(batch.bytes);
                if batch.at >= until || bytes >= room {
                    break;
                }
                load.packets += u64::from(batch.bytes.div_ceil(batch.packet));
                load.bytes = bytes;
                count += 1;
            }
            self.first += count;
            load.batches += count as u64;
            if self.first < self.drawn.len() {
                break;
            }
            self.draw();
        }
        self.taken += load;
        (load.batches > 0).then_some((since, load))
    }

    /// The packets that have come by `now` and have not entered.
    pub(super) fn waiting(&self, now: Time) -> Load {
        let mut rest = self.clone();
        let before = rest.taken;
        while let Some(batch) = rest.peek(0).filter(|batch| batch.at <= now) {
            rest.take(Bytes::new(u64::from(batch.bytes)));
        }
        let all = rest.taken;
        Load {
            batches: all.batches - before.batches,
            packets: all.packets - before.packets,
            bytes: all.bytes - before.bytes,
        }
    }
}
