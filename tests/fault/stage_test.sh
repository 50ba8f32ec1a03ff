#!/bin/sh
# What an order to stage brings is enough for an apply without any network: real roots, the real apt.
# shellcheck disable=SC1091,SC2154 # check.sh is found from where this stands, and sets STOIKA_BUILD
TOP=$(cd "$(dirname "$0")/../.." && pwd)
. "$TOP/tests/check.sh"

EXECUTE=$STOIKA_BUILD/bin/execute
[ "$(id -u)" = 0 ] || skip 'needs root'
[ -x "$EXECUTE" ] || skip "no $EXECUTE"
for program in mmdebstrap apt-ftparchive gpg dpkg-deb unshare; do
	command -v "$program" > /dev/null || skip "needs $program"
done
unshare --mount true 2> /dev/null || skip 'needs mount namespaces'
# All mounts live in a namespace of this test.
[ "${1:-}" = inside ] || {
	unshare --mount --propagation private "$TOP/tests/fault/${0##*/}" inside
	exit
}
export ASAN_OPTIONS=detect_leaks=0
trap 'exit 1' HUP

. "$TOP/tests/fault/apt_repo.sh"
repo_key
deb driver 535
deb driver 550 'Depends: driver-lib (= 550)'
deb driver-lib 535
deb driver-lib 550
deb fabric 550 'Depends: driver'

recipe() { # NAME: its steps on stdin
	mkdir -p "recipes/$1/files"
	{
		printf 'recipe: %s\nsteps:\n' "$1"
		cat
	} > "recipes/$1/recipe.yaml"
	cp lab.asc "recipes/$1/files/lab.asc"
}
RUNS=0
order() { # MODE NAME: status and words of the run; MODE "" applies
	RUNS=$((RUNS + 1))
	# shellcheck disable=SC2086 # no word at all to apply
	"$EXECUTE" $1 "$PWD/node" "$PWD/state" "$PWD/recipes" "run$RUNS" "$2"
}
version() { # NAME
	# shellcheck disable=SC2016 # dpkg's variables
	chroot node dpkg-query -W -f '${Status} ${Version}' "$1" 2> /dev/null
}
is() { # WHAT ACTUAL EXPECTED
	[ "$2" = "$3" ] || fail "$1: '$2', expected '$3'"
}

recipe old << 'END'
  - package: {names: [driver=535, driver-lib=535], hold: true}
END
recipe new << 'END'
  - package: {names: [driver=550]}
  - file: {path: /etc/driver.conf, content: "new\n"}
  - package: {names: [fabric]}
END
recipe fresh << 'END'
  - package: {names: [no-such-driver]}
END

node_up() { # RELEASE
	base=$("$TOP/tests/lab/lab" root "$1") || skip "no root of Debian $1"
	rm -rf state
	mkdir -p mem node state
	mount -t tmpfs -o size=512m tmpfs mem
	mkdir mem/up mem/work
	mount -t overlay -o "lowerdir=$base,upperdir=$PWD/mem/up,workdir=$PWD/mem/work" overlay node
	mount -t proc proc node/proc
	rm -f node/etc/apt/sources.list node/etc/apt/sources.list.d/* node/etc/apt/apt.conf.d/99mmdebstrap*
	[ -e node/dev/null ] || mknod -m 666 node/dev/null c 1 3
	mkdir -p node/srv
	cp -r debs node/srv/repo
	publish node/srv/repo
	printf 'deb [signed-by=/etc/apt/keyrings/lab.asc] copy:/srv/repo ./\n' > node/etc/apt/sources.list.d/lab.list
	mkdir -p node/etc/apt/keyrings
	cp lab.asc node/etc/apt/keyrings/lab.asc
	chroot node apt-get -q update > update.log 2>&1 || fail "apt-get update: $(tail -n 3 update.log)"
}

node_down() {
	umount node/proc node mem
	rmdir node mem
}

staged() {
	expect 0 order '' old
	is 'driver' "$(version driver)" 'hold ok installed 535'
	before=$(sha256sum node/var/lib/dpkg/status)
	expect 0 order stage new
	says '^ok'
	is 'the packages after staging' "$(sha256sum node/var/lib/dpkg/status)" "$before"
	ok 'nothing else changed' test ! -e node/etc/driver.conf
	ok 'no journal is left' test ! -e "state/runs/run$RUNS.journal"
	ok 'no run is left' test ! -e state/runs/unfinished
	ok 'the packages are here' test -e node/var/cache/apt/archives/fabric_550_all.deb
	# again: nothing to fetch
	expect 0 order stage new
	expect 1 order stage fresh
	says "no package 'no-such-driver'|Unable to locate package no-such-driver"
	mv node/srv/repo node/srv/gone
	expect 0 order '' new
	is 'driver' "$(version driver)" 'hold ok installed 550'
	is 'fabric' "$(version fabric)" 'install ok installed 550'
	expect 0 order '' new
	says '^ok'
}

unstaged() {
	mv node/srv/repo node/srv/gone
	expect 1 order stage new
	says 'Failed to stat|does not exist|Failed to fetch'
	ok 'nothing is marked' test ! -e node/var/lib/stoika-agent/packages-changing
}

for release in 11 12 13; do
	node_up "$release"
	staged
	node_down
	node_up "$release"
	unstaged
	node_down
	printf 'Debian %s: done, %s failures so far\n' "$release" "$CHECK_FAILED"
done
