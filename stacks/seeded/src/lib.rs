//! The substitute for the crate `rand` of a published congestion control, which makes its draws
//! follow from a seed; and the frame that the control is compiled in.

use std::cell::Cell;
use std::convert::Infallible;

use burstlab_kernel::philox_4x32_10;
use rand::TryRng;

pub use rand::{RngExt, SeedableRng};

/// The numbers that one end of a connection draws, which follow from a seed.
#[derive(Clone, Copy, Debug)]
pub struct Draws {
    seed: u64,
    /// Whose end it is; no two of a connection draw the same numbers.
    near: bool,
    drawn: u64,
}

impl Draws {
    /// Those of the sender's end of a connection (`near`), or of the receiver's.
    #[must_use]
    pub fn new(seed: u64, near: bool) -> Self {
        Self { seed, near, drawn: 0 }
    }

    /// Fills `out`; each call begins a block of its own.
    pub fn fill(&mut self, out: &mut [u8]) {
        let key = [self.seed as u32, (self.seed >> 32) as u32];
        for part in out.chunks_mut(16) {
            let counter = [self.drawn as u32, (self.drawn >> 32) as u32, u32::from(self.near), 0];
            let words = philox_4x32_10(counter, key).map(u32::to_le_bytes);
            part.copy_from_slice(&words.as_flattened()[..part.len()]);
            self.drawn += 1;
        }
    }
}

impl TryRng for Draws {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        let mut bytes = [0; 4];
        self.fill(&mut bytes);
        Ok(u32::from_le_bytes(bytes))
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        let mut bytes = [0; 8];
        self.fill(&mut bytes);
        Ok(u64::from_le_bytes(bytes))
    }

    fn try_fill_bytes(&mut self, out: &mut [u8]) -> Result<(), Infallible> {
        self.fill(out);
        Ok(())
    }
}

thread_local! {
    /// Whose numbers this thread draws.
    static DRAWS: Cell<Option<Draws>> = const { Cell::new(None) };
}

/// Makes something that draws these numbers while it is made.
pub fn with<T>(draws: Draws, make: impl FnOnce() -> T) -> T {
    /// Those of before come back, even where a stack panics.
    struct Back(Option<Draws>);
    impl Drop for Back {
        fn drop(&mut self) {
            DRAWS.set(self.0);
        }
    }
    let _back = Back(DRAWS.replace(Some(draws)));
    make()
}

/// In the place of the generator that the crate `rand` has for each thread.
///
/// # Panics
/// Where nothing is made [with](with) draws.
#[must_use]
pub fn rng() -> Draws {
    DRAWS.get().expect("a control is made with draws")
}

/// A frame for a congestion control of a stack whose own types nobody else can make: the same types
/// again, and a control of the stack that hands all its calls to the one in the frame.
#[macro_export]
macro_rules! frame {
    (
        $stack:path;
        $(metric $metric:ident: $of:ty;)+
        $(fn $event:ident($($what:ident: $type:ty),* $(,)?);)+
    ) => {
        /// Numbers of a congestion control.
        pub(crate) struct ControllerMetrics {
            $(pub(crate) $metric: $of,)+
        }

        /// A congestion control, as the published files ask for it.
        pub(crate) trait Controller: std::fmt::Debug + Send + Sync {
            $(
                #[allow(unused_variables)]
                fn $event(&mut self, $($what: $type),*) {}
            )+
            fn window(&self) -> u64;
            fn metrics(&self) -> ControllerMetrics;
            fn clone_box(&self) -> Box<dyn Controller>;
            fn initial_window(&self) -> u64;
            fn into_any(self: Box<Self>) -> Box<dyn std::any::Any>;
        }

        /// Makes one.
        pub(crate) trait ControllerFactory {
            fn build(
                self: std::sync::Arc<Self>,
                now: std::time::Instant,
                mtu: u16,
            ) -> Box<dyn Controller>;
        }

        #[derive(Debug)]
        pub(crate) struct Framed(pub(crate) Box<dyn Controller>);

        use $stack as stack;

        impl stack::Controller for Framed {
            $(
                fn $event(&mut self, $($what: $type),*) {
                    self.0.$event($($what),*);
                }
            )+

            fn window(&self) -> u64 {
                self.0.window()
            }

            fn metrics(&self) -> stack::ControllerMetrics {
                let own = self.0.metrics();
                let mut metrics = stack::ControllerMetrics::default();
                $(metrics.$metric = own.$metric;)+
                metrics
            }

            fn clone_box(&self) -> Box<dyn stack::Controller> {
                Box::new(Self(self.0.clone_box()))
            }

            fn initial_window(&self) -> u64 {
                self.0.initial_window()
            }

            fn into_any(self: Box<Self>) -> Box<dyn std::any::Any> {
                self.0.into_any()
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_follow_from_the_seed_and_the_end() {
        let draw = |draws| with(draws, || rng().random::<[u64; 3]>());
        let first = draw(Draws::new(7, true));
        assert_eq!(draw(Draws::new(7, true)), first);
        assert_ne!(draw(Draws::new(8, true)), first);
        assert_ne!(draw(Draws::new(7, false)), first);
        let mut bytes = [0; 40];
        Draws::new(7, true).fill(&mut bytes);
        assert_ne!(bytes[..16], bytes[16..32], "they go on");
    }

    #[test]
    fn they_are_gone_afterwards() {
        let (one, other) = (Draws::new(1, true), Draws::new(2, true));
        let draw = || rng().random::<u64>();
        let within = with(one, || (with(other, draw), draw()));
        assert_eq!(within, (with(other, draw), with(one, draw)));
        assert!(std::panic::catch_unwind(rng).is_err(), "nobody draws without a seed");
    }
}
