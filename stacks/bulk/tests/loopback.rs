//! The program sends to itself, over the loopback of the machine and by its clock.

use std::process::{Command, Stdio};

const PROGRAM: &str = env!("CARGO_BIN_EXE_quinn-bulk");

#[test]
fn all_that_is_sent_is_received_and_told() {
    let port = "45711";
    let mut receiver = Command::new(PROGRAM);
    let receiver = receiver.args(["receive", port]).stdout(Stdio::piped()).spawn();
    let receiver = receiver.expect("it starts");
    let sent = Command::new(PROGRAM).args(["send", "127.0.0.1", port, "300000", "bbr"]).output();
    let sent = sent.expect("it starts");
    assert!(sent.status.success(), "{}", String::from_utf8_lossy(&sent.stderr));
    let received = receiver.wait_with_output().expect("it ends");
    assert_eq!(received.stdout, b"received 300000 bytes\n");
    let lines = String::from_utf8(sent.stdout).expect("it is text");
    let mut lines = lines.lines();
    let columns = lines.next().expect("there is a head").split(',').count();
    assert!(lines.clone().count() >= 1 && lines.all(|line| line.split(',').count() == columns));
}

#[test]
fn what_it_cannot_do_is_said() {
    for words in [&["send", "127.0.0.1", "1", "10", "reno"][..], &["receive", "many"], &[]] {
        let done = Command::new(PROGRAM).args(words).output().expect("it starts");
        assert_eq!((done.status.code(), done.stdout.len()), (Some(2), 0), "{words:?}");
        assert!(done.stderr.starts_with(b"quinn-bulk: "));
    }
}
