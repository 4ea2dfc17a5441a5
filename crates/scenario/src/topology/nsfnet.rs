//! NSFNET, the backbone of 14 nodes that papers on optical networks take.

use burstlab_optical::Fibre;
use burstlab_units::Span;

use super::graph::{Cable, Graph, Node, Role};

/// The nodes of NSFNET that switch and have no hosts in `nsfnet-8e6c`, by name: the six that most
/// of the shortest routes by delay pass.
pub const NSFNET_CORE: [u32; 6] = [4, 5, 7, 8, 9, 12];

/// Which table of fibres; a table lists the ends of each and its length in km.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lengths {
    /// 21 fibres: the map that is common in papers on optical burst switching. The lengths are
    /// those in use with it; no publication that lists them was at hand.
    Common,
    /// The 22 fibres of DeepRMSA (Chen et al., Journal of Lightwave Technology 37, 2019, DOI
    /// 10.1109/jlt.2019.2923615), as its code lists them. Nodes 12 to 14 are other places than in
    /// `Common`.
    DeepRmsa,
}

const COMMON: [(u32, u32, u32); 21] = [
    (1, 2, 1100),
    (1, 3, 1600),
    (1, 8, 2800),
    (2, 3, 600),
    (2, 4, 1000),
    (3, 6, 2000),
    (4, 5, 600),
    (4, 11, 2400),
    (5, 6, 1100),
    (5, 7, 800),
    (6, 10, 1200),
    (6, 13, 2000),
    (7, 8, 700),
    (8, 9, 700),
    (9, 10, 900),
    (9, 12, 500),
    (9, 14, 500),
    (11, 12, 800),
    (11, 14, 800),
    (12, 13, 300),
    (13, 14, 300),
];

const DEEP_RMSA: [(u32, u32, u32); 22] = [
    (1, 2, 1050),
    (1, 3, 1500),
    (1, 8, 2400),
    (2, 3, 600),
    (2, 4, 750),
    (3, 6, 1800),
    (4, 5, 600),
    (4, 11, 1950),
    (5, 6, 1200),
    (5, 7, 600),
    (6, 10, 1050),
    (6, 14, 1800),
    (7, 8, 750),
    (7, 10, 1350),
    (8, 9, 750),
    (9, 10, 750),
    (9, 12, 300),
    (9, 13, 300),
    (11, 12, 600),
    (11, 13, 750),
    (12, 14, 300),
    (13, 14, 150),
];

/// NSFNET with nodes `1` to `14`, all of which have hosts and switch. Link `2n` leads along line
/// `n` of the table, `2n + 1` back.
#[must_use]
pub fn nsfnet(lengths: Lengths, delay_per_km: Span, wavelengths: u32) -> Graph {
    let table: &[(u32, u32, u32)] = match lengths {
        Lengths::Common => &COMMON,
        Lengths::DeepRmsa => &DEEP_RMSA,
    };
    let pairs = table.iter().map(|&(a, b, km)| {
        let fibre = Fibre::of(delay_per_km.saturating_mul(km.into()));
        (a - 1, b - 1, Cable { fibre, wavelengths, fibres: 1 })
    });
    Graph::of_pairs((1..=14).map(|n| Node::new(n.to_string(), Role::Both)).collect(), pairs)
}
