//! Tables by column, as they leave the simulator.

use crate::topology::Graph;

/// A column of a table. A `u64` of all ones stands for "none".
#[derive(Clone, Debug, PartialEq)]
pub enum Column {
    /// Codes into a list of labels.
    Category(Vec<u8>, &'static [&'static str]),
    /// Numbers of nodes, as yet without their names.
    Node(Vec<u32>),
    /// Codes into a list of names.
    Name(Vec<u32>, Vec<String>),
    /// Small counts.
    U32(Vec<u32>),
    /// Instants in picoseconds, numbers of bursts.
    U64(Vec<u64>),
    /// Sequence numbers.
    I64(Vec<i64>),
    /// Windows.
    F64(Vec<f64>),
}

/// The value that stands for "none" in a `u64` column.
pub(crate) const NONE: u64 = u64::MAX;

/// A named table, or a chunk of its rows: its columns, all of one length.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Name of the table.
    pub name: &'static str,
    /// Names and contents of its columns.
    pub columns: Vec<(&'static str, Column)>,
}

impl Table {
    /// The same table with the nodes of `graph` by their names.
    pub(crate) fn naming(mut self, graph: &Graph) -> Self {
        for (_, column) in &mut self.columns {
            if let Column::Node(codes) = column {
                let names = graph.nodes.iter().map(|node| node.name.clone());
                *column = Column::Name(std::mem::take(codes), names.collect());
            }
        }
        self
    }
}

/// Rows that are kept column by column.
pub(crate) trait Rows: Default {
    /// No rows yet, with room for `rows`.
    fn with_capacity(rows: usize) -> Self;

    /// The rows as they leave the simulator.
    fn into_table(self) -> Table;
}

/// Declares a table as a struct of vectors that turns into a [`Table`].
macro_rules! table {
    ($(#[$doc:meta])* $name:ident, $label:literal {
        $($column:ident: $type:ty => $variant:expr),* $(,)?
    }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Default)]
        pub(crate) struct $name {
            $(pub(crate) $column: Vec<$type>,)*
        }

        impl $crate::measure::Rows for $name {
            fn with_capacity(rows: usize) -> Self {
                Self { $($column: Vec::with_capacity(rows),)* }
            }

            fn into_table(self) -> $crate::measure::Table {
                $crate::measure::Table {
                    name: $label,
                    columns: vec![$((stringify!($column), $variant(self.$column)),)*],
                }
            }
        }
    };
}
pub(crate) use table;
