#!/bin/sh
# The detectors on living nodes: nothing is found on sound ones, what is planted is found, told once for both, with what
# to do.
TOP=$(cd "$(dirname "$0")/../.." && pwd)
. "$TOP/tests/check.sh"
. "$TOP/tests/e2e/lab.sh"

lab_start 2 --names gpu01,gpu02
expect 0 stoika doctor all
says '^nodes: 2, failures: 0, warnings: 0'

# a package left half-way on one, a dead repository on both
on gpu01 sed -i '0,/^Status: install ok installed/s//Status: install ok half-configured/' /var/lib/dpkg/status
for node in gpu01 gpu02; do
	echo 'deb http://developer.download.nvidia.com/compute/machine-learning/repos/ubuntu2004/x86_64 /' |
		on $node sh -c 'cat > /etc/apt/sources.list.d/ml.list'
done
expect 1 stoika doctor all
says '^F06 .*gpu\[01,02\]'
says '^F11 .*gpu01$'
says '^ +do: '
says '^nodes: 2, failures: 2'
expect 1 stoika doctor all --lang ru
says 'делать: '
expect 1 stoika doctor gpu02 --json
says '"id": "F06"'
unsaid '"id": "F11"'

# one that does not answer is a failure, not a sound node
on gpu02 systemctl stop ssh
expect 1 stoika doctor all
says '^- .*gpu02$'
