#!/bin/bash
# big-site.sh [RACKS]: a site file of RACKS racks (1000) of 40 devices with A and B cords, to stdout.
set -euo pipefail

awk -v racks="${1:-1000}" 'BEGIN {
	print "site: big"
	print "upses:\n  - {name: ups-A, kva: 60000}\n  - {name: ups-B, kva: 60000}"
	print "panels:"
	for (i = 0; i < racks; i += 10)
		for (s = 0; s < 2; s++)
			printf "  - {name: panel%d%c, amps: 1000, upstream: {ups: ups-%c}}\n", i / 10, 97 + s, 65 + s
	print "racks:"
	for (i = 0; i < racks; i++) {
		printf "  - name: r%04d\n    height_u: 42\n    feeds:\n", i
		for (s = 0; s < 2; s++)
			printf "      - {name: f%04d%c, panel: panel%d%c, volts: 400, phases: 3, amps: 63}\n", i, 97 + s, i / 10, 97 + s
		print "    pdus:"
		for (s = 0; s < 2; s++) {
			printf "      - name: p%04d%c\n        feed: f%04d%c\n        banks:\n", i, 97 + s, i, 97 + s
			for (b = 1; b <= 6; b++)
				printf "          - {name: %d, amps: 16, curve: C, phase: L%d}\n", b, (b - 1) % 3 + 1
			print "        outlets:"
			for (b = 0; b < 6; b++)
				printf "          - {names: \"[%d-%d]\", type: C13, bank: %d}\n", b * 7 + 1, b * 7 + 7, b + 1
		}
	}
	print "device_types:\n  - {name: server, height_u: 1, watts: 600, psus: 2, psus_needed: 1, weight_kg: 20, cfm: 60,"
	print "     ports: {ethernet: \"eth[0-1]\", bmc: bmc}}"
	print "devices:"
	for (i = 0; i < racks; i++)
		for (d = 1; d <= 40; d++)
			printf "  - {name: n%04d-%02d, type: server, rack: r%04d, position: %d, cords: {psu1: p%04da/%d, psu2: p%04db/%d}}\n", i, d, i, d, i, d, i, d
}'
