# table.awk RESULTS AGENT: medians per tool, phase and number of nodes, ratios against ours, and the fit.
function median(list, n,    i, j, t, a) {
	split(list, a, " ")
	for (i = 2; i <= n; i++)
		for (j = i; j > 1 && a[j - 1] + 0 > a[j] + 0; j--) { t = a[j]; a[j] = a[j - 1]; a[j - 1] = t }
	return n % 2 ? a[(n + 1) / 2] : (a[n / 2] + a[n / 2 + 1]) / 2
}
BEGIN { FS = "\t" }
FNR == 1 { file++ }
file == 1 && FNR > 1 {
	key = $1 SUBSEP $2
	if (!(key in count)) order[++keys] = key
	count[key]++
	if ($3 != 0) failed[key]++
	wall[key] = wall[key] " " $4
	ctl[key] = ctl[key] " " $5
	node[key] = node[key] " " $6
	rss[key] = rss[key] " " $7
}
file == 2 { agents[$2]++; pass[$2] = pass[$2] " " $3; process[$2] = process[$2] " " $4 }
END {
	printf "%-20s %6s %5s %10s %14s %12s %9s\n", "tool, phase", "nodes", "runs", "wall s", "controller ms", "node ms", "RSS MiB"
	for (i = 1; i <= keys; i++) {
		split(order[i], part, SUBSEP)
		k = order[i]; n = part[2]
		w = median(wall[k], count[k]); c = median(ctl[k], count[k]); d = median(node[k], count[k])
		mw[k] = w / n; mc[k] = c / n; md[k] = (c + d) / n
		printf "%-20s %6d %5d %10.2f %14.2f %12.1f %9.1f%s\n", part[1], n, count[k], w / 1e6, c / 1e3 / n, d / 1e3 / n,
			median(rss[k], count[k]) / 1024, failed[k] ? "  (" failed[k] " of the runs failed)" : ""
	}
	for (phase = 1; phase <= 2; phase++) {
		word = phase == 1 ? "first" : "second"
		for (i = 1; i <= keys; i++) if (order[i] ~ "^ours " word) mine = order[i]
		if (!(mine in mw)) continue
		printf "\nratios to ours, %s apply (a node: wall; controller CPU; both ends' CPU)\n", word
		for (i = 1; i <= keys; i++) {
			split(order[i], part, SUBSEP)
			if (part[1] ~ /^ours/ || (part[1] !~ word && part[1] !~ /true/)) continue
			printf "  %-20s %8.1f %8.1f %8.1f\n", part[1], mw[order[i]] / mw[mine], mc[order[i]] / mc[mine], md[order[i]] / md[mine]
		}
		delete mw[""]
	}
	for (n in agents)
		printf "\nagent at %d nodes, second apply: %.2f ms CPU in the pass, %.2f ms as a fresh process (median of node medians)\n",
			n, median(pass[n], agents[n]) / 1e3, median(process[n], agents[n]) / 1e3
	for (i = 1; i <= keys; i++) {
		split(order[i], part, SUBSEP)
		if (part[1] != "ours second") continue
		m++; n = part[2]; c = mc[order[i]] * n / 1e3; r = median(rss[order[i]], count[order[i]])
		w = 1 / (c * c); sw += w; sx += w * n; sy += w * c; sxx += w * n * n; sxy += w * n * c
		rx += n; ry += r; rxx += n * n; rxy += n * r
	}
	if (m > 2) {
		slope = (sw * sxy - sx * sy) / (sw * sxx - sx * sx)
		printf "\nfit of controller CPU, second apply: %.1f ms + %.2f ms a node; memory: %.1f MiB + %.1f KiB a node\n",
			(sy - slope * sx) / sw, slope, (ry - (m * rxy - rx * ry) / (m * rxx - rx * rx) * rx) / m / 1024,
			(m * rxy - rx * ry) / (m * rxx - rx * rx)
	}
}
