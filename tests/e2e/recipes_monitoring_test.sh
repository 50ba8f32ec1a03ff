#!/bin/sh
# Monitoring for real: Prometheus, Alertmanager and the node exporter from Debian's packages, by our recipes, on lab
# nodes. The rules are unit-tested by promtool, the targets come from the inventory, and an alert arrives.
TOP=$(cd "$(dirname "$0")/../.." && pwd)
. "$TOP/tests/check.sh"
. "$TOP/tests/e2e/lab.sh"

lab_start 2 --names mgmt01,gpu01 --with monitoring

# the receiver: what arrives is appended to a file
on mgmt01 sh -c 'cat > /root/receiver.pl' << 'END'
use IO::Socket::INET;
my $server = IO::Socket::INET->new(LocalAddr => "127.0.0.1", LocalPort => 9999, Listen => 5, ReuseAddr => 1) or die;
while (my $c = $server->accept) {
	my ($n, $body) = (0, "");
	while (<$c>) { $n = $1 if /^Content-Length: (\d+)/i; last if /^\r?\n$/ }
	read $c, $body, $n;
	open my $f, ">>", "/root/alerts"; print $f "$body\n"; close $f;
	print $c "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
	close $c;
}
END
on mgmt01 systemd-run -q --unit=receiver perl /root/receiver.pl

expect 0 stoika apply node-exporter all
expect 0 stoika apply alertmanager mgmt01 --set webhook=http://127.0.0.1:9999/ --set group_wait=1s
expect 0 stoika apply prometheus mgmt01 --set alertmanagers=127.0.0.1:9093 --set interval=1s --set 'rack_watts=R1=20000'

# each rule fires on what it is for, and not on what looks like it
on mgmt01 sh -c 'cat > /root/rules_test.yml' < "$TOP/tests/monitoring/rules_test.yml"
expect 0 on mgmt01 promtool test rules /root/rules_test.yml
says SUCCESS
for alert in $(on mgmt01 sed -n 's/.*- alert: //p' /etc/prometheus/rules/cluster.yml /etc/prometheus/rules/serving.yml); do
	grep -q "name: $alert fires" "$TOP/tests/monitoring/rules_test.yml" || fail "no test lets $alert fire"
	grep -q "name: $alert stays quiet" "$TOP/tests/monitoring/rules_test.yml" || fail "no test keeps $alert quiet"
done

# both nodes are targets, by their names, and answer
ask() { on mgmt01 promtool query instant http://localhost:9090 "$1" > answer 2>&1; }
eventually() { # SECONDS QUERY PATTERN
	ask_left=$(($1 * 2))
	until ask "$2" && grep -Eq "$3" answer; do
		ask_left=$((ask_left - 1))
		[ "$ask_left" -gt 0 ] || {
			fail "'$2' is not '$3': $(head -n 5 answer)"
			return
		}
		sleep 0.5
	done
}
eventually 30 'up{job="node"} == 1' 'instance="gpu01"'
eventually 30 'count(up{job="node"} == 1)' '=> 2 '
eventually 10 inventory_nodes '=> 2 '

# what the dashboards ask is what Prometheus understands
sed -n 's/^ *"expr": "\(.*\)",$/\1/p' "$TOP"/recipes/grafana/files/dashboards/*.json | sed 's/\\"/"/g; s/\$node/gpu01/g' > asked
ok 'dashboards ask something' test "$(wc -l < asked)" -ge 30
while IFS= read -r expression; do
	on mgmt01 promtool query instant http://localhost:9090 "$expression" < /dev/null > answer 2>&1 ||
		fail "a dashboard asks '$expression': $(head -n 2 answer)"
done < asked

# nothing to do a second time
for what in 'node-exporter all' 'alertmanager mgmt01 --set webhook=http://127.0.0.1:9999/ --set group_wait=1s' \
	'prometheus mgmt01 --set alertmanagers=127.0.0.1:9093 --set interval=1s --set rack_watts=R1=20000'; do
	# shellcheck disable=SC2086 # words
	expect 0 stoika apply $what
	unsaid ' changed'
done

# An exporter that is gone is told of; five minutes are too long for a test. After a reload Prometheus knows no
# alertmanager for up to 5 s, and what it could not send it sends again a minute later.
on mgmt01 sed -i '/alert: GpuNodeDown/,/labels/ s/for: 5m/for: 8s/' /etc/prometheus/rules/cluster.yml
on mgmt01 systemctl reload prometheus
on gpu01 systemctl stop prometheus-node-exporter
eventually 30 'ALERTS{alertname="GpuNodeDown", alertstate="firing"}' 'node="gpu01"'
left=180
until on mgmt01 grep -q 'GpuNodeDown.*gpu01' /root/alerts 2> /dev/null || [ $left = 0 ]; do
	left=$((left - 1))
	sleep 0.5
done
ok 'the alert arrives, with the name of its node' on mgmt01 grep -q '"node":"gpu01"' /root/alerts
[ $left -gt 0 ] || on mgmt01 sh -c 'amtool alert query --alertmanager.url=http://localhost:9093
	journalctl --no-pager -u receiver -u prometheus-alertmanager | tail -n 20'

# what was edited by hand is seen, and taken back; and all of it goes again
expect 0 stoika plan prometheus mgmt01 --set alertmanagers=127.0.0.1:9093 --set interval=1s --set 'rack_watts=R1=20000'
says 'for: 5m'
expect 0 stoika apply prometheus mgmt01 --set alertmanagers=127.0.0.1:9093 --set interval=1s --set 'rack_watts=R1=20000'
says changed
expect 0 stoika undo prometheus,alertmanager mgmt01 --yes
ok 'no rules are left' sh -c "! '$TOP/tests/lab/lab' exec mgmt01 test -e /etc/prometheus/rules/cluster.yml"
