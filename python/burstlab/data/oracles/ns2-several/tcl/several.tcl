# several.tcl -- several TCP flows over one shared queue, exact event log.
# usage: ns several.tcl <paramfile>      (lines "set P(x) y"; P(flow,i) is a list of key value pairs)
#
#  kind assembly : s_i -(own link)- e1 -core- c1 -core- c2 -core- e2 -(own link)- d_i; e1 assembles all
#                  flows into one burst, rows B; P(dropbursts) are lost; rows K: an ACK reaches e2
#  kind access   : s - e1 - c1 - c2 - e2 - d, all flows on the one link s-e1 with a drop-tail queue,
#                  beside sources of constant bit rate (rows C) that leave at e1
#  kind egress   : s_i - e_i -(fibre of its own delay)- e - d, all flows on the one link e-d with a
#                  drop-tail queue (rows Q: a packet reaches it)
# Rows: the kind, the time, then as in README.md, the flow last.

source [lindex $argv 0]
set ns [new Simulator]
$defaultRNG seed $P(seed)
if {$P(opts) != ""} { foreach {cls var val} $P(opts) { $cls set $var $val } }
set out [open $P(out) w]
fconfigure $out -buffersize 262144
set lim $P(trec)
set dev [open /dev/null w]
set nul [new Agent/Null]

Class HookEM -superclass ErrorModel/MultiState
HookEM instproc init args { $self next "" "" "" pkt pkt 0 0 }
HookEM instproc corrupt {} { return 0 }

proc link {a b bw dl q} {
    global ns
    $ns duplex-link $a $b $bw $dl DropTail
    $ns queue-limit $a $b $q
    $ns queue-limit $b $a $q
}
set Q 10000000
set N $P(flows)
switch $P(kind) {
    assembly - access {
	foreach x {e1 c1 c2 e2} { set n($x) [$ns node] }
	link $n(e1) $n(c1) $P(core) $P(d1) $Q
	link $n(c1) $n(c2) $P(core) $P(d2) $Q
	link $n(c2) $n(e2) $P(core) $P(d3) $Q
    }
    egress { set n(e) [$ns node]; set n(d) [$ns node]; link $n(e) $n(d) $P(accr) $P(dr) $P(limit) }
}
if {$P(kind) == "access"} {
    set n(s) [$ns node]; set n(d) [$ns node]
    link $n(s) $n(e1) $P(acc) $P(da) $P(limit)
    link $n(e2) $n(d) $P(accr) $P(dr) $P(limit)
}
# ---- boot times: known draws, in the order of the flows, before any of them starts ---------------
proc boot {} {
    global defaultRNG P N tcp
    $defaultRNG seed $P(seed)
    for {set i 0} {$i < $N} {incr i} { $tcp($i) reset }
}
$ns at 0.0 boot


for {set i 0} {$i < $N} {incr i} {
    array set F $P(flow,$i)
    switch $P(kind) {
	assembly {
	    set src($i) [$ns node]; set dst($i) [$ns node]
	    link $src($i) $n(e1) $P(acc) $P(da) $Q
	    link $n(e2) $dst($i) $P(accr) $P(dr) $Q
	    set near($i) $n(e1)
	}
	access { set src($i) $n(s); set dst($i) $n(d); set near($i) $n(e1) }
	egress {
	    set src($i) [$ns node]; set near($i) [$ns node]; set dst($i) $n(d)
	    link $src($i) $near($i) $P(acc) $P(da) $Q
	    link $near($i) $n(e) $P(core) $F(delay) $Q
	}
    }
    set tcp($i) [new $F(cls)]
    set sink($i) [new $F(sink)]
    $tcp($i) set window_ $F(window)
    $tcp($i) set packetSize_ $F(psize)
    $tcp($i) set fid_ $i
    $sink($i) set fid_ $i
    $ns attach-agent $src($i) $tcp($i)
    $ns attach-agent $dst($i) $sink($i)
    $ns connect $tcp($i) $sink($i)
    set ftp($i) [new Application/FTP]
    $ftp($i) attach-agent $tcp($i)
    set vegas($i) [string match *Vegas $F(cls)]
    set nto($i) 0; set ncut($i) 0; set lr($i) ""
    $ns at $F(start) "$ftp($i) start"
}

# ---- what a sender does --------------------------------------------------------------------------
proc counters {i now} {
    global tcp nto ncut vegas out lim
    set to [$tcp($i) set nrexmit_]; set cut [$tcp($i) set ncwndcuts_]
    set dto [expr {$to - $nto($i)}]; set dcut [expr {$cut - $ncut($i)}]
    if {$now <= $lim} {
	for {set k 0} {$k < $dto} {incr k} { puts $out [format "T %.9f %d" $now $i] }
	if {!$vegas($i)} {
	    for {set k $dto} {$k < $dcut} {incr k} { puts $out [format "F %.9f %d" $now $i] }
	}
    }
    set nto($i) $to; set ncut($i) $cut
}
proc onsend {l} {
    global ns tcp out lim ntx vegas
    set i [lindex $l 7]; set s [lindex $l 10]; set now [$ns now]
    if {[lindex $l 4] == "cbr"} {
	if {$now <= $lim} { puts $out [format "C %.9f %d %d" $now $s $i] }
	return
    }
    if {[lindex $l 4] != "tcp"} { return }
    if {[info exists ntx($i,$s)]} { incr ntx($i,$s) } else { set ntx($i,$s) 1 }
    counters $i $now
    if {$now > $lim} { return }
    if {$vegas($i) && $ntx($i,$s) > 1 && $s < [$tcp($i) set t_seqno_]} {
	puts $out [format "F %.9f %d" $now $i]
    }
    puts $out [format "S %.9f %d %d %s %d %d" $now $s $ntx($i,$s) [$tcp($i) set cwnd_] \
	[$tcp($i) set ssthresh_] $i]
}
proc onack {l} {
    global ns lim
    if {[$ns now] <= $lim && [lindex $l 4] == "ack"} {
	$ns at [$ns now] "afterack [lindex $l 7] [lindex $l 10]"
    }
}
proc afterack {i a} {
    global ns tcp out lr
    set now [$ns now]
    counters $i $now
    puts $out [format "A %.9f %d %s %d %d" $now $a [$tcp($i) set cwnd_] [$tcp($i) set ssthresh_] $i]
    set r [list [$tcp($i) set rtt_] [$tcp($i) set srtt_] [$tcp($i) set rttvar_] [$tcp($i) set backoff_]]
    if {$r != $lr($i)} { puts $out "R [format %.9f $now] $r $i"; set lr($i) $r }
}
# A packet is known again by its unique number.
proc copy {l} { global nth; return $nth([lindex $l 11]) }
proc hook {trace proc} { $trace set callback_ 1; $trace proc handle {l} "$proc \$l" }
proc watch {i from to} {
    global ns dev watched
    if {[info exists watched($from$to)]} { return }
    set watched($from$to) 1
    $ns trace-queue $from $to $dev
    $ns trace-queue $to $from $dev
    hook [[$ns link $from $to] set enqT_] onsend
    hook [[$ns link $to $from] set rcvT_] onack
}
for {set i 0} {$i < $N} {incr i} { watch $i $src($i) $near($i) }

# ---- the shared queue ----------------------------------------------------------------------------
# Which transmission of its segment a packet is, by flow and number: counted where it is looked at.
proc seen {what i s} { global cnt; return [incr cnt($what,$i,$s)] }
proc row {k l what} {
    global ns out lim
    if {[$ns now] <= $lim} {
	set i [lindex $l 7]; set s [lindex $l 10]
	puts $out [format "$k %.9f %d %d %d" [$ns now] $s [seen $what $i $s] $i]
    }
}
proc leaves {l} {
    global ns out lim
    if {[$ns now] <= $lim} { puts $out [format "L %.9f %d %d" [$ns now] [lindex $l 10] [lindex $l 7]] }
}
proc back {l} {
    global ns out lim
    if {[lindex $l 4] == "ack" && [$ns now] <= $lim} {
	puts $out [format "K %.9f %d %d" [$ns now] [lindex $l 10] [lindex $l 7]]
    }
}
proc watch_back {from to} {
    global ns dev
    $ns trace-queue $from $to $dev
    hook [[$ns link $from $to] set enqT_] back
}
switch $P(kind) {
    assembly {
	foreach b $P(dropbursts) { set dropburst($b) 1 }
	set bend -1.0; set bidx 0; set bcnt 0; set bdrop 0; set cur ""
	Class DropEM -superclass HookEM
	DropEM instproc corrupt {} {
	    global ns cur dropburst bend bidx bcnt bdrop P out lim
	    set now [$ns now]
	    set i [lindex $cur 7]; set s [lindex $cur 10]
	    if {$now >= $bend} {
		incr bidx; set bend [expr {$now + $P(tb)}]; set bcnt 0
		set bdrop [info exists dropburst($bidx)]
	    }
	    incr bcnt
	    set k [seen B $i $s]
	    if {$now <= $lim} {
		puts $out [format "B %.9f %d %d %d %d" $now $s $k $bidx $i]
		if {$bdrop} { puts $out [format "D %.9f %d %d %d" $now $s $k $i] }
	    }
	    return $bdrop
	}
	Class AsmEM -superclass HookEM
	AsmEM instproc corrupt {} {
	    global ns bend bcnt
	    $self set delay_ [expr {$bend - [$ns now] + ($bcnt-1)*1e-9}]
	    return 1
	}
	watch_back $n(e2) $n(c2)
	set lnk [$ns link $n(e1) $n(c1)]
	set asm [new AsmEM]; $asm set delay_pkt_ true; $asm drop-target $nul; $lnk add-to-head $asm
	set dem [new DropEM]; $dem drop-target $nul; $lnk add-to-head $dem
	set peek [new Trace/Hop]; $peek set callback_ 1; $lnk add-to-head $peek
	$peek proc handle {l} { global cur; set cur $l }
    }
    access {
	set lnk [$ns link $n(s) $n(e1)]
	watch_back $n(d) $n(e2)
	hook [$lnk set drpT_] ondrop
	hook [$lnk set deqT_] leaves
	proc ondrop {l} {
	    global ns out lim ntx
	    if {[$ns now] > $lim} { return }
	    set i [lindex $l 7]; set s [lindex $l 10]
	    if {[lindex $l 4] != "tcp"} {
		puts $out [format "X %.9f %d %d" [$ns now] $s $i]
		return
	    }
	    # What is dropped has just been sent.
	    puts $out [format "D %.9f %d %d %d" [$ns now] $s $ntx($i,$s) $i]
	}
	set k $N
	foreach c $P(cbr) {
	    foreach {rate size start} $c {}
	    set udp [new Agent/UDP]; $udp set packetSize_ $size; $udp set fid_ $k
	    set null [new Agent/Null]
	    $ns attach-agent $n(s) $udp; $ns attach-agent $n(e1) $null; $ns connect $udp $null
	    set cbr [new Application/Traffic/CBR]
	    $cbr set packetSize_ $size; $cbr set rate_ $rate; $cbr set random_ 0
	    $cbr attach-agent $udp
	    $ns at $start "$cbr start"
	    incr k
	}
    }
    egress {
	set lnk [$ns link $n(e) $n(d)]
	$ns trace-queue $n(e) $n(d) $dev
	watch_back $n(d) $n(e)
	hook [$lnk set enqT_] onqueue
	hook [$lnk set drpT_] ondrop
	hook [$lnk set deqT_] leaves
	proc onqueue {l} { if {[lindex $l 4] == "tcp"} { row Q $l Q } }
	proc ondrop {l} {
	    global ns out lim cnt
	    if {[lindex $l 4] != "tcp" || [$ns now] > $lim} { return }
	    set i [lindex $l 7]; set s [lindex $l 10]
	    puts $out [format "D %.9f %d %d %d" [$ns now] $s $cnt(Q,$i,$s) $i]
	}
    }
}
$ns at [expr {$P(trec) + 1e-7}] { close $out; exit 0 }
$ns run
