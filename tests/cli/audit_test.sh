#!/bin/sh
# audit: verdicts and status, --lose, --fit, diff, JSON, what is asked wrongly.
# shellcheck disable=SC1091,SC2154 # check.sh is found from where this stands, and sets STOIKA
TOP=$(cd "$(dirname "$0")/../.." && pwd)
. "$TOP/tests/check.sh"

cat > site.yaml <<'END'
site: case
racks:
  - name: r1
    feeds:
      - {name: A, volts: 230, phases: 1, amps: 16}
      - {name: B, volts: 230, phases: 1, amps: 16}
    pdus:
      - {name: pa, feed: A, outlets: {C13: "[1-8]"}}
      - {name: pb, feed: B, outlets: {C13: "[1-8]"}}
device_types:
  - {name: box, height_u: 2, watts: 700, psus: 2, psus_needed: 1, psus_min: 1}
devices:
  - {name: d1, type: box, rack: r1, position: 1, cords: {psu1: pa/1, psu2: pb/1}}
  - {name: d2, type: box, rack: r1, position: 3, cords: {psu1: pa/2, psu2: pb/2}}
END
sed 's/watts: 700/watts: 2100/' site.yaml > heavy.yaml

expect 0 "$STOIKA" audit --file site.yaml
says 'r1 +PASS'
expect 1 "$STOIKA" audit --file heavy.yaml
says 'FAIL'
says '4200.*230.*0[.]95.*19[.]22'
says 'feeds of 32.A'
expect 1 "$STOIKA" audit --file heavy.yaml --lose pb --policy iec100 --no-fixes --basis max
says 'loss of PDU.pb'
unsaid 'Fixes'
expect 0 "$STOIKA" audit --file site.yaml --lose A
expect 0 "$STOIKA" audit --file site.yaml --json
ok 'the JSON can be read' sh -c '"$0" audit --file site.yaml --json | python3 -m json.tool' "$STOIKA"
expect 0 "$STOIKA" audit --file site.yaml r1

expect 0 "$STOIKA" audit --file site.yaml --fit box
says '^1 more .box. fit'
says "the next one fails 'feed after a loss'"
expect 1 "$STOIKA" audit --file site.yaml --fit box --count 9
says '^1 of 9 more'
expect 0 "$STOIKA" audit --file site.yaml --fit box --count 1 --json
says '"fit": 1'

expect 1 "$STOIKA" audit diff site.yaml heavy.yaml
says '^r1: PASS -> FAIL'
expect 0 "$STOIKA" audit diff heavy.yaml site.yaml --json
says '"better": 1'
expect 0 "$STOIKA" audit diff site.yaml site.yaml
says '0 changes'

expect 0 "$STOIKA" audit --file site.yaml --restart
says 'devices: 2, batches: 1;'
says '^    d1 d2$'
expect 0 "$STOIKA" audit --file site.yaml --restart --json
says '"device": "d2"'

# from the database
expect 0 "$STOIKA" --db case.db init
expect 0 "$STOIKA" --db case.db import heavy.yaml
expect 1 "$STOIKA" --db case.db audit --site case
expect 1 "$STOIKA" --db case.db audit r1 --html page.html
for policy in strict80 iec100; do
	ok 'a rack of the database is judged as in its file' sh -c '
		"$0" --db case.db audit r1 --policy $1 --no-fixes > db.txt; "$0" audit --file heavy.yaml r1 \
		--policy $1 --no-fixes | grep -v "^  *file " > file.txt; diff db.txt file.txt' "$STOIKA" "$policy"
done
ok 'the page is there' grep -q '</html>' page.html

expect 2 "$STOIKA" audit --file site.yaml --basis guess
warns 'no basis'
expect 2 "$STOIKA" audit --file site.yaml --count 3
expect 2 "$STOIKA" audit --file site.yaml --lang xx
for wrong in '--lose nothing' '--policy nothing' '--fit nothing' 'r9'; do
	# shellcheck disable=SC2086
	"$STOIKA" audit --file site.yaml $wrong > /dev/null 2> err && fail "'$wrong' was taken"
	grep -q nothing err || grep -q r9 err || fail "'$wrong' is not named: $(cat err)"
done

# what is asked to be lost: all of it is named, and a device of one cord goes down with it
sed -e 's/cords: {psu1: pa\/2, psu2: pb\/2}/cords: {psu1: pa\/2}/' site.yaml > single.yaml
expect 0 "$STOIKA" audit --file single.yaml
expect 1 "$STOIKA" audit --file single.yaml --lose A --no-fixes
says 'with feed.A lost: 1 of 2 devices down'
says 'device.d2, 0.PSUs, needed 1.PSU'
expect 0 "$STOIKA" audit --file single.yaml --lose B --no-fixes
sed -e 's/cords: {psu1: pa\/2}/single_ok: true, cords: {psu1: pa\/2}/' single.yaml > meant.yaml
expect 0 "$STOIKA" audit --file meant.yaml --lose A --no-fixes
says 'one cord, which is meant: down now'
expect 1 "$STOIKA" audit --file site.yaml --lose A --lose pb --no-fixes
says '^ *feed.A, PDU.pb$'
ok 'all that is lost is in the JSON' sh -c '"$0" audit --file site.yaml --lose A --lose pb --json |
	jq -e "[.. | objects | select(.losses) | .losses[].name] | (index(\"A\") != null) and (index(\"pb\") != null)"' "$STOIKA"

# and in Russian, by --lang and by the locale
expect 0 "$STOIKA" audit --file site.yaml --fit box --lang ru
says 'поместится ещё 1 шт. «box»'
says 'следующему мешает правило «ввод в послеаварийном режиме»'
says 'ввод «A» после потери .ввод «B».: '
expect 0 "$STOIKA" audit --file site.yaml --restart --lang ru
says 'этап 1:'
expect 1 env LANG=ru_RU.UTF-8 "$STOIKA" audit diff site.yaml heavy.yaml
says '^r1: НОРМА → НАРУШЕНИЕ'
says 'изменений: [0-9]'
unsaid '[a-z]{4,} [a-z]{4,}'
expect 0 "$STOIKA" --db case.db show r1 --lang ru
says '^стойка r1, площадка case: ПЕРЕГРУЗ'
says 'подряд свободно'
expect 0 "$STOIKA" --db case.db show r1
says '^rack r1, site case: OVER'
expect 0 "$STOIKA" --db case.db list racks --lang ru
says '^СТОЙКА'
expect 2 "$STOIKA" --db case.db show r1 --lang xx
for words in 'audit --file site.yaml --fit box' 'audit --file site.yaml --restart' \
	'audit diff site.yaml heavy.yaml' '--db case.db show r1' '--db case.db list racks'; do
	# shellcheck disable=SC2086
	"$STOIKA" $words --lang ru | awk -v most=80 '{ gsub(/[\x80-\xbf]/, ""); if (length($0) > most) print }' > long
	ok "within 80 columns: $words" test ! -s long
done
