# shellcheck shell=bash
# root.sh: the cached root file systems of the nodes, one for each Debian release, and in each of them
# /srv/packages, a small apt repository with what the recipes install, for the nodes have no internet.
# A root is built beside its place and renamed: it is there whole or not at all.

ROOT_FORMAT=4
ROOT_PACKAGES=dbus,iproute2,kmod,openssh-server,procps,systemd-sysv,udev
SERVED_PACKAGES='ca-certificates chrony containerd cron curl ethtool jq lsof numactl nftables nvme-cli pciutils
	prometheus-node-exporter runc smartmontools tmux'
MASKED_UNITS='apt-daily.timer apt-daily-upgrade.timer dpkg-db-backup.timer e2scrub_all.timer
	e2scrub_reap.service fstrim.timer getty-static.service getty@tty1.service systemd-update-utmp.service
	nvmf-autoconnect.service dev-hugepages.mount sys-kernel-debug.mount sys-kernel-tracing.mount'

root_codename() {
	case $1 in
	11) echo bullseye ;;
	12) echo bookworm ;;
	13) echo trixie ;;
	*) die "Debian '$1' is not known; 11, 12 and 13 are" ;;
	esac
}

# The mirror this machine's own apt uses, so that a proxy or a mirror of the site serves the lab too.
root_mirror() { # debian|debian-security
	local uri
	# shellcheck disable=SC2016 # apt's own variable
	uri=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 2> /dev/null |
		grep -E "/$1/?\$" | head -n 1) || :
	[ -n "$uri" ] || die "apt of this machine knows no mirror of $1" "see: apt-get indextargets"
	printf '%s\n' "$uri"
}

root_repository() { # ROOT: an index over the packages that apt has just fetched
	local deb
	mkdir -p "$1/srv/packages"
	mv "$1"/var/cache/apt/archives/*.deb "$1/srv/packages/"
	for deb in "$1"/srv/packages/*.deb; do
		dpkg-deb -f "$deb"
		printf 'Filename: ./%s\nSize: %s\nSHA256: %s\n\n' "${deb##*/}" "$(stat -c %s "$deb")" \
			"$(sha256sum < "$deb" | cut -d' ' -f1)"
	done > "$1/srv/packages/Packages"
}

root_finish() { # ROOT
	local unit
	rm -rf "$1"/etc/ssh/ssh_host_* "$1"/etc/apt/sources.list.d/* "$1"/var/log/*.log
	echo 'deb [trusted=yes] file:/srv/packages ./' > "$1/etc/apt/sources.list"
	# a container may not set the clock; chronyd runs there with -x, which leaves it alone
	mkdir -p "$1/etc/systemd/system/chrony.service.d"
	# shellcheck disable=SC2016 # systemd's variable
	printf '%s\n' '[Unit]' 'ConditionCapability=' '[Service]' 'ExecStart=' \
		'ExecStart=!/usr/sbin/chronyd -x $DAEMON_OPTS' > "$1/etc/systemd/system/chrony.service.d/lab.conf"
	for unit in $MASKED_UNITS; do ln -sf /dev/null "$1/etc/systemd/system/$unit"; done
	: > "$1/etc/machine-id"
	chroot "$1" apt-get -qq update
}

root_build() { # CODENAME TARGET
	local fetch include=$ROOT_PACKAGES excluded
	# shellcheck disable=SC2086 # a list of words
	fetch=$(printf ' %s' $SERVED_PACKAGES)
	excluded=$(printf -- '--dpkgopt=path-exclude=%s\n' '/usr/share/doc/*' '/usr/share/man/*' \
		'/usr/share/locale/*' '/usr/share/i18n/*' '/usr/lib/udev/hwdb.d/*' '/lib/udev/hwdb.d/*')
	# shellcheck disable=SC2086,SC2016 # the options are words; $1 belongs to mmdebstrap's hook
	(set -f && TMPDIR=$CACHE mmdebstrap --quiet --variant=apt --format=directory --skip=output/dev \
		--include="$include" --dpkgopt=force-unsafe-io $excluded \
		--aptopt='Acquire::Languages "none"' --aptopt='Acquire::Check-Valid-Until "false"' \
		--customize-hook='export APT_CONFIG=$MMDEBSTRAP_APT_CONFIG; apt-get clean;
			apt-get -qq -y --download-only install'"$fetch" \
		--skip=cleanup/apt/cache \
		"$1" "$2" "deb $(root_mirror debian) $1 main" \
		"deb $(root_mirror debian-security) $1-security main") >&2
	root_repository "$2"
	root_finish "$2"
}

root_key() {
	printf '%s\n' "$ROOT_FORMAT" "$ROOT_PACKAGES" "$SERVED_PACKAGES" "$MASKED_UNITS" | sha256sum | cut -c1-10
}

# What a lab asks for with --with, in a layer over the root, so that other labs do not pay for it: packages that
# every node has from the start, or that it can install, for recipes that do so.
layer_packages() { # WHAT
	case $1 in
	slurm) echo slurmctld slurmd slurm-client munge ;;
	monitoring) echo prometheus prometheus-alertmanager ;;
	engines) echo crun docker.io iptables podman ;;
	*) die "'$1' is nothing that nodes can have from the start; slurm is, and monitoring and engines" ;;
	esac
}

layer_serves() { [ "$1" = monitoring ] || [ "$1" = engines ]; } # WHAT: a repository of the packages, nothing installed

# The packages as a second repository on the node.
layer_offer() { # FOLDER
	mkdir -p "$1/all/srv/more" "$1/all/etc/apt/sources.list.d" "$1/all/var/cache/apt/archives"
	mv "$1"/debs/*.deb "$1/all/var/cache/apt/archives/"
	mv "$1/all/srv/packages" "$1/all/srv/first"
	root_repository "$1/all"
	mv "$1/all/srv/packages"/* "$1/all/srv/more/"
	rmdir "$1/all/srv/packages"
	mv "$1/all/srv/first" "$1/all/srv/packages"
	echo 'deb [trusted=yes] file:/srv/more ./' > "$1/all/etc/apt/sources.list.d/more.list"
	chroot "$1/all" apt-get -qq update
}

# Apt of this machine fetches, for the root has no way out; dpkg of the root installs.
layer_build() { # WHAT CODENAME ROOT FOLDER PACKAGE ...
	local what=$1 codename=$2 root=$3 folder=$4 apt
	shift 4
	mkdir -p "$folder"/{up,work,all,lists/partial,debs/partial}
	mount -t overlay overlay -o "lowerdir=$root,upperdir=$folder/up,workdir=$folder/work" "$folder/all"
	mount --rbind /dev "$folder/all/dev"
	mount -t proc proc "$folder/all/proc"
	local signed='[signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]'
	printf '%s\n' "deb $signed $(root_mirror debian) $codename main" \
		"deb $signed $(root_mirror debian-security) $codename-security main" > "$folder/sources.list"
	apt=(apt-get -qq -y -o "Dir::Etc::sourcelist=$folder/sources.list" -o Dir::Etc::sourceparts=/dev/null
		-o Dir::Etc::preferencesparts=/dev/null -o "Dir::State::lists=$folder/lists"
		-o "Dir::State::status=$folder/all/var/lib/dpkg/status" -o "Dir::Cache::archives=$folder/debs"
		-o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache= -o APT::Sandbox::User=root
		-o APT::Install-Recommends=false -o Acquire::Languages=none)
	"${apt[@]}" update
	"${apt[@]}" --download-only install "$@"
	if layer_serves "$what"; then
		layer_offer "$folder"
		umount -l "$folder/all"
		rm -rf "$folder/up/run" "$folder/up/tmp" "$folder/up/dev" "$folder/up/proc"
		return
	fi
	mkdir -p "$folder/all/run/debs"
	mount --bind "$folder/debs" "$folder/all/run/debs"
	printf '#!/bin/sh\nexit 101\n' > "$folder/all/usr/sbin/policy-rc.d"
	chmod 755 "$folder/all/usr/sbin/policy-rc.d"
	# shellcheck disable=SC2016 # for the inner shell
	DEBIAN_FRONTEND=noninteractive chroot "$folder/all" sh -c 'exec dpkg --force-unsafe-io -i /run/debs/*.deb'
	rm "$folder/all/usr/sbin/policy-rc.d"
	umount -l "$folder/all"
	rm -rf "$folder/up/run" "$folder/up/tmp" "$folder/up/dev" "$folder/up/proc" "$folder"/up/var/log/*.log
}

# A function in a subshell of its own, like the one below.
layer_make() ( # RELEASE ROOT WHAT: prints the folder
	packages=$(layer_packages "$3")
	target=$2-$3-$(printf '%s' "$packages" | sha256sum | cut -c1-6)
	building=$CACHE/building-$3-$(root_codename "$1")
	exec 9> "$CACHE/$3.lock"
	[ -d "$target" ] || flock 9
	if [ ! -d "$target" ]; then
		trap 'rm -rf "$building"' EXIT
		rm -rf "$building"
		echo "lab: installing $3 for Debian $1, once" >&2
		export -f layer_build layer_serves layer_offer root_repository root_mirror die
		# shellcheck disable=SC2086,SC2016 # a list of words; for the inner shell
		unshare --mount bash -euo pipefail -c 'layer_build "$@"' - \
			"$3" "$(root_codename "$1")" "$2" "$building" $packages > "$CACHE/$3.log" 2>&1 ||
			die "$3 could not be installed" "see: $CACHE/$3.log"
		mv "$building/up" "$target"
	fi
	printf '%s\n' "$target"
)

# A function in a subshell of its own: its lock and its trap end with it.
root_make() ( # RELEASE: prints the folder
	codename=$(root_codename "$1")
	target=$CACHE/$codename-$(root_key)
	building=$CACHE/building-$codename
	if [ ! -d "$target" ]; then
		command -v mmdebstrap > /dev/null || die "mmdebstrap is missing" "apt-get install mmdebstrap"
		mkdir -p "$CACHE"
		chmod 755 "$CACHE"
		exec 9> "$CACHE/$codename.lock"
		flock 9
	fi
	if [ ! -d "$target" ]; then
		trap 'rm -rf "$building"' EXIT
		rm -rf "$building" # of one who was killed: a living one would hold the lock
		mkdir "$building"
		echo "lab: making the root of Debian $1, once" >&2
		root_build "$codename" "$building/root"
		mv "$building/root" "$target"
	fi
	printf '%s\n' "$target"
)

root_purge() {
	local user
	[ -e "$CACHE" ] || return 0
	user=$(grep -lF "lowerdir=" /proc/[0-9]*/mountinfo 2> /dev/null | xargs -r grep -lF "$CACHE/" 2> /dev/null |
		head -n 1) || :
	[ -z "$user" ] || die "a lab still uses '$CACHE'" "bring the labs down first"
	rm -rf "$CACHE"/{bullseye,bookworm,trixie}-* "$CACHE"/building-* "$CACHE"/*.lock "$CACHE"/*.log "$CACHE"/keys
	rmdir "$CACHE" 2> /dev/null || echo "lab: '$CACHE' holds other files and stays" >&2
}
