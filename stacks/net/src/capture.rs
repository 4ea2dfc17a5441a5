//! A run as a capture in the format pcapng, which Wireshark reads. Packets are IPv4 without a link
//! layer. Datagrams of QUIC are in packets of UDP, together with the secrets that decrypt them.

use std::collections::BTreeSet;

use crate::rows::PacketRow;

/// Blocks of the format, and the key log of TLS among kinds of secrets.
const SECTION: u32 = 0x0a0d_0d0a;
const INTERFACE: u32 = 1;
const PACKET: u32 = 6;
const SECRETS: u32 = 10;
const KEY_LOG: u32 = 0x544c_534b;

/// `LINKTYPE_RAW`: a packet begins with its header of IP.
const RAW: u16 = 101;

/// To this port Wireshark expects QUIC.
const PORT: u16 = 443;

/// Bytes of the headers of IPv4 and UDP.
pub(crate) const HEADERS: usize = 28;

/// The capture of these packets, in their order, and of a key log. Flows that go `back` are over
/// the connection of the one before.
pub(crate) fn pcapng(packets: &[PacketRow], back: &BTreeSet<u32>, key_log: &str) -> Vec<u8> {
    let mut file = Vec::new();
    let section = [0x1a2b_3c4d_u32.to_le_bytes(), 1_u32.to_le_bytes(), [0xff; 4], [0xff; 4]];
    block(&mut file, SECTION, &section.concat());
    let nanoseconds = [&[9, 0, 1, 0, 9, 0, 0, 0][..], &[0; 4]].concat();
    let interface = [u32::from(RAW).to_le_bytes(), [0; 4]].concat();
    block(&mut file, INTERFACE, &[interface, nanoseconds].concat());
    if !key_log.is_empty() {
        let size = (key_log.len() as u32).to_le_bytes();
        let secrets = [&KEY_LOG.to_le_bytes()[..], &size, key_log.as_bytes()].concat();
        block(&mut file, SECRETS, &secrets);
    }
    for packet in packets {
        let bytes = of_ip(packet, back.contains(&packet.flow));
        let at = packet.sent_ps / 1000;
        let size = bytes.len() as u32;
        let head = [0, (at >> 32) as u32, at as u32, size, size].map(u32::to_le_bytes);
        block(&mut file, PACKET, &[head.concat(), bytes].concat());
    }
    file
}

fn block(file: &mut Vec<u8>, kind: u32, body: &[u8]) {
    let padded = body.len().next_multiple_of(4);
    let size = (padded as u32 + 12).to_le_bytes();
    file.extend(kind.to_le_bytes());
    file.extend(size);
    file.extend(body);
    file.extend(std::iter::repeat_n(0, padded - body.len()));
    file.extend(size);
}

/// The packet of IP that a host has sent, of a flow that goes back or does not; of a host over UDP
/// its headers are added.
fn of_ip(packet: &PacketRow, back: bool) -> Vec<u8> {
    if packet.says.len() == packet.size as usize {
        return packet.says.clone();
    }
    let size = (packet.says.len() + HEADERS) as u16;
    let first = packet.flow - u32::from(back);
    let host = |near: bool| (0x0a00_0001 + 2 * first + u32::from(!near)).to_be_bytes();
    let near = packet.from_sender != back;
    let (from, to) = (host(near), host(!near));
    let mut ip =
        [&[0x45, 0][..], &size.to_be_bytes(), &[0, 0, 0x40, 0, 64, 17, 0, 0], &from, &to].concat();
    let sum = ip.chunks(2).map(|pair| u32::from(pair[0]) << 8 | u32::from(pair[1])).sum::<u32>();
    let sum = (sum & 0xffff) + (sum >> 16);
    ip[10..12].copy_from_slice(&(!(sum as u16)).to_be_bytes());
    // A sum of 0 says that there is none (RFC 768).
    let udp = [PORT, PORT, size - 20, 0].map(u16::to_be_bytes).concat();
    [ip, udp, packet.says.clone()].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_of_many_flows_have_addresses_of_their_own() {
        let packet = |flow, from_sender| PacketRow {
            flow,
            from_sender,
            number: 0,
            carries: "data",
            fate: "delivered",
            sent_ps: 0,
            delivered_ps: None,
            size: 29,
            burst: None,
            says: vec![7],
        };
        for (flow, addresses) in [
            (0, [10, 0, 0, 1, 10, 0, 0, 2]),
            (127, [10, 0, 0, 255, 10, 0, 1, 0]),
            (40_000, [10, 1, 0x38, 0x81, 10, 1, 0x38, 0x82]),
        ] {
            assert_eq!(of_ip(&packet(flow, true), false)[12..20], addresses);
            for back in [of_ip(&packet(flow, false), false), of_ip(&packet(flow + 1, true), true)] {
                assert_eq!([&back[16..20], &back[12..16]].concat(), addresses);
            }
        }
    }
}
