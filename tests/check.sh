# shellcheck shell=sh
# check.sh: what a shell test sources first, after setting TOP to the repository's folder:
#
#	#!/bin/sh
#	TOP=$(cd "$(dirname "$0")/../.." && pwd)
#	. "$TOP/tests/check.sh"
#	expect 0 "$STOIKA" --version        # the exit code is as said
#	says '^stoika '                     # its standard output has a line that matches; unsaid: has none
#	warns 'pattern'                     # the same for standard error
#	ok 'files agree' cmp a b            # a command succeeds
#	skip 'needs nftables'               # the whole test is left out
#
# The test starts again in an empty environment, then works in a folder of its own, $PWD, which goes away at
# the end unless STOIKA_KEEP is set. It ends with 0 when nothing failed, 77 when skipped, else 1.
# Programs come from $STOIKA_BUILD (default build/asan). A test may define cleanup, which is run at its end.

if [ "${STOIKA_TEST:-}" != "$0" ]; then
	exec env -i STOIKA_TEST="$0" PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
		LANG=C.UTF-8 TMPDIR="${TMPDIR:-/tmp}" STOIKA_KEEP="${STOIKA_KEEP:-}" \
		STOIKA_BUILD="${STOIKA_BUILD:-$TOP/build/asan}" STOIKA_LAB_CACHE="${STOIKA_LAB_CACHE:-}" \
		STOIKA_LONG="${STOIKA_LONG:-}" "$0" "$@"
fi

[ -n "$STOIKA_LAB_CACHE" ] || unset STOIKA_LAB_CACHE
# shellcheck disable=SC2034 # used by the tests
STOIKA=$STOIKA_BUILD/bin/stoika
# What the last expect ran lies beside the test's folder, so that tests may look at all of $PWD.
CHECK_DIR=$(mktemp -d "$TMPDIR/stoika-test.XXXXXX") || exit 1
mkdir "$CHECK_DIR/work"
cd "$CHECK_DIR/work" || exit 1
export HOME="$CHECK_DIR/work" TMPDIR="$CHECK_DIR/work"
CHECK_FAILED=0

cleanup() { :; }

check_end() {
	code=$?
	trap - EXIT
	cleanup
	[ "$code" != 0 ] || [ "$CHECK_FAILED" = 0 ] || code=1
	cd / && if [ -n "$STOIKA_KEEP" ]; then
		echo "kept: $CHECK_DIR"
	else
		rm -rf "$CHECK_DIR"
	fi
	exit "$code"
}
trap check_end EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

fail() {
	CHECK_FAILED=$((CHECK_FAILED + 1))
	printf 'FAILED: %s\n' "$*"
}

skip() {
	printf 'skipped: %s\n' "$*"
	exit 77
}

check_show() { # PREFIX: nothing, or "ok." for what ok ran
	for file in out err; do
		[ ! -s "$CHECK_DIR/${1:-}$file" ] || sed "s/^/	$file: /" "$CHECK_DIR/${1:-}$file" | tail -n 30
	done
}

expect() { # CODE CMD ...
	want=$1
	shift
	got=0
	"$@" > "$CHECK_DIR/out" 2> "$CHECK_DIR/err" || got=$?
	LAST=$*
	[ "$got" = "$want" ] && return 0
	fail "exit code $got, not $want: $LAST"
	check_show
}

check_grep() { # FILE PATTERN
	grep -Eq -e "$2" "$CHECK_DIR/$1" && return 0
	return 1
}

says() {
	check_grep out "$1" && return 0
	fail "output has no '$1': $LAST"
	check_show
}

unsaid() {
	check_grep out "$1" || return 0
	fail "output has '$1': $LAST"
	check_show
}

warns() {
	check_grep err "$1" && return 0
	fail "standard error has no '$1': $LAST"
	check_show
}

ok() { # WHAT CMD ...
	what=$1
	shift
	# aside: it may read what the last expect said, and so may the one behind it
	got=0
	"$@" > "$CHECK_DIR/ok.out" 2> "$CHECK_DIR/ok.err" || got=$?
	if [ "$got" = 0 ]; then
		printf 'ok: %s\n' "$what"
	else
		fail "$what: $*"
		check_show ok.
	fi
}
