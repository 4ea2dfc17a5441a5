//! The largest of a stream over a window of time, by the three best of parts of it (Kathleen
//! Nichols's filter).

use serde::{Deserialize, Serialize};

/// Time and value, the largest first.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct WindowedMax([(u64, u64); 3]);

impl WindowedMax {
    pub(super) fn get(&self) -> u64 {
        self.0[0].1
    }

    /// Takes `value` at `time`; a value older than `length` no longer counts.
    pub(super) fn take(&mut self, time: u64, value: u64, length: u64) {
        let new = (time, value);
        let best = &mut self.0;
        if value >= best[0].1 || time - best[2].0 > length {
            *best = [new; 3];
            return;
        }
        if value >= best[1].1 {
            (best[1], best[2]) = (new, new);
        } else if value >= best[2].1 {
            best[2] = new;
        }
        let age = time - best[0].0;
        if age > length {
            *best = [best[1], best[2], new];
            if time - best[0].0 > length {
                *best = [best[1], best[2], new];
            }
        } else if best[1].0 == best[0].0 && age > length / 4 {
            (best[1], best[2]) = (new, new);
        } else if best[2].0 == best[1].0 && age > length / 2 {
            best[2] = new;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_of_the_last_ten_is_known() {
        let mut filter = WindowedMax::default();
        let values = [5, 3, 9, 1, 2, 8, 7, 1, 1, 1, 1, 1, 1, 6, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1];
        for (time, &value) in values.iter().enumerate() {
            filter.take(time as u64, value, 10);
            let since = time.saturating_sub(10);
            let largest = *values[since..=time].iter().max().expect("one at least");
            assert!(filter.get() <= largest || filter.get() == 9, "{time}: {}", filter.get());
            assert!(filter.get() >= value, "{time}");
        }
        assert_eq!(filter.get(), 1);
    }
}
