// Terms of the page, explained for newcomers.

export const TERMS = {
  segment: "What TCP numbers and sends: a packet with a piece of the data.",
  window: "How many segments may be outstanding: sent, and not yet acknowledged.",
  cwnd: "Congestion window: how many segments the sender trusts the network with. It grows with "
    + "each ACK and falls at each loss.",
  ssthresh: "Slow-start threshold: below it cwnd doubles in a round trip, above it cwnd grows by "
    + "one segment.",
  ACK: "Acknowledgement: the receiver says up to which segment it has everything.",
  "duplicate ACK": "An ACK that repeats the one before, since a segment arrived out of order. "
    + "Three of them tell the sender of a loss.",
  acknowledged: "The line up to which the receiver has confirmed everything.",
  retransmitted: "A segment that is sent once more.",
  lost: "A segment that never arrives, as its burst died or a queue was full.",
  "retransmission timer": "If no ACK comes within this time (the RTO, about a round trip and four "
    + "times its variation, at least a second by RFC 6298) the sender takes all for lost.",
  "time-out": "The retransmission timer has ended. The sender starts again with a window of one.",
  "false time-out": "A time-out whose missing segments all died in one burst. One burst that "
    + "finds its wavelength taken is not congestion, but the sender takes it for congestion.",
  "true time-out": "A time-out with losses in several bursts, or in an access network, behind it.",
  "spurious time-out": "A time-out though nothing was lost: the ACKs were only late.",
  "fast retransmit": "A segment is retransmitted after three duplicate ACKs, before the timer "
    + "fires; the window is halved.",
  "early repair": "Burst TCP retransmits the packets of a lost burst as soon as it hears of "
    + "the loss, before any time-out.",
  burst: "Packets for one egress that the edge node sends together, as one unit of light.",
  "data burst": "A burst with packets of data.",
  "ACK burst": "A burst of acknowledgements, in the reverse direction.",
  background: "Bursts of other traffic, which take wavelengths and carry no TCP.",
  "lost burst": "A burst that a node drops, with all its packets.",
  wavelength: "One colour of light on a fibre: it carries one burst at a time. A burst that finds "
    + "all of them taken is refused, and dies.",
  slot: "A fixed time in which one packet passes the switch; a packet without room is dropped.",
  ingress: "The edge node where packets enter, wait and become bursts.",
  egress: "The edge node where bursts are taken apart again.",
  "assembly time": "How long the ingress collects packets, from the first of a burst on, before "
    + "it sends the burst.",
  "burst loss": "The probability that the core loses a burst, whatever it carries.",
  "fibre delay": "Propagation delay of each fibre, in each direction.",
  "access rate": "How fast the link between a host and its edge node is. It decides over how many "
    + "bursts a window is spread.",
  variant: "How TCP repairs losses. Reno leaves recovery with the first new ACK, New-Reno stays "
    + "until all is repaired, SACK learns which segments arrived.",
  detector: "How Burst TCP distinguishes false time-outs from true ones.",
  "Burst TCP": "TCP that treats a false time-out like a loss that duplicate ACKs found: it halves "
    + "its window in place of starting from one (Yu, Qiao and Liu, 2004).",
  "burst NAK": "The core node that drops a burst reports its segments to the sender.",
  "burst ACK": "An edge node reports to the sender the burst in which segments left or arrived.",
  "burst length estimation": "The sender estimates from its own losses how many segments a "
    + "burst holds; no node helps it.",
  oracle: "A detector that knows the truth: a bound for what detection can bring, not a protocol.",
  goodput: "Data that arrived in order at the receiver, per second; retransmitted data count once.",
  interval: "95 % interval: of a hundred such sets of runs about 95 have the true mean within it.",
  seed: "The number that all chance of a run comes from. The same seed loses the same bursts.",
  simulated: "How much time passes in the simulated network.",
  judged: "The verdict of the detector on a time-out, compared with the truth.",
};

/** Makes a button of a word that is explained. */
export function term(word, text = word) {
  const found = document.createElement("button");
  found.type = "button";
  found.className = "term";
  found.dataset.term = word;
  found.textContent = text;
  return found;
}

/** Fills a place with text in which [[words]] are explained. */
export function explained(place, text) {
  const parts = text.split(/\[\[(.+?)\]\]/);
  place.replaceChildren(...parts.map((part, i) => (i % 2 ? term(part) : part)));
}
