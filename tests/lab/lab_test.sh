#!/bin/sh
# The lab itself: nodes come up, are their own masters, restart, forget, break, and leave nothing behind.
TOP=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=tests/check.sh
. "$TOP/tests/check.sh"
[ "$(id -u)" = 0 ] || skip 'needs root'
for program in systemd-nspawn mmdebstrap nft cc; do
	command -v "$program" > /dev/null || skip "needs $program"
done
unshare --net --mount true 2> /dev/null || skip 'needs network namespaces'

export STOIKA_LAB="$PWD/lab"
lab() { "$TOP/tests/lab/lab" "$@"; }
cleanup() { [ ! -e "$STOIKA_LAB" ] || lab down; }
node_ssh() { lab ctl timeout 20 ssh -n -F "$STOIKA_LAB/ssh_config" "$@"; }
id=stoika-$(printf '%s' "$STOIKA_LAB" | sha256sum | cut -c1-6)
leftovers() {
	ip netns list | grep "$id"
	grep -F "$STOIKA_LAB/" /proc/[0-9]*/mountinfo 2> /dev/null | head -n 3
	find /sys/fs/cgroup -maxdepth 2 -name "$id"
	[ ! -e "$STOIKA_LAB" ] || echo "$STOIKA_LAB"
}
nothing_left() { [ -z "$(leftovers)" ]; }
boot_id() { lab exec "$1" cat /proc/sys/kernel/random/boot_id; }

expect 1 lab list
warns 'no lab'
expect 1 lab up 0
expect 1 lab up 2 --kind cloud
warns 'systemd and bare'
expect 1 lab up 2 --names a,a
warns 'same name'
expect 1 lab up 2 --debian 9
mkdir "$STOIKA_LAB" && : > "$STOIKA_LAB/precious"
expect 1 lab up 1
expect 1 lab down
ok 'a folder that is no lab is left alone' test -e "$STOIKA_LAB/precious"
rm -r "$STOIKA_LAB"

# three real nodes
expect 0 lab up 3 --names gpu01,gpu02,mgmt01 --upper-size 64M
expect 1 lab up 3
warns 'already'
expect 0 lab list
says '^gpu01 10\.77\.0\.101 up '
says '^mgmt01 10\.77\.0\.103 up '
expect 0 lab exec gpu01 systemctl is-system-running
says running
expect 0 node_ssh mgmt01 hostname
says '^mgmt01$'
expect 1 lab exec gpu09 true
warns 'no node'
expect 3 lab exec gpu01 sh -c 'exit 3'
expect 0 lab hosts
says '^10\.77\.0\.102 gpu02$'
ok 'every host key is another one' test "$(lab known-hosts | cut -d' ' -f3 | sort -u | wc -l)" = 6
ok 'no way out' lab ctl sh -c '! timeout 3 bash -c "exec 3<>/dev/tcp/192.0.2.1/80"'

# nodes do not share what they are told
expect 0 lab exec gpu01 sh -c 'echo x > /etc/mine; useradd alice; apt-get -qq -y install jq'
expect 0 lab exec gpu01 jq -n 1
expect 2 lab exec gpu02 ls /etc/mine
expect 2 lab exec gpu02 getent passwd alice
expect 127 lab exec gpu02 jq -n 1
expect 0 lab exec gpu01 systemctl stop ssh
expect 0 node_ssh gpu02 systemctl is-active ssh
expect 0 lab exec gpu01 systemctl start ssh

# a restart keeps changes and is a new boot, from inside and from outside
before=$(boot_id gpu01)
expect 0 lab reboot gpu01
ok 'the boot id is new' test "$before" != "$(boot_id gpu01)"
expect 0 lab exec gpu01 cat /etc/mine
before=$(boot_id gpu02)
node_ssh gpu02 reboot > /dev/null 2>&1
tries=0
until after=$(boot_id gpu02 2> /dev/null) && [ "$after" != "$before" ] || [ "$tries" = 100 ]; do
	tries=$((tries + 1))
	sleep 0.2
done
ok 'the node restarted itself' test "$tries" -lt 100

# faults, each healed by reset
expect 0 lab fill gpu02
expect 0 lab exec gpu02 sh -c '! dd if=/dev/zero of=/root/x bs=4096 count=1'
expect 0 lab reset gpu02
expect 0 lab exec gpu02 dd if=/dev/zero of=/root/x bs=4096 count=1
expect 0 lab break gpu02 dpkg
expect 0 lab exec gpu02 dpkg --audit
says lab-broken
expect 0 lab break gpu02 hostkey
expect 255 node_ssh gpu02 true
warns 'IDENTIFICATION HAS CHANGED'
expect 0 lab reset gpu02
expect 0 lab break gpu02 key
expect 255 node_ssh gpu02 true
warns 'Permission denied'
expect 0 lab break mgmt01 sshd
expect 255 node_ssh mgmt01 true
warns 'refused'
expect 0 lab cut gpu01
expect 124 lab ctl timeout 2 ssh -n -F "$STOIKA_LAB/ssh_config" gpu01 true
expect 0 lab uncut gpu01
expect 0 node_ssh gpu01 true
expect 0 lab kill gpu01
expect 0 lab list
says '^gpu01 .* down '
expect 1 lab exec gpu01 true
warns 'is down'
expect 0 lab reset
expect 0 lab list
unsaid down
expect 2 lab exec gpu01 ls /etc/mine
for node in gpu01 gpu02 mgmt01; do expect 0 node_ssh "$node" true; done
expect 0 lab down
says 'nothing is left'
ok 'nothing is left of the systemd nodes' nothing_left

# twenty bare ones
expect 0 lab up 20 --kind bare
expect 0 node_ssh node20 hostname
says '^node20$'
expect 0 lab exec node01 touch /etc/mine
expect 0 lab exec node01 ps ax
ok 'a bare node sees its own processes only' test "$(wc -l < "$CHECK_DIR/out")" -lt 6
expect 2 lab exec node02 ls /etc/mine
expect 0 lab cut node03
expect 124 lab ctl timeout 2 ssh -n -F "$STOIKA_LAB/ssh_config" node03 true
expect 0 node_ssh node04 true
expect 0 lab kill node05
expect 0 lab reboot node05
expect 0 lab break node06 sshd
expect 255 node_ssh node06 true
expect 0 lab exec node06 /usr/sbin/sshd
expect 0 node_ssh node06 true
expect 0 lab reset
expect 2 lab exec node01 ls /etc/mine
expect 0 node_ssh node03 true
expect 0 lab down
ok 'nothing is left of the bare nodes' nothing_left

# down cleans up after one that was killed half way
lab up 4 > /dev/null 2>&1 &
up=$!
tries=0
until [ -e "$STOIKA_LAB/nodes/gpu02" ] || [ "$tries" = 100 ]; do
	tries=$((tries + 1))
	sleep 0.05
done
kill -KILL "$up"
wait "$up" 2> /dev/null
expect 0 lab down
ok 'nothing is left of half a lab' nothing_left
