# shellcheck shell=bash
# node.sh: the nodes. A node's root is an overlay of its changes (up), what is its own from birth (own: name,
# machine id, host keys), what the lab gives every node (layer: root's authorized_keys) and the cached root.
# Kind systemd boots in systemd-nspawn (boot-node), kind bare is an sshd of its own world (spawn.c).

node_layers() { # NAME
	printf '%s:%s:%s' "$LAB/nodes/$1/own" "$LAB/layer" "$BASE"
}

# Where the node's changes live: a disk of its own when its size is limited.
node_disk() { # NAME
	printf '%s' "$LAB/nodes/$1/disk"
}

disks_unmount() {
	local disk
	for disk in "$LAB"/nodes/*/disk; do
		mountpoint -q "$disk" && umount "$disk"
	done
	return 0
}

# Host keys are the slow part of 500 nodes, so they come from a pool that the cache keeps. No two nodes of
# a lab get the same; nodes of two labs may.
keys_take() { # COUNT
	local i
	mkdir -p "$CACHE/keys"
	chmod 700 "$CACHE/keys"
	(
		flock 9
		for ((i = 0; i < $1; i++)); do
			[ ! -s "$CACHE/keys/$i/ssh_host_ecdsa_key.pub" ] || continue
			rm -rf "$CACHE/keys/$i"
			mkdir "$CACHE/keys/$i"
			ssh-keygen -q -t ed25519 -N '' -C lab -f "$CACHE/keys/$i/ssh_host_ed25519_key"
			ssh-keygen -q -t ecdsa -b 256 -N '' -C lab -f "$CACHE/keys/$i/ssh_host_ecdsa_key"
		done
	) 9> "$CACHE/keys.lock"
}

nodes_prepare() {
	local i own uuid
	keys_take "${#NAMES[@]}"
	for i in "${!NAMES[@]}"; do printf '%s\0' "$LAB/nodes/${NAMES[i]}"/{root,disk,own/etc/ssh}; done |
		xargs -0 mkdir -p
	for i in "${!NAMES[@]}"; do
		own=$LAB/nodes/${NAMES[i]}/own
		cp -p "$CACHE/keys/$i"/* "$own/etc/ssh/"
		read -r uuid < /proc/sys/kernel/random/uuid
		echo "${uuid//-/}" > "$own/etc/machine-id"
		echo "${NAMES[i]}" > "$own/etc/hostname"
		printf '127.0.0.1 localhost\n%s %s\n' "${ADDRESSES[i]}" "${NAMES[i]}" > "$own/etc/hosts"
		: > "$LAB/nodes/${NAMES[i]}/boots"
		# all bare nodes share one loopback, so each sshd keeps to its own address
		if [ "$KIND" = bare ]; then
			mkdir -p "$own/etc/ssh/sshd_config.d"
			echo "ListenAddress ${ADDRESSES[i]}" > "$own/etc/ssh/sshd_config.d/lab.conf"
		fi
	done
}

disk_prepare() { # NAME
	local disk
	disk=$(node_disk "$1")
	if [ -n "$UPPER_SIZE" ] && ! mountpoint -q "$disk"; then
		mount -t tmpfs -o "size=$UPPER_SIZE,mode=755" stoika-lab "$disk"
	fi
	[ -d "$disk/up" ] || mkdir -p "$disk/up" "$disk/work"
}

raise_inotify() {
	local file=/proc/sys/fs/inotify/max_user_instances
	[ "$(cat $file)" -ge 1024 ] || { echo 1024 > $file; } 2> /dev/null ||
		echo "lab: fs.inotify.max_user_instances cannot be raised, about 25 nodes will start" >&2
}

systemd_start() { # INDEX
	local name=${NAMES[$1]}
	(
		cgroup_join nodes
		exec setsid nsenter --net="/run/netns/$ID-$name" unshare --mount "$LAB_HOME/boot-node" \
			"$ID" "$name" "$LAB/nodes/$name" "$(node_layers "$name")"
	) < /dev/null > "$LAB/nodes/$name/supervisor.log" 2>&1 &
}

spawn_make() {
	[ "$LAB/spawn" -nt "$LAB_HOME/spawn.c" ] ||
		cc -std=c17 -D_GNU_SOURCE -O2 -Wall -Wextra -o "$LAB/spawn" "$LAB_HOME/spawn.c"
}

bare_start() { # INDEX ...
	local i
	spawn_make
	(
		cgroup_join nodes
		for i in "$@"; do printf '%s %s\n' "$LAB/nodes/${NAMES[i]}" "${NAMES[i]}"; done |
			net_in "$ID" "$LAB/spawn" "$LAB/layer:$BASE"
	)
	for i in "$@"; do echo start >> "$LAB/nodes/${NAMES[i]}/boots"; done
}

nodes_start() { # INDEX ...
	local i
	for i in "$@"; do disk_prepare "${NAMES[i]}"; done
	if [ "$KIND" = bare ]; then
		bare_start "$@"
		return
	fi
	raise_inotify
	mkdir -p /run/systemd
	for i in "$@"; do systemd_start "$i"; done
}

# Prints the node's process 1, as this machine numbers it, or nothing.
node_pid() { # INDEX
	local name=${NAMES[$1]} pid key outer inner deeper
	if [ "$KIND" = bare ]; then
		pid=$(cat "$LAB/nodes/$name/pid" 2> /dev/null) || return 0
		[ "/proc/$pid/ns/net" -ef "/run/netns/$ID" ] && printf '%s\n' "$pid"
		return 0
	fi
	[ -e "/run/netns/$ID-$name" ] || return 0
	for pid in $(ip netns pids "$ID-$name"); do
		while read -r key outer inner deeper; do
			[ "$key" = NSpid: ] || continue
			if [ "$inner" = 1 ] && [ -z "$deeper" ]; then
				printf '%s\n' "$outer"
				return 0
			fi
		done < "/proc/$pid/status"
	done 2> /dev/null
}

node_answers() { # INDEX
	# shellcheck disable=SC2016 # for the inner shell
	net_in "$ID" timeout 5 bash -c 'exec 3<>"/dev/tcp/$1/22" && read -r -t 4 <&3' - "${ADDRESSES[$1]}" 2> /dev/null
}

# Up to a minute for the boot to end, well or not; `is-system-running --wait` can miss the end.
systemd_wait() { # INDEX
	local pid round state
	for ((round = 0; round < 300; round++)); do
		pid=$(node_pid "$1")
		state=$([ -z "$pid" ] || nsenter -t "$pid" -m -u -i -n -p -r -w systemctl is-system-running 2> /dev/null) || :
		case $state in running | degraded | maintenance) return ;; esac
		sleep 0.2
	done
}

nodes_wait() { # INDEX ...
	local i limit=$((SECONDS + 60 + $# * 4))
	for i in "$@"; do
		until node_answers "$i"; do
			[ $SECONDS -lt $limit ] || die "the node '${NAMES[i]}' does not answer" \
				"see: $LAB/nodes/${NAMES[i]}/"
			sleep 0.1
		done
		[ "$KIND" = bare ] || systemd_wait "$i"
	done
}

node_exec() { # NODE CMD ...
	[ $# -ge 2 ] || usage
	local pid
	node_find "$1"
	shift
	pid=$(node_pid "$INDEX")
	[ -n "$pid" ] || die "the node '${NAMES[INDEX]}' is down" "start it: lab reboot ${NAMES[INDEX]}"
	exec nsenter -t "$pid" -m -u -i -n -p -r -w env -i "PATH=$NODE_PATH" HOME=/root LANG=C.UTF-8 \
		"TERM=${TERM:-dumb}" "$@"
}

node_stop() { # INDEX ...
	local i pids=() pid
	if [ "$KIND" = systemd ]; then
		for i in "$@"; do net_kill "$ID-${NAMES[i]}"; done
		return
	fi
	for i in "$@"; do
		pid=$(node_pid "$i")
		rm -f "$LAB/nodes/${NAMES[i]}/pid"
		[ -z "$pid" ] || pids+=("$pid")
	done
	[ "${#pids[@]}" = 0 ] || kill -KILL "${pids[@]}" 2> /dev/null || :
	for pid in "${pids[@]}"; do
		# one that is dead and not yet waited for has no namespace any more
		for ((i = 0; i < 200; i++)); do
			[ -e "/proc/$pid/ns/net" ] || break
			sleep 0.05
		done
	done
}

# A machine that is told to restart does so in order; one that hangs or is dead gets its power cycled.
node_reboot() { # NODE
	[ $# = 1 ] || usage
	local pid boots i
	node_find "$1"
	pid=$(node_pid "$INDEX")
	if [ "$KIND" = systemd ] && [ -n "$pid" ]; then
		boots=$(wc -l < "$LAB/nodes/$1/boots")
		nsenter -t "$pid" -m -u -i -n -p -r -w timeout 10 systemctl reboot > /dev/null 2>&1 || :
		for ((i = 0; i < 300; i++)); do
			[ "$(wc -l < "$LAB/nodes/$1/boots")" = "$boots" ] || break
			sleep 0.1
		done
	fi
	if [ "$KIND" = bare ] || [ -z "$pid" ] || [ "$i" = 300 ]; then
		node_stop "$INDEX"
		nodes_start "$INDEX"
	fi
	nodes_wait "$INDEX"
}

node_reset() { # [NODE ...]
	local name which=() i
	for name in "$@"; do
		node_find "$name"
		which+=("$INDEX")
	done
	[ $# -gt 0 ] || which=("${!NAMES[@]}")
	node_stop "${which[@]}"
	for i in "${which[@]}"; do
		printf '%s\0' "$LAB/nodes/${NAMES[i]}"/disk/{up,work}
		fault_mend "$i"
	done | xargs -0 rm -rf
	nodes_start "${which[@]}"
	nodes_wait "${which[@]}"
}
