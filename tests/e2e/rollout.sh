# shellcheck shell=sh
# rollout.sh: a small GPU cluster with a driver to upgrade, source after lab.sh.
#
#	cluster 6              # mgmt01 (Slurm's head) and gpu01..06, each with 8 simulated GPUs and driver A
#	policy KEY: VALUE ...  # ./policy.yaml: Slurm's fence, two nodes at once, rollback; lines come on top
#	rollout gpu[01-06] B [OPTION ...]     # 'stoika apply nvidia-driver ... --rollout policy.yaml'
#	driver_is A gpu01 ...  # loaded, installed and asked by nvidia-smi
#	watch_begin / watch_end               # samples what Slurm says of all nodes; most_out: the most away at once

. "$TOP/tests/e2e/slurm.sh"
. "$TOP/tests/lab/gpu/gpu.sh"
DRIVER_A=595.91.07
# shellcheck disable=SC2034 # used by the tests
DRIVER_B=610.57.04

cluster() { # N
	cluster_nodes='' cluster_names=mgmt01
	for i in $(seq 1 "$1"); do
		cluster_nodes="$cluster_nodes gpu0$i" cluster_names="$cluster_names,gpu0$i"
	done
	lab_start $(($1 + 1)) --names "$cluster_names" --with slurm
	gpu_repo
	# shellcheck disable=SC2086 # a list of words
	gpu_plug $cluster_nodes
	policy 'max_unavailable: 2'
	must with_driver $DRIVER_A stoika apply nvidia-driver "gpu[01-0$1]"
	# shellcheck disable=SC2086 # a list of words
	slurm_start mgmt01 $cluster_nodes
}

with_driver() { # VERSION CMD ...: with the driver's parameters behind
	driver_version=$1
	shift
	"$@" --set "driver=$driver_version" --set repo=copy:/srv/gpu --set repo_suite=./ \
		--set "repo_key=$(cat gpu-repo/key.asc)" --set "repo_fingerprint=$(cat gpu-repo/fingerprint)"
}

policy() { # LINE ...
	{
		cat << X
rollout: lab
canary: {by: [os], count: 1}
waves: [50%, 100%]
soak: {canary: 0s, wave: 0s, node: 0s}
max_unavailable: 2
failures: {most: 1, same: 2}
fence: {by: slurm, jobs: wait, deadline: 2m, prefix: [$PWD/head]}
reboot: {by: fence, within: 60s}
X
	} > policy.yaml
	for line in "$@"; do
		sed -i "/^${line%%:*}:/d" policy.yaml
		echo "$line" >> policy.yaml
	done
}

rollout() { # NODES VERSION [OPTION ...]
	rollout_nodes=$1 rollout_version=$2
	shift 2
	with_driver "$rollout_version" stoika apply nvidia-driver "$rollout_nodes" --rollout policy.yaml --yes "$@"
}

driver_is() { # VERSION NODE ...
	driver_version=$1
	shift
	for node in "$@"; do
		on "$node" nvidia-smi --query-gpu=driver_version,fabric.state --format=csv,noheader > smi.out 2>&1
		[ "$(sort smi.out | uniq -c | sed 's/^ *//')" = "8 $driver_version, Completed" ] || {
			fail "$node has not driver $driver_version on 8 GPUs: $(head -n 3 smi.out)"
			continue
		}
		on "$node" dpkg-query -W -f '${Version}\n' nvidia-driver-cuda nvidia-kernel-open-dkms libnvidia-ml1 nvidia-fabricmanager |
			grep -vqx "$driver_version-1" && fail "$node has packages of another version than $driver_version"
	done
	return 0
}

# A line a look: the time, then NODE=STATE of each.
watch_begin() {
	# shellcheck disable=SC2016 # for the node's shell
	on mgmt01 sh -c 'while :; do
		scontrol -o show node | sed -n "s/^NodeName=\([^ ]*\) .* State=\([^ ]*\) .*/\1=\2/p" | tr "\n" " " |
			sed "s/^/$(date +%s) /; s/$/\n/"
		sleep 0.4
	done' > watch.log 2> watch.err &
	watch_pid=$!
}

watch_end() {
	kill "$watch_pid" 2> /dev/null
	wait "$watch_pid" 2> /dev/null
}

most_out() {
	awk '{ n = 0; for (i = 2; i <= NF; i++) if ($i ~ /DRAIN|DOWN|REBOOT|NOT_RESPONDING/) n++; if (n > most) most = n }
		END { print most + 0 }' watch.log
}

job_state() { slurm scontrol -o show job "$1" | sed -n 's/.* JobState=\([^ ]*\) .*/\1/p'; }
