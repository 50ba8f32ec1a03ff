#!/bin/sh
# The page of an audit in a real browser: valid, nothing cut or wider than its place, prints on A4.
# shellcheck disable=SC1091,SC2154 # check.sh is found from where this stands, and sets STOIKA
TOP=$(cd "$(dirname "$0")/../.." && pwd)
. "$TOP/tests/check.sh"

[ -x "$STOIKA" ] || skip "no $STOIKA"
CHROMIUM=$(command -v chromium || command -v chromium-browser) || skip 'needs chromium'
PROBE=$TOP/tests/browser/probe.html

browser() { # OPTION ...
	rm -rf profile
	timeout 120 "$CHROMIUM" --headless --no-sandbox --disable-gpu --disable-quic --no-first-run \
		--disable-background-networking --disable-component-update --disable-sync \
		--user-data-dir="$PWD/profile" --hide-scrollbars "$@" 2> /dev/null
}

# A copy with a script that says in its title what is cut or too wide; the page itself has none.
probed() { # PAGE
	sed '/<\/body>/d; /<\/html>/d' "$1"
	cat "$PROBE"
}

looks_right() { # PAGE WIDTH
	probed "$1" > probed.html
	browser --window-size="$2,1200" --dump-dom "file://$PWD/probed.html" > dom || fail "$1: no DOM"
	grep -q '<title>faults 0</title>' dom ||
		fail "$1 at $2 px: $(sed -n 's/.*<title>\(faults .*\)/\1/p' dom | head -n 1)"
}

prints() { # PAGE RACKS
	browser --no-pdf-header-footer --print-to-pdf="$PWD/page.pdf" "file://$PWD/$1"
	[ -s page.pdf ] || { fail "$1 does not print"; return; }
	command -v pdfinfo > /dev/null || return 0
	pdfinfo page.pdf > info
	grep -q '^Page size: .*(A4)' info || fail "$1: $(grep '^Page size' info)"
	pages=$(sed -n 's/^Pages: *//p' info)
	[ "$pages" -gt "$2" ] || fail "$1: $pages pages for $2 racks"
	[ "$pages" -lt $((8 + 7 * $2)) ] || fail "$1: $pages pages for $2 racks"
}

for site in "$TOP"/inventory/examples/*.yaml "$TOP/tests/unit/report/hard.yaml"; do
	for lang in en ru; do
		page=$(basename "$site" .yaml)-$lang.html
		"$STOIKA" audit --file "$site" --lang "$lang" --html "$page" > out 2>&1
		code=$?
		[ "$code" -le 1 ] || fail "audit of $site gave $code: $(cat out)"
		[ -s "$page" ] || continue
		racks=$(grep -c '<section class="rack" id="rack-' "$page")
		if command -v tidy > /dev/null; then ok "$page is valid" tidy -q -e "$page"; fi
		grep -q '<script' "$page" && fail "$page has a script"
		looks_right "$page" 1400
		looks_right "$page" 820
		prints "$page" "$racks"
		browser --window-size=1400,2000 --screenshot="$PWD/shot.png" "file://$PWD/$page"
		[ "$(wc -c < shot.png)" -gt 50000 ] || fail "$page: an empty picture"
		printf 'ok: %s, %s racks, %s pages\n' "$page" "$racks" "${pages:-?}"
	done
done
