#!/bin/sh
# In every state of a rollout the link of the node is cut for some seconds, or its agent is killed: the node ends
# with the driver that its row tells of, whole, and takes jobs again. STOIKA_LONG: all states, else two of each.
TOP=$(cd "$(dirname "$0")/../.." && pwd)
. "$TOP/tests/check.sh"
. "$TOP/tests/e2e/lab.sh"
. "$TOP/tests/e2e/rollout.sh"

cut_in='services returned' kill_in='drained verify'
if [ -n "${STOIKA_LONG:-}" ]; then
	cut_in='preflight staged cordoned wait-jobs drained quiesced installed rebooting services verify returned soak'
	kill_in='preflight staged drained quiesced rebooting services verify soak'
fi

cluster 1
policy 'canary: {by: [os], count: 0}' 'waves: [100%]' 'max_unavailable: 1' 'soak: {canary: 0s, wave: 0s, node: 1s}'
has=$DRIVER_A

cut_link() {
	lab cut gpu01 > lab.out
	sleep 4
	lab uncut gpu01 > lab.out
}

# Until an agent is there to be killed; in states where none runs it is the next one's.
kill_agent() {
	agent_left=100
	until on gpu01 pkill -KILL -f stoika-agent || [ $agent_left = 0 ]; do
		agent_left=$((agent_left - 1))
		sleep 0.02
	done
}

# What the person does: restarts it, which finishes the apply, and gives it back.
reborn() {
	on gpu01 systemctl reboot
	sleep 5
	slurm scontrol update nodename=gpu01 state=resume
	has=$wanted
}

disturb() { # STATE CMD
	wanted=$DRIVER_B
	[ "$has" = "$DRIVER_A" ] || wanted=$DRIVER_A
	rollout gpu01 "$wanted" --set downgrade=true > "disturb-$1.log" 2>&1 &
	shell=$! left=1200
	until grep -q " gpu01 .*-> $1:" "disturb-$1.log" || ! kill -0 $shell 2> /dev/null || [ $left = 0 ]; do
		left=$((left - 1))
		sleep 0.03
	done
	grep -q " gpu01 .*-> $1:" "disturb-$1.log" || fail "gpu01 was never $1: $(tail -n 3 "disturb-$1.log")"
	"$2"
	wait $shell
	expect 0 stoika run show last
	if [ "$2" = cut_link ] && grep -Eq '^gpu01 +unreachable' "$CHECK_DIR/out"; then
		case $1 in installed | rebooting) ;; *) fail "gpu01 was lost in $1" ;; esac
		says 'it has not gone down for its restart within'
		reborn
	else
		says '^gpu01 +(done|undone)'
	fi
	if grep -Eq '^gpu01 +done' "$CHECK_DIR/out"; then has=$wanted; fi
	echo "$2 in $1: $(grep -Eo '^gpu01 +[a-z]+' "$CHECK_DIR/out"), it has $has"
	driver_is "$has" gpu01
	ok 'dpkg is clean' test -z "$(on gpu01 dpkg --audit)"
	slurm_settles gpu01 idle 30
}

for state in $cut_in; do disturb "$state" cut_link; done
for state in $kill_in; do disturb "$state" kill_agent; done
