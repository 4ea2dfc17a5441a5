//! Explicit congestion notification (RFC 9000, section 13.4): the codepoint that a stack sets
//! decides whether a queue marks its packet, and the stack at the other end hears of the mark.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use burstlab_net::{Cargo, Connection, Ecn, Host, HostEvent, HostState, Lab, Packet, Run, Time};
use burstlab_stacks::AllStacks;
use serde_json::{Value, json};

/// A host that is asked and given all, and a count of the marks that come to it.
#[derive(Debug)]
struct Counting(Box<dyn Host>, Arc<AtomicU64>);

impl Host for Counting {
    fn start(&mut self, now: Time) {
        self.0.start(now);
    }

    fn handle(&mut self, now: Time, packet: Packet) {
        self.0.handle(now, packet);
    }

    fn handle_timeout(&mut self, now: Time) {
        self.0.handle_timeout(now);
    }

    fn poll_transmit(&mut self, now: Time) -> Option<Packet> {
        self.0.poll_transmit(now)
    }

    fn carried(&self) -> Cargo {
        self.0.carried()
    }

    fn poll_timeout(&mut self) -> Option<Time> {
        self.0.poll_timeout()
    }

    fn poll_event(&mut self) -> Option<HostEvent> {
        self.0.poll_event()
    }

    fn ecn(&self) -> Ecn {
        self.0.ecn()
    }

    fn hears_ecn(&mut self, ecn: Ecn) {
        self.1.fetch_add(u64::from(ecn == Ecn::Ce), Ordering::Relaxed);
        self.0.hears_ecn(ecn);
    }

    fn state(&self) -> HostState {
        self.0.state()
    }
}

/// A link of 40 Mb/s that marks above 30 KB and has room for all.
fn lab(flow: &Value) -> Lab {
    Lab::path().with("access.marking", json!({"above": "30 KB"})).with("flows", json!([flow]))
}

/// Runs it; returns also how many marks came to each end.
fn counted(lab: &Lab, stack: &'static str) -> (Run, [u64; 2]) {
    let marks = [(); 2].map(|()| Arc::new(AtomicU64::new(0)));
    let counts = marks.clone();
    let stacks = AllStacks::shared();
    let run = lab.run_hosts(move |connection| {
        let connection = Connection { stack: stack.to_string(), ..connection.clone() };
        let [near, far] = stacks.hosts(&connection);
        [
            Box::new(Counting(near, Arc::clone(&counts[0]))),
            Box::new(Counting(far, Arc::clone(&counts[1]))),
        ]
    });
    let run = run.unwrap_or_else(|error| panic!("{stack}: {error}"));
    (run, marks.map(|count| count.load(Ordering::Relaxed)))
}

/// Times that the window has shrunk by a quarter: in packets it does by less as these grow.
fn cuts(run: &Run) -> usize {
    let windows: Vec<f64> = run.windows().iter().filter_map(|row| row.cwnd).collect();
    windows.windows(2).filter(|pair| pair[1] < 0.75 * pair[0]).count()
}

#[test]
fn marks_reach_the_stack_and_its_window_shrinks_without_a_loss() {
    for stack in ["quinn", "noq"] {
        let flow = json!({"bytes": "5 MB", "ecn": true});
        let (run, [near, far]) = counted(&lab(&flow).watching_windows(), stack);
        let flow = &run.summary().flows[0];
        assert_eq!((flow.packets_lost, flow.retransmissions, flow.timeouts), (0, 0, 0), "{stack}");
        assert!(flow.packets_marked > 10, "{stack}: {flow:?}");
        assert_eq!((near, far), (0, flow.packets_marked), "{stack}: each mark arrives");
        assert!(cuts(&run) > 0, "{stack}: it heeds them");
        assert!(run.acknowledged_after_s().is_some(), "{stack}");
        assert!(flow.rtt_s.expect("it is measured") < 0.035, "{stack}: the queue stays short");
    }
}

#[test]
fn a_path_that_bleaches_marks_nothing() {
    for stack in ["quinn", "noq"] {
        let flow = json!({"bytes": "5 MB"});
        let (run, marks) = counted(&lab(&flow).watching_windows(), stack);
        let flow = &run.summary().flows[0];
        assert_eq!((flow.packets_marked, marks), (0, [0; 2]), "{stack}");
        assert_eq!(cuts(&run), 0, "{stack}: nothing is lost, and nothing reports the queue");
        let warnings = run.summary().warnings.join(" ");
        assert!(warnings.contains("access.marking marks nothing"), "{warnings}");
    }
}

/// Links mark what goes from the sender to the receiver. With data in both directions the ACKs of
/// the other flow are in these packets too.
#[test]
fn marks_are_of_one_flow_where_data_go_both_ways() {
    for stack in ["quinn", "noq"] {
        let flow = json!({"bytes": "3 MB", "ecn": true, "reverse": {"bytes": "3 MB"}});
        let (run, [near, far]) = counted(&lab(&flow), stack);
        let [there, back] = [0, 1].map(|flow| &run.summary().flows[flow]);
        assert_eq!((far, near), (there.packets_marked, 0), "{stack}: each mark arrives");
        assert!(there.packets_marked > 10 && back.packets_marked == 0, "{stack}: {there:?}");
        assert_eq!(back.bytes_delivered, 3_000_000, "{stack}");
        assert!(run.conserves(), "{stack}");
    }
}

#[test]
fn ecn_is_refused_where_nobody_has_it_and_where_nothing_marks() {
    let refused = |lab: &Lab, stack: &str| {
        let run = lab.run(AllStacks::shared(), stack, None);
        run.expect_err("it is refused").to_string()
    };
    let flow = json!({"bytes": "1 MB", "ecn": true});
    for stack in AllStacks::shared().names() {
        if !["quinn", "noq"].contains(&stack) {
            let error = refused(&lab(&flow), stack);
            let text = format!("{stack} has no ECN");
            assert!(error.contains("flows[0].ecn") && error.contains(&text), "{error}");
        }
    }
    let error = refused(&Lab::path().with("flows", json!([flow])), "quinn");
    assert!(error.contains("flows[0].ecn") && error.contains("no queue marks"), "{error}");
    let error = lab(&flow).run_tcp().expect_err("our own TCP has tcp.ecn").to_string();
    assert!(error.contains("flows[0].ecn") && error.contains("tcp.ecn"), "{error}");
}
