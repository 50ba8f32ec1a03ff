# shellcheck shell=sh
# lab.sh: what an end-to-end test sources after check.sh: real nodes, and an inventory that knows them.
#
#	lab_start 3 --names gpu01,gpu02,mgmt01   # nodes, a new inventory with them, the agent on each
#	lab ...                                  # tests/lab/lab on this lab
#	stoika ...                               # as the controller, in the lab's network
#	node_ssh NODE CMD ...                    # as an operator by ssh
#	on NODE CMD ...                          # inside the node, whatever its ssh says
#
# Recipes of the test lie in ./recipes, beside the product's own. The lab goes away at the end of the test;
# a test that defines cleanup itself calls lab_end there.

[ "$(id -u)" = 0 ] || skip 'needs root'
for program in systemd-nspawn mmdebstrap nft; do
	command -v "$program" > /dev/null || skip "needs $program"
done
unshare --net --mount true 2> /dev/null || skip 'needs network namespaces'
[ -x "$STOIKA" ] || skip "needs $STOIKA"

export STOIKA_LAB="$PWD/lab"
export STOIKA_RECIPES="$TOP/recipes:$PWD/recipes"
export STOIKA_DB="$PWD/state/stoika.db"

lab() { "$TOP/tests/lab/lab" "$@"; }
stoika() { lab ctl "$STOIKA" "$@"; }
on() { lab exec "$@"; }
node_ssh() { lab ctl timeout 20 ssh -n -F "$STOIKA_LAB/ssh_config" "$@"; }
lab_end() { [ ! -e "$STOIKA_LAB" ] || lab down > /dev/null; }
cleanup() { lab_end; }

# The smallest site that has the lab's nodes.
write_site() {
	echo 'site: lab'
	echo 'nodes:'
	lab hosts | while read -r address name; do
		echo "  - {name: $name, address: $address, role: gpu}"
	done
}

must() { # CMD ...: what the test cannot go on without
	expect 0 "$@"
	[ "$CHECK_FAILED" = 0 ] || exit 1
}

# Nodes and an inventory, no agent yet.
lab_inventory() { # N [OPTION ...] of lab up
	must lab up "$@"
	mkdir -p -m 700 state recipes
	must stoika init
	write_site > site.yaml
	must stoika import site.yaml
}

lab_install() {
	must stoika agent install all --identity "$STOIKA_LAB/id" --known-hosts "$STOIKA_LAB/known_hosts"
}

lab_start() {
	lab_inventory "$@"
	lab_install
}

write_recipe() { # NAME: from standard input
	mkdir -p "recipes/$1/files" "recipes/$1/templates"
	cat > "recipes/$1/recipe.yaml"
}
