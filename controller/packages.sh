#!/bin/sh
# packages.sh missing|install GROUP ...: names or installs the packages of these groups of packages.txt that
# are not here yet. Asks nothing. Needs root to install, and nothing when nothing is missing.
set -eu

here=$(cd "$(dirname "$0")" && pwd)

missing() { # GROUP ...
	for group in "$@"; do
		awk -v group="$group" '$1 == group {print $2}' "$here/packages.txt" | grep . ||
			echo "packages.sh: there is no group '$group'" >&2
	done | sort -u | while read -r package; do
		state=$(dpkg-query -W -f '${db:Status-Abbrev}' "$package" 2> /dev/null) || state=
		[ "$state" = 'ii ' ] || echo "$package"
	done
}

install() { # GROUP ...
	packages=$(missing "$@")
	if [ -z "$packages" ]; then
		echo "nothing is missing"
		return
	fi
	export DEBIAN_FRONTEND=noninteractive
	apt-get -q -o DPkg::Lock::Timeout=300 update
	# shellcheck disable=SC2086 # a list of words
	apt-get -q -y -o DPkg::Lock::Timeout=300 install --no-install-recommends $packages < /dev/null
}

case ${1:-} in
missing | install) [ $# -ge 2 ] && "$@" ;;
*)
	echo "usage: packages.sh missing|install GROUP ..." >&2
	exit 2
	;;
esac
