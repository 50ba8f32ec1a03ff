#!/bin/sh
# repo.sh FOLDER: a signed apt repository with stand-ins for NVIDIA's packages, called as in NVIDIA's own
# repository for Debian from branch 590 on. FOLDER/key.asc and FOLDER/fingerprint are its key. Two seconds.
#
#	595.91.07   branch A
#	610.57.04   branch B
#	610.57.05   B whose module does not build: its package stays half-configured
#	610.57.06   B whose Fabric Manager was built for 610.57.04, whatever its package says
#	610.57.07   B that loads, but cannot start one GPU (a lost one, Xid 79)
# Needs apt-ftparchive, dpkg-deb, gpg and cc.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
folder=$(cd "$1" && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/gpu-repo.XXXXXX")
trap 'rm -rf "$work"' EXIT
export GNUPGHOME="$work/gnupg"
flags='-std=c17 -D_GNU_SOURCE -O2 -Wall -Wextra -Wpedantic -Wshadow -Werror'

# The tree of the package lies in $work/tree, filled by the caller; scripts in $work/scripts.
pack() { # NAME VERSION [DEPENDS]
	mkdir -p "$work/tree/DEBIAN"
	printf 'Package: %s\nVersion: %s\nArchitecture: amd64\nMaintainer: nobody <nobody@example.org>\n%sDescription: stand-in\n' \
		"$1" "$2" "${3:+Depends: $3
}" > "$work/tree/DEBIAN/control"
	for script in "$work/scripts"/*; do
		[ ! -e "$script" ] || install -m 755 "$script" "$work/tree/DEBIAN/"
	done
	dpkg-deb --root-owner-group -Znone -b "$work/tree" "$folder/$1_${2#*:}_amd64.deb" > "$work/dpkg-deb.log"
	rm -rf "$work/tree" "$work/scripts"
	mkdir -p "$work/tree" "$work/scripts"
}

program() { # PATH: a script of the tree, from standard input
	mkdir -p "$work/tree/${1%/*}"
	cat > "$work/tree/$1"
	chmod 755 "$work/tree/$1"
}

unit() { # NAME EXEC [LINE OF UNIT]
	mkdir -p "$work/tree/lib/systemd/system"
	printf '%s\n' '[Unit]' "Description=stand-in for $1" "After=gpu-boot.service${3:+ $3}" '[Service]' "ExecStart=$2" \
		'[Install]' 'WantedBy=multi-user.target' > "$work/tree/lib/systemd/system/$1.service"
}

# DKMS: builds for each kernel with headers, skips the others with a word, fails when told to.
kernel_module() { # NAME VERSION LICENSE
	mkdir -p "$work/tree/usr/src/nvidia-$2"
	printf 'PACKAGE_NAME="nvidia"\nPACKAGE_VERSION="%s"\n' "$2" > "$work/tree/usr/src/nvidia-$2/dkms.conf"
	printf 'version=%s\nlicense=%s\n' "$2" "$3" > "$work/tree/usr/src/nvidia-$2/nvidia.ko"
	[ "$2" != 610.57.07 ] || echo lost=3 >> "$work/tree/usr/src/nvidia-$2/nvidia.ko"
	cat > "$work/scripts/postinst" << X
#!/bin/sh
set -eu
[ "\$1" = configure ] || exit 0
for kernel in /lib/modules/*; do
	built=/var/lib/dkms/nvidia/$2/\${kernel##*/}/x86_64
	if [ ! -e "\$kernel/build/Makefile" ]; then
		echo "Module build for kernel \${kernel##*/} was skipped since the"
		echo "kernel headers for this kernel do not seem to be installed."
		continue
	fi
	mkdir -p "\$built/module" "\$built/log" "\$kernel/updates/dkms"
	if [ $2 = 610.57.05 ]; then
		mkdir -p /var/lib/dkms/nvidia/$2/build
		printf '%s\n' "DKMS make.log for nvidia-$2 for kernel \${kernel##*/} (x86_64)" \\
			"nvidia/nv.c:812:9: error: implicit declaration of function 'vm_flags_set'" \\
			"make: *** [Makefile:234: __sub-make] Error 2" > /var/lib/dkms/nvidia/$2/build/make.log
		echo "Error! Bad return status for module build on kernel: \${kernel##*/} (x86_64)" >&2
		echo "Consult /var/lib/dkms/nvidia/$2/build/make.log for more information." >&2
		exit 10
	fi
	cp /usr/src/nvidia-$2/nvidia.ko "\$built/module/nvidia.ko"
	cp /usr/src/nvidia-$2/nvidia.ko "\$kernel/updates/dkms/nvidia.ko"
done
X
	cat > "$work/scripts/prerm" << X
#!/bin/sh
rm -rf /var/lib/dkms/nvidia/$2 /lib/modules/*/updates/dkms/nvidia.ko
X
	pack "$1" "$2-1"
}

library() { # VERSION
	mkdir -p "$work/tree/usr/lib/x86_64-linux-gnu"
	cp "$work/nvml.so" "$work/tree/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.$1"
	ln -s "libnvidia-ml.so.$1" "$work/tree/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1"
	pack libnvidia-ml1 "$1-1"
	mkdir -p "$work/tree/usr/lib/x86_64-linux-gnu"
	: > "$work/tree/usr/lib/x86_64-linux-gnu/libcuda.so.$1"
	ln -s "libcuda.so.$1" "$work/tree/usr/lib/x86_64-linux-gnu/libcuda.so.1"
	pack libcuda1 "$1-1"
}

fabric_manager() { # VERSION
	built_for=$1
	[ "$1" != 610.57.06 ] || built_for=610.57.04
	program usr/bin/nv-fabricmanager << X
#!/bin/sh
loaded=\$(sed -n 's/^version=//p' /run/gpu-lab/loaded 2> /dev/null)
[ "\$loaded" = $built_for ] || {
	echo "fabric manager NVIDIA GPU driver interface version $built_for don't match with driver version \${loaded:-none}. Please update with matching NVIDIA driver package." >&2
	exit 1
}
echo version=$built_for > /run/gpu-lab/fabric
sleep infinity & # no exec: it would lose the program's name
wait
X
	unit nvidia-fabricmanager /usr/bin/nv-fabricmanager
	pack nvidia-fabricmanager "$1-1"
}

driver() { # VERSION
	kernel_module nvidia-kernel-open-dkms "$1" 'Dual MIT/GPL'
	kernel_module nvidia-kernel-dkms "$1" NVIDIA
	library "$1"
	mkdir -p "$work/tree/usr/bin"
	cp "$work/smi" "$work/tree/usr/bin/nvidia-smi"
	pack nvidia-smi "$1-1" "libnvidia-ml1 (= $1-1)"
	program usr/bin/nvidia-persistenced << 'X'
#!/bin/sh
[ -e /run/gpu-lab/loaded ] || exit 1
exec 3< /dev/nvidia0
sleep infinity 3<&- &
wait
X
	unit nvidia-persistenced '/usr/bin/nvidia-persistenced --persistence-mode'
	pack nvidia-persistenced "$1-1"
	pack nvidia-driver-cuda "$1-1" "nvidia-kernel-open-dkms (= $1-1) | nvidia-kernel-dkms (= $1-1), libcuda1 (= $1-1), libnvidia-ml1 (= $1-1), nvidia-smi (= $1-1), nvidia-persistenced (= $1-1)"
	fabric_manager "$1"
}

dcgm() { # VERSION
	program usr/bin/nv-hostengine << 'X'
#!/bin/sh
exec 3< /dev/nvidiactl
sleep infinity 3<&- &
wait
X
	unit nvidia-dcgm '/usr/bin/nv-hostengine -n' nvidia-fabricmanager.service
	pack datacenter-gpu-manager-4-core "1:$1-1"
	pack datacenter-gpu-manager-4-cuda13 "1:$1-1" "datacenter-gpu-manager-4-core (= 1:$1-1)"
}

toolkit() { # VERSION
	program usr/bin/nvidia-ctk << X
#!/bin/sh
echo "NVIDIA Container Toolkit CLI version $1"
X
	pack nvidia-container-toolkit "$1-1"
}

sign() {
	mkdir -m 700 "$GNUPGHOME"
	gpg --batch --quiet --passphrase '' --quick-gen-key 'Lab' ed25519 sign never 2> "$work/gpg.log"
	gpg --export --armor Lab > "$folder/key.asc"
	gpg --list-keys --with-colons 2> "$work/gpg.log" | sed -n 's/^fpr:*\([0-9A-F]*\):$/\1/p' | head -n 1 > "$folder/fingerprint"
	cd "$folder"
	rm -f Packages Release InRelease
	apt-ftparchive packages . > Packages
	apt-ftparchive release . > "$work/Release"
	mv "$work/Release" Release
	gpg --batch --quiet --yes --clearsign -o InRelease Release
}

mkdir -p "$work/tree" "$work/scripts"
# shellcheck disable=SC2086 # words
cc $flags -shared -fPIC -o "$work/nvml.so" "$here/nvml.c"
# shellcheck disable=SC2086 # words
cc $flags -o "$work/smi" "$here/smi.c"
for version in 595.91.07 610.57.04 610.57.05 610.57.06 610.57.07; do driver "$version"; done
for version in 4.5.3 4.6.0; do dcgm "$version"; done
for version in 1.19.1 1.20.0; do toolkit "$version"; done
sign
