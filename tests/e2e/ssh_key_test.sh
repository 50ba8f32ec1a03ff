#!/bin/sh
# A new SSH key: beside the old one until every node has let it in, kills in the middle lose nothing, the old line
# goes last. At no moment is a node without a key of ours that works.
TOP=$(cd "$(dirname "$0")/../.." && pwd)
. "$TOP/tests/check.sh"
. "$TOP/tests/e2e/lab.sh"

KEYS=/root/.ssh/authorized_keys
lab_start 3 --names n1,n2,n3
write_recipe note << 'X'
recipe: note
steps:
  - file: {path: /etc/noted, content: "x\n"}
X
public() { cut -d' ' -f1,2 "state/keys/$1"; }
has() { # NODE KEY: how many lines of it
	on "$1" grep -cF "$2" $KEYS
}
old=$(public ssh.pub)
others=$(on n1 sh -c "grep -vF '$old' $KEYS")
# a file of others, without a newline at its end
on n2 sh -c "printf 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJJJJJJJJJJJJJJJJJJJJJJJJJJJJJJJJJJJJJJJJJJJ other' >> $KEYS"

# one node is away: the old key stays in use, work goes on for all
lab cut n3 > /dev/null
expect 1 stoika key rotate --ssh
says '2 of 3 nodes let the new SSH key in'
new=$(public ssh.new.pub)
ok 'it is another key' test "$new" != "$old"
ok 'n1 has both' test "$(has n1 "$old")$(has n1 "$new")" = 11
ok 'each with the forced command' sh -c "[ \"\$('$TOP/tests/lab/lab' exec n1 grep -c '^restrict,command=\"/opt/stoika/agent/bin/stoika-agent serve\" ssh-ed25519 ' $KEYS)\" = 2 ]"
expect 0 stoika key show
says '^ssh new '
expect 0 stoika apply note n1,n2
expect 3 stoika key rotate
warns 'the SSH key is being replaced'
lab uncut n3 > /dev/null
expect 0 stoika apply note n3

# killed at any moment, it is gone on with, and every node is reached after each kill
for i in 1 2 3 4 5 6 7 8 9; do
	stoika key rotate --ssh > /dev/null 2>&1 &
	sleep 0."$i"
	pkill -KILL -P $! -x stoika 2> /dev/null
	wait $! 2> /dev/null
	expect 0 stoika apply note all
done
stoika key rotate --ssh > said 2>&1 # a tenth may find all done, and then begins anew
expect 0 stoika key rotate --ssh
says 'the new SSH key is in use; the old one is destroyed, and gone from all 3 nodes'
now=$(public ssh.pub)
ok 'only one key of ours is on n1' sh -c "[ \"\$('$TOP/tests/lab/lab' exec n1 grep -c 'stoika-agent serve' $KEYS)\" = 1 ]"
ok 'it is the one in use' test "$(has n1 "$now")" = 1
ok 'the first is gone' test "$(has n2 "$old")" = 0
ok 'what others have there stays' test "$(on n1 sh -c "grep -vF '$now' $KEYS")" = "$others"
ok 'also behind a line without its newline' on n2 grep -q '^ssh-ed25519 AAAAC3.* other$' $KEYS
ok 'no key but the new one is left' test "$(find state/keys -name 'ssh*' | wc -l)" = 2
ok 'no file of ours lies beside' on n1 sh -c "! ls -A /root/.ssh | grep stoika"
expect 0 stoika apply note all
says 'n3 +ok'

# a node that will not come back
lab cut n3 > /dev/null
expect 1 stoika key rotate --ssh
expect 0 stoika key rotate --ssh --forget n3
says 'gone from all 3 nodes'
lab uncut n3 > /dev/null
expect 1 stoika apply note n3
says 'refused our key'
expect 0 stoika agent install n3 --identity "$STOIKA_LAB/id" --known-hosts "$STOIKA_LAB/known_hosts"
expect 0 stoika apply note all
ok 'one line again' sh -c "[ \"\$('$TOP/tests/lab/lab' exec n3 grep -c 'stoika-agent serve' $KEYS)\" = 1 ]"
expect 0 stoika log verify
