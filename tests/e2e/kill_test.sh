#!/bin/sh
# kill -9 of the agent or of the controller at any point, then the same command again: it must converge, with no
# half-written file, no lost handler and a sound database. Two runs at once: the second is told who holds the node.
TOP=$(cd "$(dirname "$0")/../.." && pwd)
. "$TOP/tests/check.sh"
. "$TOP/tests/e2e/lab.sh"

lab_start 2 --names n1,n2

write_recipe steps <<'X'
recipe: steps
about: several kinds of step, with a handler that leaves a mark
steps:
  - directory: {path: /srv/d, mode: "0750"}
  - user: {name: svc, uid: 3001, home: /srv/d, shell: /usr/sbin/nologin}
  - file: {path: /srv/d/a.conf, source: a.conf, mode: "0640", owner: svc}
    notify: mark
  - command: {shell: "sleep 0.4; echo one > /srv/d/one", creates: /srv/d/one}
  - template: {path: /srv/d/b.conf, source: b.conf, mode: "0644"}
  - line: {path: /srv/d/lines, key: "x = ", line: "x = 1", create: true}
  - link: {path: /srv/d/link, target: a.conf}
  - command: {shell: "sleep 0.4; echo two > /srv/d/two", creates: /srv/d/two}
handlers:
  - name: mark
    command: {shell: "date >> /srv/mark"}
check:
  - name: the handler has run
    expect: exists('/srv/mark')
X
head -c 100000 /dev/urandom | base64 > recipes/steps/files/a.conf
printf 'name = {{ node.name }}\n' > recipes/steps/templates/b.conf

tree() { lab exec "$1" sh -c 'cd /srv && find d mark -printf "%p %m %U %l\n" | sort; sha256sum d/a.conf d/b.conf d/lines d/one d/two'; }
clean() { lab exec "$1" sh -c 'rm -rf /srv/*; userdel svc 2> /dev/null; :'; }
converges() { # NODE WHAT
	expect 0 stoika apply recipes/steps "$1"
	expect 0 stoika apply recipes/steps "$1" --json
	ok "$2: silent afterwards" jq -e '.counts == {"ok": 1}' "$CHECK_DIR/out"
	[ "$(tree "$1")" = "$(cat "$TMPDIR/good")" ] || fail "$2: the tree differs"
	left=$(lab exec "$1" find / -xdev -name '.stoika-tmp.*')
	[ -z "$left" ] || fail "$2: left over: $left"
}

expect 0 stoika apply recipes/steps n1
tree n1 > good

# the controller dies at several moments; the agent goes on or is picked up
for t in 0.05 0.15 0.3 0.5 0.8 1.1; do
	clean n1
	lab ctl timeout -s KILL "$t" "$STOIKA" apply recipes/steps n1 > /dev/null 2>&1
	i=0
	until stoika apply recipes/steps n1 > again 2>&1; do
		# the run that went on may still hold the node: it must say so
		grep -q 'hold' again || { fail "after $t s: $(cat again)"; break; }
		i=$((i + 1))
		[ $i -lt 20 ] || { fail "after $t s the node is still held"; break; }
		sleep 0.5
	done
	converges n1 "controller killed after $t s"
done

# the agent dies
for t in 0.2 0.5 0.9; do
	clean n1
	stoika apply recipes/steps n1 > out.txt 2>&1 &
	sleep "$t"
	lab exec n1 pkill -KILL stoika-agent
	wait $!
	converges n1 "agent killed after $t s"
done

# two at once
clean n2
stoika apply recipes/steps n2 > first.txt 2>&1 &
sleep 0.4
expect 1 stoika apply recipes/steps n2
says 'holds|held'
wait $! || fail "the first run failed: $(cat first.txt)"
expect 0 stoika log verify
ok 'the database is sound' sh -c "[ \"\$(sqlite3 '$STOIKA_DB' 'pragma integrity_check')\" = ok ]"
expect 0 stoika run list
unsaid 'running'
