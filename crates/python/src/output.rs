//! The output of a run: its numbers as JSON, its tables as arrays that take over Rust's memory.

use burstlab_sim::scenario::ScenarioError;
use burstlab_sim::{Column, Monitor, Piece, Summary, Table, Trace};
use numpy::IntoPyArray;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::guard::Fault;
use crate::refusals::{InvalidScenario, to_json};

/// Which tables names stand for.
pub(crate) fn traced(names: Vec<String>) -> PyResult<Trace> {
    let mut tables = Trace::default();
    for name in names {
        if !tables.add(&name) {
            let known = Trace::NAMES.join(", ");
            let fix = format!("use some of {known}");
            return Err(InvalidScenario::new_err(("trace", name, "no such table", fix)));
        }
    }
    Ok(tables)
}

/// The output of a run.
#[pyclass(name = "Output", module = "burstlab._core")]
pub(crate) struct RunOutput {
    /// The numbers, as JSON.
    #[pyo3(get)]
    summary: String,
    /// Why the run could not go on, as (path, value, problem, fix).
    #[pyo3(get)]
    stuck: Option<(String, String, String, String)>,
    /// The failure in the engine, and its place.
    #[pyo3(get)]
    fault: Option<(String, String)>,
    tables: Option<Vec<Table>>,
}

impl RunOutput {
    pub(crate) fn new(
        summary: &Summary,
        tables: Vec<Table>,
        monitor: &Monitor,
        fault: Option<Fault>,
    ) -> PyResult<Self> {
        Ok(Self {
            summary: to_json(summary)?,
            stuck: monitor.stuck().map(ScenarioError::into_parts),
            fault: fault.map(|fault| (fault.what, fault.place)),
            tables: Some(tables),
        })
    }
}

#[pymethods]
impl RunOutput {
    /// The chunks of the traced tables in order, each a name and a dict of columns; they are handed
    /// over once.
    fn tables<'py>(&mut self, py: Python<'py>) -> PyResult<Vec<Named<'py>>> {
        let tables = self
            .tables
            .take()
            .ok_or_else(|| PyValueError::new_err("the tables were handed over already"))?;
        tables.into_iter().map(|table| named(py, table)).collect()
    }
}

/// The name of a table and the columns of a chunk of it.
pub(crate) type Named<'py> = (&'static str, Bound<'py, PyDict>);

pub(crate) fn hand_over(py: Python<'_>, sink: &Py<PyAny>, piece: Piece) -> PyResult<()> {
    let answer = match piece {
        Piece::Rows(table) => sink.call_method1(py, "rows", named(py, table)?),
        Piece::Early(table) => sink.call_method1(py, "early", named(py, table)?),
        Piece::Late(places, table) => {
            let (name, columns) = named(py, table)?;
            sink.call_method1(py, "late", (name, places.into_pyarray(py), columns))
        }
    };
    answer.map(drop)
}

pub(crate) fn named(py: Python<'_>, chunk: Table) -> PyResult<Named<'_>> {
    let columns = PyDict::new(py);
    for (name, column) in chunk.columns {
        columns.set_item(name, array(py, column)?)?;
    }
    Ok((chunk.name, columns))
}

pub(crate) fn array(py: Python<'_>, column: Column) -> PyResult<Bound<'_, PyAny>> {
    Ok(match column {
        Column::Category(codes, labels) => {
            (codes.into_pyarray(py), labels.to_vec()).into_pyobject(py)?.into_any()
        }
        Column::Name(codes, names) => (codes.into_pyarray(py), names).into_pyobject(py)?.into_any(),
        Column::Node(values) | Column::U32(values) => values.into_pyarray(py).into_any(),
        Column::U64(values) => values.into_pyarray(py).into_any(),
        Column::I64(values) => values.into_pyarray(py).into_any(),
        Column::F64(values) => values.into_pyarray(py).into_any(),
    })
}
