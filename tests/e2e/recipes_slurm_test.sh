#!/bin/sh
# The recipes munge and slurm build a cluster of lab nodes from the inventory of the Start example: a job gets the
# GPUs it asks for, Slurm knows the fabric, a second run changes nothing, and gres.conf that lost a GPU is told.
TOP=$(cd "$(dirname "$0")/../.." && pwd)
. "$TOP/tests/check.sh"
. "$TOP/tests/e2e/lab.sh"
. "$TOP/tests/e2e/slurm.sh"

write_site() {
	cat "$TOP/inventory/examples/start.yaml"
	cat << 'X'
vars:
  munge: {key: {$secret: munge-key}}
  slurm:
    cluster: lab
    controllers: [mgmt01]
    hardware: {gpu: CPUs=8 RealMemory=1000}
    detect: "off"
    gpu_files: /opt/gpu/
    cgroups: false
    slurmd_options: -b
    resume_timeout: 120
    slurmd_timeout: 30
    settings: [SlurmdParameters=config_overrides, "SchedulerParameters=batch_sched_delay=1,sched_interval=5"]
X
}

lab_start 3 --with slurm --names gpu01,gpu02,mgmt01
# shellcheck disable=SC2034 # of slurm.sh
slurm_head=mgmt01
# What the jobs see as GPUs: character devices that can be opened and tell nothing.
for node in gpu01 gpu02; do
	# shellcheck disable=SC2016 # for the node's shell
	on "$node" sh -c 'mkdir /opt/gpu; for i in 0 1 2 3; do mknod -m 666 /opt/gpu/$i c 1 3; done'
done
head -c 32 /dev/urandom | sha256sum | cut -c1-64 > key
ok 'the key is kept' sh -c 'exec "$@" < key' - "$TOP/tests/lab/lab" ctl "$STOIKA" secret set munge-key

expect 0 stoika apply slurm all
says 'on 3 nodes: 3 changed'
expect 0 stoika apply slurm all
says 'on 3 nodes: 3 ok'

for node in gpu01 gpu02; do slurm_comes "$node"; done
# shellcheck disable=SC2016 # for the job's shell
expect 0 slurm srun -I30 --gres=gpu:l40s:3 --nodelist=gpu02 sh -c 'echo "$SLURMD_NODENAME $CUDA_VISIBLE_DEVICES"'
says '^gpu02 0,1,2$'
expect 0 slurm scontrol show topology
says 'SwitchName=roce1 Level=0 .*Nodes=gpu01,gpu02'
says 'SwitchName=fabric Level=1 .*Switches=roce1'
expect 0 slurm scontrol show config
says '^ResumeTimeout *= 120 sec'
says '^RebootProgram *= /sbin/reboot'
expect 0 slurm sinfo -h -R
unsaid '.'

# A gres.conf that somebody made smaller is told, and made right again.
on gpu01 sed -i 's/0-3/0-2/' /etc/slurm/gres.conf
expect 1 stoika check gpu01 --recipe slurm --diff
says '^ *-NodeName=gpu01 .*File=/opt/gpu/\[0-2\]'
expect 0 stoika apply slurm gpu01
says 'on 1 node: 1 changed'
slurm_comes gpu01
expect 0 stoika apply slurm all
says 'on 3 nodes: 3 ok'

expect 0 stoika undo slurm,munge all --yes
for node in gpu01 mgmt01; do
	ok "$node: no file of the cluster is left" on "$node" sh -c '! ls /etc/slurm | grep -E "^(slurm|gres|topology)"'
	# shellcheck disable=SC2016 # for the node's shell
	ok "$node: its own key is back" on "$node" sh -c '! grep -q "$1" /etc/munge/munge.key' - "$(cat key)"
	ok "$node: no daemon is left" on "$node" sh -c '! pgrep -x "slurmd|slurmctld"'
done
