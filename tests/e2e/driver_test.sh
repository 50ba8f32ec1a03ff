#!/bin/sh
# The recipe nvidia-driver on one node with simulated GPUs: in, up, broken in each way, and back.
TOP=$(cd "$(dirname "$0")/../.." && pwd)
. "$TOP/tests/check.sh"
. "$TOP/tests/e2e/lab.sh"
. "$TOP/tests/lab/gpu/gpu.sh"

lab_start 1 --names gpu01
gpu_repo
gpu_plug gpu01

set -- nvidia-driver gpu01 --set repo=file:/srv/gpu --set repo_suite=./ \
	--set repo_key="$(cat gpu-repo/key.asc)" --set repo_fingerprint="$(cat gpu-repo/fingerprint)"
smi() { on gpu01 nvidia-smi --query-gpu=driver_version,fabric.state --format=csv,noheader; }

# what must hold first, said in a plan already
gpu_headers gpu01 off
expect 1 stoika plan "$@" --set driver=595.91.07
says 'no headers of the running kernel'
says 'install linux-headers-'
gpu_headers gpu01 on
expect 1 stoika plan "$@" --set driver=595
says 'exact version'

# branch A on a bare node
expect 0 stoika plan "$@" --set driver=595.91.07
expect 0 stoika apply "$@" --set driver=595.91.07 --set dcgm=4.5.3 --set toolkit=1.19.1
says 'gpu01 +changed'
ok 'module A is loaded' test "$(gpu_loaded gpu01)" = 595.91.07
expect 0 smi
ok 'eight GPUs in a complete fabric' test "$(grep -c '^595.91.07, Completed$' "$CHECK_DIR/out")" = 8
expect 0 stoika apply "$@" --set driver=595.91.07 --set dcgm=4.5.3 --set toolkit=1.19.1 --json
ok 'the second run changes nothing' jq -e '.counts == {"ok": 1}' "$CHECK_DIR/out"
# to branch B; until the restart the old module stays loaded, and the new library says so
expect 0 stoika plan "$@" --set driver=610.57.04 --set dcgm=4.6.0 --set toolkit=1.20.0
says '595.91.07'
expect 0 stoika apply "$@" --set driver=610.57.04 --set dcgm=4.6.0 --set toolkit=1.20.0
says 'gpu01 +changed'
expect 0 smi
ok 'eight GPUs with B' test "$(grep -c '^610.57.04, Completed$' "$CHECK_DIR/out")" = 8
expect 0 on gpu01 apt-mark showhold
says nvidia-fabricmanager
says datacenter-gpu-manager-4-core
# a build that does not compile: its package stays half-configured, and nothing goes on from there
expect 1 stoika apply "$@" --set driver=610.57.05 --set dcgm=4.6.0
says 'error processing package nvidia-kernel-open-dkms'
expect 1 stoika apply "$@" --set driver=610.57.06
says 'package database broken: .*nvidia-kernel-open-dkms \(half-configured\)'

# all of it is taken back, also from there
expect 0 stoika undo "$@" --set driver=610.57.04 --set dcgm=4.6.0 --set toolkit=1.20.0 --yes
expect 1 on gpu01 dpkg-query -W 'nvidia-*' 'datacenter-*' 'lib*-ml1'
