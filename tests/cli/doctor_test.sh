#!/bin/sh
# stoika doctor without a node that answers: what it says then, in words, in Russian and as JSON, and what it refuses.
# shellcheck disable=SC1091,SC2154 # check.sh is found from where this stands, and sets STOIKA
TOP=$(cd "$(dirname "$0")/../.." && pwd)
. "$TOP/tests/check.sh"

export STOIKA_DB="$PWD/stoika.db" STOIKA_RECIPES="$TOP/recipes"
cat > site.yaml << 'X'
site: lab
nodes:
  - {name: gpu1, address: 127.0.0.1, port: 1}
  - {name: gpu2, address: 127.0.0.1, port: 2}
X
expect 0 "$STOIKA" init
expect 0 "$STOIKA" import site.yaml

expect 1 "$STOIKA" doctor all --lang en
says '^ID +LEVEL +NODES, WHAT WAS FOUND, WHAT TO DO$'
says '^- +failure +gpu'
says '^nodes: 2, failures: [12], warnings: 0$'
expect 1 "$STOIKA" doctor all --lang ru
says '^КОД +УРОВЕНЬ +УЗЛЫ'
says '^узлов: 2, отказов: [12], предупреждений: 0$'
expect 1 "$STOIKA" doctor gpu1 --json
cp "$CHECK_DIR/out" found.json
ok 'as JSON' jq -e '.nodes == 1 and .findings[0].level == "fail" and .findings[0].nodes == ["gpu1"]' found.json

expect 2 "$STOIKA" doctor
expect 2 "$STOIKA" doctor all --parallel 0
warns "a number from 1 to 4096"
