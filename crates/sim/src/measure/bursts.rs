//! Counts of the bursts of one kind in a mesh.

use burstlab_units::{Bytes, Span};
use serde::{Deserialize, Serialize};

use super::Histogram;
use super::loss::LossCause;
use super::mesh_summary::{
    BurstSummary, Cause, ClassSummary, HopSummary, Resolutions, RouteSummary, RunBytes, SizeSummary,
};
use crate::by_number::{ByNumber, is_list};

/// How many kinds of bursts there are: with data, of ACKs alone, background.
pub(crate) const KINDS: usize = 3;

/// The group that a burst is counted in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sort {
    /// Place of its kind.
    pub(crate) kind: usize,
    /// Its class, where bursts of the scenario can have several.
    pub(crate) class: Option<u32>,
}

/// A burst that has ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ended {
    pub(crate) sort: Sort,
    pub(crate) from: u32,
    pub(crate) to: u32,
    pub(crate) hops: usize,
    /// Its length as it was closed.
    pub(crate) bytes: Bytes,
    /// Packets it was closed with, and packets that were in it at its end.
    pub(crate) packets: u64,
    pub(crate) packets_left: u64,
    /// The same in bytes, without padding; of a burst that carries no packets, of its length.
    pub(crate) load: u64,
    pub(crate) load_left: u64,
    /// Time from its closing to its end.
    pub(crate) took: Span,
}

/// The value in a place of a list, which grows where it is not there yet.
#[inline]
pub(super) fn grown<T: Clone + Default>(list: &mut Vec<T>, place: usize) -> &mut T {
    if list.len() <= place {
        list.resize(place + 1, T::default());
    }
    &mut list[place]
}

/// Bursts that ended, and those of them that were lost.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct EndTally {
    ended: u64,
    lost: u64,
}

impl EndTally {
    fn add(&mut self, lost: bool) {
        self.ended += 1;
        self.lost += u64::from(lost);
    }

    fn absorb(&mut self, other: Self) {
        self.ended += other.ended;
        self.lost += other.lost;
    }

    fn ratio(self) -> f64 {
        ratio(self.lost, self.ended)
    }
}

/// The contents of bursts that ended: all, those that did not arrive, and of these those cut off.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Freight {
    all: u64,
    lost: u64,
    cut: u64,
}

impl Freight {
    fn add(&mut self, all: u64, left: u64, lost: bool) {
        self.all += all;
        self.cut += all - left;
        self.lost += if lost { all } else { all - left };
    }

    fn absorb(&mut self, other: Self) {
        self.all += other.all;
        self.lost += other.lost;
        self.cut += other.cut;
    }
}

/// Times that something waited, where it may not have waited at all.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct Waits {
    pub(super) count: u64,
    total: u128,
    longest: Span,
}

impl Waits {
    #[inline]
    pub(super) fn add(&mut self, wait: Span) {
        self.count += 1;
        // Most did not wait.
        if !wait.is_zero() {
            self.total += u128::from(wait.as_ps());
            self.longest = self.longest.max(wait);
        }
    }

    fn absorb(&mut self, other: Self) {
        self.count += other.count;
        self.total += other.total;
        self.longest = self.longest.max(other.longest);
    }

    pub(super) fn mean_s(self) -> f64 {
        mean_s(self.total, self.count)
    }

    pub(super) fn longest_s(self) -> f64 {
        self.longest.as_secs_f64()
    }
}

/// The same, with a histogram in nanoseconds.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Times {
    pub(super) waits: Waits,
    pub(super) classes: Histogram,
}

impl Times {
    #[inline]
    pub(super) fn add(&mut self, wait: Span) {
        if wait.is_zero() {
            self.waits.count += 1;
            self.classes.add_zero();
        } else {
            self.waits.add(wait);
            self.classes.add(wait.as_ps() / 1000);
        }
    }

    fn absorb(&mut self, other: &Self) {
        self.waits.absorb(other.waits);
        self.classes.absorb(&other.classes);
    }
}

/// The fates of bursts of one class.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct ClassTally {
    all: EndTally,
    packets: Freight,
    bytes: Freight,
    causes: [u64; LossCause::LABELS.len()],
    routes: Routes,
}

impl ClassTally {
    fn ended(&mut self, burst: &Ended, nodes: usize, cause: Option<LossCause>) {
        let is_lost = cause.is_some();
        self.all.add(is_lost);
        self.packets.add(burst.packets, burst.packets_left, is_lost);
        self.bytes.add(burst.load, burst.load_left, is_lost);
        self.routes.ended(burst, nodes, is_lost);
        if let Some(cause) = cause {
            self.causes[cause as usize] += 1;
        }
    }

    fn absorb(&mut self, other: &Self) {
        self.all.absorb(other.all);
        self.packets.absorb(other.packets);
        self.bytes.absorb(other.bytes);
        absorb_causes(&mut self.causes, &other.causes);
        self.routes.absorb(&other.routes);
    }

    fn summary(&self, class: u32, names: &[String]) -> ClassSummary {
        let (packets, bytes) = (self.packets, self.bytes);
        ClassSummary {
            class,
            bursts: self.all.ended,
            bursts_lost: self.all.lost,
            burst_loss_ratio: self.all.ratio(),
            packets: packets.all,
            packets_lost: packets.lost,
            packet_loss_ratio: ratio(packets.lost, packets.all),
            bytes: bytes.all,
            bytes_lost: bytes.lost,
            byte_loss_ratio: ratio(bytes.lost, bytes.all),
            causes: causes(&self.causes),
            routes: self.routes.summaries(names),
        }
    }
}

/// Bursts by first and last node, with the time that those took which arrived; empty until one
/// ends.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Routes(ByNumber<(EndTally, u128)>);

/// Whether each pair of so many nodes has its counts from the beginning.
pub(crate) fn counts_all_pairs(nodes: usize) -> bool {
    is_list::<(EndTally, u128)>(nodes * nodes)
}

impl Routes {
    fn ended(&mut self, burst: &Ended, nodes: usize, is_lost: bool) {
        if self.0.is_empty() {
            self.0 = ByNumber::below(nodes * nodes);
        }
        let (fate, took) = self.0.at(burst.from as usize * nodes + burst.to as usize);
        fate.add(is_lost);
        *took += if is_lost { 0 } else { u128::from(burst.took.as_ps()) };
    }

    fn absorb(&mut self, other: &Self) {
        if self.0.is_empty() {
            self.0 = other.0.clone();
            return;
        }
        for (number, theirs) in other.0.iter() {
            let mine = self.0.at(number);
            mine.0.absorb(theirs.0);
            mine.1 += theirs.1;
        }
    }

    fn summaries(&self, names: &[String]) -> Vec<RouteSummary> {
        let routes = self.0.iter().filter(|(_, (fate, _))| fate.ended > 0);
        let summary = |(index, &(fate, took)): (usize, &(EndTally, u128))| RouteSummary {
            from: names[index / names.len()].clone(),
            to: names[index % names.len()].clone(),
            bursts: fate.ended,
            lost: fate.lost,
            loss_ratio: fate.ratio(),
            mean_delay_s: (fate.ended > fate.lost).then(|| mean_s(took, fate.ended - fate.lost)),
        };
        routes.map(summary).collect()
    }
}

/// The counts of bursts of one kind.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct KindTally {
    all: EndTally,
    packets_ended: Freight,
    bytes_ended: Freight,
    causes: [u64; LossCause::LABELS.len()],
    contention_at_ingress: u64,
    routes: Routes,
    hops: Vec<EndTally>,
    /// By power of two of the length.
    sizes: Vec<EndTally>,
    /// By class, where bursts can have several.
    classes: Vec<ClassTally>,
    pub(crate) resolutions: Resolutions,
    pub(super) packets: Histogram,
    pub(super) bytes: Histogram,
    pub(super) assembly_ns: Histogram,
    pub(super) port_wait_ns: Histogram,
    /// Of headers: for a processor, for a control channel.
    pub(super) processor: Times,
    pub(super) control: Times,
}

impl KindTally {
    /// A burst has ended: it landed, or it was lost for a cause.
    pub(super) fn ended(&mut self, burst: &Ended, nodes: usize, lost: Option<(LossCause, u32)>) {
        let is_lost = lost.is_some();
        self.all.add(is_lost);
        let (packets, left) = (burst.packets, burst.packets_left);
        self.packets_ended.add(packets, left, is_lost);
        self.bytes_ended.add(burst.load, burst.load_left, is_lost);
        self.routes.ended(burst, nodes, is_lost);
        if let Some(class) = burst.sort.class {
            let place = class as usize;
            let many = self.classes.len().max(place + 1);
            self.classes.resize_with(many, ClassTally::default);
            self.classes[place].ended(burst, nodes, lost.map(|(cause, _)| cause));
        }
        let size = 64 - burst.bytes.get().leading_zeros() as usize;
        for (list, place) in [(&mut self.hops, burst.hops), (&mut self.sizes, size)] {
            grown(list, place).add(is_lost);
        }
        if let Some((cause, node)) = lost {
            self.causes[cause as usize] += 1;
            let here = cause == LossCause::Contention && node == burst.from;
            self.contention_at_ingress += u64::from(here);
        }
    }

    /// Adds the counts of bursts of another kind.
    pub(super) fn absorb(&mut self, other: &Self) {
        self.all.absorb(other.all);
        self.packets_ended.absorb(other.packets_ended);
        self.bytes_ended.absorb(other.bytes_ended);
        absorb_causes(&mut self.causes, &other.causes);
        self.contention_at_ingress += other.contention_at_ingress;
        self.routes.absorb(&other.routes);
        let many = self.classes.len().max(other.classes.len());
        self.classes.resize_with(many, ClassTally::default);
        self.classes.iter_mut().zip(&other.classes).for_each(|(mine, theirs)| mine.absorb(theirs));
        for (mine, theirs) in [(&mut self.hops, &other.hops), (&mut self.sizes, &other.sizes)] {
            mine.resize(mine.len().max(theirs.len()), EndTally::default());
            mine.iter_mut().zip(theirs).for_each(|(mine, theirs)| mine.absorb(*theirs));
        }
        self.resolutions.absorb(&other.resolutions);
        self.packets.absorb(&other.packets);
        self.bytes.absorb(&other.bytes);
        self.assembly_ns.absorb(&other.assembly_ns);
        self.port_wait_ns.absorb(&other.port_wait_ns);
        self.processor.absorb(&other.processor);
        self.control.absorb(&other.control);
    }

    /// The numbers, in a mesh of nodes with these names, whose bursts can have these classes, more
    /// than one or none; `run` is of the whole run.
    pub(super) fn summary(&self, names: &[String], classes: &[u32], run: RunBytes) -> BurstSummary {
        let (packets, bytes) = (self.packets_ended, self.bytes_ended);
        let (processor, control) = (self.processor.waits, self.control.waits);
        BurstSummary {
            bursts: self.all.ended,
            bursts_lost: self.all.lost,
            burst_loss_ratio: self.all.ratio(),
            contention_at_ingress: self.contention_at_ingress,
            packets: packets.all,
            packets_lost: packets.lost,
            packets_cut: packets.cut,
            packet_loss_ratio: ratio(packets.lost, packets.all),
            bytes: bytes.all,
            bytes_lost: bytes.lost,
            bytes_cut: bytes.cut,
            byte_loss_ratio: ratio(bytes.lost, bytes.all),
            packets_per_burst: self.packets.mean(),
            bytes_per_burst: self.bytes.mean(),
            assembly_delay_s: self.assembly_ns.mean() * 1e-9,
            port_wait_s: self.port_wait_ns.mean() * 1e-9,
            headers: processor.count,
            processor_wait_s: processor.mean_s(),
            longest_processor_wait_s: processor.longest_s(),
            control_wait_s: control.mean_s(),
            longest_control_wait_s: control.longest_s(),
            run,
            causes: causes(&self.causes),
            resolutions: self.resolutions.clone(),
            routes: self.routes.summaries(names),
            hops: self.by_hops(),
            sizes: self.by_size(),
            classes: self.by_class(names, classes),
        }
    }

    fn by_class(&self, names: &[String], classes: &[u32]) -> Vec<ClassSummary> {
        let none = ClassTally::default();
        let summary =
            |&class: &u32| self.classes.get(class as usize).unwrap_or(&none).summary(class, names);
        classes.iter().map(summary).collect()
    }

    fn by_hops(&self) -> Vec<HopSummary> {
        let summary = |(hops, fate): (usize, &EndTally)| HopSummary {
            hops: hops as u64,
            bursts: fate.ended,
            lost: fate.lost,
            loss_ratio: fate.ratio(),
        };
        seen(&self.hops).map(summary).collect()
    }

    fn by_size(&self) -> Vec<SizeSummary> {
        let summary = |(bits, fate): (usize, &EndTally)| SizeSummary {
            below_bytes: 1u64.checked_shl(bits as u32).unwrap_or(u64::MAX),
            bursts: fate.ended,
            lost: fate.lost,
            loss_ratio: fate.ratio(),
        };
        seen(&self.sizes).map(summary).collect()
    }
}

/// Lost bursts by cause: each that a burst can be lost to, but surgery where it killed none.
fn causes(counts: &[u64; LossCause::LABELS.len()]) -> Vec<Cause> {
    let cause = |&cause: &LossCause| Cause {
        cause: LossCause::LABELS[cause as usize].into(),
        bursts: counts[cause as usize],
    };
    let causes = LossCause::OF_BURSTS.iter().map(cause);
    let shown = |one: &Cause| one.bursts > 0 || one.cause != LossCause::Operated.label();
    causes.filter(shown).collect()
}

fn absorb_causes(
    mine: &mut [u64; LossCause::LABELS.len()],
    theirs: &[u64; LossCause::LABELS.len()],
) {
    mine.iter_mut().zip(theirs).for_each(|(mine, theirs)| *mine += theirs);
}

/// The groups in which a burst ended.
fn seen(fates: &[EndTally]) -> impl Iterator<Item = (usize, &EndTally)> {
    fates.iter().enumerate().filter(|(_, fate)| fate.ended > 0)
}

fn ratio(few: u64, many: u64) -> f64 {
    if many == 0 { 0.0 } else { few as f64 / many as f64 }
}

fn mean_s(total: u128, count: u64) -> f64 {
    if count == 0 { 0.0 } else { total as f64 / count as f64 * 1e-12 }
}
