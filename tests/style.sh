#!/bin/sh
# style.sh [ROOT] - what no compiler and no linter says about this tree.
#
# Each finding is one line "file:line: text"; the last line gives the figures.
# Status 0: none, 1: some, 2: a tool is missing. Takes a few seconds.
set -u
cd "${1:-$(dirname "$0")/..}" || exit 2
for tool in awk ctags clang-format shellcheck; do
	command -v "$tool" >/dev/null || { echo "style.sh: '$tool' is not installed" >&2; exit 2; }
done
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT

for room in agent inventory controller tests recipes images; do
	[ -d "$room" ] && find "$room" -type f
done | sort >"$work/files"
grep '\.[ch]$' "$work/files" >"$work/c"

# Names and unit tests: what can be told from paths. A module split into x_part.c is tested by x.
check_paths() {
	awk '
{ have[$0] = 1; file[NR] = $0 }
END {
	for (i = 1; i <= NR; i++) {
		f = file[i]
		if (f ~ /(^|[\/_])(utils?|common|misc|helpers?|manager)([\/_.]|$)/)
			print f ":1: a name that says nothing (utils, common, misc, helpers, manager)"
		if (f ~ /^agent\/(base|recipe|wire)\/[a-z0-9_]+\.c$/) {
			t = part = f
			sub(/^agent/, "tests/unit", t)
			sub(/\.c$/, "_test.c", t)
			part = t
			while (!(part in have) && sub(/_[a-z0-9]*_test\.c$/, "_test.c", part))
				;
			if (!(part in have))
				print f ":1: has no unit test (" t ")"
		}
	}
}' "$work/files"
}

# The C text: arrows between rooms, libraries, heads, printing, buffers.
cat >"$work/text.awk" <<'AWK'
# Which headers of this tree a room may include, and where a library may be used.
BEGIN {
	may["agent"] = "agent/"
	may["agent/base"] = "agent/base/"
	may["agent/recipe"] = "agent/(base|recipe)/"
	may["agent/wire"] = "agent/(base|wire)/"
	may["agent/facts"] = "agent/(base|recipe|wire|facts)/"
	may["agent/evidence"] = "agent/(base|facts|evidence)/"
	may["agent/fetch"] = "agent/(base|fetch)/"
	may["agent/unpack"] = "agent/(base|recipe|wire|unpack)/"
	may["agent/step"] = "agent/(base|recipe|wire|step)/|agent/run/bundle[.]h$|agent/unpack/tree[.]h$|agent/fetch/fetch[.]h$"
	may["agent/run"] = "agent/(base|recipe|wire|step|facts|evidence|unpack|run)/"
	may["inventory"] = "inventory/|agent/base/|agent/wire/record[.]h$"
	may["controller"] = "(controller|inventory|agent/(base|recipe|wire))/"
	may["controller/fence"] = "(controller/fence|agent/base)/"
	may["tests"] = "."
	home["sqlite3[.]h"] = "inventory/store/"
	home["libssh/"] = "controller/ssh/"
	home["yaml[.]h"] = "agent/base/yaml[a-z_]*[.]c$"
	home["jansson[.]h"] = "agent/base/json[.]h$"
	home["openssl/"] = "agent/base/"
	home["archive(_entry)?[.]h"] = "agent/unpack/|controller/fleet/pack[a-z_]*[.]c$"
	home["(zstd|libsmartcols|xlsxwriter|curl)"] = "agent/(unpack|fetch|run)/|controller/|inventory/"
	printing = "tests/|controller/command/|(controller|agent)/main[.]c$|" \
		"agent/base/(log|err|mem)[.]c$|agent/facts/"
	while ((getline line < listing) > 0)
		have[line] = 1
}

function say(text) { print FILENAME ":" FNR ": " text }

function starts(text, pattern) { return text ~ ("^(" pattern ")") }

function check_arrow(header,   room) {
	room = FILENAME
	do
		sub(/\/[^\/]*$/, "", room)
	while (!(room in may) && room ~ /\//)
	if (header != "agent/version.h" && !starts(header, may[room]))
		say("'" room "' must not include \"" header "\"")
}

function check_library(header,   h) {
	for (h in home)
		if (starts(header, h) && !starts(FILENAME, home[h] "|tests/"))
			say("<" header "> is not used in this room")
}

function check_first() {
	if (!included++ && has_own && header != own)
		say("the first include must be its own header \"" own "\"")
}

# The line without comments and without what stands in quotes.
function code_of(line,   at) {
	gsub(/"([^"\\]|\\.)*"/, "\"\"", line)
	if (in_comment) {
		at = index(line, "*/")
		if (!at)
			return ""
		line = substr(line, at + 2)
		in_comment = 0
	}
	while ((at = index(line, "/*")) > 0) {
		if (!index(substr(line, at + 2), "*/")) {
			in_comment = 1
			return substr(line, 1, at - 1)
		}
		line = substr(line, 1, at - 1) " " substr(line, at + 3 + index(substr(line, at + 2), "*/"))
	}
	return line
}

function end_of_file() {
	if (last ~ /\.h$/ && !pragma)
		print last ":1: no #pragma once"
	if (lines > 800)
		print last ":800: " lines " lines; 800 are allowed"
}

FNR == 1 {
	if (last != "")
		end_of_file()
	last = FILENAME
	own = FILENAME
	sub(/\.c$/, ".h", own)
	has_own = FILENAME ~ /\.c$/ && (own in have)
	pragma = in_comment = included = 0
	if ($0 !~ /^\/\*/ && !has_own)
		say("no head comment")
}
{ lines = FNR; code = code_of($0) }
/^#pragma once/ { pragma = 1 }
/^#[ \t]*include[ \t]*"/ {
	header = $0
	gsub(/^[^"]*"|".*$/, "", header)
	check_first()
	check_arrow(header)
}
/^#[ \t]*include[ \t]*</ {
	header = $0
	gsub(/^[^<]*<|>.*$/, "", header)
	check_first()
	check_library(header)
}
code ~ /(^|[^A-Za-z0-9_])((v?printf|puts|putchar|perror)[ \t]*\(|(stdout|stderr)([^A-Za-z0-9_]|$))/ {
	if (!starts(FILENAME, printing))
		say("libraries do not print; return an error or fill a buffer")
}
# What the cleanup attribute frees has to be set before the first way out.
/^}/ { split("", unset) }
code ~ /^\t+AUTO_[A-Z]+ [^=(]*;/ {
	names = code
	gsub(/^\t+AUTO_[A-Z]+ |[ \t*]|;.*$/, "", names)
	n = split(names, name, ",")
	for (i = 1; i <= n; i++)
		unset[name[i]] = 1
}
{
	for (v in unset)
		if (code ~ "[&, (]" v "[,) ]" && code ~ /(_init|_make|_new)\(/ || code ~ "(^|[^a-z_.>])" v " = ")
			delete unset[v]
}
code ~ /(^|[^a-z_])return([^a-z_]|$)/ {
	for (v in unset)
		say("returns before '" v "' is initialised; the cleanup would free garbage")
}
END { if (last != "") end_of_file() }
AWK
check_text() {
	xargs awk -v listing="$work/files" -f "$work/text.awk" <"$work/c"
}

check_unfinished() {
	grep -v -e '^tests/style\.sh$' -e '^tests/cli/style_test\.sh$' "$work/files" |
		xargs grep -nIE '(^|[^A-Za-z])(TODO|FIXME|XXX)([^A-Za-z]|$)' /dev/null |
		sed 's/^\([^:]*:[0-9]*\):.*/\1: unfinished work is not merged (TODO, FIXME, XXX)/'
}

# Lines of "length static file line name"; tests count for the longest only.
list_functions() {
	xargs ctags -f - --languages=C --langmap=C:.c.h --c-kinds=f --excmd=number --fields=+en \
		<"$work/c" 2>/dev/null |
		awk -F '\t' '{
			line = end = local = 0
			for (i = 4; i <= NF; i++) {
				if ($i ~ /^line:/) line = substr($i, 6)
				if ($i ~ /^end:/) end = substr($i, 5)
				if ($i == "file:") local = 1
			}
			if (end) print end - line + 1, local, $2, line, $1
		}' | sort -n
}

check_functions() {
	list_functions >"$work/functions"
	awk -v figures="$work/figures" '
$1 > 100 { print $3 ":" $4 ": function " $5 " has " $1 " lines; 100 are allowed" }
$3 !~ /^tests\// { n++; len[n] = $1; statics += $2 }
END {
	if (n == 0)
		exit
	p90 = len[int((n * 9 + 9) / 10)]
	share = int(100 * statics / n)
	if (p90 > 45)
		print "agent:1: one function in ten is longer than " p90 " lines; 45 are allowed"
	if (share < 60)
		print "agent:1: " share " % of the functions are static; 60 % are asked for"
	printf "functions: %d, median %d, p90 %d, max %d; static %d %%", n, len[int((n + 1) / 2)],
		p90, len[n], share > figures
}' "$work/functions"
}

check_format() {
	xargs -P 2 -n 40 clang-format --dry-run -Werror <"$work/c" 2>&1 |
		sed -n 's/^\([^ ]*:[0-9]*\):[0-9]*: error: .*/\1: not as clang-format writes it/p' |
		sort -t: -k1,1 -u
}

# SC2016 (a '$' in single quotes) is how a script hands a script to another shell.
check_scripts() {
	grep -E '^(agent|controller|tests|images)/' "$work/files" | grep -v '\.[ch]$' |
		xargs awk 'FNR == 1 && (/^#!.*sh$/ || /^#!.*sh / || FILENAME ~ /\.sh$/) { print FILENAME }' \
			/dev/null |
		xargs -r shellcheck -e SC2016 -f gcc
}

{
	check_paths
	check_text
	check_unfinished
	check_functions
	check_format
	check_scripts
} | sort -t: -k1,1 -k2,2n -u >"$work/found"
cat "$work/found"
longest=$(xargs wc -l <"$work/c" | awk '$2 != "total" && $1 > n { n = $1; f = $2 } END { print f " " n }')
printf '%s; files: %d, longest %s; findings: %d\n' "$(cat "$work/figures" 2>/dev/null)" \
	"$(wc -l <"$work/c")" "$longest" "$(wc -l <"$work/found")"
[ ! -s "$work/found" ]
