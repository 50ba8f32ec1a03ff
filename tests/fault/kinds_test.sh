#!/bin/sh
# Every kind of step, killed at its n-th system call or failed there: no file is half written, no other file is
# touched, the words name what failed, and the next apply gives the tree of one that was never disturbed.
# Then all is undone, and the tree is as before. kinds/NAME says how, see kinds/README.md.
# Without --long (STOIKA_LONG) a sample. NAME ... limits it to some; STOIKA_LANES of them go on side by side.
# shellcheck disable=SC1090,SC1091,SC2154 # files are found from where this stands; check.sh sets STOIKA_BUILD
TOP=$(cd "$(dirname "$0")/../.." && pwd)
LANES=${STOIKA_LANES:-$(nproc)}
[ -n "${STOIKA_TEST:-}" ] || export TMPDIR="${TMPDIR:-/dev/shm}" # not the disk's speed is on trial
. "$TOP/tests/check.sh"

EXECUTE=$STOIKA_BUILD/bin/execute
KINDS=$TOP/tests/fault/kinds
SAMPLE=2 # calls of each kind without --long
CHANGES='write pwrite64 fsync fdatasync renameat renameat2 unlinkat mkdirat symlinkat linkat fchmod fchown fchmodat ftruncate fsetxattr fremovexattr'
OPENS='openat openat2'
READS='read newfstatat'
CANNOT_ACT='assert note wait'

[ -x "$EXECUTE" ] || skip "no $EXECUTE"
[ "$(id -u)" = 0 ] || skip 'needs root: programs run in the node by chroot'
command -v busybox > /dev/null || skip 'needs busybox-static'
command -v strace > /dev/null || skip 'needs strace'
strace -o /dev/null true 2> /dev/null || skip 'strace may not trace here'
export ASAN_OPTIONS=detect_leaks=0 # it cannot look for leaks while it is traced

# --- for the setup of a kind, which stands in the node's root ---
program() { # PATH SCRIPT
	printf '#!/bin/sh\n%s\n' "$2" > "$1"
	chmod 755 "$1"
}

real() { # PROGRAM ...: of this machine, with its libraries
	for file in "$@" $(for it in "$@"; do ldd "$it" | grep -o '/[^ ]*'; done); do
		[ -e ".$file" ] || { mkdir -p ".${file%/*}" && cp "$file" ".$file"; }
	done
}

systemd() { # a node whose manager answers from the files alone
	mkdir -p run/systemd/system usr/bin case/state
	program usr/bin/systemctl "$(cat "$TOP/tests/cases/recipe/programs/systemctl")"
}

disk() { # NAME MINOR: a disk that is there by name only; wipefs is a script
	mkdir -p dev/disk/by-id "sys/class/block/$1/device" sys/dev/block usr/sbin case/signatures
	mknod "dev/$1" b 259 "$2"
	ln -s "../../$1" "dev/disk/by-id/fake-$1"
	echo 7814037168 > "sys/class/block/$1/size"
	echo "S$2" > "sys/class/block/$1/device/serial"
	ln -s "../../class/block/$1" "sys/dev/block/259:$2"
	program usr/sbin/wipefs 'for last; do :; done
case $1 in --all) : > "/case/signatures/${last##*/}" ;; esac
[ ! -s "/case/signatures/${last##*/}" ] || cat "/case/signatures/${last##*/}"'
}

LOOP=''
loop_device() { # MIB: sets LOOP to the name of one, which the node has too
	if [ -z "$LOOP" ]; then
		head -c "$1M" /dev/zero > ../image
		LOOP=$(losetup --find --show ../image) || return
		LOOP=${LOOP#/dev/}
	fi
	mknod "dev/$LOOP" b 7 "${LOOP#loop}"
	mkdir -p "sys/class/block/$LOOP" sys/dev/block
	echo $(($1 * 2048)) > "sys/class/block/$LOOP/size"
	ln -s "../../class/block/$LOOP" "sys/dev/block/7:${LOOP#loop}"
}

SERVER=''
serve_http() { # FOLDER FILE: sets PORT; FILE is there when it answers
	[ -z "$SERVER" ] || return 0
	for PORT in $(shuf -n 20 -i 20000-40000); do
		busybox httpd -f -p "127.0.0.1:$PORT" -h "$1" &
		SERVER=$!
		for _ in 1 2 3 4 5 6 7 8 9 10; do
			busybox wget -q -O /dev/null "http://127.0.0.1:$PORT/$2" 2> /dev/null && return 0
			kill -0 "$SERVER" 2> /dev/null || break
			sleep 0.1
		done
		kill "$SERVER" 2> /dev/null
	done
	fail 'the web server does not start'
}

# --- one node ---
prepare() { # KIND: what a node is before its first apply, kept in base
	rm -rf base recipes.base pack
	mkdir -p node/etc node/proc node/bin node/dev node/tmp node/run node/case recipes/demo
	cp "$KINDS/$1/recipe.yaml" recipes/demo/
	cp "$(command -v busybox)" node/bin/
	for name in sh cat grep sed rm mv cp ln mkdir mknod touch tr cut sort head tail wc ls dirname basename expr; do
		ln -s busybox "node/bin/$name"
	done
	printf 'root:x:0:0:root:/root:/bin/sh\n' > node/etc/passwd
	printf 'root:x:0:\n' > node/etc/group
	cd node || exit
	. "$KINDS/$1/setup"
	cd .. || exit
	mv node base
}

fresh() { # KIND
	rm -rf node state
	cp -a base node
	mkdir state
	[ ! -e "$KINDS/$1/again" ] || (cd node && . "$KINDS/$1/again")
}

# A node that went down comes up again, and its run goes on.
execute() { # RUN [PREFIX ...]
	run=$1
	shift
	"$@" "$EXECUTE" node state recipes "$run" demo > apply.out 2> apply.err
	code=$?
	[ -e node/case/down ] || return $code
	rm node/case/down
	"$EXECUTE" resume node state recipes "$run" demo > apply.out 2> apply.err
}

# Where the node's own files are, and neither the kernel's nor what a setup brought.
# shellcheck disable=SC2086 # a list of words
seen() { # ACTION ...
	(cd node && find . \( -path ./case -o -path ./proc -o -path ./run -o -path ./sys -o -path ./lib -o -path ./lib64 \
		-o -path './etc/*-' -o -path ./bin \) -prune -o "$@")
}

hashes() { seen -type f -exec sha256sum {} + | sort; }

tree() { # everything that a node's root says, but times
	seen -printf '%P %y %m %U %G %l\n' | sort
	hashes
}

intact() { # WHAT: every file is the old one or the new one; what is not is in torn
	hashes | grep -vxFf hashes.known | sed 's/^[^ ]*  //' | grep -vxFf mixed |
		grep -Ev '\.stoika-tmp\.|\.stoika-new/|\.stoika-part$' > torn # the next one removes these
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

undoes() { # KIND
	"$EXECUTE" undo node state recipes undone demo > apply.out 2> apply.err
	undone=$?
	tree > tree.now
	if [ -e "$KINDS/$1/stays" ]; then
		grep -q '^skipped' apply.out || fail "$1: undo says $(cat apply.out apply.err)"
		cmp -s tree.want tree.now || fail "$1: undo changes what it cannot take back: $(diff tree.want tree.now)"
	else
		[ $undone = 0 ] || fail "$1: undo fails: $(cat apply.out apply.err)"
		grep -vEf "$KINDS/$1/left" tree.now > tree.back 2> /dev/null || cp tree.now tree.back
		cmp -s tree.was tree.back || fail "$1: undo leaves another tree: $(diff tree.was tree.back | head -n 5)"
	fi
}

undisturbed() { # KIND
	: > mixed
	prepare "$1"
	[ -s mixed ] || echo '-' > mixed
	fresh "$1"
	tree > tree.was
	hashes > hashes.known
	execute first strace -o calls -e "trace=$(echo "$CHANGES $OPENS $READS" | tr ' ' ,)" ||
		{ fail "$1: an undisturbed apply fails: $(cat apply.out apply.err)" && return 1; }
	tree > tree.want
	hashes >> hashes.known
	converges "$1"
	undoes "$1"
}

# --- what disturbs it ---

places() { # CALL
	set -- "$(grep -c "^$1(" calls)"
	if [ -n "$STOIKA_LONG" ] || [ "$1" -le $SAMPLE ]; then
		seq "$1"
	else
		{ seq 1 $((($1 + SAMPLE - 1) / SAMPLE)) "$1" && echo "$1"; } | sort -nu
	fi
}

possible() { # CALL: what the kernel may say to it
	case $1 in
	read | newfstatat) echo EIO ;;
	openat | openat2) echo EMFILE EIO ENOSPC EROFS ;;
	fsync | fdatasync) echo EIO ENOSPC ;;
	write | pwrite64) echo ENOSPC EIO ;;
	*) echo EROFS ENOSPC EIO ;;
	esac
}

faults() { # CALL N: all of them, or one in turn
	# shellcheck disable=SC2046 # a list of words
	set -- "$2" $(possible "$1")
	[ -z "$STOIKA_LONG" ] || { shift && echo "$@" && return; }
	shift $(($1 % ($# - 1) + 1))
	echo "$1"
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

# A kill ahead of a call that only reads is one ahead of the next that writes: the full walk leaves it out.
changes() { # CALL N
	case " $CHANGES " in *" $1 "*) return 0 ;; esac
	[ -n "$STOIKA_LONG" ] || return 0
	grep "^$1(" calls | sed -n "$2p" | grep -q 'O_CREAT\|O_TRUNC'
}

disturbed() { # KIND
	for call in $CHANGES $OPENS $READS; do
		for n in $(places "$call"); do
			! changes "$call" "$n" || kill_at "$1" "$call" "$n"
			for fault in $(faults "$call" "$n"); do fault_at "$1" "$call" "$n" "$fault"; done
		done
	done
}

walk() { # KIND, in a folder of its own
	kills=0 faulted=0 began=$(date +%s)
	! undisturbed "$1" || disturbed "$1"
	[ -z "$SERVER" ] || kill "$SERVER" 2> /dev/null
	[ -z "$LOOP" ] || losetup --detach "/dev/$LOOP"
	echo "$1: $kills kills and $faulted faults in $(($(date +%s) - began)) s"
	echo "$CHECK_FAILED $kills $faulted" > result
	[ -n "$STOIKA_KEEP" ] || rm -rf base node state
}

lane() { # KIND ...: those that no other has taken
	for kind; do
		mkdir "$kind" 2> /dev/null || continue
		(cd "$kind" && walk "$kind")
	done
}

# --- every kind of step is in one of the folders ---
covered() {
	"$STOIKA" help step | sed -n 's/^  \([a-z_][a-z_]*\)  .*/\1/p' | sort > kinds.all
	# shellcheck disable=SC2086 # a list of words
	{ sed -n 's/^  - \([a-z_]*\):.*/\1/p' "$KINDS"/*/recipe.yaml && printf '%s\n' $CANNOT_ACT; } | sort -u > kinds.here
	[ "$(wc -l < kinds.all)" -gt 30 ] || fail "'stoika help step' tells too few kinds: $(cat kinds.all)"
	ok 'every kind of step is tried' diff kinds.all kinds.here
}

covered
# shellcheck disable=SC2046 # a list of words
[ $# -gt 0 ] || set -- $(basename -a "$KINDS"/*/)
lanes=''
for _ in $(seq "$LANES"); do
	lane "$@" &
	lanes="$lanes $!"
done
# shellcheck disable=SC2086 # a list of words
wait $lanes
cat ./*/result > results
[ "$(wc -l < results)" = $# ] || fail "of $# folders $(wc -l < results) came to their end"
awk '{ kills += $2; faults += $3 } END { print kills " kills, " faults " faults" }' results
CHECK_FAILED=$((CHECK_FAILED + $(awk '{ n += $1 } END { print n + 0 }' results)))
awk '{ kills += $2 } END { exit kills <= 20 }' results || fail 'there was too little to kill'
