#!/bin/sh
# The manual pages: each renders without a warning, each kind of step has all parts, the terminal's text fits 80 columns.
TOP=$(cd "$(dirname "$0")/../.." && pwd)
. "$TOP/tests/check.sh"

command -v groff > /dev/null || skip 'needs groff'
mkdir man
expect 0 "$STOIKA" manual --to man
ok 'stoika(1)' test -s man/stoika.1
ok 'stoika-recipe(7)' test -s man/stoika-recipe.7

expect 0 "$STOIKA" help step
kinds=$(sed -n 's/^  \([a-z_][a-z_]*\) .*/\1/p' "$CHECK_DIR/out")
ok 'there are kinds' test "$(echo "$kinds" | wc -l)" -ge 20
ok 'and a page for each' test "$(find man -type f | wc -l)" = "$(($(echo "$kinds" | wc -l) + 2))"
ok 'lines of the list end before column 80' sh -c "! grep -E '^.{80}' '$CHECK_DIR/out'"

for page in man/*; do
	groff -man -Tutf8 -ww "$page" > page.txt 2> warnings.txt
	ok "$page renders without a warning" sh -c '! grep . warnings.txt >&2'
	ok "$page says something" test "$(wc -l < page.txt)" -gt 20
done

for kind in $kinds; do
	expect 0 "$STOIKA" help step "$kind"
	for part in EXAMPLE PARAMETERS CHECK APPLY UNDO 'SEE ALSO'; do
		says "^$part\$"
	done
	says "^    - $kind:"
	# but for the example, which stands as it is written
	ok "$kind fits 80 columns" sh -c "! grep -v '^    ' '$CHECK_DIR/out' | grep -E '^.{80}'"
	for part in NAME EXAMPLE PARAMETERS CHECK APPLY UNDO; do
		ok "stoika-step-$kind(7) has $part" grep -qx "\.SH $part" "man/stoika-step-$kind.7"
	done
done

# wrong words
expect 2 "$STOIKA" help step fil
warns "there is no kind of step 'fil'"
warns "did you mean 'file'"
expect 2 "$STOIKA" manual stoika-step-nothing
warns "there is no manual page 'stoika-step-nothing'"
expect 2 "$STOIKA" manual --to /nonexistent
warns "cannot open the folder '/nonexistent'"
expect 0 "$STOIKA" manual 'stoika-step-file(7)'
says '^\.TH STOIKA-STEP-FILE 7'
expect 0 "$STOIKA" manual stoika-recipe.7
says '^\.SH EXPRESSIONS'

