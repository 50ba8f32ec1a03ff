#!/bin/sh
# Runs that go on: after a killed controller, a killed agent; what is taken back, shown before, carried here.
TOP=$(cd "$(dirname "$0")/../.." && pwd)
. "$TOP/tests/check.sh"
. "$TOP/tests/e2e/lab.sh"

lab_start 2 --names n1,n2
ok 'the unit that goes on after a reboot is there' lab exec n1 systemctl is-enabled stoika-agent-resume.service

# the controller is killed: the node goes on, attach follows it to its end
write_recipe slow << 'X'
recipe: slow
params:
  word: {type: secret}
steps:
  - file: {path: /etc/one, content: "1\n"}
  - command: {run: [sh, -c, "sleep 6; echo 2 > /etc/two"], creates: /etc/two}
  - file: {path: /etc/three, content: "{{ params.word }}\n"}
X
printf 'the-word-4711' | stoika secret set word || exit 1
stoika apply slow n1,n2 --set word=secret:word > killed.log 2>&1 &
shell=$!
i=0
while [ $i -lt 100 ] && ! on n2 test -e /etc/one; do
	i=$((i + 1))
	sleep 0.1
done
sleep 0.5
pkill -KILL -P $shell -x stoika 2> /dev/null || pkill -KILL -x stoika -f "apply slow n1,n2"
wait $shell 2> /dev/null
expect 0 stoika run attach last
says 'n1 .*changed|n1 +changed'
ok 'the run came to its end' lab exec n1 grep -q the-word-4711 /etc/three
expect 0 stoika run show last
says '^state +done'
expect 3 stoika run attach last
warns 'come to its end'

# the agent is killed: resume goes on from its journal, with the secret sent again
for n in n1 n2; do on $n rm -f /etc/one /etc/two /etc/three; done
stoika apply slow n1 --set word=secret:word > killed2.log 2>&1 &
shell=$!
i=0
while [ $i -lt 100 ] && ! on n1 test -e /etc/one; do
	i=$((i + 1))
	sleep 0.1
done
sleep 0.5
on n1 pkill -KILL -f stoika-agent
wait $shell
ok 'the kill was seen' sh -c "grep -qE 'interrupted|unknown|failed' killed2.log"
ok 'it stands still' lab exec n1 test ! -e /etc/three
on n1 sh -c 'echo other > /etc/one'
expect 0 stoika run resume last n1
says '^n1 +since +slow 1 .*/etc/one'
ok 'it went on' lab exec n1 grep -q the-word-4711 /etc/three
expect 0 stoika run show last
says '^state +done'
unsaid 'the-word-4711'

# taken back, as it was before
write_recipe motd << 'X'
recipe: motd
steps:
  - file: {path: /etc/motd, content: "ours\n"}
X
on n1 sh -c 'echo theirs > /etc/motd'
on n2 sh -c 'echo theirs > /etc/motd'
expect 0 stoika apply motd all
expect 3 stoika undo motd all
warns '\-\-yes'
expect 0 stoika undo motd all --plan
says 'would|differs|changed'
ok 'the preview changed nothing' lab exec n1 grep -q ours /etc/motd
expect 0 stoika undo motd all --yes
says 'n1 +changed'
ok 'what was there is back' lab exec n1 grep -q theirs /etc/motd
expect 0 stoika undo motd all --yes
says 'n1 +(ok|skipped)'

# what was shown and nothing else: one node differs since
expect 0 stoika plan motd all --json
hash=$(jq -r .plan_hash < "$CHECK_DIR/out")
on n2 sh -c 'echo something else > /etc/motd'
expect 3 stoika apply motd all --plan "$hash"
says 'n1 +changed'
says 'n2 +denied'
ok 'nothing was done there' lab exec n2 grep -q 'something else' /etc/motd

# recipes over an air gap: made elsewhere, checked here, used here
mkdir -m 700 elsewhere
expect 0 stoika --db "$PWD/elsewhere/stoika.db" init
expect 0 stoika --db "$PWD/elsewhere/stoika.db" bundle make motd -o motd.bundle
key=$(stoika --db "$PWD/elsewhere/stoika.db" key show --json | jq -r .signing.public)
mv recipes/motd recipes.motd
expect 3 stoika bundle verify motd.bundle
says 'signature +REFUSED'
expect 0 stoika bundle verify motd.bundle --key "$key"
expect 3 stoika apply motd all --bundle motd.bundle
expect 0 stoika apply motd all --bundle motd.bundle --key "$key"
says 'n2 +changed'
mv recipes.motd recipes/motd
cp motd.bundle old.bundle
echo '# newer' >> recipes/motd/recipe.yaml
expect 0 stoika --db "$PWD/elsewhere/stoika.db" bundle make motd -o motd.bundle
expect 0 stoika apply motd all --bundle motd.bundle --key "$key"
expect 3 stoika apply motd all --bundle old.bundle --key "$key"
warns 'older than'

# a node that is away says so where nodes are listed
lab cut n2 > /dev/null
expect 1 stoika plan motd all
lab uncut n2 > /dev/null
expect 0 stoika list nodes
says 'unreachable'
expect 0 stoika plan motd all
expect 0 stoika list nodes
unsaid 'unreachable'
