# Settings of the host in the scripts of this directory.
sysctl -q net.ipv4.tcp_rmem="4096 131072 15728640"
sysctl -q net.ipv4.tcp_wmem="4096 262144 4194304"
sysctl -q net.ipv4.tcp_congestion_control=reno
sysctl -q net.ipv4.tcp_slow_start_after_idle=0
tc qdisc add dev tun0 root pfifo
