#!/bin/sh
# Runs that do not stay on their feet: a reboot in the middle, a killed executor, a node that loses its power.
# The node goes on by itself after a boot; what was done stays done.
TOP=$(cd "$(dirname "$0")/../.." && pwd)
. "$TOP/tests/check.sh"
. "$TOP/tests/e2e/lab.sh"

lab_start 1 --names gpu01

write_recipe reboots << 'END'
recipe: reboots
about: restarts the node in the middle
steps:
  - file: {path: /srv/before, content: "before\n"}
    notify: after all
  - command: {run: [/bin/sh, -c, "echo once >> /srv/log"]}
  - reboot: {}
  - file: {path: /srv/behind, content: "behind\n"}
handlers:
  - name: after all
    command: {run: [/bin/sh, -c, "echo handled >> /srv/log"]}
END
write_recipe slow << 'END'
recipe: slow
about: takes its time
steps:
  - file: {path: /srv/first, content: "first\n"}
  - command: {run: [/bin/sh, -c, "echo guarded >> /srv/log"]}
  - command: {run: [/bin/sh, -c, "echo begun >> /srv/log; sleep 4; echo ended >> /srv/log"]}
  - file: {path: /srv/last, content: "last\n"}
END

waits_for() { # SECONDS CMD ...
	left=$1
	shift
	while ! "$@" > /dev/null 2>&1; do
		left=$((left - 1))
		[ "$left" -gt 0 ] || return 1
		sleep 1
	done
}

# a reboot in the middle of an apply
was=$(on gpu01 cat /proc/sys/kernel/random/boot_id)
expect 0 stoika apply reboots gpu01
now=$(on gpu01 cat /proc/sys/kernel/random/boot_id)
ok 'another boot' test "$was" != "$now"
ok 'the steps behind the reboot are done' on gpu01 grep -q behind /srv/behind
ok 'nothing was done twice, and the handler ran' sh -c "[ \"\$('$TOP/tests/lab/lab' exec gpu01 cat /srv/log | tr '\n' ' ')\" = 'once handled ' ]"
ok 'the journal tells of the reboot' sh -c "'$TOP/tests/lab/lab' exec gpu01 sh -c 'cat /var/lib/stoika-agent/runs/*.journal' | grep -q '\"ev\":\"rebooting\"'"
ok 'no run is unfinished' on gpu01 test ! -e /var/lib/stoika-agent/runs/unfinished
ok 'no order is kept' sh -c "! '$TOP/tests/lab/lab' exec gpu01 sh -c 'ls /var/lib/stoika-agent/runs/*.order' 2> /dev/null"
expect 0 stoika undo reboots gpu01 --yes
ok 'taken back' on gpu01 test ! -e /srv/before -a ! -e /srv/behind

# the node loses its power in the middle, and goes on by itself
on gpu01 rm -f /srv/log
stoika apply slow gpu01 > /dev/null 2>&1 &
apply=$!
ok 'it has begun' waits_for 30 on gpu01 grep -q begun /srv/log
lab kill gpu01
lab reboot gpu01
ok 'the run goes on after the boot' waits_for 60 on gpu01 test -e /srv/last
wait $apply || true # cut off: its status tells nothing, the node is asked
ok 'what had finished is not repeated' sh -c "[ \"\$('$TOP/tests/lab/lab' exec gpu01 grep -c guarded /srv/log)\" = 1 ]"
ok 'what had only begun is' sh -c "[ \"\$('$TOP/tests/lab/lab' exec gpu01 grep -c begun /srv/log)\" = 2 ]"
ok 'the run has ended' waits_for 20 on gpu01 test ! -e /var/lib/stoika-agent/runs/unfinished
expect 0 stoika apply slow gpu01 --json

# the executor is killed, and the controller resumes
on gpu01 rm -f /srv/log /srv/last
stoika apply slow gpu01 > /dev/null 2>&1 &
apply=$!
ok 'it has begun again' waits_for 30 on gpu01 grep -q begun /srv/log
# shellcheck disable=SC2016 # expanded on the node
on gpu01 sh -c 'for p in /proc/[0-9]*; do
	case $(tr "\0" " " < "$p/cmdline" 2> /dev/null) in */stoika-agent*serve*) kill -9 "${p#/proc/}" ;; esac
done'
wait $apply || true # cut off: its status tells nothing, the node is asked
ok 'it did not come to its end' on gpu01 test -e /var/lib/stoika-agent/runs/unfinished
run=$(on gpu01 readlink /var/lib/stoika-agent/runs/unfinished | sed 's/\.journal$//')
expect 0 stoika run resume "$run"
ok 'it is done' on gpu01 test -e /srv/last
ok 'the finished command is not repeated' sh -c "[ \"\$('$TOP/tests/lab/lab' exec gpu01 grep -c guarded /srv/log)\" = 1 ]"
