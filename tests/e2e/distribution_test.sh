#!/bin/sh
# One build of the agent runs on Debian 11, 12 and 13: libc 2.31, 2.36 and 2.41, by its own loader and libraries.
TOP=$(cd "$(dirname "$0")/../.." && pwd)
. "$TOP/tests/check.sh"
. "$TOP/tests/e2e/lab.sh"
# shellcheck disable=SC1091 # found from where this stands
. "$TOP/tests/fault/apt_repo.sh"

for program in apt-ftparchive dpkg-deb gpg; do
	command -v "$program" > /dev/null || skip "needs $program"
done

# A source of packages with its key, and a version of a package that is held.
write_gpu() {
	mkdir -p recipes/gpu/files
	cp lab.asc recipes/gpu/files
	write_recipe gpu << END
recipe: gpu
supports: [debian 11-13]
steps:
  - repo: {name: lab, uris: ["file:/srv/repo"], suites: [./], key: lab.asc, fingerprint: $FINGERPRINT}
  - package: {names: [gpu=1.0, gpu-tools], hold: true}
END
	write_recipe gpu-elsewhere << END
recipe: gpu-elsewhere
supports: [ubuntu 22.04-24.04, rhel 9]
steps:
  - package: {names: [gpu=2.0]}
END
}

packages_on_n1() { # RELEASE
	tar -C debs -c . | on n1 sh -c 'mkdir -p /srv/repo && tar -C /srv/repo -x'
	expect 0 stoika apply gpu n1
	says 'n1 +changed'
	# shellcheck disable=SC2016 # dpkg's variables
	ok "Debian $1: the asked version is held" test "$(on n1 dpkg-query -W -f '${Status} ${Version}' gpu)" = 'hold ok installed 1.0'
	expect 0 stoika apply gpu n1 --json
	ok "Debian $1: packages stay as they are" jq -e '.counts == {"ok": 1}' "$CHECK_DIR/out"
	expect 1 stoika apply gpu-elsewhere n1
	says "does not support Debian.*\\(debian $1\\)"
}

repo_key
deb gpu 1.0
deb gpu 2.0
deb gpu-tools 1.0 'Depends: gpu'
publish debs
mkdir -p recipes
write_gpu

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
	packages_on_n1 "$release"
	printf 'Debian %s: %s\n' "$release" "$(lab exec n1 ldd --version | head -n 1)"
	expect 0 lab down
done
