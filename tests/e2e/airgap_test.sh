#!/bin/sh
# Nodes that reach nobody but the controller get base and node-exporter wholly from a bundle's folder behind a web
# server; a bundle that lacks a package says which; one that was killed while it was made goes on.
TOP=$(cd "$(dirname "$0")/../.." && pwd)
. "$TOP/tests/check.sh"
. "$TOP/tests/e2e/lab.sh"
# shellcheck disable=SC1091 # found from where this stands
. "$TOP/tests/fault/apt_repo.sh"

for program in apt-ftparchive dpkg-deb gpg nginx jq; do
	command -v "$program" > /dev/null || skip "needs $program"
done

cleanup() {
	[ ! -s nginx.pid ] || kill "$(cat nginx.pid)"
	lab_end
}

# The distribution, as the outside has it: what the lab's roots carry, signed by a key of the test.
outside() { # NODE
	mkdir outside
	on "$1" tar -C /srv/packages -c . | tar -C outside -x
	on "$1" cat /var/lib/dpkg/status > installed
	publish outside
	printf 'Types: deb\nURIs: file:%s\nSuites: ./\nSigned-By: %s\n' "$PWD/outside" "$PWD/lab.asc" > outside.sources
}

make_bundle() {
	"$STOIKA" bundle make local-mirrors,base,node-exporter --for debian-12 -o site --sources outside.sources \
		--installed installed "$@"
}

serve() {
	cat > nginx.conf << END
user root;
pid $PWD/nginx.pid;
error_log $PWD/nginx.log;
events {}
http {
	access_log $PWD/access.log;
	client_body_temp_path $PWD/body;
	server { listen 10.77.0.1:8080; root $PWD/site; }
}
END
	must lab ctl nginx -e "$PWD/nginx.log" -c "$PWD/nginx.conf"
}

lab_start 2 --names n1,n2
repo_key
outside n1

# nothing half-made passes for whole
mkdir site
expect 3 "$STOIKA" bundle verify site
warns 'was not finished'
must make_bundle --json
PRINT=$(jq -r .fingerprint "$CHECK_DIR/out")
ok 'packages came' test -n "$(find site/apt/debian/pool -name 'prometheus-node-exporter_*.deb')"
must "$STOIKA" bundle verify site --installed installed
says 'whole'

# again: nothing is fetched anew, and the folder is whole in the end
touch before
must make_bundle
ok 'no package is written twice' test -z "$(find site/apt/debian/pool -newer before -type f)"

# killed on its way: it does not pass for whole, and the next one ends it
rm -r site/.work site/apt
"$STOIKA" bundle make local-mirrors,base,node-exporter --for debian-12 -o site --sources outside.sources \
	--installed installed > killed.log 2>&1 &
made=$!
while [ -e site/manifest.json ] && kill -0 $made; do sleep 0.02; done
kill -KILL $made
wait $made
ok 'what was killed has no manifest' test ! -e site/manifest.json
must make_bundle
must "$STOIKA" bundle verify site --installed installed

# a package less
jq_deb=$(find site/apt/debian/pool -name 'jq_*.deb')
mv "$jq_deb" kept.deb
expect 3 "$STOIKA" bundle verify site --installed installed
says "pool/jq_.* is missing"
mv kept.deb "$jq_deb"

# a recipe that asks for more than was collected
printf 'recipe: more\nsteps:\n  - package: {names: [there-is-no-such]}\n' > more.yaml
mkdir -p recipes/more && mv more.yaml recipes/more/recipe.yaml
expect 2 "$STOIKA" bundle make more --for debian-12 -o more --sources outside.sources --installed installed
warns 'there-is-no-such'

# nodes: the old source is gone, and there is no way out
serve
for node in n1 n2; do on "$node" rm -rf /srv/packages /var/lib/apt/lists; done
printf 'vars:\n  mirror: http://10.77.0.1:8080\n  local-mirrors:\n    fingerprint: %s\n    key: |\n%s\n' "$PRINT" \
	"$(sed 's/^/      /' site/keys/debian.asc)" >> site.yaml
must stoika import site.yaml
must stoika apply --bundle site/recipes.bundle local-mirrors,base,node-exporter n1,n2
says 'n1 +changed'
ok 'the exporter answers' on n2 curl -sf http://127.0.0.1:9100/metrics -o /dev/null
ok 'packages came from the bundle' grep -q 'GET /apt/debian/pool/.*node-exporter' access.log
must stoika apply --bundle site/recipes.bundle local-mirrors,base,node-exporter n1,n2 --json
ok 'the second run changes nothing' jq -e '.counts == {"ok": 2}' "$CHECK_DIR/out"
