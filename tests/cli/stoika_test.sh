#!/bin/sh
# The command line without any node: exit codes, JSON, errors with place and hint, all or nothing.
TOP=$(cd "$(dirname "$0")/../.." && pwd)
. "$TOP/tests/check.sh"
[ -x "$STOIKA" ] || skip "needs $STOIKA"
for program in jq sqlite3; do
	command -v "$program" > /dev/null || skip "needs $program"
done
export STOIKA_DB="$PWD/state/stoika.db" STOIKA_RECIPES="$TOP/recipes"
examples=$TOP/inventory/examples

# usage: 2, and what was meant
expect 0 "$STOIKA" help
says '^usage: stoika'
expect 0 "$STOIKA"
expect 2 "$STOIKA" frobnicate
warns "unknown command 'frobnicate'"
expect 2 "$STOIKA" lst racks
warns "did you mean 'stoika list'"
expect 2 "$STOIKA" list
expect 2 "$STOIKA" list rack
warns "did you mean 'racks'"
expect 2 "$STOIKA" list racks --jsn
warns "did you mean '--json'"
for c in help version manual 'completion bash' 'completion zsh' 'help apply' 'help run'; do
	# shellcheck disable=SC2086 # words
	expect 0 "$STOIKA" $c
done
expect 0 "$STOIKA" completion bash
cp "$CHECK_DIR/out" completion.bash
ok 'the completion is a shell program' bash -n completion.bash
# shellcheck disable=SC2016 # for the inner shell
ok 'it knows the second word' bash -c '. ./completion.bash; COMP_WORDS=(stoika audit diff --); COMP_CWORD=3
	_stoika; case "${COMPREPLY[*]}" in *--lose*) exit 1 ;; *--policy*) ;; *) exit 1 ;; esac
	COMP_WORDS=(stoika list r); COMP_CWORD=2; _stoika; [ "${COMPREPLY[*]}" = "racks runs" ]'
for c in '' agent apply audit catalog export import init list plan run; do
	expect 0 "$STOIKA" help $c
	ok "help $c within 80 columns" sh -c "! grep -E '^.{81}' '$CHECK_DIR/out'"
done
ok 'every command has its help' sh -c "'$STOIKA' help | grep -q 'agent install'"
"$STOIKA" manual > manual.1
ok 'the manual is roff' sh -c '! command -v man > /dev/null || ! man -l --warnings manual.1 2>&1 > /dev/null | grep .'

expect 2 "$STOIKA" --frobnicate
for c in help version manual 'completion bash' 'help plan'; do
	# shellcheck disable=SC2086 # words
	expect 0 "$STOIKA" $c --json
	ok "$c is JSON when asked" jq -e 'length == 1' "$CHECK_DIR/out"
done

# output that is lost is no success, and a closed descriptor gets no other file's bytes
for c in help version manual; do
	expect 1 sh -c "'$STOIKA' $c > /dev/full"
	warns 'cannot write'
	expect 1 sh -c "'$STOIKA' $c >&-"
	expect 0 sh -c "set -e; '$STOIKA' $c | true"
done

# no database yet
expect 2 "$STOIKA" list racks
warns 'stoika .*init'
expect 2 "$STOIKA" list racks --json
ok 'errors are JSON when asked' jq -e '.error == "notfound" or .error == "not-found" or (.hint | test("init"))' "$CHECK_DIR/err"
expect 0 "$STOIKA" init
# shellcheck disable=SC2016 # for the inner shell
ok 'keys are for us alone' sh -c '[ "$(stat -c %a state/keys/sign state/keys/ssh | sort -u)" = 600 ]'
expect 2 "$STOIKA" init
expect 2 "$STOIKA" list racks
warns 'stoika import'
expect 0 "$STOIKA" list nodes --json
ok 'an empty list' jq -e '. == []' "$CHECK_DIR/out"

# the three sites import, list and export to the same
for site in start business enterprise; do
	expect 0 "$STOIKA" --db "$site.db" init
	expect 0 "$STOIKA" --db "$site.db" import "$examples/$site.yaml"
	expect 0 "$STOIKA" --db "$site.db" list racks --json
	ok "$site has racks" jq -e 'length > 0 and all(.[]; .rack != null)' "$CHECK_DIR/out"
	expect 0 "$STOIKA" --db "$site.db" export
	cp "$CHECK_DIR/out" "$site.yaml"
	expect 0 "$STOIKA" --db "$site.db" import "$site.yaml"
	expect 0 "$STOIKA" --db "$site.db" export
	cp "$CHECK_DIR/out" again.yaml
	ok "$site exports to the same again" cmp again.yaml "$site.yaml"
done
expect 0 "$STOIKA" --db start.db list racks
ok 'within 80 columns' sh -c "! grep -E '^.{81}' '$CHECK_DIR/out'"
expect 0 "$STOIKA" --db start.db show R1
says 'U: '
expect 0 "$STOIKA" --db start.db show gpu01 --json
ok 'a node as JSON' jq -e '.node == "gpu01" and .address == "10.77.0.101"' "$CHECK_DIR/out"
expect 2 "$STOIKA" --db start.db show nothing

# a wrong site: refused whole, every error with its place
expect 0 "$STOIKA" import "$examples/start.yaml"
"$STOIKA" export > before.yaml
sed -e 's/^site: start/site: start\nracs: []/' -e 's/10\.77\.0\.102/10.77.0.101/' "$examples/start.yaml" > wrong.yaml
expect 3 "$STOIKA" import wrong.yaml
warns "wrong.yaml:[0-9]+:[0-9]+: error: .*'racs'"
warns "did you mean 'racks'"
warns '10\.77\.0\.101'
warns 'nothing was imported'
"$STOIKA" export > after.yaml
ok 'nothing changed' cmp before.yaml after.yaml
expect 3 "$STOIKA" import no-such-file.yaml
warns 'no-such-file.yaml'
head -c 3000000 /dev/zero | tr '\0' '[' > bomb.yaml
started=$(date +%s)
expect 3 "$STOIKA" import bomb.yaml
[ $(($(date +%s) - started)) -lt 20 ] || fail 'a bomb took longer than 20 s'

# ranges
expect 0 "$STOIKA" list nodes 'gpu[01-02]'
unsaid mgmt01
expect 0 "$STOIKA" list nodes 'role=gpu,-gpu02'
says gpu01
unsaid gpu02
expect 2 "$STOIKA" list nodes 'gpu[01-'
warns "no ']'"
expect 2 "$STOIKA" list nodes gpu03
warns 'gpu0'

# recipes are judged before any node is asked
expect 0 "$STOIKA" recipe check base
says 'ntp_servers'
mkdir -p bad
printf 'recipe: bad\nabout: x\nsteps:\n  - fil: {path: /x, content: y}\n' > bad/recipe.yaml
expect 3 "$STOIKA" recipe check ./bad
warns 'recipe.yaml:4:'
warns "did you mean 'file'"
expect 3 "$STOIKA" plan ./bad all
expect 2 "$STOIKA" plan base all --set nothing=1
expect 2 "$STOIKA" plan base all --set "ntp_servers=$(printf '\377\376')"
warns 'UTF-8'
expect 2 "$STOIKA" plan base all --parallel many

# a node that is not there: 4 when none can be reached
expect 1 "$STOIKA" plan base gpu01
says 'known-hosts|not pinned|host key'
expect 0 "$STOIKA" run list
expect 0 "$STOIKA" run show last
expect 2 "$STOIKA" run show 2001
expect 0 "$STOIKA" log verify
expect 0 "$STOIKA" export --json
ok 'an export is JSON when asked' jq -e '.text | test("site")' "$CHECK_DIR/out"

# what a node says does not reach the terminal as it is
evil=$(printf 'x\033]0;evil\007\302\233y')
sqlite3 "$STOIKA_DB" "update node_results set reason = '$evil', hint = '$evil';
	update nodes set os = '$evil', agent = '$evil' where name = 'gpu01';
	insert into facts select id, 'os', '\"$(printf '\302\233')z\"', 'reported', 1 from nodes where name = 'gpu01';
	insert into events (run_id, node_id, record)
	select run_id, node_id, '{\"ev\": \"step\", \"seq\": 1, \"state\": \"failed\", \"kind\": \"\u001b[2J\",
	\"name\": \"\u009b2J\", \"recipe\": \"\u001b[1m\", \"diff\": \"\u001b[2J\"}' from node_results"
for c in 'run show last' 'run watch' 'show gpu01' 'list nodes'; do
	# shellcheck disable=SC2086 # words
	expect 0 "$STOIKA" $c
	says '\\x'
	unsaid "$(printf '[\001-\011\013-\037]|\302\233')"
done
for t in $(sqlite3 "$STOIKA_DB" "select name from sqlite_master where type = 'trigger' and tbl_name = 'audit_log'"); do
	sqlite3 "$STOIKA_DB" "drop trigger $t"
done
sqlite3 "$STOIKA_DB" "update audit_log set who = 'nobody' where id = 1"
expect 3 "$STOIKA" log verify
