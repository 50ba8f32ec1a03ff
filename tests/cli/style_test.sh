#!/bin/sh
# style_test.sh - every rule of tests/style.sh has to refuse a tree that breaks it, and only such.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
clean=$work/clean
count=0
failed=0

# put FILE: stdin becomes FILE below $tree.
put() {
	mkdir -p "$tree/$(dirname "$1")"
	cat >"$tree/$1"
}

# source_file FILE INCLUDES CODE: a .c file with a head comment; CODE begins in line 4 without includes.
source_file() {
	printf '/* %s - for a test. */\n%b\n\nint it(void);\n%b\n' "$(basename "$1")" "$2" "$3" | put "$1"
	(cd "$tree" && clang-format -i "$1")
}

# expect NAME TEXT [LINES]: style.sh has to refuse the planted tree with a finding that holds TEXT
# and, so that a rule is not met by accident, with no more than LINES lines (2) in all.
expect() {
	count=$((count + 1))
	if "$top/tests/style.sh" "$tree" >"$work/out" 2>&1; then
		echo "not ok $count - $1: passes"
		failed=1
	elif ! grep -qF -- "$2" "$work/out" || [ "$(wc -l <"$work/out")" -gt "${3:-2}" ]; then
		echo "not ok $count - $1: says"
		sed 's/^/# /' "$work/out"
		failed=1
	else
		echo "ok $count - $1"
	fi
}

# plant: a fresh copy of the clean tree in $tree.
plant() {
	tree=$work/case
	rm -rf "$tree"
	cp -r "$clean" "$tree"
}

# refuse_include FILE HEADER TEXT
refuse_include() {
	plant
	source_file "$1" "#include $2" ''
	case $1 in
	agent/base/* | agent/recipe/* | agent/wire/*)
		t=${1#agent/}
		source_file "tests/unit/${t%.c}_test.c" '#include <stdio.h>' ''
		;;
	esac
	expect "$1 includes $2" "$3"
}

accept_include() {
	plant
	source_file "$1" "#include $2" ''
	count=$((count + 1))
	if "$top/tests/style.sh" "$tree" >"$work/out" 2>&1; then
		echo "ok $count - $1 may include $2"
	else
		echo "not ok $count - $1 may include $2"
		sed 's/^/# /' "$work/out"
		failed=1
	fi
}

# $1 empty statements.
lines() {
	awk -v n="$1" 'BEGIN { while (n-- > 0) printf "\\t;\\n" }'
}

tree=$clean
mkdir -p "$clean"
cp "$top/.clang-format" "$clean/"
put agent/base/x.h <<'EOF'
/* x - for a test. */
#pragma once

int x_get(void);
EOF
put agent/base/x.c <<'EOF'
#include "agent/base/x.h"

#include <stdio.h>

/* stderr and printf("") stand in a comment only. */
static int one(void)
{
	return 1;
}

static const char *two(void)
{
	return "printf(stderr) /* ";
}

int x_get(void)
{
	return two()[one()];
}
EOF
put tests/unit/base/x_test.c <<'EOF'
/* x_test - for a test. */
#include "agent/base/x.h"

#include <sqlite3.h>
#include <stdio.h>
EOF
put tests/run.sh <<'EOF'
#!/bin/sh
echo hello
EOF
plant
count=1
if "$top/tests/style.sh" "$tree" >"$work/out" 2>&1; then
	echo "ok 1 - the clean tree passes"
else
	echo "not ok 1 - the clean tree is refused"
	sed 's/^/# /' "$work/out"
	failed=1
fi

# arrows
refuse_include agent/base/y.c '"agent/recipe/r.h"' "'agent/base' must not include"
refuse_include agent/recipe/y.c '"agent/wire/r.h"' "'agent/recipe' must not include"
refuse_include agent/wire/y.c '"agent/recipe/r.h"' "'agent/wire' must not include"
refuse_include agent/facts/y.c '"agent/run/run.h"' "'agent/facts' must not include"
refuse_include agent/unpack/y.c '"agent/step/step.h"' "'agent/unpack' must not include"
refuse_include agent/step/y.c '"agent/run/run.h"' "'agent/step' must not include"
refuse_include agent/run/y.c '"controller/fleet/f.h"' "'agent/run' must not include"
refuse_include agent/main.c '"inventory/model/m.h"' "'agent' must not include"
refuse_include inventory/model/y.c '"agent/wire/frame.h"' "'inventory' must not include"
refuse_include inventory/model/y.c '"controller/ssh/link.h"' "'inventory' must not include"
refuse_include controller/fleet/y.c '"agent/step/step.h"' "'controller' must not include"
accept_include agent/step/y.c '"agent/run/bundle.h"'
accept_include agent/run/y.c '"agent/facts/facts.h"'
accept_include inventory/audit/y.c '"agent/wire/record.h"'
accept_include controller/fleet/y.c '"inventory/store/store.h"'

# libraries
refuse_include inventory/model/y.c '<sqlite3.h>' '<sqlite3.h> is not used'
refuse_include controller/fleet/y.c '<libssh/libssh.h>' '<libssh/libssh.h> is not used'
refuse_include agent/recipe/y.c '<yaml.h>' '<yaml.h> is not used'
refuse_include agent/wire/y.c '<jansson.h>' '<jansson.h> is not used'
refuse_include controller/ssh/y.c '<openssl/evp.h>' '<openssl/evp.h> is not used'
refuse_include agent/run/y.c '<archive.h>' '<archive.h> is not used'
refuse_include agent/wire/y.c '<zstd.h>' '<zstd.h> is not used'
accept_include inventory/store/y.c '<sqlite3.h>'
accept_include controller/fleet/pack_write.c '<archive_entry.h>'

# heads
plant
sed -i '1,2d' "$tree/agent/base/x.c"
expect 'another header comes first' 'the first include must be its own header'
plant
sed -i '/pragma/d' "$tree/agent/base/x.h"
expect 'no pragma' 'agent/base/x.h:1: no #pragma once'
plant
sed -i 1d "$tree/agent/base/x.h"
expect 'no head comment in a header' 'agent/base/x.h:1: no head comment'
plant
sed -i 1d "$tree/tests/unit/base/x_test.c"
expect 'no head comment in a source' 'x_test.c:1: no head comment'

# lengths
plant
source_file agent/run/y.c '' "static void long_one(void)\n{\n$(lines 98)}"
expect 'a function of 101 lines' 'function long_one has 101 lines' 3
plant
source_file agent/run/y.c '' "static void long_one(void)\n{\n$(lines 43)}"
expect 'one function in four is long' 'one function in ten is longer than 46 lines'
plant
source_file agent/run/y.c '' 'int it(void)\n{\n\treturn 0;\n}'
expect 'half of the functions are public' '50 % of the functions are static'
plant
source_file agent/run/y.c '' "$(awk 'BEGIN { for (i = 0; i < 800; i++) printf "int v%d;\\n", i }')"
expect 'a long file' '800 are allowed'

# the rest
plant
source_file controller/fleet_utils.c '' ''
expect 'a name that says nothing' 'a name that says nothing'
plant
source_file agent/run/manager/y.c '' ''
expect 'a folder that says nothing' 'a name that says nothing'
for call in 'printf("x")' 'puts("x")' 'fflush(stderr)' 'perror("x")'; do
	plant
	source_file agent/run/y.c '' "static void say(void)\n{\n\t$call;\n}"
	expect "a library calls $call" 'agent/run/y.c:6: libraries do not print'
done
plant
source_file agent/run/y.c '' '/* TO''DO: later */'
expect 'unfinished work' 'agent/run/y.c:4: unfinished work'
plant
rm "$tree/tests/unit/base/x_test.c"
expect 'no unit test' 'agent/base/x.c:1: has no unit test'
plant
echo 'static  int a;' >>"$tree/agent/base/x.c"
expect 'another layout' 'agent/base/x.c:20: not as clang-format writes it'
plant
printf '#!/bin/sh\nrm $%s\n' 1 | put tests/run.sh
expect 'a careless script' 'tests/run.sh:2:4'
plant
printf '#!/bin/sh\nrm $%s\n' 1 | put images/build
expect 'a careless script without a suffix' 'images/build:2:4'
plant
source_file agent/run/y.c '' 'static int f(int a)\n{\n\tAUTO_BUF b;\n\n\tif (a)\n\t\treturn 1;\n\tbuf_init(&b, 5);\n\treturn 0;\n}'
expect 'a way out before buf_init' "agent/run/y.c:9: returns before 'b' is initialised"

echo "1..$count"
exit $failed
