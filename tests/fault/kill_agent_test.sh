#!/bin/sh
# An apply killed at its n-th system call, or failed there, leaves nothing half done: the next apply gives
# the same tree as one that was never disturbed. Every call with --long (STOIKA_LONG), else a sample.
# shellcheck disable=SC1091,SC2154 # check.sh is found from where this stands, and sets STOIKA_BUILD
TOP=$(cd "$(dirname "$0")/../.." && pwd)
. "$TOP/tests/check.sh"

EXECUTE=$STOIKA_BUILD/bin/execute
SAMPLE=6 # calls of each kind without --long
CALLS='write openat openat2 fsync fdatasync renameat renameat2 unlinkat mkdirat symlinkat fchmod fchown ftruncate'
FAULTS='ENOSPC EIO EROFS EMFILE' # all of them at each place with --long, else in turn

[ -x "$EXECUTE" ] || skip "no $EXECUTE"
command -v strace > /dev/null || skip 'needs strace'
strace -o /dev/null true 2> /dev/null || skip 'strace may not trace here'
export ASAN_OPTIONS=detect_leaks=0 # it cannot look for leaks while it is traced

mkdir -p recipes/demo/templates recipes/demo/files
cat > recipes/demo/recipe.yaml << 'END'
recipe: demo
steps:
  - directory: {path: /srv/app/conf.d, mode: "0750"}
  - file: {path: /etc/old, content: "new content\n", mode: "0640"}
    notify: after a change
  - file: {path: /srv/app/big, source: big}
  - template: {path: "/srv/app/conf.d/{{ item }}.conf", source: conf}
    each: "['a', 'b']"
    notify: [after a change, and another]
  - link: {path: /srv/app/current, target: conf.d/a.conf}
  - line: {path: /etc/shared, line: "ours = 1", key: "ours ="}
  - sysctl: {values: {net.core.somaxconn: "4096"}, live: false}
  - file: {path: /etc/gone, state: absent}
  - directory: {path: /srv/gone, state: absent}
handlers:
  - name: after a change
    file: {path: /srv/handled, content: "{{ 'yes' }}\n"}
  - name: and another
    line: {path: /etc/shared, line: "handled"}
check:
  - expect: contains('/srv/app/current', 'name = a')
END
printf 'name = {{ item }}\n' > recipes/demo/templates/conf
seq 20000 > recipes/demo/files/big

fresh() { # a node before its first apply
	rm -rf node state
	mkdir -p node/etc/sysctl.d node/proc node/srv/gone/deep/er state
	printf 'root:x:0:0:root:/root:/bin/sh\n' > node/etc/passwd
	printf 'root:x:0:\n' > node/etc/group
	printf 'old content\n' > node/etc/old
	printf 'theirs = 2\nours = 0\n' > node/etc/shared
	touch node/etc/gone node/srv/gone/deep/er/file
}

apply() { # RUN [PREFIX ...]: in the foreground, words in apply.out
	run=$1
	shift
	"$@" "$EXECUTE" node state recipes "$run" demo > apply.out 2> apply.err
}

tree() { # everything that a node's root says, but times
	(cd node && find . -printf '%P %y %m %U %G %l\n' | sort && find . -type f -exec sha256sum {} + | sort)
}

# The second apply after a disturbed first one.
converges() { # WHAT
	apply second || fail "$1: the next apply fails: $(cat apply.out apply.err)"
	tree > tree.now
	cmp -s tree.want tree.now || fail "$1: another tree: $(diff tree.want tree.now | head -n 5)"
	[ ! -e state/runs/unfinished ] || fail "$1: the journal still calls a run unfinished"
	apply third || fail "$1: a third apply fails"
	grep -q '^ok' apply.out || fail "$1: a third apply says $(cat apply.out)"
}

# No file of ours is anything but old or new.
intact() { # WHAT
	for file in etc/old srv/app/big srv/app/conf.d/a.conf srv/app/conf.d/b.conf etc/shared; do
		[ -e "node/$file" ] || continue
		cmp -s "node/$file" "want/$file" || cmp -s "node/$file" "was/$file" ||
			{ [ $file = etc/shared ] && grep -q '^theirs = 2$' "node/$file"; } ||
			fail "$1: '$file' is neither the old nor the new one"
	done
}

counts() { # CALL: how often an undisturbed apply makes it
	grep -c "^$1(" calls
}

places() { # COUNT: which of them to disturb
	if [ -n "$STOIKA_LONG" ] || [ "$1" -le $SAMPLE ]; then
		seq "$1"
	else
		{ seq 1 $((($1 + SAMPLE - 1) / SAMPLE)) "$1" && echo "$1"; } | sort -nu
	fi
}

turns=0
turn() { # which faults to try now
	[ -z "$STOIKA_LONG" ] || { echo "$FAULTS" && return; }
	echo "$FAULTS" | cut -d' ' -f$((turns % 4 + 1))
}

fresh
cp -a node was
ok 'an undisturbed apply' apply first strace -o calls -e "trace=$(echo "$CALLS" | tr ' ' ,)"
tree > tree.want
cp -a node want
ok 'its handler ran' test -e node/srv/handled
ok 'the tree of an apply is what a second one leaves' converges undisturbed

kills=0 faults=0
for call in $CALLS; do
	for n in $(places "$(counts "$call")"); do
		fresh
		apply first strace -o /dev/null -e "trace=$call" -e "inject=$call:signal=KILL:when=$n"
		intact "killed at $call $n"
		converges "killed at $call $n"
		kills=$((kills + 1))
	done
done
for call in $CALLS; do
	for n in $(places "$(counts "$call")"); do
		for fault in $(turn); do
			fresh
			if apply first strace -o /dev/null -e "trace=$call" -e "inject=$call:error=$fault:when=$n"; then
				tree > tree.now
				cmp -s tree.want tree.now || fail "$fault at $call $n: says $(cat apply.out), and is not done"
			fi
			intact "$fault at $call $n"
			[ -z "$(find node -name '.stoika-tmp.*')" ] || fail "$fault at $call $n: a temporary file is left"
			converges "$fault at $call $n"
			faults=$((faults + 1))
			turns=$((turns + 1))
		done
	done
done
echo "$kills kills, $faults faults; calls of an apply: $(for c in $CALLS; do printf '%s %s, ' "$c" "$(counts "$c")"; done)"
[ "$kills" -gt 20 ] || fail 'there was too little to kill'
