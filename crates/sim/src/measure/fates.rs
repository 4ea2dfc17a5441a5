//! The fate of a packet, or of a burst, as tables write it.

/// The name of each, by its number.
pub(super) const FATES: &[&str] = &["in-flight", "delivered", "lost"];

pub(super) const IN_FLIGHT: u8 = 0;
pub(super) const DELIVERED: u8 = 1;
pub(super) const LOST: u8 = 2;
