#!/bin/bash
# bulk.sh: one file from nginx to several nodes at once, by the step 'download', by curl and by scp.
#
# The nodes are processes of this machine, each writing a file of its own; runs are interleaved. Ours takes the
# SHA-256 as the bytes come and syncs the file at the end; curl alone does neither, so that "curl + sha256"
# (openssl) is measured beside it, and --check judges by that: on two cores the hash of ten nodes takes longer
# than the bytes. The controller's CPU is nginx's own. scp goes to an sshd of this script, by its fastest cipher;
# where all nodes share two cores --check judges by the CPU it costs the controller.
set -euo pipefail
cd "$(dirname "$0")/../.."

BUILD=${BUILD:-build/release} REPS=3 NODES=10 MB=200 CHECK=0
WORK=${STOIKA_BENCH:-/dev/shm/stoika-bulk}

while [ $# -gt 0 ]; do
	case $1 in
	--reps) REPS=$2 && shift ;;
	--nodes) NODES=$2 && shift ;;
	--mb) MB=$2 && shift ;;
	--build) BUILD=$2 && shift ;;
	--work) WORK=$2 && shift ;;
	--check) CHECK=1 ;; # fail when a goal is missed
	*)
		echo "usage: bulk.sh [--reps N] [--nodes N] [--mb N] [--build DIR] [--work DIR] [--check]" >&2
		exit 2
		;;
	esac
	shift
done
GET=$BUILD/tests/bench/bench-get
[ -x "$GET" ] || GET=$BUILD/bench-get
for tool in nginx curl openssl scp /usr/sbin/sshd; do
	command -v "$tool" > /dev/null || { echo "bulk.sh: '$tool' is not installed" >&2; exit 2; }
done
rm -rf "$WORK" && mkdir -p "$WORK/www"
NGINX='' SSHD=''
finish() {
	[ -z "$NGINX" ] || kill "$NGINX" 2> /dev/null || :
	[ -z "$SSHD" ] || kill "$SSHD" 2> /dev/null || :
	rm -rf "$WORK"
}
trap finish EXIT

PORT=$((20000 + RANDOM % 20000)) URL=''
URL=http://127.0.0.1:$PORT/file
# bytes of a machine's own programs: neither zeros nor noise
set +o pipefail
tar -cf - /usr/lib /usr/share 2> /dev/null | head -c $((MB * 1000000)) > "$WORK/www/file"
set -o pipefail
SHA=$(openssl dgst -r -sha256 "$WORK/www/file" | cut -d' ' -f1)
cat > "$WORK/nginx.conf" << X
daemon off; master_process off; pid $WORK/pid; error_log $WORK/error.log;
events { worker_connections 256; }
http { access_log off; sendfile on; tcp_nopush on; sendfile_max_chunk 1m;
 client_body_temp_path $WORK/t1; proxy_temp_path $WORK/t2; fastcgi_temp_path $WORK/t3; uwsgi_temp_path $WORK/t4;
 scgi_temp_path $WORK/t5; server { listen 127.0.0.1:$PORT; root $WORK/www; } }
X
nginx -c "$WORK/nginx.conf" 2> "$WORK/nginx.log" &
NGINX=$!
for _ in $(seq 50); do
	curl -s -o /dev/null -r 0-0 "$URL" && break
	sleep 0.1
done

# A server of ssh that knows one key, the node's end of scp.
SSH_PORT=$((PORT + 1))
ssh-keygen -q -t ed25519 -N '' -f "$WORK/host" && ssh-keygen -q -t ed25519 -N '' -f "$WORK/id"
cp "$WORK/id.pub" "$WORK/authorized_keys"
cat > "$WORK/sshd_config" << X
ListenAddress 127.0.0.1:$SSH_PORT
HostKey $WORK/host
AuthorizedKeysFile $WORK/authorized_keys
PidFile $WORK/sshd.pid
StrictModes no
UsePAM no
MaxStartups 100
Subsystem sftp internal-sftp
X
mkdir -p /run/sshd
/usr/sbin/sshd -D -f "$WORK/sshd_config" 2> "$WORK/sshd.log" &
SSHD=$!
SCP=(scp -q -F none -P "$SSH_PORT" -i "$WORK/id" -c aes128-gcm@openssh.com -o BatchMode=yes -o StrictHostKeyChecking=no
	-o "UserKnownHostsFile=$WORK/known" -o LogLevel=ERROR)

one() { # WAY N
	case $1 in
	ours) "$GET" "$URL" "$SHA" "$WORK/out/$2" ;;
	curl) curl -sS -o "$WORK/out/$2" "$URL" ;;
	scp) "${SCP[@]}" "$WORK/www/file" "127.0.0.1:$WORK/out/$2" ;;
	curl+sha256) curl -sS -o "$WORK/out/$2" "$URL" && openssl dgst -sha256 "$WORK/out/$2" > /dev/null ;;
	esac
}
served() { awk '{print ($14 + $15) * 10}' "/proc/$NGINX/stat"; } # ms of CPU

way() { # NAME: wall ms, ms of nginx, ms of the nodes' processes (of scp: of the controller's)
	local begin end before pids=() p TIMEFORMAT='%U %S'
	rm -rf "$WORK/out" && mkdir "$WORK/out"
	before=$(served)
	begin=$(date +%s%N)
	{
		time {
			for n in $(seq "$NODES"); do
				one "$1" "$n" 2>&3 &
				pids+=($!)
			done
			for p in "${pids[@]}"; do wait "$p"; done
		}
	} 3>&2 2> "$WORK/time"
	end=$(date +%s%N)
	echo "$1 $(((end - begin) / 1000000)) $(($(served) - before)) $(awk '{ print ($1 + $2) * 1000 }' "$WORK/time")" >> "$WORK/figures"
}

for _ in $(seq "$REPS"); do
	way curl
	way ours
	for n in $(seq "$NODES"); do "$GET" --again "$URL" "$SHA" "$WORK/out/$n"; done >> "$WORK/again"
	cmp "$WORK/www/file" "$WORK/out/1"
	way curl+sha256
	way scp
	cmp "$WORK/www/file" "$WORK/out/1"
done
! grep -v same "$WORK/again" || exit 1

echo "$MB MB to $NODES nodes at once, medians of $REPS:"
awk -v check=$CHECK -v gb="$(awk "BEGIN {print $MB * $NODES / 1000}")" '
	function median(list, n,   i, j, t) {
		for (i = 1; i <= n; i++) for (j = i + 1; j <= n; j++) if (list[j] < list[i]) { t = list[i]; list[i] = list[j]; list[j] = t }
		return list[int((n + 1) / 2)]
	}
	FILENAME ~ /again$/ { again[++a] = $1; next }
	{ wall[$1, ++n[$1]] = $2; cpu[$1] += $1 == "scp" ? $4 : $3 }
	END {
		for (name in n) {
			for (i = 1; i <= n[name]; i++) list[i] = wall[name, i]
			m[name] = median(list, n[name])
			printf "%-12s %5d ms wall, the controller %.2f s of CPU a GB\n", name, m[name], cpu[name] / n[name] / 1000 / gb
		}
		r = m["ours"] / m["curl"]
		h = m["ours"] / m["curl+sha256"]
		s = m["scp"] / m["ours"]
		sc = cpu["scp"] / cpu["ours"]
		t = median(again, a) / 1000
		c = cpu["ours"] / n["ours"] / 1000 / gb
		printf "ours takes %.2f of curl (goal 1.15), %.2f of curl and sha256; the same again %.2f ms a node (goal 3); ", r, h, t
		printf "the controller %.2f s a GB (goal 0.2); scp takes %.1f times as long (goal 4, of the controller'"'"'s CPU %.1f times)\n", c, s, sc
		exit check && (h > 1.15 || t > 3 || c > 0.2 || sc < 4)
	}' "$WORK/figures" "$WORK/again"
