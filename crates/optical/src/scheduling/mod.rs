//! Data channels: which wavelength of an output fibre a burst is given, and what is reserved.

mod calendar;
mod port;
mod rules;
mod search;
#[cfg(test)]
mod tests;
mod voids;

pub use calendar::Reservation;
pub use port::Port;
pub use rules::{Conversion, Scheduler};
