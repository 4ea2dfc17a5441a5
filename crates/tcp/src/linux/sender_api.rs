//! The sender of Linux behind the face that all senders have.

use burstlab_units::{Bytes, Time};

use super::clock::{ticks, whole_us};
use super::timer::Purpose;
use super::unsent::UNBOUNDED;
use super::{Arrival, Congestion, Linux, LinuxOptions};
use crate::config::{Config, Detector, SlowStart, WindowLaw};
use crate::foreign::{self, Classes};
use crate::segment::{Ack, AckOptions, SegmentFlags, SegmentOptions, Transmission};

/// Lost SYNs after which the time-out begins to double (`tcp_syn_linear_timeouts`, Linux 6.12).
const LINEAR_SYNS: u32 = 4;

impl LinuxOptions {
    /// The options of a sender, taken from the parameters of an endpoint.
    fn of(config: &Config) -> Self {
        let on = |field: Option<bool>| field.unwrap_or(true);
        let usual = Self::default();
        let grouping = config.grouping == Some(true);
        Self {
            congestion: match config.window_law {
                WindowLaw::Cubic => Congestion::Cubic,
                WindowLaw::Dctcp => Congestion::Dctcp,
                WindowLaw::Vegas => Congestion::Vegas,
                WindowLaw::Bbr => Congestion::Bbr,
                WindowLaw::Bbr3 => Congestion::Bbr3,
                WindowLaw::Scalable => Congestion::Scalable,
                WindowLaw::Highspeed => Congestion::Highspeed,
                WindowLaw::Htcp => Congestion::Htcp,
                WindowLaw::Illinois => Congestion::Illinois,
                WindowLaw::Veno => Congestion::Veno,
                WindowLaw::Westwood => Congestion::Westwood,
                _ => Congestion::Reno,
            },
            slow_start: config.slow_start.unwrap_or(SlowStart::Standard),
            bbr_phase: config.bbr_phase.unwrap_or(0) as u8,
            sack: on(config.sack),
            timestamps: on(config.timestamps),
            rack: on(config.rack),
            rack_adapts: on(config.rack_adapts),
            rack_counts: on(config.rack_counts),
            tlp: on(config.tail_loss_probe),
            frto: on(config.f_rto),
            ecn: config.ecn == Some(true),
            pacing: false,
            restart_after_idle: config.idle_restart_window > 0,
            initial_window: config.initial_window,
            reordering: config.dupack_threshold,
            reordering_max: usual.reordering_max.max(config.dupack_threshold),
            rto_min_us: whole_us(config.rto_min),
            rto_initial: ticks(whole_us(config.rto_initial)).max(1),
            rto_max: (whole_us(config.rto_max) / 1000).max(1),
            payload: config.segment_size.get() - config.headers().get(),
            segment_size: config.segment_size.get(),
            group_most: if grouping { u32::MAX } else { 1 },
            group_least: usual.group_least,
            group_divisor: usual.group_divisor,
            parts: usual.parts,
            send_buffer: match config.send_buffer {
                Some(size) => (size.get(), 2 * size.get()),
                None if grouping => usual.send_buffer,
                None => (UNBOUNDED, UNBOUNDED),
            },
            send_overhead: config.send_overhead.map_or(usual.send_overhead, Bytes::get),
            clock_phase: config.rto_clock_phase,
            wheel_phase: config.wheel_phase.map_or(usual.wheel_phase, u64::from),
        }
    }
}

impl Linux {
    /// The sender that `config` asks for.
    pub(crate) fn of(config: &Config, classes: Option<&dyn Classes>) -> Self {
        let options = LinuxOptions::of(config);
        let mut sender = Self::new(&options);
        if config.window_law == WindowLaw::Python {
            let law = foreign::law(config, classes);
            sender.path.follow(law, config.detector == Detector::Law);
        }
        if config.initial_ssthresh < config.window {
            sender.path.begin_with_threshold(config.initial_ssthresh);
        }
        let window = u64::from(config.window) * sender.options.payload;
        sender.application.take_window(&mut sender.peer, window, sender.queue.next());
        sender
    }

    /// Sends the SYN, for the first time or as it was lost.
    pub(crate) fn start(&mut self, now: Time, out: &mut Vec<Transmission>) {
        let again = self.queue.next() > 0;
        if again && self.peer.calls_again() + 1 >= LINEAR_SYNS {
            self.path.round_trip_mut().back_off();
        }
        self.peer.call(now, again);
        let now = self.clock.read(now);
        self.repair.call(now.tick, again);
        self.queue.call();
        self.queue.count_again(u32::from(again));
        self.emit(0, again, SegmentFlags::default(), out);
        self.timer.set(now, Purpose::Timeout, self.path.round_trip().rto());
    }

    /// The connection has data in both directions: the ACK of the other SYN ends the handshake.
    pub(crate) fn go_both_ways(&mut self) {
        self.peer.go_both_ways();
    }

    /// An ACK as a receiver of ours sends it; whether it came with data.
    pub(crate) fn on_wire_ack(
        &mut self,
        now: Time,
        (ack, with_data): (&Ack, bool),
        options: Option<&AckOptions>,
        out: &mut Vec<Transmission>,
    ) {
        let window = options.map_or(self.peer.window(), |options| u64::from(options.window));
        let blocks = ack.sack.as_slice();
        self.peer.take_stamp(options.map_or(0, |options| options.stamp));
        if options.is_some_and(|options| options.opens) && self.queue.acked() > 0 {
            // A SYN's ACK that came again.
            return;
        }
        if self.queue.acked() == 0 {
            if ack.next == 1 && self.queue.next() == 1 {
                let (sent, again) = (self.peer.called_at(), self.peer.calls_again());
                self.peer.take_echo(options.map(|options| u64::from(options.echo)));
                let spurious = self.repair.take_call(self.peer.echo());
                self.open(sent, now, window);
                if again > 1 && !spurious {
                    self.path.begin_with_one();
                }
                if !self.peer.goes_both_ways() {
                    // The third packet of the handshake: an ACK alone, which goes before data.
                    self.emit(0, false, SegmentFlags::default(), out);
                }
                self.write_more(now, out);
            }
            return;
        }
        let echo = options.map(|options| u64::from(options.echo));
        let ece = options.is_some_and(|options| options.marked);
        let arrival = Arrival { next: ack.next, blocks, window, echo, ece, with_data };
        self.on_ack(now, &arrival, out);
        self.write_more(now, out);
    }

    /// The options of a segment that goes out now besides.
    pub(crate) fn stamps(&self, now: Time, flags: SegmentFlags) -> SegmentOptions {
        self.peer.options(self.clock.tick(now), flags)
    }

    /// The SYN went so many times more than once before the connection was there.
    pub fn repeated_syns(&mut self, times: u32) {
        self.peer.set_calls_again(times);
        self.queue.count_again(times);
        if times > 1 {
            self.path.begin_with_one();
        }
    }
}
