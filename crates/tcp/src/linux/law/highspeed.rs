//! High-speed TCP (RFC 3649): a large window grows by more segments a round trip, and shrinks by
//! less.

use serde::{Deserialize, Serialize};

use super::super::window::LinuxWindow;

/// Up to the window of row i, in segments, an ACK counts as i + 1 (RFC 3649 appendix B, column w;
/// Linux leaves out the last row).
const WINDOWS: [u32; 72] = [
    38, 118, 221, 347, 495, 663, 851, 1_058, 1_284, 1_529, 1_793, 2_076, 2_378, 2_699, 3_039,
    3_399, 3_778, 4_177, 4_596, 5_036, 5_497, 5_979, 6_483, 7_009, 7_558, 8_130, 8_726, 9_346,
    9_991, 10_661, 11_358, 12_082, 12_834, 13_614, 14_424, 15_265, 16_137, 17_042, 17_981, 18_955,
    19_965, 21_013, 22_101, 23_230, 24_402, 25_618, 26_881, 28_193, 29_557, 30_975, 32_450, 33_986,
    35_586, 37_253, 38_992, 40_808, 42_707, 44_694, 46_776, 48_961, 51_258, 53_677, 56_230, 58_932,
    61_799, 64_851, 68_113, 71_617, 75_401, 79_517, 84_035, 89_053,
];

/// In row i a loss takes this many 256ths of the window (appendix B, column b).
const CUTS: [u8; 72] = [
    128, 112, 104, 98, 93, 89, 86, 83, 81, 78, 76, 74, 72, 71, 69, 68, 66, 65, 64, 62, 61, 60, 59,
    58, 57, 56, 55, 54, 53, 52, 52, 51, 50, 49, 48, 48, 47, 46, 45, 45, 44, 43, 43, 42, 41, 41, 40,
    39, 39, 38, 38, 37, 36, 36, 35, 35, 34, 33, 33, 32, 32, 31, 30, 30, 29, 28, 28, 27, 26, 26, 25,
    24,
];

/// The row of a connection.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct HighSpeed {
    row: u8,
}

impl HighSpeed {
    pub(super) fn grow(&mut self, window: &mut LinuxWindow, acked: u32) {
        if !window.may_grow() {
            return;
        }
        if window.in_slow_start() {
            window.slow_start(acked);
            return;
        }
        // The row moves only here: a loss takes what the row says in which the window last grew.
        let row = WINDOWS.partition_point(|&most| most < window.cwnd).min(WINDOWS.len() - 1);
        self.row = row as u8;
        window.credit += row as u32 + 1;
        if window.credit >= window.cwnd {
            window.credit -= window.cwnd;
            window.cwnd += 1;
        }
    }

    pub(super) fn ssthresh(&self, cwnd: u32) -> u32 {
        let cut = u64::from(CUTS[usize::from(self.row)]);
        (cwnd - ((u64::from(cwnd) * cut) >> 8) as u32).max(2)
    }
}
