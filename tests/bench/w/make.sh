#!/bin/bash
# make.sh OUT: the standard work item W, once as our recipe and once in the idiom of each peer.
# W is 20 files (15 of 1 KB, 3 scripts of 2 KB, one of 64 KB, one rendered for each host), 5 directories,
# 10 packages that are there, 2 users, 5 lines of a file that has others, 3 services (init script and pid
# file) and 2 commands with a guard. The bytes are the same every time.
set -euo pipefail

OUT=${1:?"usage: make.sh OUT"}
HERE=$(cd "$(dirname "$0")" && pwd)
PACKAGES=(openssh-server iproute2 procps kmod dbus udev systemd-sysv apt passwd bash)
DIRECTORIES=("/opt/w/etc 0755" "/opt/w/etc/conf.d 0755" "/opt/w/bin 0755" "/opt/w/data 0750" "/var/lib/w 0755")
LINES=("vm.swappiness 10" "net.core.somaxconn 4096" "vm.dirty_ratio 15" "fs.file-max 2000000" "kernel.pid_max 131072")

# N bytes of numbered text, different for each seed.
text() { # SEED BYTES PREFIX
	awk -v s="$1" -v n="$2" -v p="$3" 'BEGIN {
		srand(s)
		while (got < n) { line = p int(rand() * 1e9); got += length(line) + 1; print line }
	}'
}

make_files() {
	local i
	mkdir -p "$OUT"/w/{files,templates} "$OUT"/tree/opt/w/{etc/conf.d,bin,data}
	for i in $(seq -w 1 15); do text "$i" 1000 "key = " > "$OUT/w/files/c$i.conf"; done
	for i in 1 2 3; do
		{
			echo '#!/bin/sh'
			text "10$i" 1980 "echo "
		} > "$OUT/w/files/tool$i.sh"
	done
	text 7 65500 "" > "$OUT/w/files/blob.dat"
	cp "$OUT"/w/files/c*.conf "$OUT/tree/opt/w/etc/conf.d/"
	cp "$OUT"/w/files/tool*.sh "$OUT/tree/opt/w/bin/"
	chmod 755 "$OUT"/tree/opt/w/bin/*
	cp "$OUT/w/files/blob.dat" "$OUT/tree/opt/w/data/"
	chmod 640 "$OUT/tree/opt/w/data/blob.dat"
	chmod 750 "$OUT/tree/opt/w/data"
	cat > "$OUT/w/templates/host.conf" <<-'X'
		# host
		name = {{ node.name }}
		addr = {{ node.address }}
		rack = {{ node.rack }}
		role = {{ node.role }}
	X
}

# What every node has before: the file that others own too, and the three services.
make_layer() {
	local i
	mkdir -p "$OUT"/layer/etc/init.d "$OUT/layer/usr/local/sbin"
	printf '# limits of this lab\nkernel.panic = 10\nvm.swappiness = 60\n# end\n' > "$OUT/layer/etc/w-sysctl.conf"
	cc -std=c17 -D_GNU_SOURCE -O2 -static -o "$OUT/service" "$HERE/service.c"
	for i in 1 2 3; do
		cp "$OUT/service" "$OUT/layer/usr/local/sbin/wsvc$i"
		sed "s/@N@/wsvc$i/g" "$HERE/service.init" > "$OUT/layer/etc/init.d/wsvc$i"
		chmod 755 "$OUT/layer/etc/init.d/wsvc$i"
	done
}

make_recipe() {
	local i d l
	{
		printf 'recipe: w\nabout: the standard work item of the benchmark\n\nsteps:\n'
		printf '  - user: {name: wapp, uid: 2001, home: /var/lib/w, shell: /usr/sbin/nologin}\n'
		printf '  - user: {name: wops, uid: 2002, home: /var/lib/w, shell: /bin/bash}\n'
		for d in "${DIRECTORIES[@]}"; do
			printf '  - directory: {path: %s, mode: "%s"}\n' "${d% *}" "${d#* }"
		done
		for i in $(seq -w 1 15); do
			printf '  - file: {path: /opt/w/etc/conf.d/c%s.conf, source: c%s.conf, mode: "0644"}\n' "$i" "$i"
		done
		for i in 1 2 3; do
			printf '  - file: {path: /opt/w/bin/tool%s.sh, source: tool%s.sh, mode: "0755"}\n' "$i" "$i"
		done
		printf '  - file: {path: /opt/w/data/blob.dat, source: blob.dat, mode: "0640"}\n'
		printf '  - template: {path: /opt/w/etc/host.conf, source: host.conf, mode: "0644"}\n'
		printf '  - package: {names: [%s]}\n' "$(printf ', %s' "${PACKAGES[@]}" | cut -c3-)"
		for l in "${LINES[@]}"; do
			printf '  - line: {path: /etc/w-sysctl.conf, key: "%s = ", line: "%s = %s"}\n' \
				"${l% *}" "${l% *}" "${l#* }"
		done
		for i in 1 2 3; do printf '  - service: {name: wsvc%s, state: running}\n' "$i"; done
		printf '  - command: {shell: "date > /var/lib/w/a.done", creates: /var/lib/w/a.done}\n'
		printf '  - command:\n      shell: "echo w >> /var/lib/w/marker"\n'
		printf "      unless: exists('/var/lib/w/marker') and contains('/var/lib/w/marker', 'w')\n"
	} > "$OUT/w/recipe.yaml"
}

make_shell() {
	local d l
	{
		sed -n '/^#@head/,/^#@directories/p' "$HERE/w.sh.in" | grep -v '^#@'
		for d in "${DIRECTORIES[@]}"; do echo "dir ${d% *} ${d#* }"; done
		printf 'sums() {\ncat << S\n'
		(cd "$OUT/tree" && find opt -type f | sort | xargs sha256sum | sed 's|  |  /|')
		printf 'S\n}\nbody() {\nbase64 -d << T | tar -C / -xzpf -\n'
		tar -C "$OUT/tree" --sort=name --owner=0 --group=0 --numeric-owner -cf - opt | gzip -9n | base64
		printf 'T\n}\n'
		printf 'PACKAGES="%s"\n' "${PACKAGES[*]}"
		sed -n '/^#@body/,/^#@lines/p' "$HERE/w.sh.in" | grep -v '^#@'
		for l in "${LINES[@]}"; do echo "line ${l% *} ${l#* }"; done
		sed -n '/^#@tail/,$p' "$HERE/w.sh.in" | grep -v '^#@'
	} > "$OUT/w.sh"
}

make_ansible() {
	local d l
	{
		printf -- '- hosts: all\n  gather_facts: false\n  tasks:\n'
		printf '    - user: {name: "{{ item.n }}", uid: "{{ item.u }}", shell: "{{ item.s }}", home: /var/lib/w, create_home: false}\n'
		printf '      loop: [{n: wapp, u: 2001, s: /usr/sbin/nologin}, {n: wops, u: 2002, s: /bin/bash}]\n'
		printf '    - file: {path: "{{ item.p }}", mode: "{{ item.m }}", state: directory}\n      loop:\n'
		for d in "${DIRECTORIES[@]}"; do printf '        - {p: %s, m: "%s"}\n' "${d% *}" "${d#* }"; done
		printf '    - copy: {src: "{{ W }}/c{{ '"'%%02d'"' %% item }}.conf", dest: /opt/w/etc/conf.d/, mode: "0644"}\n      loop: "{{ range(1, 16) | list }}"\n'
		printf '    - copy: {src: "{{ W }}/tool{{ item }}.sh", dest: /opt/w/bin/, mode: "0755"}\n      loop: [1, 2, 3]\n'
		printf '    - copy: {src: "{{ W }}/blob.dat", dest: /opt/w/data/blob.dat, mode: "0640"}\n'
		printf '    - copy: {dest: /opt/w/etc/host.conf, mode: "0644", content: "# host\\nname = {{ inventory_hostname }}\\naddr = {{ ansible_host }}\\nrack = {{ rack }}\\nrole = {{ role }}\\n"}\n'
		printf '    - apt: {name: [%s], state: present}\n' "$(printf ', %s' "${PACKAGES[@]}" | cut -c3-)"
		printf '    - lineinfile: {path: /etc/w-sysctl.conf, regexp: "^{{ item.k }} =", line: "{{ item.k }} = {{ item.v }}"}\n      loop:\n'
		for l in "${LINES[@]}"; do printf '        - {k: %s, v: %s}\n' "${l% *}" "${l#* }"; done
		printf '    - service: {name: "wsvc{{ item }}", state: started}\n      loop: [1, 2, 3]\n'
		printf '    - shell: {cmd: "date > /var/lib/w/a.done", creates: /var/lib/w/a.done}\n'
		printf '    - shell: "grep -qs w /var/lib/w/marker || { echo w >> /var/lib/w/marker; echo CHANGED; }"\n      register: r\n'
		printf '      changed_when: "'"'CHANGED'"' in r.stdout"\n'
	} > "$OUT/site.yml"
}

rm -rf "$OUT"
mkdir -p "$OUT"
make_files
make_layer
make_recipe
make_shell
make_ansible
cp "$HERE/w.cf" "$HERE/w.pp" "$OUT/"
