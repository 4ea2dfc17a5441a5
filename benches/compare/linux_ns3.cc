// One TCP flow as ns-3 has today's senders, over the path of linux.toml, packet by packet.
// usage: linux_ns3 LAW SECONDS WINDOW QUEUE_BYTES FIRST...
//   LAW          TcpLinuxReno, TcpCubic or TcpBbr
//   WINDOW       segments that the receiver advertises
//   QUEUE_BYTES  bound of the sender's access link, drop-tail
//   FIRST        packets of the sender, from 1, with which a lost burst of 42 begins
// Prints retransmissions, time-outs, the data packets that the path lost, and last the packets that
// the receiver took in order and these times the links that they crossed.

#include <iostream>
#include <string>
#include <vector>

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

using namespace ns3;

namespace {

// 1,500 bytes of IP with 40 of headers and 12 of time stamps.
constexpr uint32_t segment = 1448;
constexpr uint32_t links = 4;
// What 100 Mb/s bring in 5 ms.
constexpr uint64_t burst = 42;

uint64_t retransmissions = 0, timeouts = 0, lost = 0;
SequenceNumber32 sent_up_to(0);

// Packets that follow one another are lost as a burst is: all of them.
class BurstLoss : public ErrorModel {
public:
  explicit BurstLoss(std::vector<uint64_t> given) : firsts(std::move(given)) {}

private:
  bool DoCorrupt(Ptr<Packet>) override {
    passed += 1;
    // Those that the queue refused were sent too.
    uint64_t number = passed + refused();
    for (uint64_t first : firsts) {
      if (number >= first && number < first + burst) {
        lost_in_bursts += 1;
        lost += 1;
        return true;
      }
    }
    return false;
  }
  void DoReset() override { passed = lost_in_bursts = 0; }
  uint64_t refused() const { return lost - lost_in_bursts; }

  std::vector<uint64_t> firsts;
  uint64_t passed = 0, lost_in_bursts = 0;
};

void sent(Ptr<const Packet> packet, const TcpHeader &header, Ptr<const TcpSocketBase>) {
  if (packet->GetSize() == 0) {
    return;
  }
  if (header.GetSequenceNumber() < sent_up_to) {
    retransmissions += 1;
  } else {
    sent_up_to = header.GetSequenceNumber() + packet->GetSize();
  }
}

void stage(TcpSocketState::TcpCongState_t, TcpSocketState::TcpCongState_t now) {
  timeouts += now == TcpSocketState::CA_LOSS;
}

void dropped(Ptr<const Packet>) { lost += 1; }

// As Linux has it, where ns-3 has the part.
void configure(const std::string &law, uint32_t window) {
  TypeId chosen = TypeId::LookupByName("ns3::" + law);
  Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(chosen));
  TypeId recovery = TcpPrrRecovery::GetTypeId();
  Config::SetDefault("ns3::TcpL4Protocol::RecoveryType", TypeIdValue(recovery));
  Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(true));
  Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(true));
  Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(200)));
  Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(segment));
  Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
  Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(2));
  Config::SetDefault("ns3::TcpSocket::DelAckTimeout", TimeValue(MilliSeconds(40)));
  Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(window * segment));
  Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(2 * window * segment));
}

void run(double seconds, uint32_t queue, const std::vector<uint64_t> &firsts) {
  NodeContainer nodes(links + 1);
  InternetStackHelper stack;
  stack.SetIpv6StackInstall(false);
  stack.Install(nodes);
  Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.252");
  Ipv4Address last;
  for (uint32_t i = 0; i < links; i++) {
    bool access = i == 0 || i == links - 1;
    PointToPointHelper link;
    // PPP adds two bytes to each packet.
    uint64_t rate = access ? 100'000'000 : 10'000'000'000;
    link.SetDeviceAttribute("DataRate", DataRateValue(DataRate(rate * 1502 / 1500)));
    link.SetChannelAttribute("Delay", TimeValue(MilliSeconds(access ? 1 : 9)));
    uint32_t bound = i == 0 ? queue : 1'000'000'000;
    link.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue(std::to_string(bound) + "B"));
    NetDeviceContainer ends = link.Install(nodes.Get(i), nodes.Get(i + 1));
    last = addresses.Assign(ends).GetAddress(1);
    addresses.NewNetwork();
    TrafficControlHelper().Uninstall(ends);
    if (i == 0) {
      // What finds the device's queue full is dropped above the device.
      Ptr<TrafficControlLayer> above = nodes.Get(0)->GetObject<TrafficControlLayer>();
      above->TraceConnectWithoutContext("TcDrop", MakeCallback(&dropped));
      ends.Get(1)->SetAttribute("ReceiveErrorModel", PointerValue(Create<BurstLoss>(firsts)));
    }
  }
  Ipv4GlobalRoutingHelper::PopulateRoutingTables();
  InetSocketAddress to(last, 9);
  PacketSinkHelper receiver("ns3::TcpSocketFactory", to);
  auto sink = DynamicCast<PacketSink>(receiver.Install(nodes.Get(links)).Get(0));
  BulkSendHelper sender("ns3::TcpSocketFactory", to);
  sender.SetAttribute("SendSize", UintegerValue(segment));
  sender.Install(nodes.Get(0)).Start(Seconds(0));
  // The socket is there once its application has begun.
  Simulator::Schedule(MicroSeconds(1), [] {
    std::string socket = "/NodeList/0/$ns3::TcpL4Protocol/SocketList/*/";
    Config::ConnectWithoutContext(socket + "Tx", MakeCallback(&sent));
    Config::ConnectWithoutContext(socket + "CongState", MakeCallback(&stage));
  });
  Simulator::Stop(Seconds(seconds));
  Simulator::Run();
  uint64_t packets = sink->GetTotalRx() / segment;
  std::cout << retransmissions << " " << timeouts << " " << lost << " ";
  std::cout << packets << " " << packets * links << std::endl;
}

} // namespace

int main(int count, char **words) {
  std::vector<std::string> given(words + 1, words + count);
  if (given.size() < 4) {
    std::cerr << "usage: linux_ns3 LAW SECONDS WINDOW QUEUE_BYTES FIRST..." << std::endl;
    return 2;
  }
  std::vector<uint64_t> firsts;
  for (size_t i = 4; i < given.size(); i++) {
    firsts.push_back(std::stoull(given[i]));
  }
  configure(given[0], std::stoul(given[2]));
  run(std::stod(given[1]), std::stoul(given[3]), firsts);
  return 0;
}
