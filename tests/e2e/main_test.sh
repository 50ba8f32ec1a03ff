#!/bin/sh
# The main job on three real nodes: from a shipped site file to converged nodes, and every way to look at it.
TOP=$(cd "$(dirname "$0")/../.." && pwd)
. "$TOP/tests/check.sh"
. "$TOP/tests/e2e/lab.sh"

mkdir state
must lab up 3 --names gpu01,gpu02,mgmt01
expect 0 stoika init
expect 2 stoika init
warns 'exists'
expect 0 stoika import "$TOP/inventory/examples/start.yaml"
says 'nodes'
expect 0 stoika list racks
says '^R1 .*OK'
expect 0 stoika list nodes
says '^gpu01 .*10\.77\.0\.101'
expect 0 stoika list nodes --json
says '"node": "gpu01"|"name": "gpu01"'

# first contact: no key is trusted on first use
expect 1 stoika agent install gpu01 --identity "$STOIKA_LAB/id"
says 'known-hosts'
expect 0 stoika agent install all --identity "$STOIKA_LAB/id" --known-hosts "$STOIKA_LAB/known_hosts"
expect 0 stoika show gpu01 --json
says '"agent": "[0-9]'
says '"kernel"'
# installing again is nothing new, also with our own key
expect 0 stoika agent install gpu01
ok 'one line of ours in authorized_keys' sh -c "[ \$('$TOP/tests/lab/lab' exec gpu01 grep -c stoika-agent /root/.ssh/authorized_keys) = 1 ]"
ok 'the operator key is still there' lab exec gpu01 grep -q stoika-lab /root/.ssh/authorized_keys

# plan shows and changes nothing; nodes with the same answer stand together
expect 0 stoika plan base all
says 'gpu\[01[,-]02\],mgmt01 \(3 nodes\)'
says 'would +base 2 package the time'
says '^ *\+.*memlock|^ *\+.*vm.max_map_count'
ok 'plan changed nothing' lab exec gpu01 test ! -e /etc/sysctl.d/90-stoika.conf
expect 0 stoika plan base all --json
hash=$(jq -r .plan_hash < "$CHECK_DIR/out")

# apply just what was shown; another hash is refused before anything happens
expect 3 stoika apply base gpu01 --plan 0123456789ab
ok 'nothing was applied' lab exec gpu01 test ! -e /etc/sysctl.d/90-stoika.conf
expect 0 stoika apply base all --plan "$hash"
says 'gpu01 +changed'
expect 0 stoika apply base,node-exporter,container-engine all
says 'changed'
expect 0 stoika apply base,node-exporter,container-engine all --json
ok 'the second run changes nothing' jq -e '.counts == {"ok": 3}' "$CHECK_DIR/out"
ok 'and has nothing to tell' jq -e '[.nodes[].events[]] == []' "$CHECK_DIR/out"
ok 'chrony really runs' lab exec gpu01 systemctl is-active chrony
ok 'containerd really runs' lab exec mgmt01 systemctl is-active containerd
expect 0 lab ctl curl -fsS http://10.77.0.102:9100/metrics
says 'node_uname_info'

# the record
expect 0 stoika run list
says 'base,node-exporter,container-engine'
expect 0 stoika run show last
says 'state +done'
says 'gpu02 +ok'
expect 0 stoika run show last --json
ok 'one row a node and no events' jq -e '(.results | length) == 3 and ([.results[].events[]] == [])' "$CHECK_DIR/out"
expect 0 stoika run watch last
expect 0 stoika log verify
says 'the chain is whole'

# what somebody changed by hand is found and put right, and only that
lab exec gpu02 sh -c 'echo "vm.swappiness = 60" > /etc/sysctl.d/90-stoika.conf; systemctl stop prometheus-node-exporter'
expect 0 stoika plan base,node-exporter all
says 'gpu01,mgmt01 \(2 nodes\)'
says '-vm.swappiness = 60'
expect 0 stoika apply base,node-exporter all
says 'gpu02 +changed'
says 'gpu01 +ok'
ok 'the exporter runs again' lab exec gpu02 systemctl is-active prometheus-node-exporter

# a step that never lasts is told so the second time
write_recipe loops << 'X'
recipe: loops
steps:
  - command: {run: ["true"]}
X
expect 0 stoika apply loops gpu01
expect 0 stoika run show last
unsaid 'repeats'
expect 0 stoika apply loops gpu01
expect 0 stoika run show last
says 'repeats +loops.*step 1 changed something in the last apply too'

# parameters
expect 0 stoika apply node-exporter gpu01 --set port=9200
ok 'it listens where it was told' lab ctl curl -fsS http://10.77.0.101:9200/metrics
expect 2 stoika apply node-exporter gpu01 --set port=99999
warns '65535'
expect 2 stoika apply node-exporter gpu01 --set prot=9200
expect 2 stoika apply no-such-recipe all
expect 2 stoika plan base 'gpu0[3-4]'
warns 'gpu03'

# a reboot changes nothing of it
expect 0 lab reboot gpu01
expect 0 stoika apply base,container-engine gpu01
says 'gpu01 +ok'
expect 0 stoika export
says '^site: start'
