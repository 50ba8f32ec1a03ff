#!/bin/sh
# versions: each import that changed a site is kept; audit diff by date, export --at, list versions.
# shellcheck disable=SC1091,SC2154 # check.sh is found from where this stands, and sets STOIKA
TOP=$(cd "$(dirname "$0")/../.." && pwd)
. "$TOP/tests/check.sh"

cat > light.yaml <<'END'
# kept with its comments
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
sed 's/watts: 700/watts: 2100/' light.yaml > heavy.yaml
export STOIKA_DB=case.db

expect 0 "$STOIKA" init
expect 0 "$STOIKA" list versions
says 'no versions yet'
expect 0 "$STOIKA" import light.yaml
says 'next:'
expect 0 "$STOIKA" import light.yaml
says 'nothing had to be stored'
expect 0 "$STOIKA" import light.yaml --json
says '"changed": false'
expect 0 "$STOIKA" list versions case --json
ok 'one version' sh -c '"$0" list versions --json | jq -e "length == 1 and .[0].source == \"light.yaml\""' "$STOIKA"

# the import of three days ago
sqlite3 case.db "UPDATE site_versions SET at_ns = at_ns - 86400000000000 * 3"
expect 0 "$STOIKA" import heavy.yaml
says 'next:'
expect 0 "$STOIKA" list versions
says '^IMPORTED +SITE +BY +SIZE +SHA-256 +FROM$'
says 'case .* heavy.yaml$'
expect 1 "$STOIKA" audit diff yesterday now
says '^r1: PASS -> FAIL'
expect 0 "$STOIKA" audit diff now yesterday
says '^r1: FAIL -> PASS'
expect 1 "$STOIKA" audit diff yesterday heavy.yaml
expect 0 "$STOIKA" audit diff heavy.yaml yesterday --site case
expect 0 "$STOIKA" audit diff yesterday yesterday
says '0 changes'

expect 0 "$STOIKA" export --at yesterday
ok 'byte for byte' sh -c '"$0" export --at yesterday | cmp - light.yaml' "$STOIKA"
ok 'and of today' sh -c '"$0" export --at now case | cmp - heavy.yaml' "$STOIKA"
expect 0 "$STOIKA" export --at yesterday --to ansible

# what cannot be answered
expect 2 "$STOIKA" audit diff 2001-02-03 now
warns "no version of site 'case' is as old as 2001-02-03T.*: the oldest is of 20"
expect 2 "$STOIKA" audit diff 2026-02-30 now
warns 'the calendar has no such day'
expect 2 "$STOIKA" audit diff 2026-02-03T25:00 now
warns 'the clock has no such time'
expect 2 "$STOIKA" audit diff neither now
warns "'neither' is neither a file nor a date"
expect 2 "$STOIKA" audit diff gone.yaml now
warns 'gone.yaml'
expect 2 "$STOIKA" export --at 2001-02-03
warns 'the oldest is of'
expect 2 "$STOIKA" list version
warns "did you mean 'versions'"

# a version that this program cannot read is said so, with its date
sqlite3 case.db "UPDATE site_versions SET sha256 = (SELECT sha256 FROM site_texts LIMIT 1);
	UPDATE site_texts SET zstd = x'00'"
expect 3 "$STOIKA" audit diff yesterday now
warns 'is damaged'
