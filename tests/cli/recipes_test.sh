#!/bin/sh
# The recipes that we ship: each is without a mistake or a warning, and passes its own tests.
TOP=$(cd "$(dirname "$0")/../.." && pwd)
. "$TOP/tests/check.sh"

export STOIKA_RECIPES="$TOP/recipes"
tested=0
for file in "$TOP"/recipes/*/recipe.yaml; do
	folder=${file%/recipe.yaml}
	name=${folder##*/}
	ok "$name: no mistake, no warning" "$STOIKA" recipe check "$name" --strict
	ok "$name: says in its README what it is" grep -q "^# $name\$" "$folder/README.md"
	[ -d "$folder/tests" ] || continue
	ok "$name: its own tests" "$STOIKA" recipe test "$name"
	tested=$((tested + 1))
done
ok 'there were such tests' test "$tested" -ge 4
