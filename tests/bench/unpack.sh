#!/bin/bash
# unpack.sh: a root-like tree of about 1.4 GB as tar.zst, unpacked by the agent's code, GNU tar and bsdtar.
#
# The runs are interleaved and each starts on an empty folder in memory, so that the ratios hold on a machine
# that others use too. The agent's run also takes the SHA-256 of the archive, which the others do not.
set -euo pipefail
cd "$(dirname "$0")/../.."

BUILD=${BUILD:-build/release} REPS=3 TREE="/usr/share /usr/bin /usr/sbin /usr/include" LIMIT_MB=1500 CHECK=0
WORK=${STOIKA_BENCH:-/dev/shm/stoika-unpack}

while [ $# -gt 0 ]; do
	case $1 in
	--reps) REPS=$2 && shift ;;
	--tree) TREE=$2 && shift ;;
	--build) BUILD=$2 && shift ;;
	--work) WORK=$2 && shift ;;
	--check) CHECK=1 ;; # fail when a goal is missed
	*)
		echo "usage: unpack.sh [--reps N] [--tree 'DIR ...'] [--build DIR] [--work DIR] [--check]" >&2
		exit 2
		;;
	esac
	shift
done
UNTAR=$BUILD/tests/bench/bench-untar
[ -x "$UNTAR" ] || UNTAR=$BUILD/bench-untar
mkdir -p "$WORK"
trap 'rm -rf "$WORK"' EXIT

# shellcheck disable=SC2086 # a list of folders
size=$(du -scm $TREE | tail -n 1 | cut -f1)
[ "$size" -le $((LIMIT_MB * 2)) ] || { echo "unpack.sh: $TREE has $size MB, too much" >&2; exit 2; }
# shellcheck disable=SC2086
folders=$(for folder in $TREE; do printf " %s" "${folder#/}"; done)
# shellcheck disable=SC2086
tar -C / --ignore-failed-read -cf - $folders | tee >(wc -c > "$WORK/bytes") | zstd -q -3 -T0 > "$WORK/root.tar.zst"
sleep 0.2
echo "tree: $TREE, $(($(cat "$WORK/bytes") / 1000000)) MB as tar, $(($(stat -c %s "$WORK/root.tar.zst") / 1000000)) MB as tar.zst"

idle() { # waits up to 20 s for a machine that does nothing else
	local tries=20 a b
	while [ $((tries--)) -gt 0 ]; do
		a=$(awk '/^cpu /{print $2+$3+$4+$7+$8}' /proc/stat)
		sleep 1
		b=$(awk '/^cpu /{print $2+$3+$4+$7+$8}' /proc/stat)
		[ $((b - a)) -gt 25 ] || return 0
	done
}

run() { # NAME COMMAND...: appends "NAME wall user sys"
	local name=$1
	shift
	rm -rf "$WORK/out" && mkdir "$WORK/out"
	idle
	/usr/bin/time -o "$WORK/time" -f "%e %U %S" "$@" > /dev/null
	echo "$name $(cat "$WORK/time")" >> "$WORK/figures"
}

: > "$WORK/figures"
for _ in $(seq "$REPS"); do
	run ours "$UNTAR" "$WORK/root.tar.zst" "$WORK/out"
	cp -al "$WORK/out" "$WORK/ours" 2> /dev/null || :
	run gnu-tar tar --zstd -C "$WORK/out" -xf "$WORK/root.tar.zst"
	[ -e "$WORK/same" ] || diff -rq --no-dereference "$WORK/ours" "$WORK/out" > "$WORK/differs" 2>&1 || :
	touch "$WORK/same" && rm -rf "$WORK/ours"
	! command -v bsdtar > /dev/null || run bsdtar bsdtar -C "$WORK/out" -xf "$WORK/root.tar.zst"
done
[ ! -s "$WORK/differs" ] || { echo "the trees differ:" && head -n 5 "$WORK/differs"; exit 1; }

awk -v check=$CHECK '
	function median(list, n,   i, j, t) {
		for (i = 1; i <= n; i++) for (j = i + 1; j <= n; j++) if (list[j] < list[i]) { t = list[i]; list[i] = list[j]; list[j] = t }
		return list[int((n + 1) / 2)]
	}
	{ wall[$1, ++n[$1]] = $2; cpu[$1] += $3 + $4 }
	END {
		for (name in n) {
			for (i = 1; i <= n[name]; i++) list[i] = wall[name, i]
			m[name] = median(list, n[name])
			printf "%-8s median %.2f s wall, %.2f s of CPU\n", name, m[name], cpu[name] / n[name]
		}
		a = m["gnu-tar"] / m["ours"]
		printf "ours is %.2f times as fast as GNU tar --zstd (goal 1.5)\n", a
		b = 2.5
		if ("bsdtar" in m) { b = m["bsdtar"] / m["ours"]; printf "ours is %.2f times as fast as bsdtar (goal 2.5)\n", b }
		exit check && (a < 1.5 || b < 2.5)
	}' "$WORK/figures"
