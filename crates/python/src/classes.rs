//! Laws and detectors that are classes of Python. Each run executes the text of their file anew,
//! and each connection has an instance of its own. An exception in one ends the run: from then on
//! the class answers the usual value, and the monitor cancels the run.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use burstlab_sim::scenario::Resolved;
use burstlab_sim::{
    Classes, Decision, Discriminator, ForeignLaw, Moment, Monitor, PythonClass, Span, Verdict,
};
use burstlab_tcp::{
    BurstReport, ClassNotices, Config, Detector, Listens, Notice, TIMER_LEAST, Variant,
};
use pyo3::create_exception;
use pyo3::exceptions::{PyKeyboardInterrupt, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFloat, PyString, PyTuple};

use crate::event::Event;
use crate::refusals::to_json;

create_exception!(
    burstlab._core,
    ClassError,
    PyValueError,
    "A class of Python cannot be used, or has failed; args are (problem, fix)."
);

/// The Python module that turns the text of a class into a class, and its exceptions into words.
const MODULE: &str = "burstlab.classes";

/// The first exception in the classes of a run.
#[derive(Debug)]
pub(crate) struct ClassFault {
    monitor: Monitor,
    failed: AtomicBool,
    failure: Mutex<Option<(String, String)>>,
}

impl ClassFault {
    /// Returns the failure as an error.
    pub(crate) fn check(&self) -> PyResult<()> {
        let failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner).take();
        failure.map_or(Ok(()), |args| Err(ClassError::new_err(args)))
    }

    fn is_there(&self) -> bool {
        self.failed.load(Ordering::Relaxed)
    }

    /// Whether an error is how a class was stopped in a run that is to end; none is asked again.
    fn is_stop(&self, py: Python<'_>, error: &PyErr) -> bool {
        let stop = !self.monitor.goes_on() && error.is_instance_of::<PyKeyboardInterrupt>(py);
        if stop {
            self.failed.store(true, Ordering::Relaxed);
        }
        stop
    }

    fn record(&self, failure: (String, String)) {
        self.failed.store(true, Ordering::Relaxed);
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(failure);
        self.monitor.cancel();
    }
}

/// Makes the classes of a scenario, if it has any, for one run. The returned value reports their
/// later exceptions.
pub(crate) fn prepare(
    py: Python<'_>,
    resolved: &mut Resolved,
    monitor: &Monitor,
) -> PyResult<Option<Arc<ClassFault>>> {
    if !resolved.needs_classes() {
        return Ok(None);
    }
    let (failed, failure) = (AtomicBool::new(false), Mutex::new(None));
    let fault = Arc::new(ClassFault { monitor: monitor.clone(), failed, failure });
    let mut loaded: Vec<Arc<Loaded>> = Vec::new();
    for config in resolved.tcp.iter().chain(&resolved.demand_tcp) {
        let of = [(Kind::Law, &config.window_law_class), (Kind::Detector, &config.detector_class)];
        for (kind, class) in
            of.into_iter().filter_map(|(kind, class)| Some((kind, class.as_ref()?)))
        {
            let place = match loaded.iter().position(|one| one.is(kind, class)) {
                Some(place) => place,
                None => {
                    loaded.push(Arc::new(Loaded::new(py, kind, class)?));
                    loaded.len() - 1
                }
            };
            loaded[place].fits(config)?;
        }
    }
    resolved.classes = Some(Arc::new(PythonClasses { loaded, fault: Arc::clone(&fault) }));
    Ok(Some(fault))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Law,
    Detector,
}

impl Kind {
    fn word(self) -> &'static str {
        match self {
            Self::Law => "law",
            Self::Detector => "detector",
        }
    }
}

/// A class that was executed.
#[derive(Debug)]
struct Loaded {
    kind: Kind,
    class: PythonClass,
    /// Returns an instance.
    make: Py<PyAny>,
    /// Which of its methods there are to call, as [`NAMES`] has them.
    has: Vec<bool>,
    rules_slow_start: bool,
}

impl Loaded {
    fn new(py: Python<'_>, kind: Kind, class: &PythonClass) -> PyResult<Self> {
        let args = (
            kind.word(),
            class.name.as_deref().unwrap_or("the file"),
            class.source.as_deref().unwrap_or_default(),
            &class.class,
            to_json(&class.options)?,
        );
        let made = py.import(MODULE)?.getattr("load")?.call1(args)?;
        let (make, has, rules_slow_start) = made.extract()?;
        Ok(Self { kind, class: class.clone(), make, has, rules_slow_start })
    }

    /// Refuses methods that a sender of `config` never calls, and reports that no method takes.
    fn fits(&self, config: &Config) -> PyResult<()> {
        if config.variant != Variant::Linux {
            let lacking = [(PACING_RATE, "does not pace"), (NEXT_TIMER, "has no such timer")];
            for (method, lacks) in lacking {
                let why = format!(
                    "only the variant \"linux\" asks it, and the sender of this scenario {lacks}"
                );
                self.refuse(method, &why, "variant = \"linux\" and profile = \"linux\"")?;
            }
        }
        let detector = format!("{:?}", config.detector).to_lowercase();
        if self.kind == Kind::Law && config.detector != Detector::Law {
            for method in (ON_BURST_LEFT..=ON_BURST_LOST).chain(ON_FEEDBACK..=ON_EXCUSED) {
                let why = format!("with tcp.detector = \"{detector}\" no law gets it");
                self.refuse(method, &why, "detector = \"law\"")?;
            }
            return Ok(());
        }
        if self.kind == Kind::Law && !self.has(EXCUSES) && !self.has(ON_BURST_LOST) {
            return Err(self.misses("tcp.detector = \"law\"", "excuses", "another detector"));
        }
        let Listens { left, arrived, dropped } = Listens::of(config);
        let notices = match config.class_notices {
            None | Some(ClassNotices::None) => "none",
            Some(ClassNotices::Acks) => "acks",
            Some(ClassNotices::Naks) => "naks",
            Some(ClassNotices::All) => "all",
        };
        let both_edges = "\"all\" (or \"acks\") and back_mode = \"both\"";
        for (method, listens, what, wanted) in [
            (ON_BURST_LEFT, left, "burst ACKs of the ingress", both_edges),
            (ON_BURST_ARRIVED, arrived, "burst ACKs of the egress", both_edges),
            (ON_BURST_LOST, dropped.is_some(), "burst NAKs", "\"all\" (or \"naks\")"),
        ] {
            if !listens {
                let why = format!("with tcp.class_notices = \"{notices}\" it gets no {what}");
                self.refuse(method, &why, &format!("class_notices = {wanted}"))?;
            }
        }
        let field = format!("tcp.class_notices = \"{notices}\"");
        if (left || arrived) && !self.has(ON_BURST_LEFT) && !self.has(ON_BURST_ARRIVED) {
            let name = NAMES[if left { ON_BURST_LEFT } else { ON_BURST_ARRIVED }];
            return Err(self.misses(&field, name, "class_notices = \"none\""));
        }
        if dropped.is_some() && !self.has(ON_BURST_LOST) {
            let name = NAMES[ON_BURST_LOST];
            return Err(self.misses(&field, name, "class_notices = \"none\""));
        }
        Ok(())
    }

    /// Refuses a method, if the class has it.
    fn refuse(&self, method: usize, why: &str, write: &str) -> PyResult<()> {
        if !self.has(method) {
            return Ok(());
        }
        let (file, class) = (self.class.name.as_deref().unwrap_or("the file"), &self.class.class);
        let name = NAMES[method];
        let problem = format!("{file}: {class}.{name}: {why}");
        Err(ClassError::new_err((problem, format!("write {write}, or leave out {name}"))))
    }

    /// The error of a method that a field needs.
    fn misses(&self, field: &str, method: &str, other: &str) -> PyErr {
        let (file, class) = (self.class.name.as_deref().unwrap_or("the file"), &self.class.class);
        let problem = format!("{file}: {class} has no {method}, which {field} needs");
        ClassError::new_err((problem, format!("write def {method}(self, event), or write {other}")))
    }

    fn has(&self, method: usize) -> bool {
        self.has.get(method) == Some(&true)
    }

    fn is(&self, kind: Kind, class: &PythonClass) -> bool {
        self.kind == kind && self.class == *class
    }
}

/// The classes of a run.
#[derive(Debug)]
struct PythonClasses {
    loaded: Vec<Arc<Loaded>>,
    fault: Arc<ClassFault>,
}

impl PythonClasses {
    fn instance(&self, kind: Kind, class: &PythonClass) -> Instance {
        let of = self.loaded.iter().find(|one| one.is(kind, class));
        let of = Arc::clone(of.expect("every class of the scenario was prepared"));
        let mut new = Instance { of, fault: Arc::clone(&self.fault), methods: Methods::default() };
        Python::attach(|py| {
            match new.of.make.call0(py).and_then(|one| Methods::of(py, one, &new.of)) {
                Ok(methods) => new.methods = methods,
                Err(error) => new.fail(py, &error, "__init__", None),
            }
        });
        new
    }
}

impl Classes for PythonClasses {
    fn law(&self, class: &PythonClass) -> Box<dyn ForeignLaw> {
        Box::new(Law(self.instance(Kind::Law, class)))
    }

    fn detector(&self, class: &PythonClass) -> Box<dyn Discriminator> {
        Box::new(Judge(self.instance(Kind::Detector, class)))
    }
}

/// An object and its methods, as far as there are any to call.
#[derive(Debug, Default)]
struct Methods {
    object: Option<Py<PyAny>>,
    bound: [Option<Py<PyAny>>; NAMES.len()],
}

/// Names of the methods, those of a detector first.
const NAMES: [&str; 13] = [
    "on_ack",
    "on_loss",
    "on_timeout",
    "on_burst_left",
    "on_burst_arrived",
    "on_burst_lost",
    "on_mark",
    "on_timer",
    "pacing_rate",
    "next_timer",
    "on_feedback",
    "excuses",
    "on_excused",
];
/// Where some of them are.
const ON_BURST_LEFT: usize = 3;
const ON_BURST_ARRIVED: usize = 4;
const ON_BURST_LOST: usize = 5;
const ON_MARK: usize = 6;
const ON_TIMER: usize = 7;
const PACING_RATE: usize = 8;
const NEXT_TIMER: usize = 9;
const ON_FEEDBACK: usize = 10;
const EXCUSES: usize = 11;
const ON_EXCUSED: usize = 12;

impl Methods {
    fn of(py: Python<'_>, object: Py<PyAny>, loaded: &Loaded) -> PyResult<Self> {
        let mut bound = [const { None }; NAMES.len()];
        for (place, name) in NAMES.into_iter().enumerate().filter(|&(place, _)| loaded.has(place)) {
            bound[place] = Some(object.getattr(py, name)?);
        }
        Ok(Self { object: Some(object), bound })
    }
}

/// An object of a class, for one connection.
#[derive(Debug)]
struct Instance {
    of: Arc<Loaded>,
    fault: Arc<ClassFault>,
    methods: Methods,
}

impl Instance {
    /// Calls method `which`, if there is one, and takes from its answer what `read` does.
    fn ask<T>(
        &self,
        which: usize,
        moment: &Moment,
        read: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>,
    ) -> Option<T> {
        self.ask_of_burst(which, moment, None, read)
    }

    /// The same of a report about a burst.
    fn ask_of_burst<T>(
        &self,
        which: usize,
        moment: &Moment,
        report: Option<&BurstReport>,
        read: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>,
    ) -> Option<T> {
        let method = self.methods.bound[which].as_ref()?;
        if self.fault.is_there() {
            return None;
        }
        Python::attach(|py| {
            let event = Bound::new(py, Event::of(moment, report));
            let answer = event.and_then(|event| method.bind(py).call1((event,)));
            match answer.and_then(|answer| read(&answer)) {
                Ok(answer) => Some(answer),
                Err(error) => {
                    self.fail(py, &error, NAMES[which], Some(moment));
                    None
                }
            }
        })
    }

    /// A burst ACK arrives.
    fn on_burst_ack(&self, report: &BurstReport, moment: &Moment) {
        let left = report.notice == Notice::Left;
        let which = if left { ON_BURST_LEFT } else { ON_BURST_ARRIVED };
        self.ask_of_burst(which, moment, Some(report), |_| Ok(()));
    }

    /// A burst NAK arrives.
    fn on_burst_nak(&self, report: &BurstReport, moment: &Moment) -> bool {
        let read = |answer: &Bound<'_, PyAny>| {
            let repairs = yes(answer)?;
            match report.segments.last() {
                Some(last) if repairs && *last < moment.first => {
                    let BurstReport { burst, .. } = report;
                    let below = format!("is below event.first = {}", moment.first);
                    let wanted =
                        format!("False for burst {burst}, whose last segment {last} {below},");
                    Err(wrong(answer, &wanted))
                }
                _ => Ok(repairs),
            }
        };
        self.ask_of_burst(ON_BURST_LOST, moment, Some(report), read).unwrap_or(false)
    }

    /// Tells of an error, which ends the run.
    fn fail(&self, py: Python<'_>, error: &PyErr, method: &str, moment: Option<&Moment>) {
        if self.fault.is_stop(py, error) {
            return;
        }
        let class = &self.of.class;
        let now = moment.map(|moment| moment.now.as_secs_f64());
        let name = class.name.as_deref().unwrap_or("the file");
        let place = NAMES.iter().position(|name| *name == method);
        let function = place.and_then(|place| self.methods.bound[place].as_ref());
        let value = error.value(py);
        // Without it nobody could tell the line.
        let traced = value.setattr("__traceback__", error.traceback(py));
        let args = (value, name, &class.class, method, now, function);
        let words = traced
            .and_then(|()| py.import(MODULE))
            .and_then(|module| module.getattr("failure")?.call1(args));
        let words = words.and_then(|words| words.extract::<(String, String)>());
        self.fault.record(words.unwrap_or_else(|_| (error.to_string(), String::new())));
    }
}

impl Clone for Instance {
    /// The same in the same state.
    fn clone(&self) -> Self {
        let (of, fault) = (Arc::clone(&self.of), Arc::clone(&self.fault));
        let mut new = Self { of, fault, methods: Methods::default() };
        let Some(object) = &self.methods.object else { return new };
        let copied = |py: Python<'_>| {
            let copy = py.import("copy")?.getattr("deepcopy")?.call1((object,))?;
            Methods::of(py, copy.unbind(), &self.of)
        };
        Python::attach(|py| match copied(py) {
            Ok(methods) => new.methods = methods,
            Err(error) => self.fail(py, &error, "__deepcopy__", None),
        });
        new
    }
}

#[derive(Clone, Debug)]
struct Law(Instance);

impl Law {
    fn ask(&self, which: usize, moment: &Moment) -> Decision {
        self.0.ask(which, moment, decision).unwrap_or(Decision::Usual)
    }
}

impl ForeignLaw for Law {
    fn rules_slow_start(&self) -> bool {
        self.0.of.rules_slow_start
    }

    fn on_ack(&mut self, moment: &Moment) -> Decision {
        self.ask(0, moment)
    }

    fn on_loss(&mut self, moment: &Moment) -> Decision {
        self.ask(1, moment)
    }

    fn on_timeout(&mut self, moment: &Moment) -> Decision {
        self.ask(2, moment)
    }

    fn on_excused(&mut self, moment: &Moment) -> Decision {
        self.ask(ON_EXCUSED, moment)
    }

    fn on_mark(&mut self, moment: &Moment) -> Decision {
        if self.0.of.has(ON_MARK) { self.ask(ON_MARK, moment) } else { self.ask(1, moment) }
    }

    fn paces(&self) -> bool {
        self.0.of.has(PACING_RATE)
    }

    fn pacing_rate(&mut self, moment: &Moment) -> Option<f64> {
        self.0.ask(PACING_RATE, moment, rate).flatten()
    }

    fn has_timer(&self) -> bool {
        self.0.of.has(NEXT_TIMER)
    }

    fn next_timer(&mut self, moment: &Moment) -> Option<Span> {
        self.0.ask(NEXT_TIMER, moment, wait).flatten()
    }

    fn on_timer(&mut self, moment: &Moment) -> Decision {
        let read = |answer: &Bound<'_, PyAny>| match answer.is_none() {
            true => Ok(Decision::Usual),
            false => decision(answer),
        };
        self.0.ask(ON_TIMER, moment, read).unwrap_or(Decision::Usual)
    }

    fn judge(&mut self) -> Option<&mut dyn Discriminator> {
        Some(self)
    }

    fn duplicate(&self) -> Box<dyn ForeignLaw> {
        Box::new(self.clone())
    }
}

/// A law that judges its own losses, by other methods.
impl Discriminator for Law {
    fn on_feedback(&mut self, moment: &Moment, _: bool) {
        self.0.ask(ON_FEEDBACK, moment, |_| Ok(()));
    }

    fn on_timeout(&mut self, moment: &Moment) -> Verdict {
        match self.0.ask(EXCUSES, moment, yes) {
            Some(true) => Verdict::False,
            _ => Verdict::True,
        }
    }

    fn on_burst_ack(&mut self, report: &BurstReport, moment: &Moment) {
        self.0.on_burst_ack(report, moment);
    }

    fn on_burst_nak(&mut self, report: &BurstReport, moment: &Moment) -> bool {
        self.0.on_burst_nak(report, moment)
    }
}

/// The answer of a law.
fn decision(answer: &Bound<'_, PyAny>) -> PyResult<Decision> {
    if let Ok(pair) = answer.cast::<PyTuple>()
        && pair.len() == 2
    {
        let (cwnd, ssthresh) = (pair.get_item(0)?, pair.get_item(1)?);
        return Ok(Decision::Both { cwnd: segments(&cwnd)?, ssthresh: segments(&ssthresh)? });
    }
    segments(answer).map(Decision::Window)
}

/// A number of segments.
fn segments(answer: &Bound<'_, PyAny>) -> PyResult<f64> {
    match number(answer).filter(|number| *number >= 0.0) {
        Some(number) => Ok(number),
        None => Err(wrong(answer, "a number of segments, or a pair (cwnd, ssthresh) of them")),
    }
}

/// A pacing rate in bit/s, if there is to be one.
fn rate(answer: &Bound<'_, PyAny>) -> PyResult<Option<f64>> {
    if answer.is_none() {
        return Ok(None);
    }
    match number(answer).filter(|number| *number > 0.0) {
        Some(number) => Ok(Some(number)),
        None => Err(wrong(answer, "a rate in bit/s, above 0 and finite, or None for no pacing")),
    }
}

/// The time until a timer is due, if it is to run.
fn wait(answer: &Bound<'_, PyAny>) -> PyResult<Option<Span>> {
    if answer.is_none() {
        return Ok(None);
    }
    let within = |seconds: &f64| (TIMER_LEAST.as_secs_f64()..=TIMER_MOST).contains(seconds);
    match number(answer).filter(within) {
        Some(seconds) => Ok(Some(Span::from_secs_f64(seconds))),
        None => Err(wrong(answer, "seconds from now, 1e-6 to 1e6, or None for no timer")),
    }
}

/// Far below where the engine's time ends.
const TIMER_MOST: f64 = 1e6;

/// A finite number; True and False are none.
fn number(answer: &Bound<'_, PyAny>) -> Option<f64> {
    let number = match answer.cast_exact::<PyFloat>() {
        Ok(number) => Some(number.value()),
        Err(_) if answer.is_instance_of::<PyBool>() => None,
        Err(_) => answer.extract::<f64>().ok(),
    };
    number.filter(|number| number.is_finite())
}

/// The error of an answer of the wrong kind.
fn wrong(answer: &Bound<'_, PyAny>, wanted: &str) -> PyErr {
    let module = answer.py().import(MODULE);
    let made = module.and_then(|module| module.getattr("wrong_answer")?.call1((answer, wanted)));
    made.map_or_else(|error| error, PyErr::from_value)
}

#[derive(Clone, Debug)]
struct Judge(Instance);

impl Discriminator for Judge {
    fn on_ack(&mut self, moment: &Moment) {
        self.0.ask(0, moment, |_| Ok(()));
    }

    fn on_loss(&mut self, moment: &Moment) {
        self.0.ask(1, moment, |_| Ok(()));
    }

    fn on_timeout(&mut self, moment: &Moment) -> Verdict {
        self.0.ask(2, moment, verdict).unwrap_or(Verdict::True)
    }

    fn on_burst_ack(&mut self, report: &BurstReport, moment: &Moment) {
        self.0.on_burst_ack(report, moment);
    }

    fn on_burst_nak(&mut self, report: &BurstReport, moment: &Moment) -> bool {
        self.0.on_burst_nak(report, moment)
    }
}

/// True or False.
fn yes(answer: &Bound<'_, PyAny>) -> PyResult<bool> {
    match answer.cast::<PyBool>() {
        Ok(answer) => Ok(answer.is_true()),
        Err(_) => Err(wrong(answer, "True or False")),
    }
}

/// The verdict of a detector.
fn verdict(answer: &Bound<'_, PyAny>) -> PyResult<Verdict> {
    match answer.cast::<PyString>() {
        Ok(word) if word == "genuine" => Ok(Verdict::True),
        Ok(word) if word == "false" => Ok(Verdict::False),
        _ => Err(wrong(answer, "control.GENUINE or control.FALSE")),
    }
}
