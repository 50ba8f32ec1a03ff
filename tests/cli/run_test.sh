#!/bin/sh
# A rollout in a made database: run list, show, show --node, watch, pause, abort, in words and as JSON.
# shellcheck disable=SC1091,SC2154 # check.sh is found from where this stands, and sets STOIKA
TOP=$(cd "$(dirname "$0")/../.." && pwd)
. "$TOP/tests/check.sh"

command -v sqlite3 > /dev/null || skip 'needs sqlite3'
export STOIKA_DB="$PWD/stoika.db"
cat > site.yaml << 'X'
site: lab
nodes:
  - {name: gpu1, address: 10.0.0.1}
  - {name: gpu2, address: 10.0.0.2}
  - {name: gpu3, address: 10.0.0.3}
X
expect 0 "$STOIKA" init
expect 0 "$STOIKA" import site.yaml
sql() { sqlite3 "$STOIKA_DB" "$1"; }

# run 1 is none; run 2 a rollout: one done, one in quarantine, one that waits
T=1796000000000000000
sql "INSERT INTO runs (id, name, mode, recipes, nodes, started_by, state, started_ns, ended_ns, n_nodes)
 VALUES (1, 'old', 'apply', 'base', 'all', 'root@head', 'done', $T - 9, $T - 8, 3),
 (2, 'roll', 'rollout', 'nvidia-driver', 'gpu[1-3]', 'root@head', 'running', $T, 0, 3);
INSERT INTO rollouts (run_id, body, paused, reason, opened_ns, stage) VALUES
 (2, '{\"policy\": \"fence: {by: slurm}\", \"policy_name\": \"p.yaml\",
  \"params\": {\"nvidia-driver\": {\"driver\": \"595.71\", \"open\": true}}}', 1, '1 node failed', $T, 1);
INSERT INTO rollout_nodes (run_id, node_id, node_name, state, since_ns, stage, tries, reason, hint)
 SELECT 2, id, name, 'done', $T + 30000000000, 0, 0, '', '' FROM nodes WHERE name = 'gpu1' UNION ALL
 SELECT 2, id, name, 'quarantined', $T + 60000000000, 1, 0, 'a validator failed', 'look at it' FROM nodes
  WHERE name = 'gpu2' UNION ALL
 SELECT 2, id, name, 'eligible', $T, 1, 0, 'rack R1: 1 away, 1 allowed', '' FROM nodes WHERE name = 'gpu3';
INSERT INTO rollout_moves (run_id, node_id, at_ns, from_state, event, to_state, why)
 SELECT 2, id, $T, '', '', 'eligible', '' FROM nodes UNION ALL
 SELECT 2, id, $T + 10000000000, 'eligible', 'ok', 'preflight', 'its turn has come' FROM nodes
  WHERE name <> 'gpu3' UNION ALL
 SELECT 2, id, $T + 30000000000, 'preflight', 'skip', 'done', 'nothing is to be changed' FROM nodes
  WHERE name = 'gpu1' UNION ALL
 SELECT 2, id, $T + 40000000000, 'verify', 'failed', 'rollback', 'a validator failed' FROM nodes
  WHERE name = 'gpu2' UNION ALL
 SELECT 2, id, $T + 60000000000, 'rollback', 'failed', 'quarantined', 'a validator failed' FROM nodes
  WHERE name = 'gpu2'"

expect 0 "$STOIKA" run list
says '^roll .*paused, 1 of 3 done, 1 quarantined'
expect 0 "$STOIKA" run list --lang ru
says '^roll .*приостановлена, готово 1 из 3, карантин: 1'
expect 0 "$STOIKA" --json run list
cp "$CHECK_DIR/out" list.json
ok 'nodes by state' jq -e '.[0].results.quarantined == 1' list.json

expect 0 "$STOIKA" run show roll
says '^state +paused: 1 node failed'
says "nobody drives it; 'stoika run resume roll' goes on"
says '^gpu2 +quarantined +wave 1 +since 11-30 00:54:20'
says 'what to do: stoika run show roll --node gpu2'
says 'waits for: rack R1: 1 away, 1 allowed'
says '^preflight +2 '
expect 0 "$STOIKA" run show roll --lang ru
says '^состояние +приостановлена'
expect 0 "$STOIKA" --json run show roll
cp "$CHECK_DIR/out" roll.json
ok 'JSON has times' jq -e '.results[0].times_ms.preflight == 20000 and .driven == false' roll.json

expect 0 "$STOIKA" run show roll --node gpu2
says 'node gpu2 in rollout roll: quarantined'
says '11-30 00:54:20  quarantined'
says '^ *1\. '
says 'scontrol show node gpu2'
says 'stoika run resume roll --forgive'
expect 0 "$STOIKA" --json run show roll --node gpu2
cp "$CHECK_DIR/out" page.json
ok 'JSON has what to do' jq -e '.todo | length > 4' page.json
ok 'and all moves' jq -e '.moves | length == 4' page.json
expect 0 "$STOIKA" run show roll --param nvidia-driver.driver
says '^595.71$'
expect 0 "$STOIKA" run show roll --param nvidia-driver.open
says '^true$'
expect 2 "$STOIKA" run show roll --param driver
warns "was given no 'driver'"
expect 2 "$STOIKA" run show roll --node gpu9
warns "did you mean 'gpu"
expect 3 "$STOIKA" run show old --node gpu1
warns 'no rollout'

# beside it nobody drives: watch tells what was and ends
sql "UPDATE runs SET state = 'interrupted' WHERE id = 2"
expect 1 "$STOIKA" run watch roll
says '11-30 00:53:50  gpu1  preflight -> done: nothing is to be changed'
says "nobody drives it; 'stoika run resume roll'"
expect 1 "$STOIKA" --json run watch roll
cp "$CHECK_DIR/out" watch.json
ok 'an object a line' jq -es 'length == 6' watch.json

# on a terminal a block that is drawn anew, no line longer than it is wide
terminal() { script -qec "stty cols 60 rows 20; $*" /dev/null; }
expect 1 terminal "$STOIKA" run watch roll
says 'wave 1     \[!!!!!!!!!!\.\.\.\.\.\.\.\.\.\.\] 1/2  1 eligible, 1 quarant.$'
says 'gpu3 eligible, waits for: rack R1: 1 away, 1'
unsaid '^.{63}'
expect 1 terminal "$STOIKA" run watch roll --lang ru
says 'волна 1 '

expect 3 "$STOIKA" run pause roll
warns "nobody drives rollout 'roll'"
warns 'hint: stoika run resume roll'
expect 3 "$STOIKA" run pause old
warns "no rollout, its mode is 'apply'"
expect 2 "$STOIKA" run abort none
warns "no run 'none'"

# with a driver, which here is no more than its lock
mkdir -p locks
sql "UPDATE runs SET state = 'running' WHERE id = 2"
flock --no-fork locks/roll sleep 60 &
DRIVER=$!
cleanup() { kill "$DRIVER" 2> /dev/null || :; }
sleep 0.3
expect 0 "$STOIKA" run pause roll
ok 'asked' test "$(sql "SELECT asked FROM rollouts")" = pause
expect 0 "$STOIKA" run show roll
says "^asked +pause by .*its driver has not done it yet"
expect 3 "$STOIKA" run abort roll
warns 'stoika run abort roll --yes'
printf 'n\n' > no
expect 3 terminal "$STOIKA" run abort roll < no
says '1 of 3 nodes wait and will not go, 0 are at work'
ok 'a no is a no' test "$(sql "SELECT asked FROM rollouts")" = pause
expect 0 "$STOIKA" run abort roll --yes
expect 3 "$STOIKA" run pause roll
warns 'is being aborted'
expect 3 "$STOIKA" run abort roll --as-it-stands --yes
warns 'can bring its nodes home'
sql "UPDATE runs SET state = 'cancelled', ended_ns = $T + 90000000000 WHERE id = 2"
expect 3 "$STOIKA" run pause roll
warns 'has ended: cancelled'
expect 1 "$STOIKA" run watch roll
says 'rollout roll: cancelled'

# nobody can drive it any more: it is ended where it stands, and who is in the middle is named
kill "$DRIVER"
wait "$DRIVER" 2> /dev/null
sql "UPDATE runs SET state = 'interrupted', ended_ns = 0 WHERE id = 2; UPDATE rollouts SET asked = '';
	UPDATE rollout_nodes SET state = 'quiesced' WHERE state = 'quarantined'"
expect 3 "$STOIKA" run abort roll --yes
warns 'stoika run abort roll --as-it-stands'
expect 0 "$STOIKA" run abort roll --as-it-stands --yes
says '1 nodes are left in the middle'
says 'quiesced +stoika run show roll --node gpu'
expect 0 "$STOIKA" run show roll
says '^state +cancelled'
expect 3 "$STOIKA" run abort roll --as-it-stands --yes
warns 'has ended: cancelled'
