#!/bin/sh
# The recipes that we ship: each is without a mistake or a warning, and passes its own tests, two recipes at a time.
TOP=$(cd "$(dirname "$0")/../.." && pwd)
. "$TOP/tests/check.sh"

export STOIKA STOIKA_RECIPES="$TOP/recipes"
mkdir logs
# shellcheck disable=SC2016 # for the inner shell
for file in "$TOP"/recipes/*/tests; do basename "${file%/tests}"; done |
	xargs -P 2 -I{} sh -c '"$STOIKA" recipe test "$1" > "logs/$1" 2>&1; echo $? > "logs/$1.code"' - {}

# What its tests said, and how they ended.
tests_of() { # NAME
	cat "logs/$1"
	return "$(cat "logs/$1.code")"
}

tested=0
for file in "$TOP"/recipes/*/recipe.yaml; do
	folder=${file%/recipe.yaml}
	name=${folder##*/}
	ok "$name: no mistake, no warning" "$STOIKA" recipe check "$name" --strict
	ok "$name: says in its README what it is" grep -q "^# $name\$" "$folder/README.md"
	[ -d "$folder/tests" ] || continue
	ok "$name: its own tests" tests_of "$name"
	tested=$((tested + 1))
done
ok 'there were such tests' test "$tested" -ge 30
