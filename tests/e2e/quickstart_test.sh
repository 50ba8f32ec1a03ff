#!/bin/sh
# The quickstart does what it says, asks nothing, and takes everything away again.
TOP=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=tests/check.sh
. "$TOP/tests/check.sh"
[ "$(id -u)" = 0 ] || skip 'needs root'
unshare --net --mount true 2> /dev/null || skip 'needs network namespaces'
grep -qx 'VERSION_ID="12"' /etc/os-release || skip 'needs Debian 12'

quickstart() { sh "$TOP/controller/quickstart.sh" "$@"; }
export STOIKA_QUICKSTART="$PWD/qs"
[ -n "${STOIKA_LAB_CACHE:-}" ] || export STOIKA_LAB_CACHE=/var/cache/stoika-lab
cleanup() { [ ! -e "$STOIKA_QUICKSTART" ] || quickstart down > /dev/null; }

expect 2 quickstart sideways
mkdir qs && : > qs/precious
expect 1 quickstart
warns 'not empty'
expect 1 quickstart down
ok 'what is not its own is left alone' test -e qs/precious
rm -r qs
expect 0 quickstart down
says 'nothing to remove'

expect 0 quickstart up
says 'R1 .*R1-A [0-9]+%.* OK'
says 'agent install on 3 nodes: 3 ok'
says 'on 3 nodes: 3 changed'
says 'on 3 nodes: 3 ok'
says '^    state +done'
says 'Done in'
expect 0 qs/stoika list nodes
says '^mgmt01 .*ready'
if [ -n "$STOIKA_LONG" ]; then
	expect 0 quickstart
	says 'on 3 nodes: 3 changed'
fi
id=stoika-$(printf '%s' "$PWD/qs/lab" | sha256sum | cut -c1-6)
expect 0 quickstart down
says 'is gone'
ok 'no folder is left' test ! -e qs
ok 'no namespace is left' test -z "$(ip netns list | grep "$id")"
