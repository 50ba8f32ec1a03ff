# shellcheck shell=sh
# lab.sh: what the end-to-end tests share, sourced after check.sh: a lab of this test's own, an inventory for
# it, and the controller run inside the lab's network. The agent is the one of the release build, since it is
# what nodes get; the controller is the one under test (with sanitizers, where the build has them).

[ "$(id -u)" = 0 ] || skip 'needs root'
for program in systemd-nspawn mmdebstrap jq sqlite3 curl; do
	command -v "$program" > /dev/null || skip "needs $program"
done

AGENT=$TOP/build/release/agent/dist
[ -s "$AGENT/stoika-agent.tar.zst" ] || skip "needs $AGENT (cmake --preset release, target agent-folder)"

export STOIKA_LAB="$PWD/lab" STOIKA_DB="$PWD/db/stoika.db" STOIKA_RECIPES="$TOP/recipes"
lab() { "$TOP/tests/lab/lab" "$@"; }
cleanup() { [ ! -e "$STOIKA_LAB" ] || lab down > /dev/null; }
# In the lab's network, as an administrator's machine would be.
stoika() { lab ctl "$STOIKA" "$@"; }

# A site of the lab's nodes and nothing else: nodes NAME ADDRESS.
make_site() {
	printf 'site: lab\nnodes:\n'
	while read -r address name; do printf '  - {name: %s, address: %s, role: gpu}\n' "$name" "$address"; done < "$STOIKA_LAB/hosts"
}

# Lab up with these arguments, inventory made and imported.
start() {
	mkdir -p db
	expect 0 lab up "$@"
	make_site > site.yaml
	expect 0 stoika init
	expect 0 stoika import site.yaml
}

# A recipe of the test's own from standard input, used as recipes/NAME.
make_recipe() {
	mkdir -p "recipes/$1/files" "recipes/$1/templates"
	cat > "recipes/$1/recipe.yaml"
}
