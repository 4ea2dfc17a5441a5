//! How long wavelengths were reserved from one look to the next.

use burstlab_units::Span;
use serde::{Deserialize, Serialize};

/// How long each wavelength was reserved as it was looked at before.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Looked {
    /// By fibre and wavelength; none before the first look.
    reserved: Vec<Vec<Span>>,
    /// The value of that measure as it began anew.
    carried: Vec<Vec<Span>>,
}

impl Looked {
    /// They were looked at, as the measure was at `busy`.
    pub(super) fn at(busy: Vec<Vec<Span>>) -> Self {
        Self { reserved: busy, carried: Vec::new() }
    }

    /// The measure of what is reserved begins anew, at which it has come to `busy`: keeps what was
    /// reserved since the last look, and is in no row yet.
    pub(super) fn begin_anew(&mut self, busy: &[Vec<Span>]) {
        let before = std::mem::take(&mut self.reserved);
        let since = |link: usize, (wavelength, busy): (usize, &Span)| {
            let then = before.get(link).map_or(0, |one| one[wavelength].as_ps());
            Span::from_ps(busy.as_ps().saturating_sub(then))
        };
        let link = |(link, all): (usize, &Vec<Span>)| {
            all.iter().enumerate().map(|one| since(link, one)).collect()
        };
        self.carried = busy.iter().enumerate().map(link).collect();
    }

    /// How long a wavelength was reserved since the last look, where the measure is at `busy`.
    pub(super) fn since(&self, link: usize, wavelength: usize, busy: Span) -> Span {
        let place = |all: &Vec<Vec<Span>>| all.get(link).map_or(Span::ZERO, |one| one[wavelength]);
        let whole = busy + place(&self.carried);
        // A reservation that is given back was never there.
        Span::from_ps(whole.as_ps().saturating_sub(place(&self.reserved).as_ps()))
    }
}
