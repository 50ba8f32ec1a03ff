#!/bin/sh
# A bundle's folder from stand-in packages: the closure of what is asked for, a vendor's repository by the mirror, what is
# told as open, and what verify finds. No node, no root, no network.
TOP=$(cd "$(dirname "$0")/../.." && pwd)
. "$TOP/tests/check.sh"
. "$TOP/tests/fault/apt_repo.sh"
[ -x "$STOIKA" ] || skip "needs $STOIKA"
for program in apt-get apt-ftparchive dpkg-deb gpg jq; do
	command -v "$program" > /dev/null || skip "needs $program"
done
export STOIKA_DB="$PWD/state/stoika.db" STOIKA_RECIPES="$PWD/recipes"
mkdir -p state recipes/tools recipes/vendor/files recipes/deaf/files

repo_key
deb lib 1:2.0
deb tool 1.0 'Depends: lib'
mv debs outside
publish outside
deb lib 1:2.0 # of the vendor, too, but never asked for by its name
deb vendor-engine 5.0 'Depends: tool'
mv debs vendor
publish vendor
printf 'Types: deb\nURIs: file:%s\nSuites: ./\nSigned-By: %s\n' "$PWD/outside" "$PWD/lab.asc" > outside.sources

cat > recipes/tools/recipe.yaml << END
recipe: tools
params:
  image: {type: text, default: ""}
steps:
  - package: {names: [tool]}
  - package: {names: [never]}
    when: facts.os.codename == 'trixie'
  - package: {names: ["headers-{{ facts.os.kernel }}"]}
    when: params.image != ''
END
cp lab.asc recipes/vendor/files/
for name in vendor deaf; do
	origin="if(default(vars.mirror, '') == '', 'file:$PWD/vendor', vars.mirror + '/apt/engine')"
	[ $name = vendor ] || origin="'file:$PWD/vendor'"
	cp lab.asc recipes/$name/files/
	cat > recipes/$name/recipe.yaml << END
recipe: $name
let:
  origin: "$origin"
steps:
  - repo: {name: engine, uris: ["{{ let.origin }}"], suites: [./], key: lab.asc}
  - package: {names: [vendor-engine]}
END
done
expect 0 "$STOIKA" init

make() { # RECIPES FOLDER ...
	recipes=$1
	folder=$2
	shift 2
	"$STOIKA" bundle make "$recipes" --for debian-12 -o "$folder" --sources outside.sources "$@"
}

# the closure comes along, the epoch is in no file's name, and a branch for another system is not asked for
expect 0 make tools a
says '^.*: 2 packages, signed by [0-9A-F]{40}$'
ok 'tool and what it depends on' test "$(ls a/apt/debian/pool)" = 'lib_2.0_all.deb
tool_1.0_all.deb'
gpg --batch --quiet --dearmor < a/keys/debian.asc > key.gpg
ok 'signed by the key that lies beside' gpgv --quiet --keyring "$PWD/key.gpg" a/apt/debian/dists/bookworm/InRelease
expect 0 "$STOIKA" bundle verify a
says 'whole, [0-9]+ files'

# a vendor's repository has a folder of its own
expect 0 make tools,vendor b
ok "the vendor's package" test -e b/apt/engine/pool/vendor-engine_5.0_all.deb
expect 0 "$STOIKA" bundle verify b --json
ok 'JSON' jq -e '.ok and .bad == []' "$CHECK_DIR/out"

# by roles: what each lists, with the variables of its nodes
cat > site.yaml << END
site: s
roles: {a: {recipes: [tools]}, b: {recipes: [tools, vendor], vars: {tools: {image: x}}}}
nodes: [{name: n1, address: 10.0.0.1, role: a}, {name: n2, address: 10.0.0.2, role: b}]
END
expect 0 "$STOIKA" import site.yaml
expect 0 make n1 r1 --roles
ok 'only what the role asks for' test ! -e r1/apt/engine
expect 0 make all r2 --roles --json
ok 'every role counts' test -e r2/apt/engine/pool/vendor-engine_5.0_all.deb
ok "a role's variables too" jq -e '.open[] | select(test("kernel"))' "$CHECK_DIR/out"
expect 0 "$STOIKA" bundle verify r1

# what does not go by the mirror, and what hangs on a node, is told
expect 2 make deaf c
warns 'vendor-engine'
expect 0 make tools d --set image=x
says 'open: .*kernel is a node'
expect 3 "$STOIKA" bundle verify d
says 'kernel is a node'

# files taken out, changed, and a manifest that somebody wrote
rm b/apt/engine/pool/vendor-engine_5.0_all.deb
expect 3 "$STOIKA" bundle verify b
says '^apt/engine/pool/vendor-engine_5.0_all.deb is missing$'
echo >> a/apt/debian/pool/lib_2.0_all.deb
expect 3 "$STOIKA" bundle verify a
says 'lib_2.0_all.deb is not as the manifest says'
sed -i 's/"size": [0-9]*/"size": 1/' a/manifest.json
expect 3 "$STOIKA" bundle verify a
warns 'signature'

# wrong uses
expect 2 make tools e --installed state
expect 2 "$STOIKA" bundle make tools --for rocky-9 -o f
warns "for 'rocky-9'"
expect 2 "$STOIKA" bundle make tools --for debian-12
warns 'needs --output FOLDER'
printf 'deb file:/x ./\n' > list
expect 2 "$STOIKA" bundle make tools --for debian-12 -o g --sources list
warns "has no line 'URIs:'"
