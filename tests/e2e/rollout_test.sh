#!/bin/sh
# The day-2 driver upgrade: six nodes go from branch A to B under a real Slurm while jobs run.
TOP=$(cd "$(dirname "$0")/../.." && pwd)
. "$TOP/tests/check.sh"
. "$TOP/tests/e2e/lab.sh"
. "$TOP/tests/e2e/rollout.sh"

cluster 6
# shellcheck disable=SC2086 # a list of words
driver_is $DRIVER_A $cluster_nodes

# every node has a job that ends in its own time, and more wait for any node
jobs=''
for i in 1 2 3 4 5 6; do jobs="$jobs $(slurm_job "first$i" "gpu0$i" $((i * 3)))"; done
for i in 1 2 3 4; do jobs="$jobs $(slurm_job "later$i" '' 4)"; done

watch_begin
expect 0 rollout 'gpu[01-06]' $DRIVER_B
cp "$CHECK_DIR/out" rollout.out
watch_end

# shellcheck disable=SC2086 # a list of words
driver_is $DRIVER_B $cluster_nodes
for node in $cluster_nodes; do slurm_settles "$node" 'idle|mixed|allocated' 20; done
most=$(most_out)
ok "never more than two away, $most at most" test "$most" -le 2 -a "$most" -ge 1
for job in $jobs; do
	left=80
	until state=$(job_state "$job") && [ "$state" = COMPLETED ] || [ $left = 0 ]; do
		left=$((left - 1))
		sleep 0.25
	done
	ok "job $job came to its end" test "$state" = COMPLETED
	# a slurmd with -b counts each start of its own as a reboot; on a loaded machine Slurm then begins a job anew
	"$PWD/head" scontrol -o show job "$job" | grep -q ' Restarts=0 ' || echo "note: Slurm began job $job again"
done

[ "$CHECK_FAILED" = 0 ] || on mgmt01 cat /var/log/slurm/slurmctld.log

# the record has every state with its time; those that took none are left out
expect 0 stoika run show last
for state in preflight staged cordoned drained quiesced rebooting verify returned; do says "$state +6 "; done
for state in wait-jobs installed rebooting services soak; do
	grep -q -e "-> $state:" rollout.out || fail "nobody was $state"
done

# once more: nothing is changed, and nobody is fenced
watch_begin
expect 0 rollout 'gpu[01-06]' $DRIVER_B
watch_end
ok 'the second run took no node out' test "$(most_out)" = 0
expect 0 stoika run show last
says '6 done'
unsaid 'cordoned'
