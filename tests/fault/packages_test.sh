#!/bin/sh
# repo and package on real roots of Debian 11, 12 and 13, with the real apt and a repository made here:
# what goes wrong with packages on nodes, each with a clear result, nothing lost, and a second run that heals.
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

# --- the repository -----------------------------------------------------------------------------------------

. "$TOP/tests/fault/apt_repo.sh"

repo_key
deb gpu 1.0
deb gpu 2.0
deb gpu-tools 1.0 'Depends: gpu'
deb rival 1.0 'Conflicts: gpu'
deb fails 1.0 '' 'echo cannot build the module; exit 1'
deb slow 1.0 '' '[ ! -e /srv/slow ] || sleep 60'
deb big 1.0
deb needs-old 1.0 'Depends: gpu (<< 0.5)'

# --- recipes and runs ---------------------------------------------------------------------------------------

recipe() { # NAME: its steps on stdin
	mkdir -p "recipes/$1/files"
	{
		printf 'recipe: %s\nsteps:\n' "$1"
		cat
	} > "recipes/$1/recipe.yaml"
	cp lab.asc "recipes/$1/files/lab.asc"
}

source_step() { # [ADDRESS]
	printf '  - repo: {name: lab, uris: ["%s"], suites: [./], key: lab.asc, fingerprint: %s}\n' "${1:-file:/srv/repo}" "$FINGERPRINT"
}

RUNS=0
apply() { # NAME: status and words of the run
	RUNS=$((RUNS + 1))
	"$EXECUTE" "$PWD/node" "$PWD/state" "$PWD/recipes" "run$RUNS" "$@"
}
undo() { # NAME, of the run before
	"$EXECUTE" undo "$PWD/node" "$PWD/state" "$PWD/recipes" "undo$RUNS" "$@"
}
version() { # NAME: "install ok installed 1.0"
	# shellcheck disable=SC2016 # dpkg's variables
	chroot node dpkg-query -W -f '${Status} ${Version}' "$1" 2> /dev/null
}
is() { # WHAT ACTUAL EXPECTED
	[ "$2" = "$3" ] || fail "$1: '$2', expected '$3'"
}
same_again() { # NAME
	expect 0 apply "$1"
	says '^ok'
}
on_node() { chroot node "$@"; }

recipe source < /dev/null
source_step >> recipes/source/recipe.yaml
recipe twice < /dev/null
source_step >> recipes/twice/recipe.yaml
recipe moved-away << 'END'
END
source_step http://127.0.0.1:9/repo >> recipes/moved-away/recipe.yaml
recipe tools << 'END'
  - package: {names: [gpu=1.0, gpu-tools], hold: true}
END
recipe upgrade << 'END'
  - package: {names: [gpu=2.0]}
END
recipe back << 'END'
  - package: {names: [gpu=1.0]}
END
recipe back-meant << 'END'
  - package: {names: [gpu=1.0], downgrade: true}
END
recipe rival << 'END'
  - package: {names: [rival]}
END
recipe no-gpu << 'END'
  - package: {names: [gpu], state: absent}
END
recipe unsolvable << 'END'
  - package: {names: [needs-old]}
END
recipe unknown << 'END'
  - package: {names: [nvidia-open-595]}
END
recipe failing << 'END'
  - package: {names: [fails]}
END
recipe slow << 'END'
  - package: {names: [slow], wait: 1}
END
recipe quick << 'END'
  - package: {names: [rival], allow_remove: [gpu*], wait: 1}
END
recipe repair << 'END'
  - package: {repair: true}
END
recipe big << 'END'
  - package: {names: [big]}
END

# --- one release --------------------------------------------------------------------------------------------

node_up() { # RELEASE
	base=$("$TOP/tests/lab/lab" root "$1") || skip "no root of Debian $1"
	rm -rf state recipes.keep
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
}

node_down() {
	umount node/proc node mem
	rmdir node mem
}

sources() {
	# a mirror that is down: nothing stays
	expect 1 apply moved-away
	says "repo 'lab' does not work and was taken back"
	ok 'no source is left' test ! -e node/etc/apt/sources.list.d/lab.sources
	ok 'no key is left' test ! -e node/etc/apt/keyrings/lab.asc
	# lists that have expired
	publish node/srv/repo 'Valid-Until: Thu, 01 Jan 2015 00:00:00 UTC'
	expect 1 apply source
	says 'expired'
	# a wrong hash
	publish node/srv/repo
	echo >> node/srv/repo/Packages
	expect 1 apply source
	says "was taken back.*(Hash Sum mismatch|unexpected size)"
	# the same source by somebody else, without a key: apt alone would refuse everything
	publish node/srv/repo
	echo 'deb file:/srv/repo/ ./' > node/etc/apt/sources.list.d/old.list
	expect 0 apply twice
	says '^changed'
	ok 'the other entry is off' grep -q '^# switched off by stoika repo lab: deb file:/srv/repo/' node/etc/apt/sources.list.d/old.list
	ok 'apt-get update has nothing to say' on_node sh -c '! apt-get update 2>&1 | grep -E "^[WE]:"'
	same_again twice
	expect 0 undo twice
	is 'the other entry after undo' "$(cat node/etc/apt/sources.list.d/old.list)" 'deb file:/srv/repo/ ./'
	ok 'the key is gone after undo' test ! -e node/etc/apt/keyrings/lab.asc
	rm node/etc/apt/sources.list.d/old.list
	expect 0 apply source
}

changes() {
	expect 0 apply tools
	is 'gpu' "$(version gpu)" 'hold ok installed 1.0'
	is 'gpu-tools' "$(version gpu-tools)" 'hold ok installed 1.0'
	same_again tools
	# ours: lifted and put back
	expect 0 apply upgrade
	is 'gpu' "$(version gpu)" 'hold ok installed 2.0'
	expect 1 apply back
	says 'would be a step back'
	expect 0 apply back-meant
	is 'gpu' "$(version gpu)" 'hold ok installed 1.0'
	expect 0 undo back-meant
	is 'gpu after undo' "$(version gpu)" 'hold ok installed 2.0'
	# what nobody asked for
	expect 1 apply rival
	says 'this would also remove gpu'
	expect 1 apply no-gpu
	says 'this would also remove gpu-tools'
	expect 1 apply unsolvable
	says 'cannot be installed together: needs-old : Depends: gpu \(< 0.5\)'
	expect 1 apply unknown
	says "there is no package 'nvidia-open-595'"
	is 'gpu after all that' "$(version gpu)" 'hold ok installed 2.0'
	# the administrator's hold
	on_node apt-mark unhold gpu > /dev/null
	rm -r node/var/lib/stoika-agent
	on_node apt-mark hold gpu > /dev/null
	expect 1 apply back-meant
	says 'held by administrator: gpu'
	is 'gpu' "$(version gpu)" 'hold ok installed 2.0'
	on_node apt-mark unhold gpu gpu-tools > /dev/null
}

broken() {
	expect 1 apply failing
	says 'error processing package fails'
	expect 1 apply rival
	says 'package database broken: fails \(half-configured\)'
	expect 1 apply repair
	says 'still broken on this node: fails'
	on_node dpkg --remove --force-remove-reinstreq fails > /dev/null 2>&1
	same_again repair
}

# Killed with everything it started, in the middle of a postinst.
interrupted() {
	touch node/srv/slow
	setsid "$EXECUTE" "$PWD/node" "$PWD/state" "$PWD/recipes" slow1 slow > slow.out 2>&1 &
	pid=$!
	for _ in $(seq 150); do
		[ "$(version slow)" != 'install ok half-configured 1.0' ] || break
		sleep 0.1
	done
	is 'slow while it is configured' "$(version slow)" 'install ok half-configured 1.0'
	# meanwhile another run finds the lock held, and says by whom
	mv state state.slow
	mkdir state
	expect 1 apply quick
	says "'(dpkg|apt-get)' \(pid [0-9]+\) is changing packages"
	rm -r state
	mv state.slow state
	kill -KILL "$pid"
	for process in /proc/[0-9]*; do
		[ "$(readlink "$process/root" 2> /dev/null)" != "$PWD/node" ] || kill -KILL "${process#/proc/}" 2> /dev/null
	done
	wait "$pid" 2> /dev/null
	rm node/srv/slow
	expect 0 apply slow
	is 'slow at last' "$(version slow)" 'install ok installed 1.0'
	ok 'no mark is left' test ! -e node/var/lib/stoika-agent/packages-changing
	same_again slow
}

full() {
	# less than the package needs
	free=$(df --output=avail -m mem | tail -n 1)
	head -c "$((free - 90))M" /dev/zero > mem/ballast
	expect 1 apply big
	says 'MiB are needed'
	is 'big' "$(version big)" ''
	# it runs full in the middle
	head -c 20M /dev/zero > mem/more && rm mem/more
	rm mem/ballast
	expect 0 apply big
	is 'big' "$(version big)" 'install ok installed 1.0'
}

for release in 11 12 13; do
	node_up "$release"
	sources
	changes
	broken
	interrupted
	full
	node_down
	printf 'Debian %s: done, %s failures so far\n' "$release" "$CHECK_FAILED"
done
