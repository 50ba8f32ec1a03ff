#!/bin/sh
# How much memory an agent takes: its peak (VmHWM) through whole applies stays under 16 MiB, of the standard work
# item and of a recipe with a file of 100 MiB, which is never in memory as a whole.
TOP=$(cd "$(dirname "$0")/../.." && pwd)
. "$TOP/tests/check.sh"
. "$TOP/tests/e2e/lab.sh"

LIMIT=16384 # KiB

# Looks at the node's agents again and again: VmHWM only grows, so the last look at one is its peak.
watch_agents() { # FILE: "PID KIB" of each look
	on gpu01 sh -c "while [ ! -e /srv/enough ]; do
		awk '/^Name:/ { ours = \$2 == \"stoika-agent\" } /^Pid:/ { pid = \$2 } /^VmHWM:/ && ours { print pid, \$2 }' \
			/proc/[0-9]*/status 2> /dev/null
		sleep 0.005
	done" > "$1"
}

lab_start 1 --names gpu01
bash "$TOP/tests/bench/w/make.sh" "$PWD/made"
cp -r made/w recipes/w
tar -C made/layer -cf - . | on gpu01 tar -C / -xf -
on gpu01 systemctl daemon-reload
write_recipe large << 'END'
recipe: large
about: a file of 100 MiB
steps:
  - file: {path: /srv/large, source: large}
END
tar -cf - /usr/lib /usr/share 2> /dev/null | head -c 100M > recipes/large/files/large

for recipe in w large; do
	on gpu01 rm -f /srv/enough
	watch_agents "peak.$recipe" &
	watcher=$!
	expect 0 stoika apply "$recipe" gpu01
	on gpu01 touch /srv/enough
	wait "$watcher"
	peak=$(sort -n -k 2 "peak.$recipe" | tail -n 1 | cut -d' ' -f2)
	echo "$recipe: $(cut -d' ' -f1 "peak.$recipe" | sort -u | wc -l) processes of the agent, the largest took $peak KiB"
	ok 'the agent was seen' test "${peak:-0}" -gt 1000
	ok "an apply of '$recipe' takes at most $LIMIT KiB" test "$peak" -le $LIMIT
done
ok 'the file is there' sh -c "'$TOP/tests/lab/lab' exec gpu01 sha256sum /srv/large | grep -q $(sha256sum < recipes/large/files/large | cut -c1-64)"
