#!/bin/sh
# cmake --install into a folder of its own: the program finds its recipes, catalogue and agent there.
TOP=$(cd "$(dirname "$0")/../.." && pwd)
. "$TOP/tests/check.sh"

command -v cmake > /dev/null || skip 'needs cmake'
[ -f "$STOIKA_BUILD/CMakeCache.txt" ] || skip "needs the build folder $STOIKA_BUILD"
[ -d "$STOIKA_BUILD/controller/made/man1" ] || skip "needs the target 'said' of $STOIKA_BUILD"

DESTDIR="$PWD/root" expect 0 cmake --install "$STOIKA_BUILD" --prefix /usr
usr=$PWD/root/usr
installed=$usr/bin/stoika
ok 'the program' test -x "$installed"
ok 'the agent' test -x "$usr/lib/stoika/stoika-agent"
ok 'its unit' grep -q '^ExecStart=/.*bin/stoika serve$' "$usr/lib/systemd/system/stoika.service"
ok 'manual pages' test -s "$usr/share/man/man1/stoika.1"
ok 'of each kind' test -s "$usr/share/man/man7/stoika-step-file.7"
ok 'completion' grep -q 'complete -F _stoika stoika' "$usr/share/bash-completion/completions/stoika"
ok 'an example' test -s "$usr/share/stoika/examples/start.yaml"

expect 0 "$installed" recipe list
says "$usr/share/stoika/recipes|$usr/bin/../share/stoika/recipes"
says '^  base '
expect 0 "$installed" recipe show base
says "^folder: .*share/stoika/recipes/base\$"
expect 0 "$installed" catalog list
says 'dgx-h100'
expect 0 "$installed" --db state/stoika.db init
expect 0 "$installed" --db state/stoika.db import "$usr/share/stoika/examples/start.yaml"

# its own folders are named first by the environment
mkdir -p own/demo
expect 0 "$installed" recipe new mine --in own
STOIKA_RECIPES="$PWD/own" expect 0 "$installed" recipe list --names
says '^mine$'
says '^base$'
STOIKA_RECIPES="$PWD/own" expect 0 "$installed" recipe test mine
says '^2 tests, 0 failed$'
if command -v systemd-analyze > /dev/null; then
	sed "s|^ExecStart=.*|ExecStart=$installed serve|" "$usr/lib/systemd/system/stoika.service" > stoika.service
	ok 'systemd reads the unit' sh -c "systemd-analyze verify ./stoika.service 2>&1 | grep -v 'man stoika' | (! grep -i stoika)"
fi
