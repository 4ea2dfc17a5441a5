//! The options of packets in flight, by their numbers. Packets that follow one another mostly carry
//! the same, so they are kept as runs.

use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Serialize};

/// Numbers that rise by one step, and what the packets with these numbers carry.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Alike<T> {
    first: u64,
    last: u64,
    step: u64,
    value: T,
}

impl<T> Alike<T> {
    fn has(&self, number: u64) -> bool {
        let within = number >= self.first && number <= self.last;
        within && (number - self.first).is_multiple_of(self.step)
    }

    /// Whether numbers rise by one, or may.
    #[inline]
    fn has_step_one(&self) -> bool {
        self.step == 1 || self.first == self.last
    }

    /// Whether a number above the last is as far from it as all others are from each other.
    #[inline]
    fn is_before(&self, number: u64) -> bool {
        self.first == self.last || number - self.last == self.step
    }
}

/// Values by a number and which of the packets with that number it is, from 1.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct OptionTable<T> {
    /// Of first packets, rising.
    first: VecDeque<Alike<T>>,
    /// All others, and first packets that are not in order.
    others: BTreeMap<(u64, u16), T>,
}

impl<T> Default for OptionTable<T> {
    fn default() -> Self {
        Self { first: VecDeque::new(), others: BTreeMap::new() }
    }
}

impl<T: Copy + PartialEq> OptionTable<T> {
    #[inline(always)]
    pub(super) fn put(&mut self, number: u64, nth: u16, value: T) {
        match self.first.back_mut() {
            Some(back) if nth != 1 || number <= back.last => self.put_late(number, nth, value),
            Some(back) if back.value == value && back.is_before(number) => {
                (back.step, back.last) = (number - back.last, number);
            }
            None if nth != 1 => self.put_late(number, nth, value),
            _ => self.first.push_back(Alike { first: number, last: number, step: 1, value }),
        }
    }

    /// The same of a packet that is not the first, or not in order.
    #[cold]
    fn put_late(&mut self, number: u64, nth: u16, value: T) {
        if nth == 1 {
            self.take(number, 1);
        }
        self.others.insert((number, nth), value);
    }

    /// First packets whose numbers rise by one from `number` on carry the same.
    #[inline]
    pub(super) fn put_run(&mut self, number: u64, count: u32, value: T) {
        if count == 0 {
            return;
        }
        let last = number + u64::from(count - 1);
        match self.first.back_mut() {
            Some(back) if number <= back.last => {
                (number..=last).for_each(|number| self.put(number, 1, value));
            }
            Some(back) if number == back.last + 1 && back.has_step_one() && back.value == value => {
                (back.step, back.last) = (1, last);
            }
            _ => self.first.push_back(Alike { first: number, last, step: 1, value }),
        }
    }

    /// The options of a first packet, if it is in order.
    #[inline(always)]
    pub(super) fn get(&self, number: u64) -> Option<T> {
        let front = self.first.front().filter(|front| front.first == number);
        front.map(|front| front.value)
    }

    /// The options that first packets share, from this one on with numbers that rise by one, if
    /// they are in order; and how many there are.
    #[inline]
    pub(super) fn alike(&self, number: u64) -> Option<(T, u32)> {
        let front = self.first.front().filter(|front| front.first == number)?;
        let count = if front.step == 1 { front.last - front.first + 1 } else { 1 };
        Some((front.value, u32::try_from(count).unwrap_or(u32::MAX)))
    }

    /// Takes so many of these.
    #[inline]
    pub(super) fn take_alike(&mut self, count: u32) {
        let Some(front) = self.first.front_mut().filter(|_| count > 0) else { return };
        front.first += u64::from(count - 1) * front.step;
        self.drop_first();
    }

    /// Whether none is in flight.
    #[cfg(test)]
    pub(super) fn is_empty(&self) -> bool {
        self.first.is_empty() && self.others.is_empty()
    }

    /// Changes what a packet carries; returns what `change` does, which is whether it did.
    pub(super) fn change(
        &mut self,
        number: u64,
        nth: u16,
        change: impl FnOnce(&mut T) -> bool,
    ) -> bool {
        let Some(mut value) = self.peek(number, nth) else { return false };
        let before = value;
        let changed = change(&mut value);
        if value != before {
            self.take(number, nth);
            self.others.insert((number, nth), value);
        }
        changed
    }

    /// The options of a packet.
    fn peek(&self, number: u64, nth: u16) -> Option<T> {
        let place = self.first.partition_point(|run| run.last < number);
        let run = self.first.get(place).filter(|run| nth == 1 && run.has(number));
        run.map(|run| run.value).or_else(|| self.others.get(&(number, nth)).copied())
    }

    #[inline]
    pub(super) fn take(&mut self, number: u64, nth: u16) -> Option<T> {
        match self.first.front_mut() {
            Some(front) if nth == 1 && front.first == number => {
                let value = front.value;
                self.drop_first();
                Some(value)
            }
            _ => self.take_from_within(number, nth),
        }
    }

    /// Takes the first packet with the first of all numbers; nothing below that counts any more.
    #[inline(always)]
    pub(super) fn take_first(&mut self) {
        let Some(front) = self.first.front() else { return };
        let number = front.first;
        self.drop_first();
        if !self.others.is_empty() {
            self.forget_others_below(number);
        }
    }

    /// Drops the first of all numbers.
    #[inline(always)]
    fn drop_first(&mut self) {
        let Some(front) = self.first.front_mut() else { return };
        if front.first == front.last {
            self.first.pop_front();
        } else {
            front.first += front.step;
        }
    }

    fn take_from_within(&mut self, number: u64, nth: u16) -> Option<T> {
        let place = self.first.partition_point(|run| run.last < number);
        let Some(run) = self.first.get_mut(place).filter(|run| nth == 1 && run.has(number)) else {
            return self.others.remove(&(number, nth));
        };
        let all = *run;
        run.first = number + run.step;
        if number == all.last {
            self.first.remove(place);
        }
        if number > all.first {
            self.first.insert(place, Alike { last: number - all.step, ..all });
        }
        Some(all.value)
    }

    /// Nothing below `number` counts any more.
    #[inline]
    pub(super) fn forget_below(&mut self, number: u64) {
        while self.first.front().is_some_and(|front| front.first < number) {
            self.drop_first();
        }
        self.forget_others_below(number);
    }

    fn forget_others_below(&mut self, number: u64) {
        while self.others.first_key_value().is_some_and(|(key, _)| key.0 < number) {
            self.others.pop_first();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_is_taken_leaves_no_trace() {
        let mut table = OptionTable::default();
        for number in 3..6 {
            table.put(number, 1, number / 4);
        }
        table.put(4, 2, 40);
        assert_eq!((table.take(4, 2), table.take(4, 2)), (Some(40), None));
        assert_eq!(
            (table.take(4, 1), table.take(3, 1), table.take(5, 1)),
            (Some(1), Some(0), Some(1))
        );
        assert!(table.is_empty());
        table.put(9, 1, 9);
        assert_eq!((table.take(8, 1), table.get(9), table.take(9, 1)), (None, Some(9), Some(9)));
    }

    #[test]
    fn what_was_overtaken_is_forgotten() {
        let mut table = OptionTable::default();
        for number in [3, 5, 8] {
            table.put(number, 1, 0);
            table.put(number, 2, number);
        }
        table.forget_below(8);
        assert_eq!((table.take(5, 1), table.take(5, 2)), (None, None));
        assert_eq!((table.take(8, 1), table.take(8, 2)), (Some(0), Some(8)));
    }

    #[test]
    fn what_repeats_a_number_outlasts_its_first_packet() {
        let mut table = OptionTable::default();
        for (number, nth) in [(2, 2), (3, 1), (3, 2), (5, 1)] {
            table.put(number, nth, nth);
        }
        assert_eq!(table.get(3), Some(1));
        table.take_first();
        assert_eq!((table.get(3), table.take(2, 2), table.take(3, 2)), (None, None, Some(2)));
        assert_eq!((table.alike(5), table.alike(4)), (Some((1, 1)), None));
    }

    #[derive(Clone, Debug)]
    enum Act {
        Put(u64, u16, u8),
        PutRun(u64, u32, u8),
        Take(u64, u16),
        Change(u64, u16),
        Forget(u64),
    }

    fn act() -> impl Strategy<Value = Act> {
        let nth = || prop_oneof![4 => Just(1u16), 1 => 2u16..4];
        prop_oneof![
            3 => (1u64..4, nth(), 0u8..2).prop_map(|(more, nth, value)| Act::Put(more, nth, value)),
            2 => (1u64..4, 0u32..6, 0u8..2)
                .prop_map(|(more, count, value)| Act::PutRun(more, count, value)),
            2 => (0u64..20, nth()).prop_map(|(number, nth)| Act::Take(number, nth)),
            1 => (0u64..20, nth()).prop_map(|(number, nth)| Act::Change(number, nth)),
            1 => (0u64..8).prop_map(Act::Forget),
        ]
    }

    proptest! {
        /// The obviously correct twin is a table of single packets.
        #[test]
        fn runs_are_what_single_packets_are(acts in prop::collection::vec(act(), 1..120)) {
            let (mut table, mut plain) = (OptionTable::default(), BTreeMap::new());
            let (mut high, mut low) = (0, 0);
            for act in acts {
                match act {
                    Act::Put(more, nth, value) => {
                        high += u64::from(nth == 1) * more;
                        table.put(high, nth, value);
                        plain.insert((high, nth), value);
                    }
                    Act::PutRun(more, count, value) => {
                        table.put_run(high + more, count, value);
                        for number in (high + more..).take(count as usize) {
                            plain.insert((number, 1), value);
                            high = number;
                        }
                    }
                    Act::Take(back, nth) => {
                        let number = high.saturating_sub(back);
                        if let Some((value, count)) = table.alike(number) {
                            for behind in 0..u64::from(count) {
                                let key = (number + behind, 1);
                                prop_assert_eq!(plain.get(&key), Some(&value));
                            }
                        }
                        prop_assert_eq!(table.take(number, nth), plain.remove(&(number, nth)));
                    }
                    Act::Change(back, nth) => {
                        let key = (high.saturating_sub(back), nth);
                        let changed = table.change(key.0, key.1, |value| {
                            *value += 2;
                            true
                        });
                        prop_assert_eq!(changed, plain.contains_key(&key));
                        plain.entry(key).and_modify(|value| *value += 2);
                    }
                    Act::Forget(more) => {
                        low = (low + more).min(high);
                        table.forget_below(low);
                        plain = plain.split_off(&(low, 0));
                    }
                }
            }
            for (&(number, nth), &value) in &plain {
                prop_assert_eq!(table.take(number, nth), Some(value));
            }
            prop_assert!(table.is_empty());
        }
    }
}
