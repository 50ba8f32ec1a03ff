#!/bin/bash
# site.sh N HOSTS: a site of N nodes for the benchmark; HOSTS has "name address" a line. 40 nodes a rack.
set -euo pipefail

N=$1 HOSTS=$2
echo "site: bench"
echo "nodes:"
head -n "$N" "$HOSTS" | awk '{
	printf "  - {name: %s, address: %s, role: %s, vars: {rack: r%02d}}\n", $1, $2, NR % 2 ? "gpu" : "cpu", int((NR - 1) / 40)
}'
