//! Data channels: the choice of a wavelength of an output fibre for a burst, and the reservations.

mod calendar;
mod horizons;
mod port;
mod rules;
mod search;
#[cfg(test)]
mod tests;
mod voids;

pub use calendar::Reservation;
pub use port::Port;
pub use rules::{Conversion, Scheduler};
