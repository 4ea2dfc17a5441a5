# One SACK flow over the path without assembly and without loss, in ns-2.
# usage: ns path.tcl SECONDS        prints the packets that the receiver acknowledged, and
# these times the five links
set seconds [lindex $argv 0]
set sim [new Simulator]
for {set i 0} {$i < 6} {incr i} { set node($i) [$sim node] }
set rates {100Mb 10Gb 10Gb 10Gb 100Mb}
for {set i 0} {$i < 5} {incr i} {
    set next [expr {$i + 1}]
    $sim duplex-link $node($i) $node($next) [lindex $rates $i] 10ms DropTail
    $sim queue-limit $node($i) $node($next) 100000
    $sim queue-limit $node($next) $node($i) 100000
}
set sender [new Agent/TCP/Sack1]
set receiver [new Agent/TCPSink/Sack1]
$sender set window_ 200
$sender set packetSize_ 960
$sim attach-agent $node(0) $sender
$sim attach-agent $node(5) $receiver
$sim connect $sender $receiver
set application [new Application/FTP]
$application attach-agent $sender
$sim at 0.0 "$application start"
proc finish {} {
    global sender
    set packets [expr {[$sender set ack_] + 1}]
    puts "$packets [expr {$packets * 5}]"
    exit 0
}
$sim at $seconds finish
$sim run
