#!/bin/sh
# The recipes docker, containerd and podman install Debian's engines on nodes of the lab, and each answers.
TOP=$(cd "$(dirname "$0")/../.." && pwd)
. "$TOP/tests/check.sh"
. "$TOP/tests/e2e/lab.sh"

lab_start 3 --with engines --names d1,c1,p1

# --- containerd: its own program judges the file, CRI is on, registries are read
expect 0 stoika apply containerd c1 --set memlock=false
says 'on 1 node: 1 changed'
expect 0 stoika apply containerd c1 --set memlock=false
says 'on 1 node: 1 ok'
expect 0 on c1 containerd config dump
says 'SystemdCgroup = true'
says 'config_path = "/etc/containerd/certs.d"'
expect 0 on c1 ctr plugins ls
says 'grpc.v1 +cri +[^ ]+ +ok'

# --- podman
expect 0 stoika apply podman p1 --set storage_driver=vfs
says 'on 1 node: 1 changed'
expect 0 stoika apply podman p1 --set storage_driver=vfs
says 'on 1 node: 1 ok'
expect 0 on p1 podman info
says 'graphRoot: /var/lib/containers/storage'

# --- docker.io, beside what a node of the lab needs: it lies on an overlay and may not set the kernel's network
on d1 sh -c 'mkdir /etc/docker && cat > /etc/docker/daemon.json' << 'X'
{"storage-driver": "vfs", "bridge": "none", "iptables": false, "ip-forward": false, "ip-masq": false}
X
expect 0 stoika apply docker d1 --set source=distribution
says 'on 1 node: 1 changed'
expect 0 stoika apply docker d1 --set source=distribution
says 'on 1 node: 1 ok'
expect 0 on d1 docker info
says 'Cgroup Driver: systemd'
says 'Storage Driver: vfs'
expect 0 on d1 cat /etc/docker/daemon.json
says '"storage-driver": "vfs", "bridge": "none".*"live-restore": true'

expect 0 stoika undo docker d1 --yes
ok 'the file is as it was' on d1 grep -qx '{"storage-driver": "vfs", "bridge": "none", "iptables": false, "ip-forward": false, "ip-masq": false}' \
	/etc/docker/daemon.json
ok 'no daemon is left' on d1 sh -c '! pgrep -x dockerd'
