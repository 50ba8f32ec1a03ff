#!/bin/sh
# A scheduler behind the hook of a site's own: standin.sh DIR VERB NODE...
#
# DIR/NODE.fence is STATE MARK REASON; without the file the node is open. DIR/NODE.jobs counts how
# many more looks a job of it lasts. Every act is a line in DIR/fence.log.
dir=$1 verb=$2
shift 2
[ "$verb" = look ] || echo "$verb $*" >> "$dir/fence.log"
[ ! -e "$dir/fence.broken" ] || { echo "no answer" >&2; exit 1; }
[ "$verb" != look ] || echo '{"can_reboot": true}'
for n; do
	state=open mark='' reason='' jobs=0
	[ ! -e "$dir/$n.fence" ] || read -r state mark reason < "$dir/$n.fence"
	[ ! -e "$dir/$n.jobs" ] || read -r jobs < "$dir/$n.jobs"
	case $verb in
	look)
		if [ "$state" = closed ] && [ "$jobs" -gt 0 ]; then
			state=closing
			echo $((jobs - 1)) > "$dir/$n.jobs"
		fi
		ours=false
		[ "$mark" != "$STOIKA_FENCE_MARK" ] || ours=true
		rebooted=false
		[ ! -e "$dir/$n.rebooted" ] || rebooted=true
		printf '{"node": "%s", "state": "%s", "ours": %s, "by": "%s", "reason": "%s", "jobs": %d, "rebooted": %s}\n' \
			"$n" "$state" "$ours" "${mark:+someone}" "$reason" "$jobs" "$rebooted"
		;;
	close)
		rm -f "$dir/$n.rebooted"
		echo "closed $STOIKA_FENCE_MARK $STOIKA_FENCE_WHY" > "$dir/$n.fence"
		;;
	open) rm -f "$dir/$n.fence" "$dir/$n.rebooted" ;;
	reboot)
		boot=0
		[ ! -e "$dir/$n.boot" ] || read -r boot < "$dir/$n.boot" || :
		echo $((boot + 1)) > "$dir/$n.boot"
		rm -f "$dir/$n.awaits"
		: > "$dir/$n.rebooted"
		;;
	requeue | cancel) echo 0 > "$dir/$n.jobs" ;;
	esac
done
