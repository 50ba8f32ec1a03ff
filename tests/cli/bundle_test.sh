#!/bin/sh
# Bundles and passphrases as files that somebody names wrongly: devices, pipes, other keys, nothing at all.
TOP=$(cd "$(dirname "$0")/../.." && pwd)
. "$TOP/tests/check.sh"
[ -x "$STOIKA" ] || skip "needs $STOIKA"
for program in jq sqlite3; do
	command -v "$program" > /dev/null || skip "needs $program"
done
export STOIKA_DB="$PWD/state/stoika.db" STOIKA_RECIPES="$TOP/recipes"
mkdir state
expect 0 "$STOIKA" init

# names of files are data
expect 0 "$STOIKA" bundle make base --output 'a"b.bundle' --json
ok 'its JSON is JSON' jq -e '.file == "a\"b.bundle"' "$CHECK_DIR/out"
expect 0 "$STOIKA" bundle verify 'a"b.bundle' --key "$PWD/state/keys/sign.pub"
expect 0 "$STOIKA" bundle verify 'a"b.bundle' --key state/keys/sign.pub
expect 2 "$STOIKA" bundle make , --output x
warns "',' names no recipe"
many=base$(printf ',base%.0s' $(seq 64))
expect 2 "$STOIKA" bundle make "$many,nope" --output x
warns 'more than 64 recipes are named at once'
expect 2 "$STOIKA" plan "$many,nope" all
warns 'more than 64 recipes are named at once'
expect 2 "$STOIKA" bundle make base --output ''
warns 'is no name of a file'

# what is no plain file is neither waited for nor replaced
expect 0 "$STOIKA" import "$TOP/inventory/examples/start.yaml"
mkfifo pipe
expect 3 timeout 10 "$STOIKA" bundle verify pipe
warns 'no plain file'
expect 3 "$STOIKA" bundle verify /dev/zero
for c in 'bundle make base' export; do
	# shellcheck disable=SC2086 # words
	expect 2 "$STOIKA" $c --output pipe
	warns "'pipe' is no plain file"
	ok "$c leaves the pipe" test -p pipe
done

# a changed manifest is no mistake of the caller
# what was taken in earlier does not pile up
i=10
while [ $i -lt 30 ]; do
	mkdir -p "state/incoming/old$i"
	touch -d "2020-01-$i" "state/incoming/old$i"
	i=$((i + 1))
done
expect 2 "$STOIKA" plan base nobody --bundle 'a"b.bundle' --key state/keys/sign.pub
ok 'it was unpacked' test -n "$(find state/incoming -path '*base/recipe.yaml')"
ok 'the newest of the others stay' test "$(find state/incoming -maxdepth 1 -name 'old*' | sort | tr '\n' ' ')" = "$(seq -f 'state/incoming/old%g' -s ' ' 23 29) "
sed '0,/"expires"/s//"expirez"/' 'a"b.bundle' > changed
expect 3 "$STOIKA" bundle verify changed

# descriptor 3 was not given: the database must not become the passphrase
printf 'value\n' | "$STOIKA" secret set one || exit 1
for fd in 3 4 5 6; do
	expect 2 env STOIKA_PASSPHRASE_FD=$fd "$STOIKA" secret rotate --passphrase
	warns 'no such descriptor was given'
done
expect 2 env STOIKA_PASSPHRASE_FD=0 timeout 10 "$STOIKA" secret rotate --passphrase < /dev/zero
expect 0 "$STOIKA" secret check
says 'sealed with a key file'

# what cannot be written down is not done either
(sqlite3 "$STOIKA_DB" 'BEGIN IMMEDIATE' '.shell touch locked' '.shell sleep 20' > /dev/null 2>&1 & echo $! > holder)
while [ ! -e locked ]; do sleep 0.1; done
echo other > value
expect 3 "$STOIKA" secret set two < value
warns 'locked by another process'
kill "$(cat holder)"
expect 0 "$STOIKA" secret list
unsaid '^two'
