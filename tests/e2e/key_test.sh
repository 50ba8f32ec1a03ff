#!/bin/sh
# A new signing key: nodes move one by one, kills in the middle lose nothing, the old key goes last.
TOP=$(cd "$(dirname "$0")/../.." && pwd)
. "$TOP/tests/check.sh"
. "$TOP/tests/e2e/lab.sh"

lab_start 4 --names n1,n2,n3,n4
write_recipe note << 'X'
recipe: note
steps:
  - file: {path: /etc/noted, content: "x\n"}
X
old=$(stoika key show --json | jq -r .signing.public)
expect 0 stoika apply note all

# one node is away: its key stays, work goes on for all
lab cut n4 > /dev/null
expect 1 stoika key rotate
says '3 of 4 nodes obey it'
expect 0 stoika key show
says '^new '
new=$(stoika key show --json | jq -r .new.public)
ok 'n1 obeys the new key' sh -c "[ \"\$('$TOP/tests/lab/lab' exec n1 cat /etc/stoika-agent/controller.pub)\" = '$new' ]"
on n1 rm /etc/noted
expect 0 stoika apply note n1,n2,n3
says 'n1 +changed'
lab uncut n4 > /dev/null
on n4 rm -f /etc/noted
expect 0 stoika apply note n4
says 'n4 +changed'
ok 'n4 obeys the old key still' sh -c "[ \"\$('$TOP/tests/lab/lab' exec n4 cat /etc/stoika-agent/controller.pub)\" = '$old' ]"

# killed at any moment, it is gone on with
i=0
while [ $i -lt 12 ]; do
	i=$((i + 1))
	stoika key rotate > /dev/null 2>&1 &
	sleep 0."$i"
	pkill -KILL -P $! -x stoika 2> /dev/null
	wait $! 2> /dev/null
done
expect 0 stoika key rotate
says 'the old key is destroyed'
ok 'no key but the new one is left' sh -c "[ \"\$(ls state/keys | grep -c '^sign')\" = 2 ]"
ok 'it is another key' sh -c "[ \"\$(cat state/keys/sign.pub)\" != '$old' ]"
expect 0 stoika apply note all
says 'n4 +ok'
expect 0 stoika agent install all
expect 0 stoika log verify
