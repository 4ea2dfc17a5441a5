//! The part that all flows of one entry of the scenario share.

use std::sync::Arc;

use burstlab_tcp::{Classes, Config, Detector, Listens, Overrides, Variant};

use crate::scenario::{Flow as Entry, Resolved};
use crate::world::ahead::policy::HostRules;
use crate::world::keys::Keys;

/// The names of an entry of the scenario, and the table in which it stands.
pub(in crate::world) struct Called<'a> {
    pub(in crate::world) table: &'a str,
    pub(in crate::world) name: Option<&'a String>,
    pub(in crate::world) label: Option<&'a String>,
}

/// The part that all flows of one entry of the scenario share.
#[derive(Clone, Debug)]
pub(in crate::world) struct FlowKind {
    pub(in crate::world) label: String,
    /// The keys of the draws of its flows.
    pub(in crate::world) keys: Keys,
    pub(in crate::world) variant: String,
    pub(super) config: Config,
    /// Who makes its classes of Python, if it has any.
    pub(super) classes: Option<Arc<dyn Classes>>,
    pub(in crate::world) listens: Listens,
    /// How far its hosts may be ahead of the clock.
    pub(in crate::world) ahead: HostRules,
    pub(in crate::world::hosts) detects: bool,
    /// Whether its detector receives the truth before anything happens to its window.
    pub(super) hears_truth: bool,
    /// Bytes of application data in a full segment.
    pub(super) payload: u64,
    pub(in crate::world) class: u32,
    /// Whether its application closes the connection behind what it writes.
    pub(super) closes: bool,
}

impl FlowKind {
    pub(in crate::world) fn new(
        resolved: &Resolved,
        called: &Called<'_>,
        class: u32,
        config: &Config,
    ) -> Self {
        let mut kind = Self::plain(called.label.or(called.name), class, config);
        kind.keys = Keys::of(called.table, called.name);
        kind.classes.clone_from(&resolved.classes);
        kind.ahead = kind.ahead.listening(resolved, kind.listens);
        kind.ahead =
            kind.ahead.by_the_clock_if(resolved.ack_spacing.is_some(), "access.ack_pacing");
        kind
    }

    /// The same without classes of Python.
    fn plain(label: Option<&String>, class: u32, config: &Config) -> Self {
        let variant = serde_json::to_value(config.variant).unwrap_or_default();
        let variant = variant.as_str().unwrap_or_default().to_string();
        Self {
            label: label.cloned().unwrap_or_else(|| variant.clone()),
            variant,
            keys: Keys::default(),
            config: config.clone(),
            classes: None,
            listens: Listens::of(config),
            ahead: HostRules::new(config),
            detects: config.detector != Detector::None,
            hears_truth: config.detector == Detector::Oracle && config.variant == Variant::Linux,
            payload: config.segment_size.get() - config.headers().get(),
            class,
            closes: true,
        }
    }
}

impl FlowKind {
    /// The same where its application closes the connection, or keeps it open.
    pub(in crate::world::hosts) fn closing(mut self, closes: bool) -> Self {
        self.closes = closes;
        self
    }

    /// The same with these hosts on the air.
    pub(super) fn with_stations(mut self, on_air: [bool; 2]) -> Self {
        self.ahead = self.ahead.by_the_clock_if(on_air != [false; 2], "wlan");
        self
    }

    /// The same with hosts that are never ahead of the clock, as this field, a script, counts the
    /// packets that leave them.
    pub(super) fn scripted(mut self, field: &'static str) -> Self {
        self.ahead = self.ahead.by_the_clock_if(true, field);
        self
    }

    /// The same where its hosts may be a third-party stack.
    pub(super) fn with_stack(mut self, entry: &Entry) -> Self {
        let Some(stack) = &entry.stack else { return self };
        let control = entry.congestion_control.as_ref();
        self.variant = control.map_or(stack.clone(), |control| format!("{stack} {control}"));
        let called = entry.label.as_ref().or(entry.name.as_ref());
        self.label = called.unwrap_or(&self.variant).clone();
        self.ahead = self.ahead.by_the_clock_if(true, "stack");
        self
    }

    /// The kind of a flow that was read and is yet to be given its own.
    pub(super) fn unknown() -> Arc<Self> {
        let config = Config::resolve(&Overrides::default()).expect("the defaults are sound");
        Arc::new(Self::plain(None, 0, &config))
    }

    /// Bytes of data in a packet of `size` bytes.
    pub(in crate::world) fn data_of(&self, size: u64) -> u64 {
        size.saturating_sub(self.config.headers().get())
    }

    /// Bytes on a link of all segments of a transfer, the SYN not counted.
    pub(in crate::world) fn on_wire(&self, bytes: u64) -> u64 {
        let headers = self.config.headers().get();
        bytes.saturating_add(headers.saturating_mul(bytes.div_ceil(self.payload)))
    }
}
