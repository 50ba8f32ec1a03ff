#!/bin/sh
# A run whose node restarts in the middle is waited for and goes on.
TOP=$(cd "$(dirname "$0")/../.." && pwd)
. "$TOP/tests/check.sh"
. "$TOP/tests/e2e/lab.sh"

lab_start 1 --names n1
# a restart in the middle: waited for, proven by the boot id, and the rest is done
write_recipe restarts << 'X'
recipe: restarts
steps:
  - file: {path: /etc/before, content: "1\n"}
  - reboot: {}
    when: not exists('/etc/after')
  - file: {path: /etc/after, content: "2\n"}
X
boot=$(on n1 cat /proc/sys/kernel/random/boot_id)
expect 0 stoika apply restarts n1 --reboot-wait 90s
says 'n1 +changed'
ok 'it did restart' sh -c "[ \"\$('$TOP/tests/lab/lab' exec n1 cat /proc/sys/kernel/random/boot_id)\" != '$boot' ]"
ok 'and went on' lab exec n1 grep -q 2 /etc/after
expect 0 stoika run show last
says 'restarts'
expect 0 stoika apply restarts n1
says 'n1 +ok'

