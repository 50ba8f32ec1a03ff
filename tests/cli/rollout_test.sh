#!/bin/sh
# A rollout foretold from a shipped inventory: canaries, waves, limits and what is said of bad policies.
# shellcheck disable=SC1091,SC2154 # check.sh is found from where this stands, and sets STOIKA
TOP=$(cd "$(dirname "$0")/../.." && pwd)
. "$TOP/tests/check.sh"

export STOIKA_DB="$PWD/stoika.db"
expect 0 "$STOIKA" init
expect 0 "$STOIKA" import "$TOP/inventory/examples/enterprise.yaml"

expect 0 "$STOIKA" rollout explain all
says "policy 'preset', 38 nodes"
says '0:00  canaries   3  db01,gpu01,mds01'
says 'the canaries have not ended'
says 'rack G1: 1 away, 1 allowed'
says 'all who can are back after'

cp "$CHECK_DIR/out" preset
expect 0 "$STOIKA" help rollout explain
sed -nE '/^    (           )?[a-z]/p' "$CHECK_DIR/out" > help.yaml
ok 'every key of a policy is in the help' test "$(wc -l < help.yaml)" -eq 18
head -n 14 help.yaml > shown.yaml
expect 0 "$STOIKA" rollout explain all --policy shown.yaml
ok 'the preset that the help shows is the preset' cmp "$CHECK_DIR/out" preset
expect 0 "$STOIKA" rollout explain 'gpu[01-04]' --policy help.yaml
expect 0 "$STOIKA" manual
says '^\.nf$'
says '^\.fi$'

printf 'waves: [100%%]\ncanary: {count: 0}\nbudgets: {leaf: 4, rack: 2}\nmax_unavailable: 8\n' > p.yaml
expect 0 "$STOIKA" rollout explain 'role=gpu' --policy p.yaml --takes 10
says 'wave 1'
unsaid 'canaries'
says 'leaf .*: 4 away, 4 allowed'

expect 0 "$STOIKA" --json rollout explain 'role=gpu' --policy p.yaml
cp "$CHECK_DIR/out" told.json
ok 'every node goes once, and all of them' sh -c \
	'[ "$(jq -r ".turns[].nodes[]" told.json | sort -u | wc -l)" = "$(jq .nodes told.json)" ] &&
	[ "$(jq -r ".turns[].nodes[]" told.json | wc -l)" = "$(jq .nodes told.json)" ]'

printf 'waves: [1, 5%%]\n' > bad.yaml
expect 3 "$STOIKA" rollout explain all --policy bad.yaml
warns 'bad.yaml:1:12: error: the last wave must be 100%'
printf 'max_unavailable: 1\nunit: rack\n' > never.yaml
expect 2 "$STOIKA" rollout explain all --policy never.yaml
warns 'it could never go'
warns 'hint: raise max_unavailable'
expect 2 "$STOIKA" rollout explain all --takes 0
expect 0 "$STOIKA" rollout states
says '"verify" -> "returned"'

printf 'budgets: {rack: 1, racks: 1}\nunit: nvlink_domian\n' > slip.yaml
expect 0 "$STOIKA" rollout explain all --policy slip.yaml
says "no node has a 'racks': what the policy says of it limits nobody"
says "no node has a 'nvlink_domian'"
unsaid "no node has a 'rack':"
expect 0 "$STOIKA" --json rollout explain all --policy slip.yaml
ok 'the same in JSON' jq -e '.limits_nobody == ["racks", "nvlink_domian"]' "$CHECK_DIR/out"

# the same from apply: what would go, without a node being asked
mkdir -p recipes/noted
printf 'recipe: noted\nsteps:\n  - file: {path: /etc/noted, content: x}\n' > recipes/noted/recipe.yaml
expect 0 "$STOIKA" rollout explain all
cp "$CHECK_DIR/out" told
expect 0 "$STOIKA" apply recipes/noted all --rollout default --explain
ok 'apply --explain foretells what rollout explain does' cmp "$CHECK_DIR/out" told
expect 0 "$STOIKA" apply recipes/noted 'role=gpu' --rollout p.yaml --explain --max-unavailable 2 --waves '2, 100%'
says 'wave 2'
unsaid ' 3  gpu'
expect 3 "$STOIKA" apply recipes/noted all --rollout bad.yaml --explain
warns 'bad.yaml:1:12: error: the last wave must be 100%'
expect 3 "$STOIKA" apply recipes/noted all --rollout default --explain --waves '1, 5%'
warns 'the last wave must be 100%'
expect 3 "$STOIKA" apply recipes/noted all --rollout default --explain --on-failure shrug
warns "'shrug'"
expect 2 "$STOIKA" apply recipes/noted all --rollout default --explain --fence '{by: none}'
warns "--fence '{by: none}' is no value of a policy"
expect 2 "$STOIKA" apply recipes/noted all --rollout default --explain --waves "$(printf '1,%9000s100%%' '')"
warns 'options over the policy of more than 8192 bytes'
{
	printf '#%70000s\n' ''
	cat p.yaml
} > long.yaml
expect 3 "$STOIKA" apply recipes/noted all --rollout long.yaml --explain
warns 'longer than the 65536 bytes that are read'
expect 2 "$STOIKA" apply recipes/noted all --rollout missing.yaml --explain
warns "hint: name a file of YAML, or 'default'"
expect 2 "$STOIKA" apply recipes/noted all --explain
warns '--explain goes with --rollout'
expect 2 "$STOIKA" apply recipes/noted all --rollout default --parallel 3
warns '--rollout and --parallel do not go together'
expect 2 "$STOIKA" apply --roles all --rollout default
warns '--rollout and --roles do not go together'
expect 3 "$STOIKA" apply recipes/noted all --rollout default
warns 'a rollout asks before it begins with 38 nodes'
warns '--explain only foretells it'
