#!/bin/sh
# quickstart.sh [up|down]: Stoika from nothing on one Debian 12 machine, with three real nodes to play with.
# Asks nothing, may be run again. All it makes lies in one folder; `down` removes that and the lab.
# Needs root, 3 GB of disk and the package mirror that apt is set to; the nodes reach nothing but this machine.
set -eu

top=$(cd "$(dirname "$0")/.." && pwd)
home=${STOIKA_QUICKSTART:-/var/lib/stoika-quickstart}
log=$home/quickstart.log
build=$home/build
lab=$home/lab
stoika=$home/stoika
STOIKA_LAB_CACHE=${STOIKA_LAB_CACHE:-$home/cache}
export STOIKA_LAB_CACHE
disk_needed_mb=3000
steps=9
began=$(date +%s)
number=0

seconds() { echo $(($(date +%s) - began)); }

refuse() {
	echo "quickstart: $1" >&2
	[ $# -lt 2 ] || echo "quickstart: $2" >&2
	exit 1
}

step() { # TITLE
	number=$((number + 1))
	printf '\n[%d/%d, %3d s] %s\n' "$number" "$steps" "$(seconds)" "$1"
}

failed() { # CODE CMD ...
	code=$1
	shift
	tail -n 25 "$log" >&2
	refuse "this failed with exit code $code: $*" "the whole log is $log; start again with: sh $0"
}

# A command with long output: to the log, and a sign of life every few seconds.
quiet() { # CMD ...
	printf '    $ %s\n' "$*"
	printf '\n$ %s\n' "$*" >> "$log"
	"$@" >> "$log" 2>&1 < /dev/null 9>&- &
	child=$!
	waited=0
	while kill -0 "$child" 2> /dev/null; do
		sleep 1
		waited=$((waited + 1))
		[ $((waited % 10)) != 0 ] || printf '      %d s: %s\n' "$waited" "$(tail -n 1 "$log" | cut -c 1-90)"
	done
	wait "$child" || failed $? "$@"
	child=
}

# A command whose output is the point.
show() { # CMD ...
	printf '    $ %s\n' "$*"
	printf '\n$ %s\n' "$*" >> "$log"
	{
		code=0
		"$@" 2>&1 < /dev/null 9>&- || code=$?
		echo "$code" > "$home/code"
	} | tee -a "$log" | sed -u 's/^/    /'
	[ "$(cat "$home/code")" = 0 ] || failed "$(cat "$home/code")" "$@"
}

check_machine() {
	[ "$(id -u)" = 0 ] || refuse "needs root: it makes network namespaces and mounts" "try: sudo sh $0"
	[ "$(uname -m)" = x86_64 ] || refuse "needs an x86-64 machine, this is $(uname -m)"
	release=$(sed -n 's/^ID=//p; s/^VERSION_ID=//p' /etc/os-release | tr -d '"' | sort -r | tr '\n' ' ')
	[ "$release" = 'debian 12 ' ] || refuse "needs Debian 12, this is ${release:-unknown}"
	free_mb=$(df -Pm "$(dirname "$home")" | awk 'NR == 2 {print $4}')
	[ -d "$home" ] || [ "$free_mb" -ge "$disk_needed_mb" ] ||
		refuse "needs $disk_needed_mb MB of disk below $(dirname "$home"), $free_mb MB are free"
	unshare --net --mount true 2> /dev/null ||
		refuse "this machine allows no network namespaces" "a container needs to be privileged for that"
}

# Only what bears the mark is ever removed.
claim_home() {
	if [ -e "$home" ] && [ ! -e "$home/.quickstart" ] && [ -n "$(ls -A "$home")" ]; then
		refuse "'$home' is not empty and not of a quickstart"
	fi
	mkdir -p "$home"
	: >> "$home/.quickstart"
	exec 9>> "$home/.quickstart"
	flock -n 9 || refuse "another quickstart is running"
}

run_lab() { "$top/tests/lab/lab" --dir "$lab" "$@"; }

write_wrapper() {
	cat > "$stoika" <<-X
		#!/bin/sh
		# stoika as the lab's controller: its network, its inventory; your own folders of recipes come first
		exec "$top/tests/lab/lab" --dir "$lab" ctl \\
			env STOIKA_RECIPES="\${STOIKA_RECIPES:+\$STOIKA_RECIPES:}$top/recipes" \\
			"$build/bin/stoika" --db "$home/state/stoika.db" "\$@"
	X
	chmod 755 "$stoika"
}

up() {
	check_machine
	claim_home
	trap 'kill "$child" 2> /dev/null || :' EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM
	child=
	date > "$log"
	echo "Stoika quickstart: $steps steps, about five minutes the first time"
	echo "All it makes lies in $home; remove it with: sh $0 down"
	[ ! -d "$home/state" ] || echo "It was here before: its nodes and its inventory are made anew"

	step "What is needed from Debian"
	sh "$top/controller/packages.sh" missing build lab >> "$home/packages"
	quiet sh "$top/controller/packages.sh" install build lab

	step "Build the controller, and the agent that goes onto the nodes"
	quiet cmake -S "$top" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo
	quiet cmake --build "$build" --target stoika stoika-agent agent-folder

	step "Three nodes: gpu01, gpu02 and mgmt01, each with its own systemd, sshd, apt and network"
	quiet "$top/tests/lab/lab" --dir "$lab" down
	quiet "$top/tests/lab/lab" --dir "$lab" up 3 --names gpu01,gpu02,mgmt01
	write_wrapper

	step "A new inventory of racks, nodes, power and cooling"
	rm -rf "$home/state"
	mkdir -m 700 "$home/state"
	show "$stoika" init
	show "$stoika" import "$top/inventory/examples/start.yaml"

	step "Power and space, rack by rack"
	show "$stoika" list racks

	step "Put the agent onto the nodes over SSH; their host keys are checked, never trusted blindly"
	show "$stoika" agent install all --identity "$lab/id" --known-hosts "$lab/known_hosts"

	step "Apply three recipes to all nodes"
	show "$stoika" apply base,node-exporter,container-engine all

	step "Apply them again: nothing is left to change"
	show "$stoika" apply base,node-exporter,container-engine all

	step "The record of that run"
	show "$stoika" run show last
	say_next
}

say_next() {
	cat <<-X

		Done in $(seconds) s. What to try next:
		    $stoika audit                            # power and cooling, after each loss too
		    $stoika list nodes
		    $stoika show gpu01
		    $top/tests/lab/lab --dir $lab exec gpu01 systemctl stop containerd
		    $stoika plan container-engine all        # what would change, without changing it
		    $stoika apply container-engine all       # changes it back
		    $stoika help
		Remove everything: sh $0 down
	X
}

down() {
	[ "$(id -u)" = 0 ] || refuse "needs root" "try: sudo sh $0 down"
	if [ ! -e "$home" ]; then
		echo "nothing to remove: '$home' is not there"
		return
	fi
	claim_home
	run_lab down
	installed=$(sort -u "$home/packages" 2> /dev/null | tr '\n' ' ')
	rm -rf "$home"
	echo "$home is gone"
	[ -z "$installed" ] || printf 'Debian packages stay; those that the quickstart installed go with:\n    %s\n' \
		"apt-get autoremove --purge $installed"
}

case ${1:-up} in
up | down) "${1:-up}" ;;
*)
	echo "usage: quickstart.sh [up|down]" >&2
	exit 2
	;;
esac
