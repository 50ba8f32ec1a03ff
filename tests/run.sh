#!/bin/sh
# run.sh [--only SUITE]... [--long] [--no-install]: all tests, from a bare Debian 12 to one line of figures.
#
# Suites, in this order: build style unit cppcheck analyzer cli browser plan fault fuzz
# lab e2e, and with --long tidy and bench. Those that need a build
# make it first. Logs go to build/test-logs/SUITE/; a failing test's end is shown. Status 1 if one failed.
# Root is needed by lab and e2e, which non-root leaves out as skipped, and to install packages.
set -u

top=$(cd "$(dirname "$0")/.." && pwd)
cd "$top" || exit 1
logs=$top/build/test-logs
only='' long='' install=1
passed=0 failed=0 skipped=0
began=$(date +%s)
failures='' child=''
trap 'exit 130' INT
trap 'exit 143' TERM
trap '[ -z "$child" ] || kill "$child" 2> /dev/null' EXIT

usage() {
	echo "usage: run.sh [--only SUITE]... [--long] [--no-install]" >&2
	exit 2
}

while [ $# -gt 0 ]; do
	case $1 in
	--only)
		[ $# -ge 2 ] || usage
		only="$only $2"
		shift
		;;
	--long) long=1 ;;
	--no-install) install='' ;;
	*) usage ;;
	esac
	shift
done

say() { printf '[%4d s] %s\n' $(($(date +%s) - began)) "$*"; }

wanted() { # SUITE ...: whether one of them is to run
	[ -n "$only" ] || return 0
	for suite in "$@"; do
		case " $only " in *" $suite "*) return 0 ;; esac
	done
	return 1
}

# Counts one result and says it.
result() { # CODE TEST LOG SECONDS
	case $1 in
	0)
		passed=$((passed + 1))
		say "passed  $2 ($4 s)"
		;;
	77)
		skipped=$((skipped + 1))
		say "skipped $2: $(tail -n 1 "$3")"
		;;
	*)
		failed=$((failed + 1))
		failures="$failures $2"
		say "FAILED  $2 (exit code $1, $4 s), the end of $3:"
		tail -n 40 "$3" | sed 's/^/    /'
		;;
	esac
}

# Runs with a limit; a TERM to this script ends it too, and all that it started.
limited() { # SECONDS LOG CMD ...
	limit=$1 log=$2
	shift 2
	timeout -k 10 "$limit" "$@" > "$log" 2>&1 < /dev/null &
	child=$!
	wait "$child"
	set -- "$?"
	child=''
	return "$1"
}

# One test that is one command.
check() { # TEST LIMIT CMD ...
	test=$1 limit=$2
	shift 2
	log=$logs/$test.log
	mkdir -p "${log%/*}"
	started=$(date +%s)
	code=0
	limited "$limit" "$log" "$@" || code=$?
	result "$code" "$test" "$log" $(($(date +%s) - started))
	return "$code"
}

# Of each failed test in ctest's log the result and the last lines it wrote.
show_failed_tests() { # LOG
	awk '
	function flush(   i) {
		for (i = n > 30 ? n - 30 : 0; i < n; i++)
			print "    " line[i]
		n = 0
	}
	/^ *[0-9]+\/[0-9]+ Test +#/ { flush(); failing = !/ Passed |\*\*\*Skipped/; if (failing) print "  " $0; next }
	/^ +Start +[0-9]+:/ || /^[0-9]+% tests passed/ { flush(); failing = 0 }
	failing && !/^\[ +(RUN|OK) +\]/ { line[n++] = $0 }
	END { flush() }' "$1"
}

# Every test of ctest is counted by itself.
check_ctest() { # SUITE BUILD LIMIT CTEST-ARG ...
	suite=$1 folder=$2 limit=$3
	shift 3
	log=$logs/$suite/ctest.log
	mkdir -p "$logs/$suite"
	say "$suite: ctest in $folder"
	code=0
	limited "$limit" "$log" ctest --test-dir "$folder" --output-on-failure --timeout 300 -j 2 "$@" || code=$?
	good=$(grep -Ec '^ *[0-9]+/[0-9]+ Test +#.* Passed ' "$log")
	left_out=$(grep -Ec '^ *[0-9]+/[0-9]+ Test +#.*\*\*\*Skipped' "$log")
	bad=$(grep -E '^ *[0-9]+/[0-9]+ Test +#' "$log" | grep -Evc ' Passed |\*\*\*Skipped')
	passed=$((passed + good)) skipped=$((skipped + left_out)) failed=$((failed + bad))
	say "$suite: $good passed, $bad failed, $left_out skipped"
	if [ "$bad" != 0 ]; then
		failures="$failures $(sed -n '/tests FAILED:/,$s/^[\t ]*[0-9]* - \([^ ]*\) .*/\1/p' "$log" | tr '\n' ' ')"
		show_failed_tests "$log"
	elif [ "$code" != 0 ] || [ "$good" = 0 ]; then
		result 1 "$suite/ctest" "$log" 0 # it did not get as far as a test
	fi
}

check_scripts() { # SUITE LIMIT BUILD
	for script in tests/"$1"/*_test.sh; do
		[ -e "$script" ] || continue
		name=${script##*/}
		check "$1/${name%_test.sh}" "$2" env STOIKA_BUILD="$top/$3" STOIKA_LONG="$long" "$script"
	done
}

install_packages() {
	missing=$(sh controller/packages.sh missing build lab test | tr '\n' ' ')
	[ -n "$missing" ] || return 0
	if [ -z "$install" ] || [ "$(id -u)" != 0 ]; then
		say "not installed, tests that need them will fail or be skipped: $missing"
		return
	fi
	say "installing $missing"
	mkdir -p "$logs"
	sh controller/packages.sh install build lab test > "$logs/packages.log" 2>&1 < /dev/null || {
		tail -n 20 "$logs/packages.log"
		say "the packages could not be installed"
		exit 1
	}
}

# Goes on after an error, so that what can be tested is.
build() { # PRESET TARGETS
	# shellcheck disable=SC2016 # for the inner shell
	check "build/$1" 1800 sh -c 'cmake --build "build/$0" --target $1 -- -k 0 || {
		grep -A 8 -E "error:|FAILED:|cannot find" "$2" > "$2.errors"
		echo "--- the errors again:"
		head -n 30 "$2.errors"
		exit 1
	}' "$1" "$2" "$logs/build/$1.log"
}

configure() { # PRESET [CMAKE-OPTION ...]
	preset=$1
	shift
	check "configure/$preset" 300 cmake --preset "$preset" "$@"
}

fuzz_targets() {
	ctest --test-dir build/fuzz -N -R '^fuzz/' | sed -n 's|.*: fuzz/\(.*\)$|\1_fuzz|p'
}

# What must be fast, without sanitizers. The peers' comparison (bench.sh) is for a machine of its own.
check_speed() {
	bench=build/bench
	configure bench && build bench 'bench-store bench-warm bench-crew bench-untar bench-get run_test warm_test step_pass_test' || return
	check_ctest bench "$bench" 600 -R '^unit/(run|warm|step_pass)_test$'
	check bench/warm 600 "$bench/tests/bench/bench-warm" 10000 3 150
	check bench/crew 600 "$bench/tests/bench/bench-crew" 10000 --check
	check bench/store 600 "$bench/tests/bench/bench-store" "$bench" --check
	check bench/unpack 3600 bash tests/bench/unpack.sh --build "$bench" --check
	check bench/bulk 3600 bash tests/bench/bulk.sh --build "$bench" --check
}

# With --long every call is killed and failed, by a build that is quick at it.
check_faults() {
	if [ -z "$long" ]; then
		check_scripts fault 1200 build/asan
	elif configure bench && build bench 'stoika stoika-agent execute'; then
		check_scripts fault 7200 build/bench
	fi
}

run_suites() {
	asan=''
	if wanted build unit analyzer tidy cli browser plan fault; then configure asan && asan=1 && build asan all; fi
	if wanted build e2e; then configure release && build release 'all agent-folder'; fi
	if wanted style; then check style 300 sh tests/style.sh; fi
	if wanted unit && [ -n "$asan" ]; then check_ctest unit build/asan 1800 -E '^(style|cli/|fuzz/)'; fi
	if wanted cppcheck; then
		check cppcheck 900 cppcheck --quiet --error-exitcode=1 --inline-suppr --std=c11 -j 2 -I . \
			--enable=warning,portability --suppress=missingIncludeSystem -D_GNU_SOURCE \
			--library=tests/cppcheck.cfg \
			agent inventory controller
	fi
	if wanted analyzer && [ -n "$asan" ]; then check analyzer 1500 sh tests/analyze.sh gcc build/asan; fi
	if [ -n "$long" ] && wanted tidy && [ -n "$asan" ]; then check tidy 7200 sh tests/analyze.sh tidy build/asan; fi
	if wanted cli; then check_scripts cli 600 build/asan; fi
	if wanted browser; then check_scripts browser 900 build/asan; fi
	if wanted plan; then check_scripts plan 300 build/asan; fi
	if wanted fault; then check_faults; fi
	if wanted fuzz; then
		configure fuzz "-DSTOIKA_FUZZ_SECONDS=$([ -n "$long" ] && echo 120 || echo 5)" &&
			build fuzz "$(fuzz_targets | tr '\n' ' ')" &&
			check_ctest fuzz build/fuzz 1800 -R '^fuzz/'
	fi
	if wanted lab; then check_scripts lab 600 build/release; fi
	if wanted e2e; then check_scripts e2e 1200 build/release; fi
	if [ -n "$long" ] && wanted bench; then check_speed; fi
}

rm -rf "$logs"
mkdir -p "$logs"
install_packages
run_suites
say "logs: $logs${failures:+; failed:$failures}"
printf '%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
[ "$failed" = 0 ] && [ "$passed" != 0 ]
