#!/bin/sh
# A secret is in its target file and nowhere else: database, bundles, journals, state, logs, output, /proc.
TOP=$(cd "$(dirname "$0")/../.." && pwd)
. "$TOP/tests/check.sh"
. "$TOP/tests/e2e/lab.sh"

lab_start 2 --names gpu01,gpu02
canary="c4n4ry$(od -An -N9 -tx1 /dev/urandom | tr -d ' \n')"

printf '%s\n' "$canary" > canary.txt

write_recipe guarded << 'X'
recipe: guarded
about: a token to a file, by a template, and to a command
params:
  token: {type: secret, about: what the service logs in with}
steps:
  - file: {path: /etc/token, content: "{{ params.token }}\n", mode: "0600"}
  - template: {path: /etc/service.conf, source: service.conf, mode: "0600"}
  - command:
      run: [sh, -c, "umask 077; cat > /etc/given; sleep 2"]
      stdin: "{{ params.token }}"
      creates: /etc/given
  - command: {shell: "echo done > /etc/after", creates: /etc/after}
X
cat > recipes/guarded/templates/service.conf << 'X'
user = exporter
token = {{ params.token }}
X
# never on our own command line either: the shell's printf is a builtin
printf '%s\n' "$canary" | stoika secret set svc-token || exit 1
expect 0 stoika secret list
says '^svc-token'
unsaid "$canary"

# a value is refused where a name belongs, and is not repeated
expect 2 stoika plan guarded all --set token=hunter2hunter2
warns 'takes the name of one'
ok 'the value is not repeated' sh -c "! grep -q hunter2hunter2 '$CHECK_DIR/err'"
expect 2 stoika plan guarded all
warns 'secret .token. must be given'

# what the processes on both sides show of themselves while it runs
watch_processes() {
	while [ -e watching ]; do
		for p in /proc/[0-9]*; do
			# this test looks for it by grep itself
			[ "$(cat "$p/comm" 2> /dev/null)" != grep ] || continue
			cat "$p/cmdline" "$p/environ" 2> /dev/null | tr '\0' '\n'
		done | grep -Ff canary.txt >> leaks
	done
}
: > leaks
: > watching
watch_processes &
watcher=$!
expect 0 stoika plan guarded all --set token=secret:svc-token --json
unsaid "$canary"
hash=$(jq -r .plan_hash < "$CHECK_DIR/out")
expect 0 stoika plan guarded all --set token=secret:svc-token
unsaid "$canary"
expect 0 stoika apply guarded all --set token=secret:svc-token --plan "$hash" --json
unsaid "$canary"
expect 0 stoika apply guarded all --set token=secret:svc-token
says 'ok'
unsaid "$canary"
rm watching
wait "$watcher"
ok 'no command line and no environment showed it' test ! -s leaks

for node in gpu01 gpu02; do
	ok "the file on $node" sh -c "[ \"\$('$TOP/tests/lab/lab' exec $node cat /etc/token)\" = '$canary' ]"
	ok "the template on $node" lab exec $node grep -q "^token = $canary\$" /etc/service.conf
	ok "the command's input on $node" lab exec $node grep -q "$canary" /etc/given
	# shellcheck disable=SC2016 # for the node's shell
	on $node sh -c 'cd / && grep -rlF -- "$1" etc var opt root run tmp 2> /dev/null | sort' sh "$canary" > found
	ok "nowhere else on $node" sh -c "printf 'etc/given\netc/service.conf\netc/token\n' | cmp -s - found"
	on $node journalctl --no-pager -o cat > journal.txt 2> /dev/null
	ok "not in the system's journal of $node" sh -c "! grep -qF '$canary' journal.txt"
done
expect 0 stoika run show last
unsaid "$canary"
ok 'not in the database, its log, the bundles or the sealed file' sh -c "! grep -rqF '$canary' state"
expect 0 stoika log verify

# from variables of the site, and when it fails: no error path tells it
sed -i 's/^site: lab$/site: lab\nvars: {token: {$secret: svc-token}}/' site.yaml
expect 0 stoika import site.yaml
expect 0 stoika apply guarded all
says 'ok'
printf 'another-%s' "$canary" | stoika secret set svc-token || exit 1
on gpu01 sh -c 'chattr +i /etc/service.conf 2> /dev/null || mount --bind -o ro /etc/service.conf /etc/service.conf'
expect 1 stoika apply guarded gpu01 --json
unsaid "$canary"
ok 'still not in the database' sh -c "! grep -rqF '$canary' state"
expect 2 stoika undo guarded gpu02 --plan --set token=nothing
warns 'takes the name of one'
expect 0 stoika undo guarded gpu02 --plan
unsaid "$canary"
