#!/bin/sh
# analyze.sh gcc|tidy BUILD: gcc's -fanalyzer or clang-tidy (.clang-tidy) over all of the product, two at once.
# Out-parameters that are set on success only are seen as uninitialised across files, so that warning is off.
# BUILD is a configured build folder (its compile_commands.json and generated headers are used). Any warning fails.
set -u

tool=${1:?"usage: analyze.sh gcc|tidy BUILD"}
build=$(cd "${2:?}" && pwd)
cd "$(dirname "$0")/.." || exit 1
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

# The product's own commands, made to analyse and to write no object.
commands() {
	jq -r --arg top "$PWD/" '.[] | select(.file | startswith($top + "tests/") | not) |
		select(.file | startswith($top)) | .file + "\t" + .directory + "\t" +
		(.command | gsub(" -o [^ ]+"; "") | gsub("-Werror"; "") | gsub(" -M[DF]( [^ ]+\\.d)?| -MT [^ ]+"; ""))' \
		"$build/compile_commands.json" | sort -u
}

case $tool in
gcc)
	# shellcheck disable=SC2016 # for the inner shell
	commands | tr '\n' '\0' | xargs -0 -P 2 -I{} sh -c '
		line=$1 file=${1%%"	"*} rest=${1#*"	"}
		cd "${rest%%"	"*}" && eval "${rest#*"	"} -fanalyzer -Wno-analyzer-use-of-uninitialized-value -fdiagnostics-plain-output -O1 -o /dev/null" 2>&1 |
			grep -E "Wanalyzer|error:" > "$2/$(printf %s "$file" | tr / _)"' - {} "$out"
	;;
tidy)
	# shellcheck disable=SC2016 # for the inner shell
	commands | cut -f1 | sort -u | xargs -P 2 -I{} sh -c '
		clang-tidy -p "$1" --quiet "$2" 2> /dev/null | grep -E "warning:|error:" > "$3/$(printf %s "$2" | tr / _)"' - "$build" {} "$out"
	;;
*)
	echo "usage: analyze.sh gcc|tidy BUILD" >&2
	exit 2
	;;
esac
count=$(commands | wc -l)
[ "$count" -gt 50 ] || { echo "only $count files found in $build/compile_commands.json"; exit 1; }
cat "$out"/* | sort -u
found=$(cat "$out"/* | sort -u | wc -l)
echo "$count files, $found warnings"
[ "$found" = 0 ]
