#!/bin/sh
# Nodes that are not as they should be: each ends as it must, with its reason, and the good one gets its driver.
TOP=$(cd "$(dirname "$0")/../.." && pwd)
. "$TOP/tests/check.sh"
. "$TOP/tests/e2e/lab.sh"
. "$TOP/tests/e2e/rollout.sh"

cluster 6
policy 'canary: {by: [os], count: 0}' 'waves: [5, 100%]' 'failures: {most: 100%, same: 0}' 'max_unavailable: 5' \
	'reboot: {by: agent, within: 20s}'

# gpu01: an administrator holds a package of the set
on gpu01 sed -i /libcuda1/d /var/lib/stoika-agent/holds
# gpu02: the running kernel has no headers
gpu_headers gpu02 off
# gpu03: somebody has drained it
slurm scontrol update nodename=gpu03 state=drain 'reason=disk swap, anna'
# gpu04: an unattended upgrade is at work, and has apt's locks
on gpu04 systemd-run -q --unit=upgrades-by-itself \
	apt-get -y -o 'DPkg::Pre-Invoke::=sleep 8' install jq
# gpu05: its sshd will not come back
on gpu05 systemctl mask -q ssh

expect 1 rollout 'gpu[01-06]' $DRIVER_B
expect 0 stoika run show last
says '^state +paused: gpu05 did not come back'
says '^gpu01 +rejected'
says 'administrator: libcuda1|held by$'
says '^gpu02 +rejected'
says 'no headers of the running kernel'
says '^gpu03 +eligible'
says 'disk swap, anna'
says '^gpu04 +done'
says '^gpu05 +unreachable'
says 'it did not come back from its restart within 20.0 s'
says '^gpu06 +eligible'
driver_is $DRIVER_A gpu01 gpu02 gpu03 gpu06
driver_is $DRIVER_B gpu04
expect 0 on gpu04 jq -n 1
ok 'who was refused takes jobs as before' test "$(slurm_state gpu01) $(slurm_state gpu02)" = 'idle idle'
ok 'the foreign drain is as it was' test "$(slurm_state gpu03): $(slurm_reason gpu03)" = 'idle+drain: disk swap, anna'
ok 'the one that did not come back takes no jobs' sh -c "'$PWD/head' scontrol -o show node gpu05 | grep -Eq ' State=(DOWN|[A-Z_]+[+]DRAIN|IDLE[+]DRAIN)'"
ok 'with our reason' sh -c "'$PWD/head' scontrol show node gpu05 | grep -q 'Reason=stoika:.*did not come back'"

# who looks into it finds the reasons once more, with what to do
expect 0 stoika run show last --node gpu01
says 'held by administrator: libcuda1'
expect 0 stoika run show last --node gpu05
says 'did not come back'
