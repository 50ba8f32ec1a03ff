#!/bin/bash
# bench.sh: the standard work item W over many nodes, ours and the peers' in the same run on the same nodes.
#
# Both ends are charged apart by the lab's cgroups (cgroup v1), so "controller" is the CPU of the client side's
# whole process tree and "node" what the nodes used for it. The agent is put there before (not in the figures),
# as python is for ansible. Quote ratios, not seconds: the machine is shared.
set -euo pipefail

HERE=$(cd "$(dirname "$0")" && pwd)
TOP=$(cd "$HERE/../.." && pwd)
NODES=100 REPS=3 PEER_NODES=10 BUILD=$TOP/build/release KEX=curve25519-sha256 OUT='' KEEP=0
WORK=${STOIKA_BENCH:-/var/tmp/stoika-bench}
TOOLS=ours,warm,ssh-true,ssh-true-default,ssh-sh,clush,cf-agent,puppet,mitogen,ansible

usage() {
	cat <<'X'
usage: bench.sh [--nodes N] [--reps R] [--tools LIST] [--build DIR] [--out FILE.tsv] [--keep] [--scale]
  --tools   of ours,warm,ssh-true,ssh-true-default,ssh-sh,clush,cf-agent,puppet,mitogen,ansible (those not installed are
            left out and named; puppet, ansible and mitogen run on 10 nodes, their cost being linear)
  --scale   ours alone at 10, 50, 100, 200 and 500 nodes, with the fit of cost = fixed + slope x nodes
X
	exit 2
}

SCALE=0
while [ $# -gt 0 ]; do
	case $1 in
	--nodes) NODES=$2 && shift ;;
	--reps) REPS=$2 && shift ;;
	--tools) TOOLS=$2 && shift ;;
	--build) BUILD=$2 && shift ;;
	--out) OUT=$2 && shift ;;
	--keep) KEEP=1 ;;
	--scale) SCALE=1 ;;
	*) usage ;;
	esac
	shift
done
OUT=${OUT:-$WORK/results.tsv}
LAB=("$TOP/tests/lab/lab" --dir "$WORK/lab")
ID=stoika-$(printf '%s' "$(readlink -m "$WORK/lab")" | sha256sum | cut -c1-6)
STOIKA=("$BUILD/bin/stoika" --db "$WORK/stoika.db")

say() { printf '%s  %s\n' "$(date +%T)" "$*" >&2; }

counter() { # ctl|nodes: CPU nanoseconds so far
	cat "/sys/fs/cgroup/cpuacct/$ID/$1/cpuacct.usage"
}

idle() { # waits up to 15 s for a machine that does nothing else
	local tries=15 a b
	while [ $((tries--)) -gt 0 ]; do
		a=$(awk '/^cpu /{print $2+$3+$4+$7+$8}' /proc/stat)
		sleep 1
		b=$(awk '/^cpu /{print $2+$3+$4+$7+$8}' /proc/stat)
		[ $((b - a)) -gt 15 ] || return 0
	done
}

measure() { # LABEL N CMD ...: one line of figures; the command's output goes to the log
	local label=$1 n=$2 c0 n0 t0 t1 c1 n1 rc=0
	shift 2
	idle
	c0=$(counter ctl) n0=$(counter nodes)
	t0=$(date +%s%N)
	(
		for group in cpuacct memory; do echo "$BASHPID" > "/sys/fs/cgroup/$group/$ID/ctl/cgroup.procs"; done
		exec nsenter --net="/run/netns/$ID" /usr/bin/time -o "$WORK/time" -f %M "$@"
	) > "$WORK/log/$label.log" 2>&1 || rc=$?
	t1=$(date +%s%N)
	sleep 0.3
	c1=$(counter ctl) n1=$(counter nodes)
	printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$label" "$n" "$rc" $(((t1 - t0) / 1000)) $(((c1 - c0) / 1000)) \
		$(((n1 - n0) / 1000)) "$(tail -n 1 "$WORK/time")" >> "$OUT"
	say "$label: rc $rc, $(((t1 - t0) / 1000000)) ms wall, $(((c1 - c0) / 1000 / n)) us controller, $(((n1 - n0) / 1000 / n)) us node, a node"
}

have() { command -v "$1" > /dev/null; }

wants() { [[ ,$TOOLS, == *,$1,* ]]; }

# Python and cfengine for the peers, put into a layer over the lab's root by chroot.
peer_layer() {
	local base=$1 target=$WORK/peers
	[ ! -e "$target/done" ] || return 0
	say "installing the peers' packages into a layer of the nodes' root"
	rm -rf "$target"
	mkdir -p "$target"/{up,work,root}
	mount -t overlay stoika-bench -o "lowerdir=$base,upperdir=$target/up,workdir=$target/work" "$target/root"
	cp /etc/resolv.conf "$target/root/etc/resolv.conf" 2> /dev/null || :
	cp -a /etc/apt/. "$target/root/etc/apt/"
	printf '#!/bin/sh\nexit 101\n' > "$target/root/usr/sbin/policy-rc.d"
	chmod 755 "$target/root/usr/sbin/policy-rc.d"
	mount -t proc proc "$target/root/proc"
	env -u LD_PRELOAD DEBIAN_FRONTEND=noninteractive chroot "$target/root" sh -c 'apt-get -qq update &&
		apt-get -qq install -y --no-install-recommends cfengine3 python3-minimal python3-apt puppet-agent puppet-module-puppetlabs-stdlib' \
		> "$WORK/log/peers.log" 2>&1 || say "the peers' packages could not be installed: see $WORK/log/peers.log"
	umount "$target/root/proc" "$target/root"
	rm -rf "$target"/up/{etc/apt,etc/resolv.conf,usr/sbin/policy-rc.d,var/lib/apt,var/cache/apt,dev,proc}
	touch "$target/done"
}

lab_up() { # N
	"${LAB[@]}" down > /dev/null 2>&1 || :
	say "starting $1 nodes"
	"${LAB[@]}" up "$1" --kind bare > "$WORK/log/lab.log" 2>&1
	cp -a "$WORK/w/layer/." "$WORK/lab/layer/"
	[ ! -d "$WORK/peers/up" ] || cp -a "$WORK/peers/up/." "$WORK/lab/layer/"
	mkdir -p "$WORK/lab/layer/srv/w"
	cp "$WORK"/w/w/files/* "$WORK/w/w.cf" "$WORK/w/w.pp" "$WORK/w/w.sh" "$WORK/lab/layer/srv/w/"
	chmod 600 "$WORK/lab/layer/srv/w/w.cf"
	awk '{print $2, $1}' "$WORK/lab/hosts" > "$WORK/hosts"
}

# Bare nodes again, with our agent when asked.
fresh() { # [agent]
	"${LAB[@]}" reset > "$WORK/log/reset.log" 2>&1
	[ "${1:-}" != agent ] ||
		nsenter --net="/run/netns/$ID" "${STOIKA[@]}" agent install all --identity "$WORK/lab/id" \
			--agent "$BUILD/agent/dist" > "$WORK/log/install.log" 2>&1
}

inventory() { # N
	rm -rf "$WORK"/stoika.db* "$WORK/keys" "$WORK/bundles"
	bash "$HERE/site.sh" "$1" "$WORK/hosts" > "$WORK/site.yaml"
	"${STOIKA[@]}" init > /dev/null
	"${STOIKA[@]}" import "$WORK/site.yaml" > /dev/null
	nsenter --net="/run/netns/$ID" "${STOIKA[@]}" agent install all --identity "$WORK/lab/id" \
		--known-hosts "$WORK/lab/known_hosts" --agent "$BUILD/agent/dist" > "$WORK/log/install.log" 2>&1
}

agent_figures() { # LABEL: the agent's own CPU, from the run's record
	"${STOIKA[@]}" run show last --json | jq -r --arg l "$1" '[.results[] | select(.agent_pass_us > 0)] |
		if length == 0 then empty else
		[$l, length, ([.[].agent_pass_us] | sort | .[length / 2 | floor]),
		 ([.[].agent_process_us] | sort | .[length / 2 | floor])] | @tsv end' >> "$WORK/agent.tsv"
}

ours() { # N
	local r
	inventory "$1"
	for r in $(seq "$REPS"); do
		[ "$r" = 1 ] || fresh agent
		measure "ours first" "$1" "${STOIKA[@]}" apply "$WORK/w/w" all --kex "$KEX"
		measure "ours second" "$1" "${STOIKA[@]}" apply "$WORK/w/w" all --kex "$KEX"
		agent_figures "$1"
	done
}

# A turn over links that stayed open: eleven looks less one, by ten. Reports are stored at each.
warm() { # N
	local row
	"${STOIKA[@]}" apply "$WORK/w/w" all --kex "$KEX" > "$WORK/log/warm.log" 2>&1 || :
	measure "warm 1" "$1" "${STOIKA[@]}" check all --recipe "$WORK/w/w" --kex "$KEX"
	measure "warm 11" "$1" "${STOIKA[@]}" check all --recipe "$WORK/w/w" --kex "$KEX" --every 1s --count 11
	row=$(tail -n 2 "$OUT" | awk -F'\t' -v n="$1" '{w[NR] = $4; c[NR] = $5; d[NR] = $6; r = $7}
		END { printf "ours warm\t%d\t0\t%d\t%d\t%d\t%d", n, (w[2] - w[1] - 1e7) / 10, (c[2] - c[1]) / 10, (d[2] - d[1]) / 10, r }')
	sed -i '/^warm 1/d' "$OUT"
	echo "$row" >> "$OUT"
}

fan_out() { # LABEL N SSHOPTIONS COMMAND...: one OpenSSH client a node, 50 at once; {} in the command is the node
	local label=$1 n=$2 options=$3
	shift 3
	# shellcheck disable=SC2086 # options are words
	measure "$label" "$n" xargs -P 50 -a "$WORK/names" -I{} ssh -n -F "$WORK/lab/ssh_config" $options {} "$@"
}

arguments() { # the four words of w.sh for each node, as bench's site has them
	awk '{printf "%s %s %s r%02d %s\n", $1, $1, $2, int((NR - 1) / 40), NR % 2 ? "gpu" : "cpu"}' "$WORK/hosts"
}

ssh_sh() { # PHASE N
	# shellcheck disable=SC2016 # for the inner shell
	measure "ssh-sh $1" "$2" xargs -P 50 -a "$WORK/arguments" -L1 sh -c '
		exec ssh -F "$0/lab/ssh_config" -o KexAlgorithms='"$KEX"' "$1" sh -s "$2" "$3" "$4" "$5" < "$0/w/w.sh"' "$WORK"
}

clush_sh() { # LABEL N SSHOPTION: clush gives all nodes one command, so the words come from a file on the node
	# shellcheck disable=SC2016 # for the node's shell
	measure "$1" "$2" clush -q -f 50 -w "$(paste -sd, "$WORK/names")" \
		-O ssh_options="-F $WORK/lab/ssh_config $3" \
		'set -- $(cat /srv/w/words); sh /srv/w/w.sh "$@"'
}

words_to_nodes() {
	local name address rack role
	while read -r name _ address rack role; do
		mkdir -p "$WORK/lab/nodes/$name/own/srv/w"
		echo "$name $address $rack $role" > "$WORK/lab/nodes/$name/own/srv/w/words"
		printf '# host\nname = %s\naddr = %s\nrack = %s\nrole = %s\n' "$name" "$address" "$rack" "$role" \
			> "$WORK/lab/nodes/$name/own/srv/w/host.conf"
	done < "$WORK/arguments"
}

ansible_files() { # N
	awk -v n="$1" 'NR <= n {printf "%s ansible_host=%s rack=r%02d role=%s\n", $1, $2, int((NR - 1) / 40), NR % 2 ? "gpu" : "cpu"}' \
		"$WORK/hosts" > "$WORK/inventory.ini"
	cat > "$WORK/ansible.cfg" <<-X
		[defaults]
		inventory = $WORK/inventory.ini
		remote_user = root
		interpreter_python = /usr/bin/python3
		gathering = explicit
		retry_files_enabled = False
		forks = 50
		$1
		[ssh_connection]
		pipelining = True
		ssh_args = -F $WORK/lab/ssh_config -o ControlMaster=auto -o ControlPersist=60s
		control_path_dir = $WORK/cp
	X
	sed -i "s/^$1\$//" "$WORK/ansible.cfg"
}

ansible_run() { # LABEL N STRATEGY_LINES
	local phase
	ansible_files "$2"
	printf '%s\n' "$3" > "$WORK/strategy"
	sed -i "/^forks/r $WORK/strategy" "$WORK/ansible.cfg"
	fresh
	for phase in first second; do
		measure "$1 $phase" "$2" env HOME="$WORK" ANSIBLE_CONFIG="$WORK/ansible.cfg" \
			ansible-playbook -e "W=$WORK/w/w/files" "$WORK/w/site.yml"
	done
}

peers() {
	local r plugin phase
	for r in $(seq "$REPS"); do
		! wants ssh-true || fan_out "ssh-true same-kex" "$NODES" "-o KexAlgorithms=$KEX" true
		! wants ssh-true-default || fan_out "ssh-true default" "$NODES" "" true
		if wants ssh-sh; then fresh && ssh_sh first "$NODES" && ssh_sh second "$NODES"; fi
		if wants clush && have clush; then
			fresh
			clush_sh "clush first" "$NODES" "-o KexAlgorithms=$KEX"
			clush_sh "clush second" "$NODES" "-o KexAlgorithms=$KEX"
			clush_sh "clush-default second" "$NODES" ""
		fi
		if wants cf-agent && [ -x "$WORK/lab/layer/usr/bin/cf-agent" ]; then
			fresh
			fan_out "cf-agent first" "$NODES" "-o KexAlgorithms=$KEX" cf-agent -KI -f /srv/w/w.cf
			fan_out "cf-agent second" "$NODES" "-o KexAlgorithms=$KEX" cf-agent -KI -f /srv/w/w.cf
		fi
	done
	if wants puppet && [ -x "$WORK/lab/layer/usr/bin/puppet" ]; then
		fresh
		mv "$WORK/names" "$WORK/names.all"
		head -n "$PEER_NODES" "$WORK/names.all" > "$WORK/names"
		for phase in first second; do
			fan_out "puppet $phase" "$PEER_NODES" "-o KexAlgorithms=$KEX" puppet apply /srv/w/w.pp
		done
		mv "$WORK/names.all" "$WORK/names"
	fi
	plugin=$(find / -xdev -path '*ansible_mitogen/plugins/strategy' -not -path '/proc/*' 2> /dev/null | head -n 1)
	if wants mitogen && [ -n "$plugin" ]; then
		ansible_run mitogen "$PEER_NODES" "$(printf 'strategy = mitogen_linear\nstrategy_plugins = %s' "$plugin")"
	fi
	! { wants ansible && have ansible-playbook; } || ansible_run ansible "$PEER_NODES" ''
}

missing() {
	local tool
	for tool in clush ansible-playbook; do have "$tool" || say "$tool is not installed, left out (Debian: clustershell, ansible, ansible-mitogen)"; done
}

prepare() {
	[ "$(id -u)" = 0 ] || { echo "bench.sh: needs root" >&2; exit 2; }
	[ -x "$BUILD/bin/stoika" ] || { echo "bench.sh: no $BUILD/bin/stoika; cmake --preset release and build first" >&2; exit 2; }
	mkdir -p "$WORK/log" "$WORK/cp"
	printf 'tool phase\tnodes\trc\twall_us\tcontroller_us\tnode_us\tmax_rss_kb\n' > "$OUT"
	: > "$WORK/agent.tsv"
	bash "$HERE/w/make.sh" "$WORK/w"
}

main() {
	local n
	prepare
	if [ "$SCALE" = 1 ]; then
		for n in 10 50 100 200 500; do
			lab_up "$n"
			fresh
			ours "$n"
		done
	else
		missing
		peer_layer "$("$TOP/tests/lab/lab" root 12)"
		lab_up "$NODES"
		cut -d' ' -f1 "$WORK/hosts" > "$WORK/names"
		arguments > "$WORK/arguments"
		words_to_nodes
		fresh
		! wants ours || ours "$NODES"
		! wants warm || warm "$NODES"
		peers
	fi
	[ "$KEEP" = 1 ] || "${LAB[@]}" down > /dev/null
	awk -f "$HERE/table.awk" "$OUT" "$WORK/agent.tsv"
}

main
