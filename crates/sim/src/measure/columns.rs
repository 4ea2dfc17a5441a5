//! Tables by column, as they leave the simulator.

use std::ops::Range;

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

/// A part of a table that is handed over while a run goes on. `Rows` and `Late`, in their order,
/// are the table.
#[derive(Clone, Debug, PartialEq)]
pub enum Piece {
    /// Rows that are final.
    Rows(Table),
    /// A chunk of which a few rows may change, so that it need not be held. It comes `Late` when it
    /// is final and its turn has come: chunks come late in the order in which they came early.
    Early(Table),
    /// Of a chunk that came early: the rows at these places, rising, are these; all is final now.
    Late(Vec<u32>, Table),
}

impl Piece {
    /// The table of rows that are final.
    #[must_use]
    pub fn rows(self) -> Table {
        match self {
            Self::Rows(table) => table,
            other => panic!("nothing comes early where nothing was drained: {other:?}"),
        }
    }

    /// The same piece with the nodes of `graph` by their names.
    pub(crate) fn naming(self, graph: &Graph) -> Self {
        match self {
            Self::Rows(table) => Self::Rows(table.naming(graph)),
            Self::Early(table) => Self::Early(table.naming(graph)),
            Self::Late(places, table) => Self::Late(places, table.naming(graph)),
        }
    }
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

    /// The rows at these places.
    fn pick(&self, places: &[u32]) -> Self;

    /// Adds the rows of another table at these places.
    fn append(&mut self, from: &Self, places: &[u32]);

    /// Adds rows of another table that lie behind one another.
    fn append_range(&mut self, from: &Self, places: Range<usize>);

    /// Leaves no row.
    fn clear(&mut self);

    /// The rows as they leave the simulator.
    fn into_table(self) -> Table;
}

/// Declares a table as a struct of vectors that turns into a [`Table`].
macro_rules! table {
    ($(#[$doc:meta])* $name:ident, $label:literal {
        $($column:ident: $type:ty => $variant:expr),* $(,)?
    }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
        pub(crate) struct $name {
            $(pub(crate) $column: Vec<$type>,)*
        }

        impl $crate::measure::Rows for $name {
            fn with_capacity(rows: usize) -> Self {
                Self { $($column: Vec::with_capacity(rows),)* }
            }

            fn pick(&self, places: &[u32]) -> Self {
                let places = places.iter().map(|&place| place as usize);
                Self { $($column: places.clone().map(|at| self.$column[at]).collect(),)* }
            }

            fn append(&mut self, from: &Self, places: &[u32]) {
                $(self.$column.extend(places.iter().map(|&at| from.$column[at as usize]));)*
            }

            fn append_range(&mut self, from: &Self, places: std::ops::Range<usize>) {
                $(self.$column.extend_from_slice(&from.$column[places.clone()]);)*
            }

            fn clear(&mut self) {
                $(self.$column.clear();)*
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
