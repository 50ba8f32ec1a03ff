#!/bin/sh
# What stoika-agent says to people, and how it refuses when it was not installed well.
# shellcheck disable=SC1091,SC2154 # check.sh is found from where this stands, and sets STOIKA_BUILD
TOP=$(cd "$(dirname "$0")/../.." && pwd)
. "$TOP/tests/check.sh"

AGENT=$STOIKA_BUILD/bin/stoika-agent
[ -x "$AGENT" ] || skip "no $AGENT"

expect 0 "$AGENT" version
says '^[0-9]+\.[0-9]+\.[0-9]+$'
expect 0 "$AGENT" help
says '^usage: stoika-agent COMMAND$'
expect 2 "$AGENT"
warns '^usage: '
expect 2 "$AGENT" frobnicate
expect 2 "$AGENT" serve --frobnicate
expect 2 "$AGENT" serve more
expect 2 "$AGENT" facts os cpu
expect 0 "$AGENT" facts os
says '"kernel": "'
expect 1 "$AGENT" facts weather
warns "weather"
expect 0 "$AGENT" facts
says '"memory": \{'

# Without a key every order is refused, in words that the controller passes on.
mkdir root
expect 0 "$AGENT" serve --root root --state state --key absent.pub < /dev/null
says '^STOIKA-AGENT/1$'
says '"t":"refused"'
says "stoika agent install NODE"

# A key that is none and a root that is none are refused likewise.
expect 0 "$AGENT" serve --root root --state state --key "$TOP/README.md" < /dev/null
says '"t":"refused"'
expect 0 "$AGENT" serve --root nowhere --state state --key absent.pub < /dev/null
says "nowhere"
says '"t":"refused"'
