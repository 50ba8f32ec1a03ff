#!/bin/sh
# Faults: each node with a trouble gets its own result with cause and hint, the others finish, the exit code is
# 1, and after the trouble is gone the same command converges.
TOP=$(cd "$(dirname "$0")/../.." && pwd)
. "$TOP/tests/check.sh"
. "$TOP/tests/e2e/lab.sh"

lab_start 7 --names ok1,down,nokey,hostkey,full,dpkg,dies --upper-size 160M

write_recipe quick <<'X'
recipe: quick
about: a package, a large file and a slow command
steps:
  - package: {names: [lsof]}
  - file: {path: /srv/large, source: large, mode: "0644"}
  - command: {shell: "sleep 2; touch /srv/slow", creates: /srv/slow}
  - file: {path: /srv/end, content: "the end\n", mode: "0644"}
X
head -c 3000000 /dev/urandom > recipes/quick/files/large

lab kill down
lab break nokey key
lab break hostkey hostkey
lab break dpkg dpkg
lab fill full
(sleep 2 && lab kill dies) &
expect 1 stoika apply recipes/quick all --json
wait $!
cp "$CHECK_DIR/out" result.json
of() { jq -r --arg n "$1" '.nodes[] | select(.node == $n) | '"$2" result.json; }
ok "the healthy node finished" test "$(of ok1 .state)" = changed
ok 'seven results' jq -e '.nodes | length == 7' result.json
for n in down nokey hostkey full dpkg dies; do
	case $(of "$n" .state) in
	failed | denied | unknown | timeout | interrupted) ;;
	*) fail "$n is $(of "$n" .state)" ;;
	esac
	[ -n "$(of "$n" .reason)" ] || fail "$n has no reason"
	[ -n "$(of "$n" .hint)" ] || fail "$n has no hint"
	printf '%s: %s; %s; hint: %s\n' "$n" "$(of "$n" .state)" "$(of "$n" .reason)" "$(of "$n" .hint)"
done
ok 'the changed host key is named' sh -c 'jq -r ".nodes[] | select(.node == \"hostkey\") | .reason" result.json | grep -q "host key"'
ok 'the refused key is named' sh -c 'jq -r ".nodes[] | select(.node == \"nokey\") | .hint" result.json | grep -q "agent install"'
ok 'no space is named' sh -c 'jq -r ".nodes[] | select(.node == \"full\") | .reason" result.json | grep -qi "space"'
ok 'broken dpkg is named' sh -c 'jq -r ".nodes[] | select(.node == \"dpkg\") | .reason + .hint" result.json | grep -q "dpkg"'
# shellcheck disable=SC2016 # for the node's shell
ok 'nothing half-written on the full node' lab exec full sh -c '[ ! -e /srv/large ] && [ -z "$(find / -xdev -name ".stoika-tmp.*")" ]'

# the record has the same
expect 0 stoika run show last
says 'hint: '

# the trouble goes, the same command converges
for n in down dies; do lab reboot "$n" > /dev/null; done
lab exec dies sh -c 'cat /srv/end' > /dev/null 2>&1
expect 0 stoika apply recipes/quick ok1,down,dies
expect 0 stoika apply recipes/quick ok1,down,dies --json
ok 'and is silent then' jq -e '.counts == {"ok": 3}' "$CHECK_DIR/out"
lab reset nokey hostkey full dpkg > /dev/null
expect 0 stoika agent install nokey,hostkey,full,dpkg --identity "$STOIKA_LAB/id" --known-hosts "$STOIKA_LAB/known_hosts"
expect 0 stoika apply recipes/quick all
expect 0 stoika apply recipes/quick all --json
ok 'all seven' jq -e '.counts == {"ok": 7}' "$CHECK_DIR/out"
