//! A clock for stacks that read the machine's own: while a thread is [at](at) an instant of a run,
//! `clock_gettime` returns that instant. All else in the process has the real time.
//!
//! The standard library asks the C library for the monotonic clock. A function of the same name in
//! this crate comes before it where the program is linked; for an extension that is loaded later,
//! the build script of the extension instructs the linker (`build.rs`).

#![allow(unsafe_code, reason = "the C library's function is taken over, with its signature")]

use std::cell::Cell;
use std::time::Instant;

use burstlab_units::Time;

/// When a run begins by the virtual clock, in nanoseconds: far from zero, as stacks look back from
/// the present.
const BEGIN: u64 = 1_000_000_000_000_000;

const PS_OF_NS: u64 = 1000;
const NS: u64 = 1_000_000_000;

thread_local! {
    /// The instant that this thread is at, in nanoseconds; 0: it has the real time.
    static NOW: Cell<u64> = const { Cell::new(0) };
}

/// Does something at an instant of a run, to the nanosecond below.
pub(crate) fn at<T>(now: Time, act: impl FnOnce() -> T) -> T {
    /// The real time comes back, even where a stack panics.
    struct Back(u64);
    impl Drop for Back {
        fn drop(&mut self) {
            NOW.set(self.0);
        }
    }
    let _back = Back(NOW.replace(BEGIN + now.as_ps() / PS_OF_NS));
    act()
}

/// The time in a run of an instant that a stack was given.
pub(crate) fn time(instant: Instant) -> Time {
    let begin = at(Time::ZERO, present);
    let ns = instant.saturating_duration_since(begin).as_nanos();
    Time::from_ps(u64::try_from(ns).unwrap_or(u64::MAX).saturating_mul(PS_OF_NS))
}

#[allow(clippy::disallowed_methods, reason = "it is the virtual clock that is read")]
fn present() -> Instant {
    Instant::now()
}

/// The clock of the C library.
///
/// # Safety
/// `out` is valid for a write, as there.
#[unsafe(no_mangle)]
unsafe extern "C" fn clock_gettime(
    clock: libc::clockid_t,
    out: *mut libc::timespec,
) -> libc::c_int {
    let now = NOW.get();
    if now == 0 || clock != libc::CLOCK_MONOTONIC {
        // SAFETY: the arguments are those of the call that this one stands for.
        return unsafe { libc::syscall(libc::SYS_clock_gettime, clock, out) as libc::c_int };
    }
    let spec = libc::timespec { tv_sec: (now / NS) as i64, tv_nsec: (now % NS) as i64 };
    // SAFETY: the caller hands over a place for the time.
    unsafe { out.write(spec) };
    0
}

#[cfg(test)]
mod tests {
    use super::*;
    use burstlab_units::Span;

    #[test]
    fn a_thread_at_an_instant_of_a_run_sees_no_other_time() {
        let later = Time::ZERO + Span::from_ms(1500);
        let (zero, then) = (at(Time::ZERO, present), at(later, present));
        assert_eq!((time(zero), time(then)), (Time::ZERO, later));
        let outside = at(later, || std::thread::spawn(present).join().expect("it ends"));
        assert!(outside != then, "another thread has the real time");
        let real = present();
        assert!(present() >= real, "and so has this one afterwards");
    }
}
