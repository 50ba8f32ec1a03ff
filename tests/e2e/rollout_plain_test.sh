#!/bin/sh
# A rollout without a scheduler over real nodes: waves, a restart, a failure that is taken back, kill -9 of the driver,
# the daemon that drives on, and a second rollout that changes nothing.
# shellcheck disable=SC1091,SC2154 # check.sh is found from where this stands, and sets STOIKA
TOP=$(cd "$(dirname "$0")/../.." && pwd)
. "$TOP/tests/check.sh"
. "$TOP/tests/e2e/lab.sh"

lab_start 3 --names n1,n2,n3

mkdir -p recipes/two/files
cat > recipes/two/recipe.yaml <<'X2'
recipe: two
params:
  set: {type: text, default: A}
  wait: {type: text, default: "0.2"}
steps:
  - file: {path: /srv/set, content: "{{ params.set }}\n"}
  - command:
      shell: "sleep {{ params.wait }}; cp /srv/set /srv/loaded; echo yes >> /srv/loaded.{{ params.set }}"
      creates: "/srv/loaded.{{ params.set }}"
check:
  - name: the set is a good one
    expect: not exists('/srv/bad')
X2
printf 'rollout: plain\ncanary: {count: 0}\nwaves: [1, 100%%]\nmax_unavailable: 2\nbudgets: {}\nretry: 0\n' > p.yaml

expect 0 stoika apply recipes/two all --rollout p.yaml --yes
says '^policy +p.yaml$'
says '3 done'
for n in n1 n2 n3; do
	ok "$n has the set" [ "$(on $n cat /srv/set)" = A ]
done

expect 0 stoika apply recipes/two all --rollout p.yaml --yes --json
ok 'a second one changes nothing' jq -e '.counts == {"done": 3}' "$CHECK_DIR/out"

# a validator that fails: what it changed is taken back, the others are not begun with
on n1 touch /srv/bad
expect 1 stoika apply recipes/two all --rollout p.yaml --yes --set set=B --on-failure rollback
says 'n1 +undone'
says 'the set is a good one'
ok 'it is as it was' [ "$(on n1 cat /srv/set)" = A ]
on n1 rm /srv/bad

# kill -9 of the driver while nodes are at work, and another one goes on
lab ctl timeout -s KILL 3 "$STOIKA" apply recipes/two all --rollout p.yaml --yes --set set=C --set wait=4 > killed 2>&1
kept=state/rollouts/$(stoika --json run list | jq -r ".[0].run")/two/recipe.yaml
cp "$kept" kept.yaml
echo '# changed' >> "$kept"
expect 3 stoika run resume last
warns 'is not what the rollout began with'
warns "hint: put the recipe's files back as they were"
cp kept.yaml "$kept"
expect 0 stoika run resume last
says '3 done'
for n in n1 n2 n3; do
	ok "$n has the set" [ "$(on $n cat /srv/loaded)" = C ]
	ok "$n was told once" [ "$(on $n sh -c 'wc -l < /srv/loaded.C')" = 1 ]
done
expect 3 stoika run resume last
warns 'has come to its end: done'

# the terminal goes away: it ends in order
lab ctl timeout -s HUP 3 "$STOIKA" apply recipes/two all --rollout p.yaml --yes --set set=H --set wait=4 > hung 2>&1
ok 'a hangup ends it in order' grep -q '^state  *interrupted' hung
expect 0 stoika run resume last
for n in n1 n2 n3; do
	ok "$n was told once" [ "$(on $n sh -c 'wc -l < /srv/loaded.H')" = 1 ]
done

# the daemon drives on
lab ctl timeout -s KILL 3 "$STOIKA" apply recipes/two all --rollout p.yaml --yes --set set=D --set wait=4 > killed 2>&1
lab ctl timeout 60 "$STOIKA" serve > served 2>&1 &
serve=$!
for _ in $(seq 40); do
	sleep 1
	stoika --json run list > runs 2> /dev/null
	! jq -e '.[0].state == "done"' runs > /dev/null || break
done
ok 'the daemon drove it on' jq -e '.[0].state == "done"' runs
sleep 3 # until it has seen its child end
kill $serve
wait $serve
ok 'it says so' grep -q driven served

# what one run changed is taken back, what earlier ones made of the node stays
run=$(stoika --json run list | jq -r '[.[] | select(.mode == "rollout")][0].run')
expect 0 stoika undo recipes/two n1 --run "$run" --plan
ok 'showing it changes nothing' [ "$(on n1 cat /srv/set)" = D ]
expect 0 stoika undo recipes/two n1 --run "$run" --yes
ok 'the node is as it was ahead of that run' [ "$(on n1 cat /srv/set)" = H ]
ok 'the others are as that run left them' [ "$(on n2 cat /srv/set)" = D ]
expect 2 stoika undo recipes/two n1 --run last --yes
warns 'no apply and no rollout'
expect 2 stoika undo recipes/two n1 --run nosuch --yes
