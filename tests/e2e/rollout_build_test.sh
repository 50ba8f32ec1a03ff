#!/bin/sh
# Builds of a driver that are broken, each in its own way: the node goes back to exactly what it had and to its
# jobs, the next one is not touched.
TOP=$(cd "$(dirname "$0")/../.." && pwd)
. "$TOP/tests/check.sh"
. "$TOP/tests/e2e/lab.sh"
. "$TOP/tests/e2e/rollout.sh"

cluster 2
policy 'failures: {most: 0, same: 1}' 'max_unavailable: 1'

broken() { # VERSION REASON
	expect 1 rollout 'gpu[01-02]' "$1"
	expect 0 stoika run show last
	says 'gpu01 +undone'
	says "$2"
	says 'gpu02 +eligible|1 eligible'
	driver_is $DRIVER_A gpu01 gpu02
	slurm_settles gpu01 idle 20
	slurm_settles gpu02 idle 5
	ok 'dpkg is clean' test -z "$(on gpu01 dpkg --audit)"
	ok 'its holds are back' test "$(on gpu01 apt-mark showhold | wc -l)" = 7
}

broken 610.57.05 'nvidia-kernel-open-dkms'
broken 610.57.06 'nvidia-fabricmanager'
broken 610.57.07 "check 'every GPU"
