#!/bin/sh
# An undo killed or failed at its n-th system call, and an apply killed and gone on with under the same id
# (which is killed again), come to the same as undisturbed ones. Every call with --long (STOIKA_LONG), else a
# sample.
# shellcheck disable=SC1091,SC2154 # check.sh is found from where this stands, and sets STOIKA_BUILD
TOP=$(cd "$(dirname "$0")/../.." && pwd)
. "$TOP/tests/check.sh"

EXECUTE=$STOIKA_BUILD/bin/execute
SAMPLE=4 # calls of each kind without --long
CALLS='write openat openat2 fsync fdatasync renameat unlinkat mkdirat symlinkat fchmod ftruncate'
FAULTS='ENOSPC EIO EROFS EMFILE' # all of them at each place with --long, else in turn

[ -x "$EXECUTE" ] || skip "no $EXECUTE"
command -v strace > /dev/null || skip 'needs strace'
strace -o /dev/null true 2> /dev/null || skip 'strace may not trace here'
export ASAN_OPTIONS=detect_leaks=0 # it cannot look for leaks while it is traced

mkdir -p recipes/demo/files
cat > recipes/demo/recipe.yaml << 'END'
recipe: demo
steps:
  - directory: {path: /srv/app/conf.d, mode: "0750"}
  - file: {path: /etc/old, content: "new content\n", mode: "0640"}
    notify: after a change
  - file: {path: /srv/app/big, source: big}
  - link: {path: /srv/app/current, target: conf.d}
  - line: {path: /etc/shared, line: "ours = 1", key: "ours ="}
  - sysctl: {values: {net.core.somaxconn: "4096"}, live: false}
  - file: {path: /etc/gone, state: absent}
handlers:
  - name: after a change
    file: {path: /srv/handled, content: "yes\n"}
END
seq 20000 > recipes/demo/files/big

fresh() { # a node before its first apply
	rm -rf node state
	mkdir -p node/etc/sysctl.d node/proc node/srv/app state
	printf 'root:x:0:0:root:/root:/bin/sh\n' > node/etc/passwd
	printf 'root:x:0:\n' > node/etc/group
	printf 'old content\n' > node/etc/old
	chmod 0600 node/etc/old
	printf 'theirs = 2\nours = 0\n' > node/etc/shared
	printf 'gone\n' > node/etc/gone
}

execute() { # MODE RUN [PREFIX ...]: words in execute.out
	mode=$1 run=$2
	shift 2
	[ "$mode" = apply ] && mode=
	# shellcheck disable=SC2086 # no word for an apply
	"$@" "$EXECUTE" $mode node state recipes "$run" demo > execute.out 2> execute.err
}

tree() { # everything that a node's root says, but times
	(cd node && find . -printf '%P %y %m %U %G %l\n' | sort && find . -type f -exec sha256sum {} + | sort)
}

is_tree() { # WANT WHAT
	tree > tree.now
	cmp -s "$1" tree.now || fail "$2: another tree: $(diff "$1" tree.now | head -n 5)"
	[ ! -e state/runs/unfinished ] || fail "$2: the journal still calls a run unfinished"
}

counts() { # CALL FILE: how often an undisturbed run makes it
	grep -c "^$1(" "$2"
}

places() { # COUNT: which of them to disturb
	if [ -n "$STOIKA_LONG" ] || [ "$1" -le $SAMPLE ]; then
		seq "$1"
	else
		{ seq 1 $((($1 + SAMPLE - 1) / SAMPLE)) "$1" && echo "$1"; } | sort -nu
	fi
}

applied() { # a node after its apply
	rm -rf node state
	cp -a done.node node
	cp -a done.state state
}

undone() { # WHAT: whatever was left, another undo ends it
	execute undo again || grep -q '^skipped' execute.out || # a handler that has nothing to do any more
		fail "$1: the next undo fails: $(cat execute.out execute.err)"
	is_tree tree.was "$1"
	execute undo third || fail "$1: a third undo fails"
	grep -q '^ok' execute.out || fail "$1: a third undo says $(cat execute.out)"
	[ -z "$(find state/before -type f)" ] || fail "$1: something is remembered: $(find state/before -type f)"
}

turns=0
turn() { # which faults to try now
	[ -z "$STOIKA_LONG" ] || { echo "$FAULTS" && return; }
	echo "$FAULTS" | cut -d' ' -f$((turns % 4 + 1))
}

trace="trace=$(echo "$CALLS" | tr ' ' ,)"
fresh
tree > tree.was
ok 'an undisturbed apply' execute apply first strace -o calls.apply -e "$trace"
tree > tree.want
cp -a node done.node
cp -a state done.state
ok 'an undisturbed undo' execute undo second strace -o calls.undo -e "$trace"
ok 'the tree before the apply is what undo leaves' undone undisturbed

kills=0 faults=0 resumes=0
for call in $CALLS; do
	for n in $(places "$(counts "$call" calls.undo)"); do
		applied
		execute undo second strace -o /dev/null -e "trace=$call" -e "inject=$call:signal=KILL:when=$n"
		undone "undo killed at $call $n"
		kills=$((kills + 1))
		for fault in $(turn); do
			applied
			if execute undo second strace -o /dev/null -e "trace=$call" -e "inject=$call:error=$fault:when=$n"; then
				tree > tree.now
				cmp -s tree.was tree.now || fail "undo, $fault at $call $n: says $(cat execute.out), and is not done"
			fi
			[ -z "$(find node -name '.stoika-tmp.*')" ] || fail "undo, $fault at $call $n: a temporary file is left"
			undone "undo, $fault at $call $n"
			faults=$((faults + 1))
			turns=$((turns + 1))
		done
	done
done

# Killed, gone on with and killed again at the same place, gone on with; then taken back.
for call in $CALLS; do
	for n in $(places "$(counts "$call" calls.apply)"); do
		what="apply killed twice at $call $n"
		fresh
		execute apply first strace -o /dev/null -e "trace=$call" -e "inject=$call:signal=KILL:when=$n"
		if [ -e state/runs/unfinished ]; then
			execute resume first strace -o /dev/null -e "trace=$call" -e "inject=$call:signal=KILL:when=$n"
		fi
		if [ -e state/runs/unfinished ]; then
			execute resume first || fail "$what: it cannot be gone on with: $(cat execute.out execute.err)"
			resumes=$((resumes + 1))
		else
			execute apply other || fail "$what: $(cat execute.out execute.err)"
		fi
		is_tree tree.want "$what"
		undone "$what, then undo"
	done
done
echo "$kills kills and $faults faults of an undo, $resumes runs gone on with; fsyncs of an apply: $(counts fsync calls.apply) and $(counts fdatasync calls.apply) of data"
if [ "$kills" -le 15 ] || [ "$resumes" -le 5 ]; then fail "there was too little to kill"; fi
