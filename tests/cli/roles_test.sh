#!/bin/sh
# The roles of the three examples: every node has one that lists recipes, and these load with parameters that fit. No node
# is touched.
TOP=$(cd "$(dirname "$0")/../.." && pwd)
. "$TOP/tests/check.sh"
[ -x "$STOIKA" ] || skip "needs $STOIKA"
command -v jq > /dev/null || skip 'needs jq'
export STOIKA_RECIPES="$TOP/recipes"

for site in start business enterprise; do
	mkdir "$site"
	export STOIKA_DB="$PWD/$site/stoika.db"
	expect 0 "$STOIKA" init
	expect 0 "$STOIKA" import "$TOP/inventory/examples/$site.yaml"
	echo 'a secret of thirty-two bytes, or even more' > value
	for secret in grafana kubernetes munge; do
		"$STOIKA" secret set "$secret" < value > secret.log 2>&1 || fail "secret set $secret: $(cat secret.log)"
	done
	# all is loaded and judged before the first node is asked, and none of these has a pinned key
	expect 1 "$STOIKA" plan --roles all
	says 'no host key'
	unsaid 'must be given|is no parameter'
	"$STOIKA" plan --roles all --json 2> /dev/null | jq -r '.. | .node? // empty' | sort -u > planned
	"$STOIKA" list nodes --json | jq -r '.[].node' | sort -u > known
	ok "$site: every node has a role that lists recipes" test "$(wc -l < planned)" = "$(wc -l < known)"
	expect 2 "$STOIKA" plan --roles all --set nothing=1
done
