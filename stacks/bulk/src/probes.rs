//! How many probe time-outs there were: quinn-proto counts none, but says of each that it fires.

use std::fmt::{Debug, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

/// The message of quinn-proto 0.11.19 at a probe time-out.
const FIRED: &str = "PTO fired";

/// Counts the probe time-outs of this process.
#[derive(Clone, Debug, Default)]
pub(crate) struct Probes(Arc<AtomicU64>);

impl Probes {
    /// How many there were.
    pub(crate) fn so_far(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// Counts from now on.
///
/// # Panics
/// When it was called before.
pub(crate) fn count() -> Probes {
    let probes = Probes::default();
    tracing::subscriber::set_global_default(probes.clone()).expect("nobody else listens");
    probes
}

/// Whether the message of an event is that of a probe time-out.
struct Fired(bool);

impl Visit for Fired {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        if field.name() == "message" {
            let mut message = String::new();
            self.0 = write!(message, "{value:?}").is_ok() && message == FIRED;
        }
    }
}

impl Subscriber for Probes {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_event() && metadata.target().starts_with("quinn_proto::connection")
    }

    fn new_span(&self, _span: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _span: &Id, _values: &Record<'_>) {}

    fn record_follows_from(&self, _span: &Id, _follows: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut fired = Fired(false);
        event.record(&mut fired);
        self.0.fetch_add(u64::from(fired.0), Ordering::Relaxed);
    }

    fn enter(&self, _span: &Id) {}

    fn exit(&self, _span: &Id) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probe_timeouts_are_counted_and_nothing_else() {
        let probes = Probes::default();
        tracing::subscriber::with_default(probes.clone(), || {
            tracing::trace!(target: "quinn_proto::connection", count = 1, "PTO fired");
            tracing::trace!(target: "quinn_proto::connection", "PTO expired while unset");
            tracing::trace!(target: "elsewhere", "PTO fired");
        });
        assert_eq!(probes.so_far(), 1);
    }
}
