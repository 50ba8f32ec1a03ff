#!/bin/sh
# What dies in the middle of a rollout: the controller in many states, an agent, the link. Nothing is done twice,
# nothing is forgotten, no job is lost.
TOP=$(cd "$(dirname "$0")/../.." && pwd)
. "$TOP/tests/check.sh"
. "$TOP/tests/e2e/lab.sh"
. "$TOP/tests/e2e/rollout.sh"

cluster 3
policy 'canary: {by: [os], count: 0}' 'waves: [100%]' 'max_unavailable: 1'
jobs=''
for i in 1 2 3; do jobs="$jobs $(slurm_job "first$i" "gpu0$i" 6)"; done

# The controller is killed as soon as a node is in a state; status 1 when it was never seen.
kill_in() { # NODE STATE CMD ...
	kill_node=$1 kill_state=$2
	shift 2
	"$@" > "killed-$kill_state.log" 2>&1 &
	kill_shell=$!
	left=1600
	until grep -q " $kill_node .*-> $kill_state:" "killed-$kill_state.log"; do
		left=$((left - 1))
		if [ $left = 0 ] || ! kill -0 $kill_shell 2> /dev/null; then
			fail "$kill_node was not $kill_state: $(tail -n 5 "killed-$kill_state.log")"
			return 1
		fi
		sleep 0.05
	done
	pkill -KILL -P $kill_shell -x stoika 2> /dev/null || pkill -KILL -f "$STOIKA (apply nvidia-driver|run resume)"
	wait $kill_shell 2> /dev/null
	echo "killed while $kill_node was $kill_state"
}

watch_begin
kill_in gpu01 wait-jobs rollout 'gpu[01-03]' $DRIVER_B
run=$(sed -n 's/^rollout *\([0-9a-z-]*\).*/\1/p' killed-wait-jobs.log)
for where in 'gpu01 quiesced' 'gpu01 rebooting' 'gpu01 verify' 'gpu02 preflight' 'gpu02 cordoned' 'gpu02 installed' \
	'gpu02 returned'; do
	# shellcheck disable=SC2086 # two words
	kill_in $where stoika run resume "$run"
done
expect 0 stoika run resume "$run"
watch_end
driver_is $DRIVER_B gpu01 gpu02 gpu03
most=$(most_out)
ok "never more than one away, $most at most" test "$most" -le 1
for job in $jobs; do
	ok "job $job came to its end" test "$(job_state "$job")" = COMPLETED
	# a slurmd with -b counts each start of its own as a reboot; on a loaded machine Slurm then begins a job anew
	"$PWD/head" scontrol -o show job "$job" | grep -q ' Restarts=0 ' || echo "note: Slurm began job $job again"
done
expect 0 stoika run show "$run"
says 'gpu\[01-03\] \(3\): 3 done'
for node in gpu01 gpu02 gpu03; do
	slurm_settles $node idle 20
	ok "$node installed once" test "$(on $node grep -c ' upgrade nvidia-driver-cuda' /var/log/dpkg.log)" = 1
done

# back to A by a rollout of its own; an agent dies in the middle, and a cable is out for some seconds
for node in gpu01 gpu02; do
	echo 'DPkg::Pre-Invoke {"sleep 4";};' | on $node sh -c 'cat > /etc/apt/apt.conf.d/99slow'
done
rollout 'gpu[01-02]' $DRIVER_A --set downgrade=true > back.log 2>&1 &
shell=$!
left=600
until grep -q 'gpu01 .*-> quiesced:' back.log || [ $left = 0 ]; do
	left=$((left - 1))
	sleep 0.05
done
sleep 1
on gpu01 pkill -KILL -f stoika-agent
until grep -q 'gpu02 .*-> quiesced:' back.log || [ $left = 0 ]; do
	left=$((left - 1))
	sleep 0.05
done
sleep 1
lab cut gpu02 > lab.out
sleep 5
lab uncut gpu02 > lab.out
wait $shell
expect 0 stoika run show last
says '1 done, 1 undone'
says 'before: the run never came to its end'
driver_is $DRIVER_B gpu01
driver_is $DRIVER_A gpu02
for node in gpu01 gpu02; do slurm_settles $node idle 20; done
