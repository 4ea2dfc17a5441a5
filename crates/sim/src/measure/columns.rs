//! Tables by column, as they leave the simulator.

/// A column of a table. A `u64` of all ones stands for "none".
#[derive(Clone, Debug, PartialEq)]
pub enum Column {
    /// Codes into a list of labels.
    Category(Vec<u8>, &'static [&'static str]),
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

/// A named table: its columns, all of one length.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Name of the table.
    pub name: &'static str,
    /// Names and contents of its columns.
    pub columns: Vec<(&'static str, Column)>,
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

        impl $name {
            pub(crate) fn into_table(self) -> $crate::measure::Table {
                $crate::measure::Table {
                    name: $label,
                    columns: vec![$((stringify!($column), $variant(self.$column)),)*],
                }
            }
        }
    };
}
pub(crate) use table;
