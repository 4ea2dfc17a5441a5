//! Networks as graphs: named and generated shapes, and the routes through them. Knows no scenario,
//! no burst and no time but the delays of links.

mod fabrics;
mod graph;
mod nsfnet;
mod routes;
mod shapes;
mod shortest;

pub use fabrics::{fat_tree, leaf_spine, torus};
pub use graph::{Cable, Graph, Link, Node, Role};
pub use nsfnet::{Lengths, NSFNET_CORE, nsfnet};
pub use routes::{Route, RouteError, Routes, Wanted};
pub use shapes::{dumbbell, line, martinez, path, ring, star};
pub use shortest::Metric;

#[cfg(test)]
mod tests;
