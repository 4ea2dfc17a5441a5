// TCP flows over a path or over NSFNET in ns-3, packet by packet, without loss and without any
// burst: the work of path.tcl and mesh.tcl.
// usage: ns3 path SECONDS        one flow with W = 200 over six nodes
//        ns3 mesh SECONDS INPUT  flows with W = 100 over the nodes and fibres of INPUT
// Prints the packets that the receivers took in order, and these times the links that each crossed.
// INPUT, written by mesh.py: lines `fibre FROM TO DELAY_US` and `flow FROM TO START_S`.

#include <fstream>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/nix-vector-routing-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

using namespace ns3;

namespace {

// A segment of 960 bytes and 40 of headers make a packet of 1,000.
constexpr uint32_t segment = 960;

struct Network {
  NodeContainer nodes;
  Ipv4AddressHelper addresses{"10.0.0.0", "255.255.255.252"};
  PointToPointHelper fibre;
  std::vector<Ptr<PacketSink>> sinks;

  Network(uint32_t routers, uint32_t window) {
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TcpLinuxReno::GetTypeId()));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(true));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(segment));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1));
    // The window that the receiver advertises holds the flow, as `window_` does in ns-2.
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(window * segment));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(2 * window * segment));
    // The reports of every received segment are of no use here.
    Config::SetDefault("ns3::DropTailQueue<Packet>::MaxSize", StringValue("1000000p"));
    add(routers);
  }

  Ptr<Node> node(uint32_t number) { return nodes.Get(number); }

  uint32_t add(uint32_t count) {
    NodeContainer more(count);
    InternetStackHelper stack;
    // The way with the fewest links, found once and then carried by the packets.
    Ipv4NixVectorHelper routing;
    stack.SetRoutingHelper(routing);
    stack.SetIpv6StackInstall(false);
    stack.Install(more);
    nodes.Add(more);
    return nodes.GetN() - count;
  }

  Ipv4Address connect(uint32_t a, uint32_t b, const std::string &rate, Time delay) {
    fibre.SetDeviceAttribute("DataRate", StringValue(rate));
    fibre.SetChannelAttribute("Delay", TimeValue(delay));
    NetDeviceContainer ends = fibre.Install(node(a), node(b));
    Ipv4InterfaceContainer interfaces = addresses.Assign(ends);
    addresses.NewNetwork();
    // Each address is given with a queue discipline; without it a packet costs less.
    TrafficControlHelper().Uninstall(ends);
    return interfaces.GetAddress(1);
  }

  void flow(uint32_t from, uint32_t to, Ipv4Address address, Time start) {
    constexpr uint16_t port = 9;
    PacketSinkHelper receiver("ns3::TcpSocketFactory", InetSocketAddress(address, port));
    sinks.push_back(DynamicCast<PacketSink>(receiver.Install(node(to)).Get(0)));
    BulkSendHelper sender("ns3::TcpSocketFactory", InetSocketAddress(address, port));
    sender.SetAttribute("SendSize", UintegerValue(segment));
    sender.Install(node(from)).Start(start);
  }

  uint64_t packets(size_t flow) const { return sinks[flow]->GetTotalRx() / segment; }
};

void path(double seconds) {
  Network network(6, 200);
  Ipv4Address last;
  for (uint32_t i = 0; i < 5; i++) {
    const char *rate = i == 0 || i == 4 ? "100Mbps" : "10Gbps";
    last = network.connect(i, i + 1, rate, MilliSeconds(10));
  }
  network.flow(0, 5, last, Seconds(0));
  Simulator::Stop(Seconds(seconds));
  Simulator::Run();
  std::cout << network.packets(0) << " " << network.packets(0) * 5 << std::endl;
}

// The fewest fibres from `from` to each node.
std::map<uint32_t, uint32_t> distances(const std::multimap<uint32_t, uint32_t> &next, uint32_t from) {
  std::map<uint32_t, uint32_t> found{{from, 0}};
  std::vector<uint32_t> reached{from};
  for (size_t i = 0; i < reached.size(); i++) {
    auto [begin, end] = next.equal_range(reached[i]);
    for (auto it = begin; it != end; it++) {
      if (found.emplace(it->second, found[reached[i]] + 1).second) {
        reached.push_back(it->second);
      }
    }
  }
  return found;
}

void mesh(double seconds, const std::string &input) {
  Network network(14, 100);
  std::multimap<uint32_t, uint32_t> next;
  std::vector<uint32_t> fibres;
  std::ifstream lines(input);
  std::string word;
  uint32_t from, to;
  double number;
  while (lines >> word >> from >> to >> number) {
    from -= 1;
    to -= 1;
    if (word == "fibre") {
      network.connect(from, to, "10Gbps", MicroSeconds(number));
      next.emplace(from, to);
      next.emplace(to, from);
      continue;
    }
    uint32_t near = network.add(2);
    network.connect(near, from, "100Mbps", MilliSeconds(1));
    Ipv4Address address = network.connect(to, near + 1, "100Mbps", MilliSeconds(1));
    network.flow(near, near + 1, address, Seconds(number));
    fibres.push_back(distances(next, from)[to]);
  }
  Simulator::Stop(Seconds(seconds));
  Simulator::Run();
  uint64_t packets = 0, hops = 0;
  for (size_t i = 0; i < network.sinks.size(); i++) {
    packets += network.packets(i);
    hops += network.packets(i) * fibres[i];
  }
  std::cout << packets << " " << hops << std::endl;
}

} // namespace

int main(int count, char **words) {
  std::vector<std::string> given(words + 1, words + count);
  if (given.size() == 2 && given[0] == "path") {
    path(std::stod(given[1]));
  } else if (given.size() == 3 && given[0] == "mesh") {
    mesh(std::stod(given[1]), given[2]);
  } else {
    std::cerr << "usage: ns3 path SECONDS | ns3 mesh SECONDS INPUT" << std::endl;
    return 2;
  }
  return 0;
}
