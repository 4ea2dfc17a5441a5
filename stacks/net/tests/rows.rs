//! Packets, windows and captures of a run.

use burstlab_net::Lab;
use burstlab_stacks::AllStacks;

#[test]
fn a_run_gives_its_packets_windows_and_capture() {
    let lab = Lab::path().losing(0.05).carrying(200_000);
    let bare = lab.run(AllStacks::shared(), "smoltcp", Some("reno")).expect("it is sound");
    assert!(bare.windows().is_empty() && bare.packets()[0].says.is_empty());
    let known = AllStacks::shared();
    for stack in known.names() {
        let lab = lab.clone().watching_windows().capturing();
        let run = lab.run(AllStacks::shared(), stack, None).expect("it is sound");
        let (packets, counters) = (run.packets(), &run.summary().counters);
        let of = |near| packets.iter().filter(move |one| one.from_sender == near);
        assert_eq!(of(true).count() as u64, counters.packets_sent, "{stack}");
        assert_eq!(of(false).count() as u64, counters.acks_sent, "{stack}");
        for near in [true, false] {
            assert!(of(near).zip(0..).all(|(one, number)| one.number == number), "{stack}");
        }
        let lost: Vec<u64> =
            of(true).filter(|one| one.fate == "lost").map(|one| one.number).collect();
        assert_eq!(lost, run.lost_packets().into_iter().collect::<Vec<_>>(), "{stack}");
        // Of TCP a packet is all there; of QUIC without the headers below it.
        let headers = if stack == "smoltcp" { 0 } else { 28 };
        let whole = |says: usize, size: u32| says + headers == size as usize;
        assert!(packets.iter().all(|one| whole(one.says.len(), one.size)), "{stack}");
        let windows = run.windows();
        assert!(windows.iter().all(|one| one.cwnd.is_some() == (stack != "smoltcp")), "{stack}");
        assert!(windows.windows(2).all(|pair| pair[0].at_ps <= pair[1].at_ps), "{stack}");
        let log = run.key_log();
        assert_eq!(log.contains("CLIENT_TRAFFIC_SECRET_0 "), stack != "smoltcp", "{log}");
        let capture = run.capture();
        let blocks = blocks(&capture);
        let packet: Vec<&[u8]> = blocks.iter().filter(|one| one.0 == 6).map(|one| one.1).collect();
        assert_eq!(packet.len(), packets.len(), "{stack}");
        for (block, packet) in packet.iter().zip(&packets) {
            let size = packet.size as usize;
            assert_eq!(block[12..16], packet.size.to_le_bytes(), "{stack}");
            let ip = &block[20..20 + size];
            let sum =
                ip[..20].chunks(2).map(|pair| u32::from(u16::from_be_bytes([pair[0], pair[1]])));
            let sum: u32 = sum.sum();
            assert_eq!((sum & 0xffff) + (sum >> 16), 0xffff, "{stack}: the sum of the header");
            assert_eq!(ip[ip.len() - packet.says.len()..], packet.says, "{stack}");
        }
        assert_eq!(blocks.iter().any(|one| one.0 == 10), stack != "smoltcp");
    }
}

#[test]
fn the_page_counts_losses_and_finds_the_least_window() {
    let lab = Lab::path().losing(0.03).carrying(100_000).watching_windows().capturing();
    let run = lab.run(AllStacks::shared(), "quinn", None).expect("it is sound");
    let lost = run.packets().into_iter().filter(|packet| packet.fate == "lost").count();
    let least = run.windows().iter().filter_map(|row| row.cwnd).fold(f64::MAX, f64::min);
    let capture = run.capture();
    assert_eq!(lost, run.lost_packets().len());
    assert!(least > 0.0 && least < f64::MAX && !blocks(&capture).is_empty());
}

/// Kinds and bodies of the blocks of a file in the format pcapng.
fn blocks(mut file: &[u8]) -> Vec<(u32, &[u8])> {
    let word = |at: &[u8]| u32::from_le_bytes([at[0], at[1], at[2], at[3]]);
    let mut found = Vec::new();
    while !file.is_empty() {
        let size = word(&file[4..]) as usize;
        assert_eq!(word(&file[size - 4..]) as usize, size);
        found.push((word(file), &file[8..size - 4]));
        file = &file[size..];
    }
    found
}
