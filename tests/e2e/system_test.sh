#!/bin/sh
# The kinds of step that keep the system, on a real node: each applied, silent the second time, and undone.
TOP=$(cd "$(dirname "$0")/../.." && pwd)
. "$TOP/tests/check.sh"
. "$TOP/tests/e2e/lab.sh"

state_of_node() { # what undo must bring back, byte for byte
	# shellcheck disable=SC2016 # of the node's shell
	on n1 sh -c 'for f in /etc/fstab /etc/hosts /etc/hostname /proc/sys/kernel/hostname; do
			echo "$f $(sha256sum < $f 2>&1)"; done
		find /etc/systemd/system /etc/security /etc/cron.d /etc/modprobe.d /etc/modules-load.d /etc/nftables* \
			-not -name .placeholder 2>&1 | sort
		grep " /srv" /proc/self/mountinfo | cut -d" " -f4-6; ls -d /srv/* 2>&1
		nft list tables 2>&1; systemctl is-active lab-app.service lab-job.timer'
}

lab_start 1 --names n1

write_recipe tools << 'X'
recipe: tools
about: what the next recipe needs
steps:
  - package: {names: [nftables, cron]}
X
expect 0 stoika apply tools n1

write_recipe system << 'X'
recipe: system
about: every kind that keeps the system
params:
  nobody: {type: text, default: x, about: nothing}
steps:
  - assert:
      that: facts.os.id == 'debian'
      message: this is no Debian
  - note: {message: "here we are, {{ node.name }}"}
  - hostname: {name: n1.lab, live: false}
  - hosts: {address: 10.9.9.9, names: [license.lab, license]}
  - hosts: {address: "fd00::9", names: [license.lab]}
  - limits: {domain: "@hpc", item: memlock, value: unlimited}
  - cron:
      name: lab-scrub
      schedule: "*/5 3-4 * * mon-fri"
      run: date +%F
      env: {MAILTO: ""}
  - unit:
      name: lab-app
      state: running
      enabled: true
      content: |
        [Unit]
        Description=a service of the lab
        [Service]
        ExecStart=/bin/sleep infinity
        [Install]
        WantedBy=multi-user.target
  - unit:
      name: lab-app
      dropin: 10-limits
      content: |
        [Service]
        LimitNOFILE=12345
    notify: restart app
  - unit: {name: e2scrub_reap, state: masked}
  - timer:
      name: lab-job
      run: [/bin/echo, "100% of $HOME"]
      on_calendar: "Mon *-*-* 03:00"
      randomized_delay: 1h
  - mount: {path: /srv/scratch/deep, source: tmpfs, type: tmpfs, options: "size=4M,mode=0750,nosuid"}
  - mount: {path: "/srv/bound", source: /srv/scratch, type: none, options: "bind,ro"}
  - firewall:
      name: lab
      rules:
        - ip saddr 10.77.0.0/16 tcp dport 9100 counter accept
        - tcp dport 9100 drop
  - wait: {unit: lab-app, for: 2, timeout: 30}
  - wait: {port: 22, timeout: 10}
  - wait: {file: /srv/scratch/deep}
handlers:
  - name: restart app
    service: {name: lab-app, state: restarted}
check:
  - {name: the service is there, expect: exists('/etc/systemd/system/lab-app.service')}
X
expect 0 stoika recipe check system
state_of_node > before.txt
expect 0 stoika plan system n1
says 'here we are'
says '\+.*license'
state_of_node > planned.txt
ok 'the plan changed nothing' cmp before.txt planned.txt

expect 0 stoika apply system n1
says 'n1 +changed'
ok 'the service runs' on n1 systemctl is-active lab-app
ok 'and is enabled' on n1 systemctl is-enabled lab-app
ok 'with its drop-in' on n1 sh -c 'systemctl show -p LimitNOFILE lab-app | grep -q 12345'
ok 'the timer waits' on n1 systemctl is-active lab-job.timer
ok 'its job runs' on n1 systemctl start lab-job.service
ok 'and was given its words' on n1 sh -c "journalctl -u lab-job -o cat | grep -qF '100% of \$HOME'"
ok 'the mask holds' on n1 sh -c 'systemctl is-enabled e2scrub_reap | grep -q masked'
ok 'the tmpfs has its size' on n1 sh -c 'df -k /srv/scratch/deep | grep -q 4096'
ok 'and its mode' on n1 sh -c '[ "$(stat -c %a /srv/scratch/deep)" = 750 ]'
ok 'the bind mount is read-only' on n1 sh -c '! touch /srv/bound/x'
ok 'the table is loaded' on n1 sh -c 'nft list table inet stoika_lab | grep -q 9100'
ok 'names resolve' on n1 sh -c 'getent hosts license | grep -q 9'
ok 'the hostname is kept' on n1 grep -qx n1.lab /etc/hostname
expect 0 stoika apply system n1 --json
ok 'the second run changes nothing' jq -e '.counts == {"ok": 1}' "$CHECK_DIR/out"

# by hand, and put right again
on n1 sh -c 'umount /srv/bound; systemctl stop lab-app; nft add rule inet stoika_lab input tcp dport 1 drop
	echo "10.1.1.1 other" >> /etc/hosts'
expect 0 stoika apply system n1
says 'n1 +changed'
ok 'mounted again' on n1 mountpoint -q /srv/bound
ok 'running again' on n1 systemctl is-active lab-app
ok 'the rule of others is gone from our table' on n1 sh -c '! nft list table inet stoika_lab | grep -q "dport 1 "'
ok 'the line of others is still there' on n1 grep -q '10.1.1.1 other' /etc/hosts
on n1 sed -i '/10.1.1.1 other/d' /etc/hosts

# all of it taken back
expect 0 stoika undo system n1 --yes
says 'n1 +changed'
state_of_node > after.txt
ok 'undo leaves the node as it was' diff before.txt after.txt
