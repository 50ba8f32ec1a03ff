#!/bin/sh
# Every kind of step, killed at its n-th system call or failed there: no file is half written, no other file is
# touched, the words name what failed, and the next apply gives the tree of one that was never disturbed.
# Then all is undone, and the tree is as before. kinds/NAME has a recipe and what makes the node before it.
# Every call and fault with --long (STOIKA_LONG), else a sample; KIND ... limits it to some.
# shellcheck disable=SC1090,SC1091,SC2154 # files are found from where this stands; check.sh sets STOIKA_BUILD
TOP=$(cd "$(dirname "$0")/../.." && pwd)
. "$TOP/tests/check.sh"

EXECUTE=$STOIKA_BUILD/bin/execute
KINDS=$TOP/tests/fault/kinds
SAMPLE=2 # calls of each kind without --long
CALLS='write openat openat2 fsync fdatasync renameat renameat2 unlinkat mkdirat symlinkat linkat fchmod fchown ftruncate read newfstatat'
FAULTS='ENOSPC EIO EROFS EMFILE'

[ -x "$EXECUTE" ] || skip "no $EXECUTE"
[ "$(id -u)" = 0 ] || skip 'needs root: programs run in the node by chroot'
command -v busybox > /dev/null || skip 'needs busybox-static'
command -v strace > /dev/null || skip 'needs strace'
strace -o /dev/null true 2> /dev/null || skip 'strace may not trace here'
export ASAN_OPTIONS=detect_leaks=0 # it cannot look for leaks while it is traced

# --- for the setup of a kind ---
program() { # PATH SCRIPT
	printf '#!/bin/sh\n%s\n' "$2" > "$1"
	chmod 755 "$1"
}

systemd() { # a node whose manager answers from the files alone
	mkdir -p run/systemd/system usr/bin
	program usr/bin/systemctl "$(cat "$TOP/tests/cases/recipe/programs/systemctl")"
	mkdir -p case/state
}

fresh() { # KIND: a node before its first apply
	rm -rf node state recipes pack
	mkdir -p node/etc node/proc node/bin node/dev node/tmp node/run state recipes/demo
	cp "$KINDS/$1/recipe.yaml" recipes/demo/
	cp "$(command -v busybox)" node/bin/
	for name in sh cat grep sed rm mv cp ln mkdir touch tr cut sort head tail wc ls dirname basename expr; do
		ln -s busybox "node/bin/$name"
	done
	printf 'root:x:0:0:root:/root:/bin/sh\n' > node/etc/passwd
	printf 'root:x:0:\n' > node/etc/group
	(cd node && . "$KINDS/$1/setup")
}

execute() { # RUN [PREFIX ...]
	run=$1
	shift
	"$@" "$EXECUTE" node state recipes "$run" demo > apply.out 2> apply.err
}

tree() { # everything that a node's root says, but times
	(cd node && find . -path ./case -prune -o -path ./proc -prune -o -path ./run -prune -o -printf '%P %y %m %U %G %l\n' | sort &&
		find . -path ./case -prune -o -path ./proc -prune -o -path ./run -prune -o -type f -exec sha256sum {} + | sort)
}

intact() { # WHAT: every file is the old one or the new one
	(cd node && find . -path ./case -prune -o -path ./proc -prune -o -path ./run -prune -o -type f -print) | while read -r file; do
		case $file in *.stoika-tmp.* | *.stoika-new/*) continue ;; esac # the next one removes it
		cmp -s "node/$file" "was/$file" || cmp -s "node/$file" "want/$file" ||
			grep -qsxF "$file" mixed || echo "$file"
	done > torn
	[ ! -s torn ] || fail "$1: neither old nor new: $(tr '\n' ' ' < torn)"
}

converges() { # WHAT
	execute second || fail "$1: the next apply fails: $(cat apply.out apply.err)"
	tree > tree.now
	cmp -s tree.want tree.now || fail "$1: another tree: $(diff tree.want tree.now | head -n 5)"
	[ ! -e state/runs/unfinished ] || fail "$1: the journal still calls a run unfinished"
	execute third || fail "$1: a third apply fails"
	grep -q '^ok' apply.out || fail "$1: a third apply says $(cat apply.out)"
}

undoes() { # WHAT
	"$EXECUTE" undo node state recipes undone demo > apply.out 2> apply.err || fail "$1: undo fails: $(cat apply.out apply.err)"
	tree > tree.now
	cmp -s tree.was tree.now || fail "$1: undo leaves another tree: $(diff tree.was tree.now | head -n 5)"
}

counts() { # CALL
	grep -c "^$1(" calls
}

places() { # COUNT
	if [ -n "$STOIKA_LONG" ] || [ "$1" -le $SAMPLE ]; then
		seq "$1"
	else
		{ seq 1 $((($1 + SAMPLE - 1) / SAMPLE)) "$1" && echo "$1"; } | sort -nu
	fi
}

faults() { # N: all of them, or one in turn
	if [ -n "$STOIKA_LONG" ]; then echo "$FAULTS"; else echo "$FAULTS" | cut -d' ' -f$(($1 % 4 + 1)); fi
}

undisturbed() { # KIND
	fresh "$1"
	rm -rf was want
	cp -a node was
	tree > tree.was
	execute first strace -o calls -e "trace=$(echo "$CALLS" | tr ' ' ,)" ||
		{ fail "$1: an undisturbed apply fails: $(cat apply.out apply.err)" && return 1; }
	tree > tree.want
	cp -a node want
	converges "$1 undisturbed"
	undoes "$1 undisturbed"
}

kill_at() { # KIND CALL N
	fresh "$1"
	execute first strace -o /dev/null -e "trace=$2" -e "inject=$2:signal=KILL:when=$3"
	intact "$1 killed at $2 $3"
	converges "$1 killed at $2 $3"
	kills=$((kills + 1))
}

fault_at() { # KIND CALL N FAULT
	fresh "$1"
	if execute first strace -o /dev/null -e "trace=$2" -e "inject=$2:error=$4:when=$3"; then
		tree > tree.now
		cmp -s tree.want tree.now || fail "$1, $4 at $2 $3: says $(cat apply.out), and is not done"
	elif grep -q 'loading shared libraries' apply.err; then
		return # it was not our program yet
	elif ! grep -Eq "'[^']+'|step [0-9]|recipe " apply.out apply.err; then
		fail "$1, $4 at $2 $3: names nothing: $(cat apply.out apply.err)"
	fi
	intact "$1, $4 at $2 $3"
	[ -z "$(find node -name '.stoika-tmp.*')" ] || [ "$2" = unlinkat ] ||
		fail "$1, $4 at $2 $3: a temporary file is left: $(find node -name '.stoika-tmp.*')"
	converges "$1, $4 at $2 $3"
	faulted=$((faulted + 1))
}

disturbed() { # KIND
	for call in $CALLS; do
		for n in $(places "$(counts "$call")"); do
			kill_at "$1" "$call" "$n"
			for fault in $(faults "$n"); do fault_at "$1" "$call" "$n" "$fault"; done
		done
	done
}

kills=0 faulted=0
[ $# -gt 0 ] || set -- "$KINDS"/*/
for kind in "$@"; do
	kind=$(basename "$kind")
	: > mixed
	undisturbed "$kind" || continue
	cp calls "calls.$kind"
	disturbed "$kind"
	echo "$kind: $kills kills and $faulted faults so far"
done
echo "$kills kills, $faulted faults"
[ "$kills" -gt 20 ] || fail 'there was too little to kill'
