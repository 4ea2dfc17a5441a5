# phase.tcl -- three flows of Reno over one drop-tail access queue: who gets what in 100 s, in Mb/s of data.
# usage: ns phase.tcl OVERHEAD SEED      (variable overhead_ in seconds, seed of the generator)
foreach {overhead seed} $argv {}
set ns [new Simulator]
$defaultRNG seed $seed
foreach x {s e1 c1 c2 e2 d} { set n($x) [$ns node] }
proc link {a b bw delay queue} {
    global ns n
    $ns duplex-link $n($a) $n($b) $bw $delay DropTail
    $ns queue-limit $n($a) $n($b) $queue
    $ns queue-limit $n($b) $n($a) $queue
}
# A queue-limit of 10 is nine packets that wait behind the one that is sent.
link s e1 10Mb 1ms 10
foreach {a b} {e1 c1 c1 c2 c2 e2} { link $a $b 10Gb 1ms 100000 }
link e2 d 10Mb 1ms 10
Agent/TCP set overhead_ $overhead
Agent/TCP set window_ 20
Agent/TCP set packetSize_ 960
foreach i {0 1 2} {
    set tcp($i) [new Agent/TCP/Reno]
    set sink [new Agent/TCPSink]
    $ns attach-agent $n(s) $tcp($i)
    $ns attach-agent $n(d) $sink
    $ns connect $tcp($i) $sink
    set ftp($i) [new Application/FTP]
    $ftp($i) attach-agent $tcp($i)
    $ns at [expr {0.1 * $i}] "$ftp($i) start"
}
$ns at 100.0 {
    foreach i {0 1 2} { lappend shares [format %.3f [expr {[$tcp($i) set ack_] * 960 * 8e-8}]] }
    puts $shares
    exit 0
}
$ns run
