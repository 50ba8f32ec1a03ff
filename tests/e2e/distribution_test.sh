#!/bin/sh
# One build of the agent runs on Debian 11, 12 and 13: libc 2.31, 2.36 and 2.41, by its own loader and libraries.
TOP=$(cd "$(dirname "$0")/../.." && pwd)
. "$TOP/tests/check.sh"
. "$TOP/tests/e2e/lab.sh"

for release in 11 12 13; do
	rm -rf state
	lab_start 1 --names n1 --debian "$release"
	expect 0 stoika show n1 --json
	# shellcheck disable=SC2016 # $v is jq's
	ok "Debian $release is recognised" jq -e --arg v "$release" '.facts.os.id == "debian" and .facts.os.version_id == $v' "$CHECK_DIR/out"
	expect 0 stoika apply base,node-exporter n1
	says 'n1 +changed'
	expect 0 stoika apply base,node-exporter n1 --json
	ok "Debian $release: the second run changes nothing" jq -e '.counts == {"ok": 1}' "$CHECK_DIR/out"
	printf 'Debian %s: %s\n' "$release" "$(lab exec n1 ldd --version | head -n 1)"
	expect 0 lab down
done
