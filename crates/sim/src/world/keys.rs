//! The keys for the draws of flows, and of other sources of packets: their number among those of
//! entries without a name, or the name of their entry and their number there.

use burstlab_kernel::named;

/// Set in each key that a name gives, and in no other.
const NAMED: u64 = 1 << 63;

/// The keys of an entry with a name, if it has one.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Keys(Option<u64>);

impl Keys {
    /// Those of the entry of `table` that has this name.
    pub(super) fn of(table: &str, name: Option<&String>) -> Self {
        Self(name.map(|name| named(&format!("{table}/{name}"))))
    }

    /// Whether the entry has a name.
    pub(super) fn are_named(self) -> bool {
        self.0.is_some()
    }

    /// The key of number `nth` of the entry, which is number `place` of those without a name.
    pub(super) fn key(self, nth: u64, place: u64) -> u64 {
        self.0.map_or(place, |name| NAMED | name.wrapping_add(nth))
    }
}

/// Whether a name gave the key.
pub(super) fn is_named(key: u64) -> bool {
    key & NAMED != 0
}
