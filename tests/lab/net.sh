# shellcheck shell=bash
# net.sh: a lab's network namespaces and cgroups. One namespace for the controller ($ID), with the bridge
# of the systemd nodes or the loopback of the bare ones, and one for each systemd node ($ID-NAME).
# Where cgroup v1 counts cpu and memory, the controller and the nodes are charged apart: $ID/ctl, $ID/nodes.

net_list() {
	local path
	for path in /run/netns/"$ID" /run/netns/"$ID"-*; do
		[ ! -e "$path" ] || printf '%s\n' "${path##*/}"
	done
}

net_in() { # NAMESPACE CMD ...
	local name=$1
	shift
	nsenter --net="/run/netns/$name" "$@"
}

cgroup_roots() { # of those that only count
	local root
	for root in "$CGROUP"/cpuacct "$CGROUP"/memory; do
		[ ! -d "$root" ] || printf '%s\n' "$root"
	done
}

cgroup_join() { # ctl|nodes: charges this very process
	local root
	for root in $(cgroup_roots); do
		[ ! -d "$root/$ID/$1" ] || echo "$BASHPID" > "$root/$ID/$1/cgroup.procs"
	done
}

cgroups_make() {
	local root
	for root in $(cgroup_roots); do
		mkdir -p "$root/$ID"
		[ ! -w "$root/$ID/memory.use_hierarchy" ] || echo 1 > "$root/$ID/memory.use_hierarchy" 2> /dev/null || :
		mkdir -p "$root/$ID/ctl" "$root/$ID/nodes"
	done
}

cgroups_remove() {
	local top round
	for top in "$CGROUP/$ID" "$CGROUP"/*/"$ID"; do
		# the kernel lets go of the dead a moment later
		for ((round = 0; round < 100; round++)); do
			[ -d "$top" ] || break
			find "$top" -depth -type d -exec rmdir {} + 2> /dev/null || sleep 0.05
		done
		[ ! -d "$top" ] || die "the cgroup '$top' is still in use"
	done
}

# A packet that leaves a node meets the other nodes and the controller and nobody else.
net_up() {
	local i
	ip netns add "$ID"
	{
		echo 'link set lo mtu 1500 up'
		if [ "$KIND" = systemd ]; then
			printf '%s\n' 'link add br0 type bridge' 'addr add 10.77.0.1/24 dev br0' 'link set br0 up'
		fi
	} | ip -n "$ID" -batch -
	net_in "$ID" sysctl -qw net.ipv4.tcp_max_syn_backlog=8192 net.core.somaxconn=4096 \
		net.ipv4.ip_local_port_range='10000 65000'
	cgroups_make
	if [ "$KIND" = bare ]; then
		net_in "$ID" nft -f - <<-X
			table ip lab {
				set cut { type ipv4_addr; }
				chain in { type filter hook input priority 0; ip daddr @cut drop; ip saddr @cut drop; }
			}
		X
		return
	fi
	for i in "${!NAMES[@]}"; do
		ip netns add "$ID-${NAMES[i]}"
		ip -n "$ID" -batch - <<-X
			link add v$i type veth peer name eth0 netns $ID-${NAMES[i]}
			link set v$i master br0 up
		X
		ip -n "$ID-${NAMES[i]}" -batch - <<-X
			link set lo up
			addr add ${ADDRESSES[i]}/24 dev eth0
			link set eth0 up
			route add default via 10.77.0.1
		X
	done
}

net_pids() { # NAMESPACE ...
	local name
	for name in "$@"; do
		[ ! -e "/run/netns/$name" ] || ip netns pids "$name"
	done
}

cgroup_pids() {
	local top
	for top in "$CGROUP/$ID" "$CGROUP"/*/"$ID"; do
		[ ! -d "$top" ] || find "$top" -name cgroup.procs -exec cat {} + 2> /dev/null || :
	done
}

# Kills until nothing is left to kill: a supervisor may start a node anew meanwhile.
kill_all() { # CMD ...: what prints the processes
	local round pids
	for ((round = 0; round < 200; round++)); do
		pids=$("$@")
		[ -n "$pids" ] || return 0
		# shellcheck disable=SC2086 # a list of numbers
		kill -KILL $pids 2> /dev/null || :
		sleep 0.05
	done
	die "processes do not die: $(echo "$pids" | tr '\n' ' ')"
}

net_kill() { # NAMESPACE ...
	kill_all net_pids "$@"
}

# The cgroups hold the same processes once more, and would hold one whose namespace has lost its name.
net_kill_all() {
	local spaces
	mapfile -t spaces < <(net_list)
	[ "${#spaces[@]}" = 0 ] || net_kill "${spaces[@]}"
	kill_all cgroup_pids
}

net_down() {
	local name
	for name in $(net_list); do ip netns del "$name"; done
}

net_ctl() {
	[ $# -gt 0 ] || usage
	[ -e "/run/netns/$ID" ] || die "the lab's network is gone" "lab --dir $LAB down, then up"
	cgroup_join ctl
	exec nsenter --net="/run/netns/$ID" "$@"
}
