#!/bin/sh
# standin.sh DIR PROGRAM ARG...: scontrol, squeue, scancel, kubectl or a site's fence command, as
# far as a fence calls them. What they rule over are files of DIR:
#	nodes  name|base|flags|reason|who|slurmd began at   jobs  id|state|nodes|reservation|user|stuck
#	node.NAME.json, pods.json (Kubernetes)   fault  hang, garbage, cut, refuse, empty
# Each call is a line of DIR/log. One that changes something takes DIR/lock first.
set -eu
dir=$1 program=$2
shift 2
printf '%s %s\n' "$program" "$*" >>"$dir/log"
fault=$(cat "$dir/fault" 2>/dev/null || true)

say_no() {
	echo "$1" >&2
	exit 1
}

case $fault in
hang) exec sleep 100 ;;
garbage) printf '\001\377 not what you expect\n\n' && exit 0 ;;
empty) exit 0 ;;
refuse) say_no "$program: error: Unable to contact slurm controller (connect failure)" ;;
esac

# Lets awk change DIR/nodes: change 'PROGRAM' VAR=VALUE...
change() {
	text=$1
	shift
	exec 9>"$dir/lock"
	flock 9
	awk -F'|' -v OFS='|' "$@" "$text" "$dir/nodes" >"$dir/nodes.new"
	mv "$dir/nodes.new" "$dir/nodes"
	exec 9>&-
}

all_known() {
	for name in $(echo "$1" | tr , ' '); do
		grep -q "^$name|" "$dir/nodes" || say_no "slurm_update error: Invalid node name specified"
	done
}

show_nodes() {
	awk -F'|' -v jobs="$dir/jobs" '
	BEGIN { while ((getline line < jobs) > 0) { split(line, j, "|"); busy[j[3]] = 1 } }
	{
		state = busy[$1] && $2 == "IDLE" ? "ALLOCATED" : $2
		if ($3 != "")
			state = state "+" $3
		printf "NodeName=%s Arch=x86_64 CPUTot=2 OS=Linux 6.1 #1 SMP @0  RealMemory=1 State=%s " \
			"ThreadsPerCore=1 Partitions=all  CfgTRES=cpu=2 ExtSensorsTemp=n/s", $1, state
		if ($6 != "")
			printf " SlurmdStartTime=%s", $6
		if ($4 != "")
			printf " Reason=%s [%s@2026-11-30T22:22:21]", $4, $5
		print ""
	}' "$dir/nodes"
}

value() { # KEY ARG...: what stands behind KEY=
	key=$1
	shift
	for word; do
		case $word in "$key"=*) printf '%s' "${word#*=}" ;; esac
	done
}

update() {
	names=$(value nodename "$@") state=$(value state "$@") reason=$(value reason "$@")
	all_known "$names"
	if [ "$state" = drain ]; then
		# shellcheck disable=SC2016
		reason=$reason change 'BEGIN { n = split(names, a, ","); for (i in a) hit[a[i]] = 1 }
			hit[$1] { $3 = "DRAIN"; $4 = ENVIRON["reason"]; $5 = "root" } { print }' -v names="$names"
	else
		# shellcheck disable=SC2016
		change 'BEGIN { n = split(names, a, ","); for (i in a) hit[a[i]] = 1 }
			hit[$1] { $2 = "IDLE"; $3 = $4 = $5 = "" } { print }' -v names="$names"
	fi
}

reboot() {
	for names; do :; done
	reason=$(value reason "$@")
	all_known "$names"
	# shellcheck disable=SC2016
	reason="$reason : reboot issued" change 'BEGIN { n = split(names, a, ","); for (i in a) hit[a[i]] = 1 }
		hit[$1] { $2 = "DOWN"; $3 = "DRAIN+REBOOT_ISSUED"; $4 = ENVIRON["reason"]; $5 = "root" }
		{ print }' -v names="$names"
}

end_jobs() { # WORD ID...: those that are not stuck
	for id in $(echo "$*" | tr , ' '); do
		if grep -q "^$id|.*|stuck\$" "$dir/jobs"; then
			say_no "Requested operation is presently disabled for job $id"
		fi
		grep -v "^$id|" "$dir/jobs" >"$dir/jobs.new" || true
		mv "$dir/jobs.new" "$dir/jobs"
	done
}

scontrol() {
	verb=$1
	shift
	case $verb in
	show)
		if [ "$1" = config ]; then
			echo "RebootProgram           = $(cat "$dir/rebooter" 2>/dev/null || echo '(null)')"
		elif [ "$fault" = cut ]; then
			show_nodes | head -c 300
		else
			show_nodes
		fi
		;;
	update) update "$@" ;;
	reboot) reboot "$@" ;;
	requeue) end_jobs "$@" ;;
	*) say_no "invalid keyword: $verb" ;;
	esac
}

squeue() {
	awk -F'|' -v OFS='|' '{ print $1, $2, $3, $4, $5 }' "$dir/jobs"
}

# A node's patch, refused when its resourceVersion is not the node's any more.
patch_node() {
	file=$dir/node.$1.json patch=$2
	[ -f "$file" ] || say_no "Error from server (NotFound): nodes \"$1\" not found"
	exec 9>"$dir/lock"
	flock 9
	jq -e --argjson p "$patch" '.metadata.resourceVersion == $p.metadata.resourceVersion' "$file" >/dev/null ||
		say_no "Error from server (Conflict): Operation cannot be fulfilled on nodes \"$1\": the object has been modified; please apply your changes to the latest version and try again"
	jq --argjson p "$patch" 'def merge(b): if (b | type) == "object" then
			reduce (b | to_entries[]) as $e (if type == "object" then . else {} end;
				if $e.value == null then del(.[$e.key]) else .[$e.key] |= merge($e.value) end)
			else b end;
		merge($p) | .metadata.resourceVersion |= (tonumber + 1 | tostring)' "$file" >"$file.new"
	mv "$file.new" "$file"
	echo "node/$1 patched"
}

get_nodes() {
	# shellcheck disable=SC2046
	set -- $(for word; do case $word in -* | json) ;; *) echo "$word" ;; esac done)
	files=
	for name; do
		[ ! -f "$dir/node.$name.json" ] || files="$files $dir/node.$name.json"
	done
	[ -n "$files" ] || return 0
	# shellcheck disable=SC2086
	jq -s '{apiVersion: "v1", kind: "List", items: .}' $files
}

drain() {
	for word in guarded:n1 bare:n2 local:n3; do
		jq -e --arg n "$1" --arg w "${word%:*}" '.items[] | select(.spec.nodeName == $n and .metadata.labels[$w])' \
			"$dir/pods.json" >/dev/null || continue
		cat "${0%/*}/data/drain-${word#*:}-1.20.txt" >&2
		exit 1
	done
	jq --arg n "$1" '.items |= map(select(.spec.nodeName != $n or
		(.metadata.ownerReferences // [])[0].kind == "DaemonSet"))' "$dir/pods.json" >"$dir/pods.new"
	mv "$dir/pods.new" "$dir/pods.json"
}

kubectl() {
	while case $1 in --*) true ;; *) false ;; esac do
		shift
	done
	verb=$1
	shift
	case $verb in
	get)
		what=$1
		shift
		if [ "$fault" = cut ]; then
			get_nodes "$@" | head -c 200
		elif [ "$what" = nodes ]; then
			get_nodes "$@"
		elif [ "$what" = pdb ]; then
			cat "$dir/pdb.json" 2>/dev/null ||
				say_no 'Error from server (Forbidden): poddisruptionbudgets.policy is forbidden'
		else
			name=${2#--field-selector=spec.nodeName=}
			jq --arg n "$name" '.items |= map(select(.spec.nodeName == $n))' "$dir/pods.json"
		fi
		;;
	patch) patch_node "$2" "$5" ;;
	drain) drain "$@" ;;
	*) say_no "unknown command \"$verb\" for \"kubectl\"" ;;
	esac
}

# The site's own command: the same nodes, told in JSON lines.
site() {
	verb=$1
	shift
	names=$(echo "$*" | tr ' ' ,)
	case $verb in
	look)
		echo '{"can_reboot": true}'
		awk -F'|' -v mark="$STOIKA_FENCE_MARK" '{
			printf "{\"node\": \"%s\", \"state\": \"%s\", \"reason\": \"%s\", \"by\": \"%s\", \"ours\": %s}\n",
				$1, $3 == "" ? "open" : "closed", $4, $5, $5 == mark ? "true" : "false"
		}' "$dir/nodes"
		;;
	close)
		# shellcheck disable=SC2016
		change 'BEGIN { n = split(names, a, ","); for (i in a) hit[a[i]] = 1 }
			hit[$1] { $3 = "DRAIN"; $4 = ENVIRON["STOIKA_FENCE_WHY"]; $5 = ENVIRON["STOIKA_FENCE_MARK"] }
			{ print }' -v names="$names"
		;;
	open)
		# shellcheck disable=SC2016
		change 'BEGIN { n = split(names, a, ","); for (i in a) hit[a[i]] = 1 }
			hit[$1] { $3 = $4 = $5 = "" } { print }' -v names="$names"
		;;
	*) exit 64 ;;
	esac
}

case $program in
scontrol | squeue | kubectl | site) "$program" "$@" ;;
scancel) end_jobs "$@" ;;
*) say_no "no stand-in for '$program'" ;;
esac
