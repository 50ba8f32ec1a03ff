#!/bin/sh
# folder.sh PROGRAM DIST VERSION - the agent as a folder that needs nothing of the node.
#
# DIST/{VERSION,bin/stoika-agent,lib/...} and, beside lib, stoika-agent.tar.{zst,gz} of these three.
# lib holds the C library that PROGRAM was linked with, and those of its parts that the GPU driver's
# own library asks for. The same input gives the same bytes.
set -eu
program=$1 dist=$2 version=$3
export LC_ALL=C
umask 022

rm -rf "$dist"
mkdir -p "$dist/bin" "$dist/lib"
cp "$program" "$dist/bin/stoika-agent"
strip "$dist/bin/stoika-agent"
chmod 755 "$dist/bin/stoika-agent"
echo "$version" >"$dist/VERSION"

# Where this system keeps the C library that a program with the usual interpreter gets.
folder=$(dirname "$(ldd /bin/sh | sed -n 's/.*libc\.so\.6 => \([^ ]*\).*/\1/p')")
for name in ld-linux-x86-64.so.2 libc.so.6 libm.so.6 libdl.so.2 libpthread.so.0 librt.so.1; do
	cp -L "$folder/$name" "$dist/lib/$name"
	chmod 755 "$dist/lib/$name"
done

# Whatever else PROGRAM names would be looked for on the node, so it must not be there.
needed=$(readelf -d "$dist/bin/stoika-agent" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
for name in $needed; do
	if [ ! -e "$dist/lib/$name" ]; then
		echo "folder.sh: '$name' is needed by the agent and is not in its folder" >&2
		exit 1
	fi
done

pack() {
	tar -C "$dist" --format=gnu --sort=name --mtime=@1767225600 --owner=0 --group=0 \
		--numeric-owner --mode=u=rwX,go=rX -cf - VERSION bin lib
}
pack | zstd -q -19 -T1 >"$dist/stoika-agent.tar.zst"
pack | gzip -9n >"$dist/stoika-agent.tar.gz"
