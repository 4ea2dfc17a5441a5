# SACK flows over NSFNET in ns-2, packet by packet, without loss and without any burst.
# usage: ns mesh.tcl INPUT SECONDS      prints the packets that the receivers acknowledged,
# and these times the fibres that each crossed
# INPUT, written by mesh.py, sets `fibres` {from to delay}, `flows` {from to start} and `ways`, the
# nodes from each node to each other.
remove-all-packet-headers
add-packet-header Flags IP TCP
source [lindex $argv 0]
set seconds [lindex $argv 1]
set sim [new Simulator]
# Routes are set below: the way ns-2 finds them takes the cube of the nodes, hosts among them.
$sim rtproto Manual
for {set i 1} {$i <= 14} {incr i} { set node($i) [$sim node] }
proc connect {a b rate delay} {
    global sim
    $sim duplex-link $a $b $rate $delay DropTail
    $sim queue-limit $a $b 1000000
    $sim queue-limit $b $a 1000000
}
# The packets for `host`, behind the last of `nodes`, find their way along `nodes`.
proc lead {nodes host} {
    global sim node
    foreach at $nodes next [lrange $nodes 1 end] {
        set to [expr {$next eq "" ? $host : $node($next)}]
        $node($at) add-route [$host id] [[$sim link $node($at) $to] head]
    }
}
foreach fibre $fibres {
    lassign $fibre from to delay
    connect $node($from) $node($to) 10Gb $delay
}
foreach flow $flows {
    lassign $flow from to start
    set near [$sim node]
    set far [$sim node]
    connect $near $node($from) 100Mb 1ms
    connect $node($to) $far 100Mb 1ms
    $near add-route [$far id] [[$sim link $near $node($from)] head]
    $far add-route [$near id] [[$sim link $far $node($to)] head]
    lead $ways($from,$to) $far
    lead $ways($to,$from) $near
    set sender [new Agent/TCP/Sack1]
    set receiver [new Agent/TCPSink/Sack1]
    $sender set window_ 100
    $sender set packetSize_ 960
    $sim attach-agent $near $sender
    $sim attach-agent $far $receiver
    $sim connect $sender $receiver
    set application [new Application/FTP]
    $application attach-agent $sender
    $sim at $start "$application start"
    lappend senders $sender
    lappend crossed [expr {[llength $ways($from,$to)] - 1}]
}
proc finish {} {
    global senders crossed
    set packets 0
    set hops 0
    foreach sender $senders fibres $crossed {
        set acknowledged [expr {[$sender set ack_] + 1}]
        incr packets $acknowledged
        incr hops [expr {$acknowledged * $fibres}]
    }
    puts "$packets $hops"
    exit 0
}
$sim at $seconds finish
$sim run
