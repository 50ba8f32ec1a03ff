#!/bin/sh
# The hardware catalogue from the outside: list, show, check, and the import of device types.
TOP=$(cd "$(dirname "$0")/../.." && pwd)
. "$TOP/tests/check.sh"
suspicious=$TOP/tests/unit/catalog/suspicious
implausible=$TOP/tests/unit/catalog/implausible

expect 0 "$STOIKA" catalog list
says '^dgx-h100  *server  *high  *8U, 10200 W, 130.45 kg, 4 of 6 PSUs$'
says '^sn5600 .* ~2100 W'
expect 0 "$STOIKA" catalog list gpu
unsaid '^dgx-h100 '
expect 2 "$STOIKA" catalog list gpsu
warns "did you mean 'gpus'"

expect 0 "$STOIKA" catalog show dgx-h100
says '^watts_max  *10200  *high  *1$'
says '^watts_measured_peak  *8400  *assumed low'
expect 0 "$STOIKA" --json catalog show dgx-h100
says '"origin": *"catalogue"'
expect 2 "$STOIKA" catalog show dgx-h10
warns "did you mean 'dgx-h100'"

expect 0 "$STOIKA" catalog check
says ' 0 errors,'
expect 1 "$STOIKA" catalog check "$implausible/megawatts.yaml"
says 'error: gb200-page: 2400000 W of cooling'
expect 1 "$STOIKA" --json catalog check "$implausible/sparse_bf16.yaml"
says '"rule": *"sparse-as-dense"'
mkdir broken
printf 'format: 1\noptics:\n  - {id: x, nam: X}\n' >broken/a.yaml
expect 3 "$STOIKA" catalog check broken
warns 'a.yaml:3:13: error: unknown key .nam'

# What is sound is taken, what is suspicious is taken and marked.
expect 0 "$STOIKA" catalog import "$suspicious/sound_server.yaml" -o sound.yaml
says 'not carried: console-ports \(1\)'
says '1 device type, 0 suspicious'
expect 0 "$STOIKA" catalog check sound.yaml
expect 1 "$STOIKA" catalog import "$suspicious" -o all.yaml
says 'eight_gpus_two_psus.yaml.*suspicious: .*\[psu-power\]'
says 'two_ports_missing.yaml.*P22.1, P23.0 missing \[numbering\]'
says 'all_on_one_leg.yaml.*on leg A \[one-leg\]'
ok 'the records say so' grep -q 'suspicious: .*one-leg' all.yaml
expect 0 "$STOIKA" catalog list --catalog all.yaml
says '^nvidia-qm9700 .*suspicious$'
expect 1 "$STOIKA" catalog import "$suspicious/all_on_one_leg.yaml"
says '^    outlets_by_leg: {"A": 42}$'

# All or nothing.
mkdir two
cp "$suspicious/sound_pdu.yaml" two/a.yaml
cp "$suspicious/sound_pdu.yaml" two/b.yaml
printf 'manufacturer: A\nmodel: B\nweight: 3\n' >two/c.yaml
expect 3 "$STOIKA" catalog import two -o none.yaml
warns 'two/c.yaml:3:9: error: the weight has no unit'
rm two/c.yaml
expect 3 "$STOIKA" catalog import two -o none.yaml
warns "'acme-pdu-3p' is in 'two/a.yaml' already"
ok 'nothing was written' test ! -e none.yaml
