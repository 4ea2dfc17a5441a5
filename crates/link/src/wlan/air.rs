//! Who hears whom, and the frames on the air.

use burstlab_units::{Bytes, Probability, Span, Time};
use serde::{Deserialize, Serialize};

/// The frames of another node that a node senses or receives.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reach {
    /// Whether its frames make the medium busy. A node receives no frame that it does not sense.
    pub senses: bool,
    /// Whether frames that are for others are understood, and heeded.
    pub understands: bool,
    /// Chance that a data frame for this node is not received though nothing collides with it.
    pub data_error: Probability,
    /// The same for an RTS, CTS or ACK.
    pub control_error: Probability,
    /// Chance that a bit of a data frame is wrong; such a frame is not received.
    pub data_bit_error: Probability,
    /// The same for an RTS, CTS or ACK.
    pub control_bit_error: Probability,
}

impl Reach {
    /// All is heard.
    #[must_use]
    pub fn clear() -> Self {
        let none = Probability::default();
        Self {
            senses: true,
            understands: true,
            data_error: none,
            control_error: none,
            data_bit_error: none,
            control_bit_error: none,
        }
    }

    /// Nothing is heard.
    #[must_use]
    pub fn hidden() -> Self {
        Self { senses: false, understands: false, ..Self::clear() }
    }

    /// Chance that a frame with `data`, or without, of so many bytes is not received though nothing
    /// collides with it. Bits are wrong independently of one another.
    pub(super) fn error(&self, data: bool, length: Bytes) -> f64 {
        let (whole, bit) = match data {
            true => (self.data_error, self.data_bit_error),
            false => (self.control_error, self.control_bit_error),
        };
        if bit.get() <= 0.0 {
            return whole.get();
        }
        let bits = length.get() as f64 * 8.0;
        1.0 - (1.0 - whole.get()) * (bits * (-bit.get()).ln_1p()).exp()
    }
}

/// The [`Reach`] between each pair of nodes of a cell. Node 0 is the base station.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Paths {
    nodes: u32,
    reaches: Vec<Reach>,
}

impl Paths {
    /// Of `nodes` nodes, the base station included; `reach(from, to)` is what `to` hears of `from`.
    #[must_use]
    pub fn new(nodes: u32, mut reach: impl FnMut(u32, u32) -> Reach) -> Self {
        let pairs = (0..nodes).flat_map(|from| (0..nodes).map(move |to| (from, to)));
        let reaches =
            pairs.map(|(from, to)| if from == to { Reach::hidden() } else { reach(from, to) });
        Self { nodes, reaches: reaches.collect() }
    }

    /// How many nodes there are.
    #[must_use]
    pub fn nodes(&self) -> u32 {
        self.nodes
    }

    #[inline]
    pub(super) fn of(&self, from: u32, to: u32) -> &Reach {
        &self.reaches[(from * self.nodes + to) as usize]
    }
}

/// A kind of frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Kind {
    Rts,
    Cts,
    Data,
    Ack,
}

/// A frame on the air. It is numbered, and a node that receives one knows it by its number.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Frame {
    pub(super) number: u64,
    pub(super) from: u32,
    pub(super) to: u32,
    pub(super) kind: Kind,
    /// From its MAC header to its check sequence.
    pub(super) length: Bytes,
    /// Ordinal among the frames of its sender, from 1.
    pub(super) ordinal: u64,
    /// Of a data frame.
    pub(super) sequence: u16,
    pub(super) retry: bool,
    /// For how long after its end others leave the medium alone.
    pub(super) reserves: Span,
    /// When its first bit is at the others, unless that is over.
    pub(super) begins: Option<Time>,
    /// When its last bit is.
    pub(super) ends: Time,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn longer_frames_have_more_errors() {
        let chance = |value| Probability::new(value).expect("a probability");
        let reach = Reach { data_bit_error: chance(1e-5), ..Reach::clear() };
        let error = |bytes| reach.error(true, Bytes::new(bytes));
        assert_eq!(reach.error(false, Bytes::new(1500)), 0.0, "a frame without data");
        // 1 - (1 - 1e-5)^12224, and that of two halves.
        assert!((error(1528) - 0.115_064_582_491_9).abs() < 1e-12, "{}", error(1528));
        assert!(((1.0 - error(764)).powi(2) - (1.0 - error(1528))).abs() < 1e-12);
        let both = Reach { data_error: chance(0.5), ..reach };
        assert!((both.error(true, Bytes::new(1528)) - (1.0 + error(1528)) / 2.0).abs() < 1e-12);
        let none = Reach { data_bit_error: chance(1.0), ..reach };
        assert_eq!(none.error(true, Bytes::new(1)), 1.0);
    }
}
