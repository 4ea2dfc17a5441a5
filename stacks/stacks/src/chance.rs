//! Random numbers for a stack that draws them from BoringSSL: while a thread is
//! [with](Chance::with) the chances of a connection, `RAND_bytes` gives it the next of these. All
//! else in the process has those of the system.
//!
//! `RAND_bytes` of BoringSSL lies in one object with its ciphers, so that no other function can
//! come before it; but the linker renames the calls from elsewhere (`--wrap`), where the build
//! script of a program asks for that. Whether one did is [seen](is_linked) once.

#![allow(unsafe_code, reason = "a function of BoringSSL is taken over, with its signature")]

use std::cell::Cell;
use std::sync::OnceLock;

use burstlab_seeded::Draws;

/// The numbers that one end of a connection draws, which follow from a seed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chance(Draws);

thread_local! {
    /// Whose numbers this thread draws; `None`: the system's.
    static DRAWS: Cell<Option<Chance>> = const { Cell::new(None) };
}

impl Chance {
    pub(crate) fn new(seed: u64, near: bool) -> Self {
        Self(Draws::new(seed, near))
    }

    /// Does something that draws these numbers.
    pub(crate) fn with<T>(&mut self, act: impl FnOnce() -> T) -> T {
        /// The thread draws those of before again, even where a stack panics.
        struct Back<'a>(&'a mut Chance, Option<Chance>);
        impl Drop for Back<'_> {
            fn drop(&mut self) {
                if let Some(drawn) = DRAWS.replace(self.1) {
                    *self.0 = drawn;
                }
            }
        }
        let before = DRAWS.replace(Some(*self));
        let _back = Back(self, before);
        act()
    }
}

unsafe extern "C" {
    fn RAND_bytes(out: *mut u8, len: usize) -> libc::c_int;
}

/// Whether the program was linked so that stacks draw what they are given here.
pub(crate) fn is_linked() -> bool {
    static LINKED: OnceLock<bool> = OnceLock::new();
    *LINKED.get_or_init(|| {
        let drawn = || {
            let mut bytes = [0; 16];
            // SAFETY: it fills as many bytes as there are.
            Chance::new(1, true).with(|| unsafe { RAND_bytes(bytes.as_mut_ptr(), bytes.len()) });
            bytes
        };
        drawn() == drawn()
    })
}

/// The function that the linker puts in the place of `RAND_bytes`.
///
/// # Safety
/// `out` is valid for `len` bytes, as there.
#[unsafe(no_mangle)]
unsafe extern "C" fn __wrap_RAND_bytes(out: *mut u8, len: usize) -> libc::c_int {
    // SAFETY: so the caller promises.
    let bytes = unsafe {
        out.write_bytes(0, len);
        std::slice::from_raw_parts_mut(out, len)
    };
    if let Some(mut chance) = DRAWS.get() {
        chance.0.fill(bytes);
        DRAWS.set(Some(chance));
        return 1;
    }
    // No more than 256 bytes at a time come whole.
    for part in bytes.chunks_mut(256) {
        // SAFETY: the part is valid for its length.
        let got = unsafe { libc::getrandom(part.as_mut_ptr().cast(), part.len(), 0) };
        // As BoringSSL does where the system gives none.
        assert!(got == part.len() as isize, "the system gives no random numbers");
    }
    1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draws(chance: &mut Chance, count: usize) -> Vec<u8> {
        chance.with(|| {
            let mut bytes = vec![0; count];
            // SAFETY: it fills as many bytes as there are.
            assert_eq!(unsafe { RAND_bytes(bytes.as_mut_ptr(), bytes.len()) }, 1);
            bytes
        })
    }

    #[test]
    fn what_is_drawn_follows_from_the_seed_and_goes_on() {
        assert!(is_linked(), "the build script asks for it");
        let [mut one, mut same] = [Chance::new(7, true); 2];
        let (first, second) = (draws(&mut one, 40), draws(&mut one, 40));
        assert_eq!((draws(&mut same, 40), draws(&mut same, 40)), (first.clone(), second.clone()));
        assert_ne!(first, second);
        assert_ne!(draws(&mut Chance::new(8, true), 40), first);
        assert_ne!(draws(&mut Chance::new(7, false), 40), first);
    }

    #[test]
    fn outside_of_a_connection_the_system_is_asked() {
        let system = || {
            let mut bytes = [0; 300];
            // SAFETY: it fills as many bytes as there are.
            assert_eq!(unsafe { RAND_bytes(bytes.as_mut_ptr(), bytes.len()) }, 1);
            bytes
        };
        let within =
            Chance::new(1, true).with(|| std::thread::spawn(system).join().expect("it ends"));
        assert!(within != system() && system() != system());
    }
}
