# shellcheck shell=sh
# gpu.sh: eight simulated GPUs in each node, and the repository of their drivers; source after e2e/lab.sh.
#
#	gpu_repo                     # ./gpu-repo, once a test
#	gpu_plug gpu01 gpu02         # boards, boot unit, kernel headers; the repository in /srv/gpu
#	gpu_loaded gpu01             # version of the module that is loaded
#	gpu_set gpu01 gpu3.lost=1    # the boards' state: also nvswitch, gpus, gpu3.ecc, gpu3.remap_pending ...
#	gpu_xid gpu01 79             # a line in the kernel's log of this boot
#	gpu_headers gpu01 off|on     # of the running kernel

gpu_repo() { sh "$TOP/tests/lab/gpu/repo.sh" gpu-repo; }

gpu_state() { # NODE
	echo gpus=8
	echo nvswitch=4
	for i in 0 1 2 3 4 5 6 7; do
		printf '%s\n' "gpu$i.uuid=GPU-$(printf '%s %s' "$1" "$i" | sha256sum | cut -c1-8)-0000-4000-8000-00000000000$i" \
			"gpu$i.name=NVIDIA H100 80GB HBM3" "gpu$i.serial=16530230$i" "gpu$i.slot=0000:$((i + 1))b:00.0" \
			"gpu$i.memory_mib=81559" "gpu$i.power_w=700" "gpu$i.ecc=1"
	done
}

gpu_unit() {
	printf '%s\n' '[Unit]' 'Description=the simulated GPUs' DefaultDependencies=no After=local-fs.target \
		'Before=sysinit.target' '[Service]' Type=oneshot RemainAfterExit=yes ExecStart=/usr/local/sbin/gpu-boot \
		'[Install]' WantedBy=sysinit.target
}

gpu_plug() { # NODE ...
	for node in "$@"; do
		tar -C gpu-repo -c . | on "$node" sh -c 'mkdir -p /srv/gpu && tar -C /srv/gpu -x'
		on "$node" sh -c 'cat > /usr/local/sbin/gpu-boot; chmod 755 /usr/local/sbin/gpu-boot' < "$TOP/tests/lab/gpu/boot"
		gpu_unit | on "$node" sh -c 'cat > /etc/systemd/system/gpu-boot.service'
		gpu_state "$node" | on "$node" sh -c 'mkdir -p /var/lib/gpu-lab; cat > /var/lib/gpu-lab/state'
		gpu_headers "$node" on
		on "$node" systemctl enable -q --now gpu-boot
	done
}

gpu_headers() { # NODE on|off
	# shellcheck disable=SC2016 # for the node's shell
	on "$1" sh -euc '
		kernel=$(uname -r)
		mkdir -p "/lib/modules/$kernel"
		rm -rf "/usr/src/linux-headers-$kernel" "/lib/modules/$kernel/build"
		[ "$1" = on ] || exit 0
		mkdir -p "/usr/src/linux-headers-$kernel"
		: > "/usr/src/linux-headers-$kernel/Makefile"
		ln -s "/usr/src/linux-headers-$kernel" "/lib/modules/$kernel/build"' - "$2"
}

gpu_loaded() { on "$1" sed -n 's/^version=//p' /run/gpu-lab/loaded; }

gpu_set() { # NODE KEY=VALUE
	# shellcheck disable=SC2016 # for the node's shell
	on "$1" sh -c 'sed -i "/^${1%%=*}=/d" /var/lib/gpu-lab/state; echo "$1" >> /var/lib/gpu-lab/state' - "$2"
}

gpu_xid() { # NODE CODE
	# shellcheck disable=SC2016 # for the node's shell
	on "$1" sh -c 'echo "4,1,0,-;NVRM: Xid (PCI:0000:1b:00): $1, pid=1, name=lab" >> /dev/kmsg' - "$2"
}
