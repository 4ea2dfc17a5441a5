//! The receiver as a packet script sees it.
