# shellcheck shell=bash
# shellcheck disable=SC2016 # quoted scripts are for the node's shell
# fault.sh: what goes wrong with machines, on demand. `lab reset NODE` mends all of it.

fault_kill() { # NODE
	[ $# = 1 ] || usage
	node_find "$1"
	node_stop "$INDEX"
}

fault_cut() { # NODE
	[ $# = 1 ] || usage
	node_find "$1"
	if [ "$KIND" = systemd ]; then
		ip -n "$ID" link set "v$INDEX" down
	else
		net_in "$ID" nft add element ip lab cut "{ ${ADDRESSES[INDEX]} }"
	fi
}

fault_mend() { # INDEX: the cable is back in
	if [ "$KIND" = systemd ]; then
		ip -n "$ID" link set "v$1" up
	else
		net_in "$ID" nft delete element ip lab cut "{ ${ADDRESSES[$1]} }" 2> /dev/null || :
	fi
}

fault_uncut() { # NODE
	[ $# = 1 ] || usage
	node_find "$1"
	fault_mend "$INDEX"
}

fault_fill() { # NODE
	[ $# = 1 ] || usage
	[ -n "$UPPER_SIZE" ] || die "the nodes' disks have no limit" "lab up N --upper-size 64M"
	node_find "$1"
	dd if=/dev/zero of="$(node_disk "$1")/up/lab-fill" bs=1M 2> /dev/null || :
	dd if=/dev/zero of="$(node_disk "$1")/up/lab-fill" bs=512 oflag=append conv=notrunc 2> /dev/null || :
}

# A package whose postinst fails until /run/lab-mended exists: what a driver's failed module build leaves.
break_dpkg() {
	node_run 'd=$(mktemp -d) && mkdir -p "$d/DEBIAN" && printf "%s\n" "Package: lab-broken" "Version: 1.0" \
		"Architecture: all" "Maintainer: lab <lab@example.invalid>" "Description: fails to configure" \
		> "$d/DEBIAN/control" && printf "#!/bin/sh\ntest -e /run/lab-mended\n" > "$d/DEBIAN/postinst" &&
		chmod 755 "$d" "$d/DEBIAN/postinst" && dpkg-deb -b "$d" /tmp/lab-broken.deb &&
		{ dpkg -i /tmp/lab-broken.deb; rm -rf "$d" /tmp/lab-broken.deb; }' > /dev/null 2>&1
	[ "$(node_run 'dpkg-query -W -f "\${db:Status-Abbrev}" lab-broken')" = 'iF ' ] ||
		die "the package did not break"
}

break_hostkey() {
	node_run 'rm -f /etc/ssh/ssh_host_*_key* &&
		ssh-keygen -q -t ed25519 -N "" -f /etc/ssh/ssh_host_ed25519_key &&
		ssh-keygen -q -t ecdsa -b 256 -N "" -f /etc/ssh/ssh_host_ecdsa_key'
	# sshd read its keys when it started
	node_run 'kill -HUP "$(cat /run/sshd.pid)"'
}

break_sshd() {
	if [ "$KIND" = systemd ]; then
		node_run 'systemctl disable --quiet ssh.service; systemctl stop ssh.service'
	else
		node_run 'kill "$(cat /run/sshd.pid)"'
	fi
}

break_key() {
	node_run ': > /root/.ssh/authorized_keys'
}

node_run() { # SCRIPT: in the node INDEX
	(node_exec "${NAMES[INDEX]}" sh -c "$1")
}

fault_break() { # NODE WHAT
	[ $# = 2 ] || usage
	node_find "$1"
	case $2 in
	dpkg | hostkey | sshd | key) "break_$2" ;;
	*) die "'$2' cannot be broken; dpkg, hostkey, sshd and key can" ;;
	esac
}
