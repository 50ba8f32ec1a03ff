#!/bin/sh
# A fence over a real Slurm: jobs end by themselves, what others hold stays theirs, Slurm restarts a node for us
# and gives it no job before it is opened, and whoever is killed in between is followed by another.
TOP=$(cd "$(dirname "$0")/../.." && pwd)
. "$TOP/tests/check.sh"
. "$TOP/tests/e2e/lab.sh"
. "$TOP/tests/e2e/slurm.sh"

[ -n "${STOIKA_LONG:-}" ] || skip 'takes two minutes: only with STOIKA_LONG set'
fence_play=$STOIKA_BUILD/tests/unit/fence/fence_play
[ -x "$fence_play" ] || fence_play=$TOP/build/asan/tests/unit/fence/fence_play # a release has no tests
[ -x "$fence_play" ] || skip "needs $fence_play"

play() { timeout 180 "$fence_play" slurm R1 gpu01,gpu02,gpu03 "$PWD/head"; }
state_of() { slurm scontrol -o show job "$1" | sed -n 's/.* JobState=\([^ ]*\) .*/\1/p'; }
job_is() { # ID STATE SECONDS
	job_left=$(($3 * 2))
	until [ "$(state_of "$1")" = "$2" ]; do
		job_left=$((job_left - 1))
		[ "$job_left" -gt 0 ] || return 1
		sleep 0.5
	done
}

must lab up 4 --with slurm --names mgmt01,gpu01,gpu02,gpu03
slurm_start mgmt01 gpu01 gpu02 gpu03

# a job that runs is waited for; what a person drained stays as it is
slurm scontrol update nodename=gpu03 state=drain reason='disk "sda" dying, see #7'
job=$(slurm_job waits gpu01 12)
ok 'the job runs' job_is "$job" RUNNING 20
expect 0 play << 'END'
want gpu01 closed driver 595: it's "new" ≥ 594
want gpu02 closed driver 595: it's "new" ≥ 594
want gpu03 closed driver 595: it's "new" ≥ 594
until gpu02 closed 20
until gpu01 busy 20
until gpu03 troubled 20
END
says "^gpu02 closed ours jobs=0 reason='stoika:R1 driver 595: it's 'new' ≥ 594' by='root@"
says '^gpu01 closing ours jobs=1 '
says "^gpu03 closed foreign jobs=0 .* trouble='somebody else holds it: disk \"sda\" dying, see #7 \(root@"
ok 'the job still runs' test "$(state_of "$job")" = RUNNING
# another controller of the same run: nothing is done again, and the job ends by itself
expect 0 play << 'END'
want gpu01 closed driver 595: it's "new" ≥ 594
want gpu02 closed driver 595: it's "new" ≥ 594
until gpu01 closed 60
until gpu02 closed 20
END
ok 'the job was not killed' test "$(state_of "$job")" = COMPLETED
# one of another run has no say in it
expect 0 timeout 60 "$fence_play" slurm R2 gpu01,gpu03 "$PWD/head" << 'END'
want gpu01 closed mine
want gpu03 open
until gpu01 troubled 20
want gpu01 open
for 3
END
says "trouble='somebody else holds it: stoika:R1 "
ok 'still ours' test "$(slurm_state gpu01)" = idle+drain
ok 'theirs' test "$(slurm_reason gpu03)" = 'disk "sda" dying, see #7'

# Slurm restarts it, killed controllers or not, once; then no job comes until it is opened
was=$(on gpu02 cat /proc/sys/kernel/random/boot_id)
for life in 0.4 0.7 1.0; do
	printf 'want gpu02 reboot driver 595\nfor 60\n' | "$fence_play" slurm R1 gpu02 "$PWD/head" > /dev/null 2>&1 &
	player=$!
	sleep "$life"
	kill -KILL "$player"
	wait "$player" 2> /dev/null
done
expect 0 play << 'END'
want gpu02 reboot driver 595
until gpu02 rebooted 90
END
says "^gpu02 down ours rebooted jobs=0 reason='stoika:R1:reboot driver 595 : reboot issued : reboot complete'"
now=$(on gpu02 cat /proc/sys/kernel/random/boot_id)
ok 'it was restarted' test "$was" != "$now"
ok 'once' test "$(on mgmt01 grep -c 'reboot request queued for nodes gpu02' /var/log/slurm/slurmctld.log)" = 1
job=$(slurm_job early gpu02 1)
sleep 2
ok 'no job comes to a node that is not proven' test "$(state_of "$job")" = PENDING
expect 0 play << 'END'
want gpu02 open
until gpu02 open 60
END
ok 'now it comes' job_is "$job" COMPLETED 60

# once more in the same fencing, as the way back has it
expect 0 play << 'END'
want gpu02 reboot there
until gpu02 rebooted 90
want gpu02 closed back
for 3
until gpu02 closed 20
want gpu02 reboot back
until gpu02 rebooting 20
until gpu02 rebooted 90
want gpu02 open
until gpu02 open 60
END
says "reason='stoika:R1:reboot back"

# a person takes it over: it stays theirs
slurm scontrol update nodename=gpu01 state=drain reason='mine now'
expect 0 play << 'END'
want gpu01 open
until gpu01 foreign 20
for 3
END
ok 'not opened' test "$(slurm_state gpu01)" = idle+drain
ok 'its reason stays' test "$(slurm_reason gpu01)" = 'mine now'
slurm scontrol update nodename=gpu01 state=resume

# at the deadline jobs are requeued where they may be, and cancelled
job=$(slurm_job moves gpu01 300 --requeue)
ok 'the job runs' job_is "$job" RUNNING 20
expect 0 play << 'END'
want gpu01 closed x
until gpu01 busy 20
move gpu01 requeue
until gpu01 closed 60
END
ok 'requeued' test "$(state_of "$job")" = PENDING
expect 0 play << 'END'
want gpu01 open
until gpu01 open 20
END
slurm scancel "$job"
job=$(slurm_job ends gpu01 300)
ok 'the job runs' job_is "$job" RUNNING 60
expect 0 play << 'END'
want gpu01 closed x
until gpu01 busy 20
move gpu01 cancel
until gpu01 closed 60
want gpu01 open
until gpu01 open 20
END
ok 'cancelled' test "$(state_of "$job")" = CANCELLED

# slurmctld is away: said, and gone on with
on mgmt01 systemctl stop slurmctld
(sleep 8 && on mgmt01 systemctl start slurmctld) &
expect 0 play << 'END'
want gpu01 closed x
until - silent 30
until gpu01 closed 90
want gpu01 open
until gpu01 open 30
END
says "^- 'scontrol' (did not answer within|failed with status)"
ok 'theirs all the time' test "$(slurm_reason gpu03)" = 'disk "sda" dying, see #7'
