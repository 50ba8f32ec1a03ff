#!/bin/sh
# Drift on real nodes: somebody edits a file by hand, check and the daemon see it, apply heals it; the daemon survives kill -9.
TOP=$(cd "$(dirname "$0")/../.." && pwd)
. "$TOP/tests/check.sh"
. "$TOP/tests/e2e/lab.sh"

write_site() {
	cat <<SITE
site: lab
vars: {greeting: hello}
check: {every: 1h, splay: 1s}
roles:
  gpu: {recipes: [banner], vars: {banner: {text: a gpu node}}}
  login: {}
nodes:
SITE
	lab hosts | while read -r address name; do
		case $name in
			gpu01) echo "  - {name: $name, address: $address, role: gpu, vars: {banner: {text: the first}}}" ;;
			gpu*) echo "  - {name: $name, address: $address, role: gpu}" ;;
			*) echo "  - {name: $name, address: $address, role: login}" ;;
		esac
	done
}

lab_start 3 --names gpu01,gpu02,login1
write_recipe ground <<'EOF'
recipe: ground
about: what banner stands on
steps:
  - directory: {path: /etc/banner.d}
EOF
write_recipe banner <<'EOF'
recipe: banner
about: a text that greets
needs: [ground]
params:
  text: {type: text, default: nobody}
steps:
  - file: {path: /etc/banner.d/text, content: "{{ vars.greeting }} from {{ params.text }}\n"}
check:
  - name: nobody has shut it off
    expect: not exists('/etc/banner.d/off')
EOF

# where each value is from
expect 0 stoika show gpu01 --vars
says '^banner.text +the first +node gpu01$'
says '^greeting +hello +site lab$'
expect 0 stoika show gpu02 --vars
says '^banner.text +a gpu node +role gpu$'

# nothing was applied yet: all of it differs, also what the recipe needs
expect 1 stoika check all
says '^gpu01 +drift .*ground: .*/etc/banner.d.* differs'
says 'not looked at.*login1'
says '^2 nodes: 2 drift$'
ok 'check changed nothing' lab exec gpu01 test ! -e /etc/banner.d
expect 0 stoika apply --roles all
says 'gpu01 +changed'
ok 'with the value of the node' lab exec gpu01 grep -qx 'hello from the first' /etc/banner.d/text
ok 'with the value of the role' lab exec gpu02 grep -qx 'hello from a gpu node' /etc/banner.d/text
expect 0 stoika check all
says '^2 nodes: 2 ok$'

# somebody edits a file by hand
lab exec gpu02 sh -c 'echo by hand > /etc/banner.d/text'
expect 1 stoika check gpu01,gpu02 --diff
says '^gpu01 +ok'
says '^gpu02 +drift .*banner: .*differs'
says '^ +-by hand$'
says '^ +\+hello from a gpu node$'
expect 0 stoika list drift
says '^gpu02 +drift'
# with a parameter that nobody's variables have
expect 1 stoika check gpu01 --recipe banner --set text=another --diff
says '^ +\+hello from another$'
expect 2 stoika check gpu01 --set text=another
warns '--set needs --recipe'
expect 0 stoika check gpu01
# the same in Russian
expect 1 stoika check gpu02 --lang ru
says '^УЗЕЛ +СОСТОЯНИЕ +ДЛИТСЯ +ЧТО$'
says '^gpu02 +отклонение +недавно +banner: .* отличается'
says '^1.+узел: отклонение.+1$'
expect 0 stoika list drift --lang ru
says '^gpu01 +в порядке'
expect 0 stoika plan banner gpu02 --set 'text=x' --lang ru
says '^gpu02 \(1.+узел\): .*изменится.+1'
says '^план banner на 1.+узле: отличается.+1, за '
says '^выполнить ровно это: stoika apply banner '
expect 0 stoika list nodes drift=drift --json
ok 'the range of what has drifted' jq -e '[.[].node // .[].name] == ["gpu02"]' "$CHECK_DIR/out"
expect 0 stoika list drift gpu02 --json
ok 'with its finding' jq -e '.[0].findings[0].recipe == "banner" and (.[0].findings[0].since | test("^20.*Z$"))' "$CHECK_DIR/out"
expect 0 stoika apply --roles drift=drift
says 'gpu02 +changed'
expect 0 stoika list drift # without another look
says '^gpu02 +ok'
expect 0 stoika check gpu02
says '^gpu02 +ok'

# a check of the recipe, a node that cannot be met, words that are none
lab exec gpu01 sh -c 'rm /etc/banner.d/text; touch /etc/banner.d/off'
expect 1 stoika check gpu01 --json
ok 'the file and the check' jq -e '[.nodes[0].findings[].state] == ["differs", "fails"]' "$CHECK_DIR/out"
lab exec gpu01 rm /etc/banner.d/off
expect 2 stoika check login1
warns 'no recipe is meant for node .login1.'
expect 1 stoika check gpu01 --recipe bannr
says "there is no recipe 'bannr'"
lab cut gpu01
expect 4 stoika check gpu01
says '^gpu01 +unreachable'
lab uncut gpu01

# again and again, over links that stay open
lab exec gpu02 sh -c 'echo by hand > /etc/banner.d/text'
expect 1 stoika check gpu02 --every 1s --count 3 --json
ok 'each look finds it anew' jq -es 'length == 3 and all(.[]; .nodes[0].state == "drift" and .nodes[0].findings[0].state == "differs")' "$CHECK_DIR/out"
expect 2 stoika check gpu02 --count 3
warns '--count needs --every'

# the daemon
lab exec gpu02 sh -c 'echo by hand > /etc/banner.d/text'
expect 0 stoika serve --due
says 'never +gpu02'
serve() { stoika serve > serve.out 2>> serve.log & }
wait_for() { # PATTERN: in the daemon's log, 30 s
	n=0
	while ! grep -Eq "$1" serve.log; do
		n=$((n + 1))
		[ "$n" -lt 60 ] || return 1
		sleep 0.5
	done
}
pid() { cat state/stoika.db.serve; }
: > serve.log
serve
ok 'it sees the drift' wait_for 'look.*node=gpu02.*state=drift'
ok 'and the other node' wait_for 'look.*node=gpu01.*state=drift'
expect 0 stoika serve --due
unsaid 'never'
expect 3 stoika serve --once
warns 'a daemon serves this database already: pid'
# other commands run beside it
expect 0 stoika apply --roles all
says 'gpu02 +changed'
kill -9 "$(pid)"
wait
: > serve.log
serve
ok 'it serves again after a kill' wait_for 'serve'
sleep 3
ok 'and does not look again before the time' sh -c '! grep -q look serve.log'
kill -TERM "$(pid)"
ok 'it ends in order' wait_for 'end.*asked to'
wait
expect 0 stoika list drift
says '^gpu02 +ok' # the apply healed it
expect 0 stoika check all
says '^2 nodes: 2 ok$'

# roles that list other recipes are other runs
sed -i 's/login: {}/login: {recipes: [ground]}/' site.yaml
expect 0 stoika import site.yaml
expect 2 stoika apply --roles all --plan 0123456789ab
warns 'one --plan cannot stand for 2 runs'
expect 0 stoika plan --roles all
says 'ground'
expect 0 stoika apply --roles all
says 'login1 +changed'
says 'gpu01 +ok'
ok 'only what its role lists' lab exec login1 test ! -e /etc/banner.d/text
expect 0 stoika check all
says '^3 nodes: 3 ok$'
