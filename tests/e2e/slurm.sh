# shellcheck shell=sh
# slurm.sh: a real Slurm over the lab's nodes, source after lab.sh.
#
#	lab_start 3 --with slurm --names mgmt01,gpu01,gpu02
#	slurm_start mgmt01 gpu01 gpu02   # mgmt01: slurmctld; the others: slurmd, 8 GPUs each, partition gpu
#	slurm CMD ...                    # scontrol, sinfo, sbatch ... on the head node
#	slurm_state gpu01                # "idle", "mixed+drain", "idle+drain", "down", as scontrol says; sinfo of
#	                                 # this version calls a node that is down "mixed"
#	slurm_reason gpu01
#	slurm_settles gpu01 STATE [SECONDS]    # waits for it; STATE: a pattern of grep -E
#	slurm_job NAME NODE SECONDS [OPTION ...]     # a batch job there with all its GPUs; prints its id
#	$PWD/head CMD ...                # the same as slurm, for 'prefix' of a fence
#
# slurmd runs with -b: without it slurmd tells the boot time of this machine, and a node that restarts stays
# "reboot^" for ever. With it each restart of slurmd is a restart of the node to Slurm.

slurm_conf() { # HEAD NODE ...
	cat << X
ClusterName=lab
SlurmctldHost=$1($(slurm_address "$1"))
AuthType=auth/munge
StateSaveLocation=/var/lib/slurm/slurmctld
SlurmdSpoolDir=/var/lib/slurm/slurmd
SlurmctldLogFile=/var/log/slurm/slurmctld.log
SlurmdLogFile=/var/log/slurm/slurmd.log
SlurmdParameters=config_overrides
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
GresTypes=gpu
MpiDefault=none
ReturnToService=1
RebootProgram=/sbin/reboot
ResumeTimeout=120
SlurmdTimeout=30
SlurmctldTimeout=30
KillWait=3
SchedulerParameters=batch_sched_delay=1,sched_interval=5
X
	shift
	for node in "$@"; do
		echo "NodeName=$node NodeAddr=$(slurm_address "$node") CPUs=16 RealMemory=1000 Gres=gpu:8 State=UNKNOWN"
	done
	echo "PartitionName=gpu Nodes=$(echo "$*" | tr ' ' ,) Default=YES MaxTime=INFINITE State=UP"
}

slurm_address() { # NODE
	awk -v name="$1" '$2 == name { print $1 }' "$STOIKA_LAB/hosts"
}

# What the jobs see as GPUs: character devices that can be opened and tell nothing.
slurm_node() { # NODE UNIT
	# shellcheck disable=SC2016 # for the node's shell
	on "$1" sh -euc '
		cat > /etc/slurm/slurm.conf
		echo "Name=gpu File=/opt/gpu/[0-7]" > /etc/slurm/gres.conf
		echo "SLURMD_OPTIONS=-b" > /etc/default/slurmd
		mkdir -p /opt/gpu /var/log/slurm /var/lib/slurm/slurmctld /var/lib/slurm/slurmd
		chown slurm: /var/log/slurm /var/lib/slurm/slurmctld
		for i in 0 1 2 3 4 5 6 7; do [ -e /opt/gpu/$i ] || mknod -m 666 /opt/gpu/$i c 1 3; done
		systemctl disable -q slurmd slurmctld 2> /dev/null
		systemctl enable -q --now "$1" 2> /dev/null' - "$2" < slurm.conf
}

slurm_start() { # HEAD NODE ...
	slurm_head=$1
	slurm_conf "$@" > slurm.conf
	printf '#!/bin/sh\nexec env STOIKA_LAB="%s" "%s" exec %s "$@"\n' \
		"$STOIKA_LAB" "$TOP/tests/lab/lab" "$slurm_head" > ./head
	chmod 755 head
	slurm_node "$1" slurmctld
	shift
	for node in "$@"; do slurm_node "$node" slurmd; done
	for node in "$@"; do slurm_comes "$node"; done
}

# Idle, and its slurmd has told when it started: a job that begins before is lost to an "unexpected" restart. One
# that was heard of before slurmctld had read its state is down.
slurm_comes() { # NODE
	slurm_left=60
	until slurm scontrol -o show node "$1" 2> slurm.err | grep -Eq ' State=IDLE .* SlurmdStartTime=2'; do
		slurm_left=$((slurm_left - 1))
		[ "$slurm_left" -gt 0 ] || break
		[ "$(slurm_state "$1" 2> slurm.err)" != down ] || slurm scontrol update nodename="$1" state=resume
		sleep 0.5
	done
	slurm_settles "$1" idle 30
}

slurm() { on "$slurm_head" timeout 20 "$@"; }
slurm_state() { slurm scontrol -o show node "$1" | sed -n 's/.* State=\([^ ]*\) .*/\1/p' | tr '[:upper:]' '[:lower:]'; }
slurm_reason() { slurm scontrol show node "$1" | sed -n 's/^ *Reason=\(.*\) \[.*/\1/p'; }

slurm_settles() { # NODE STATE [SECONDS]
	slurm_left=$((${3:-60} * 4))
	until slurm_state "$1" 2> slurm.err | grep -Eqx "$2"; do
		slurm_left=$((slurm_left - 1))
		[ "$slurm_left" -gt 0 ] || {
			fail "$1 is $(slurm_state "$1" 2>&1) to Slurm, not $2 ($(cat slurm.err))"
			return 1
		}
		sleep 0.25
	done
}

slurm_job() { # NAME NODE SECONDS [OPTION ...] of sbatch
	slurm_name=$1 slurm_node=$2 slurm_seconds=$3
	shift 3
	slurm sbatch --parsable --gres=gpu:8 --job-name="$slurm_name" --output=/dev/null ${slurm_node:+--nodelist="$slurm_node"} "$@" \
		--wrap="sleep $slurm_seconds"
}
